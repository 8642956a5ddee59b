# SPDX-License-Identifier: Apache-2.0
"""A program to be profiled many times over: equal work, or a little more of it.

    check_program.py OUT --runs 10 --steps 12 --work 300 [--kind loop] [--asynchronous]

Each run of it traces `--runs` captures below OUT, one directory each: OUT/run_000/plugins/profile/..., and writes OUT/clock.json, the
program's own durations of its steps in seconds; of one that does not block, the mean of them, for it knows no more. Its kind says what `--work` is:

    loop     turns of a loop on the device: 3 % more are 3 % more time, and the compiled program stays the same
    chain    products behind each other, each an op of its own: more of them are another program
    loader   a chain, and a thread that makes the batch of each step meanwhile
    scan     layers of a model that is trained, in one lax.scan
    actors   a chain that learns, and two threads that make what each step waits for on devices of their own
             (XLA_FLAGS=--xla_force_host_platform_device_count=3)

`--asynchronous` blocks once, behind the last step, as loops that people write do. `--alone` keeps other programs off its
processor while it is traced (SCHED_FIFO, for root): what a machine of one's own measures, on one that is shared.
"""
import argparse
import functools
import json
import os
import pathlib
import queue
import threading
import time

import jax
import jax.numpy as jnp
import numpy

SIDE = 192


@jax.jit
def turn(state, turns):
    return jax.lax.fori_loop(0, turns, lambda _, x: jnp.tanh(x @ x * 0.01), state)


@functools.partial(jax.jit, static_argnums=1)
def chain(state, links):
    for _ in range(links):
        state = jnp.tanh(state @ state * 0.01)
    return state


@functools.partial(jax.jit, donate_argnums=0)
def train(layers, batch):
    def loss(layers):
        last, _ = jax.lax.scan(lambda hidden, layer: (jnp.tanh(hidden @ layer), None), batch, layers)
        return jnp.mean(last * last)
    return layers - 0.01 * jax.grad(loss)(layers)


def square(device=0):
    return jax.device_put(jnp.ones((SIDE, SIDE), jnp.float32) * 0.01, jax.devices()[device])


def load(steps, ready):
    draw = numpy.random.default_rng(0)
    for _ in range(steps):
        batch = draw.standard_normal((SIDE, SIDE), dtype=numpy.float32)
        for _ in range(20):
            batch = numpy.sort(batch, axis=1)
        ready.put(batch)


def act(device, steps, ready):
    state = square(device)
    for _ in range(steps):
        state = turn(state, 30)
        ready.put(numpy.asarray(state))


def beside(kind, steps, ready):
    """The threads that run beside a loop of that kind."""
    if kind == "loader":
        return [threading.Thread(target=load, args=(steps, ready))]
    if kind == "actors":
        return [threading.Thread(target=act, args=(device, steps // 2, ready)) for device in (1, 2)]
    return []


def made(kind, work, ready):
    """(the state at first, the step)"""
    if kind == "loop":
        return square(), lambda state: turn(state, work)
    if kind == "chain":
        return square(), lambda state: chain(state, work)
    if kind == "scan":
        return jnp.ones((work, 128, 128), jnp.float32) * 0.01, lambda layers: train(layers, jnp.ones((64, 128)))
    return square(), lambda state: chain(state + jax.device_put(ready.get(), jax.devices()[0]) * 1e-6, work)


def capture(out, kind, steps, work, blocks):
    ready = queue.Queue(2)
    state, step = made(kind, work, ready)
    threads, ends = beside(kind, steps, ready), []
    with jax.profiler.trace(str(out)):
        for thread in threads:
            thread.start()
        begin = time.perf_counter()
        for number in range(steps):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                state = step(state)
                if blocks:
                    state.block_until_ready()
            ends.append(time.perf_counter())
        state.block_until_ready()
        end = time.perf_counter()
    for thread in threads:
        thread.join()
    if not blocks:
        return [(end - begin) / steps] * steps
    return [b - a for a, b in zip([begin] + ends, ends)]


def warm_up(kind, work):
    """What is compiled while it is traced would be the first step's."""
    ready = queue.Queue()
    ready.put(numpy.zeros((SIDE, SIDE), numpy.float32))
    state, step = made(kind, work, ready)
    step(state).block_until_ready()
    for device in range(1, len(jax.devices())):
        turn(square(device), 2).block_until_ready()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--work", type=int, default=300)
    parser.add_argument("--kind", choices=["loop", "chain", "loader", "scan", "actors"], default="loop")
    parser.add_argument("--asynchronous", action="store_true")
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    warm_up(asked.kind, asked.work)
    if asked.alone:
        for thread in os.listdir("/proc/self/task"):
            os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(20))
            os.sched_setaffinity(int(thread), {os.cpu_count() - 1})
    clock = {}
    for run in range(asked.runs):
        name = f"run_{run:03}"
        clock[name] = capture(asked.out / name, asked.kind, asked.steps, asked.work, not asked.asynchronous)
    (asked.out / "clock.json").write_text(json.dumps(clock))


if __name__ == "__main__":
    main()
