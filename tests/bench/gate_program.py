# SPDX-License-Identifier: Apache-2.0
"""A program to be profiled many times over: equal work, or a little more of it.

    gate_program.py OUT --runs 10 --steps 12 --work 300 [--asynchronous]

Each run of it traces `--runs` captures below OUT, one directory each: OUT/run_000/plugins/profile/..., and writes OUT/clock.json, the
program's own durations of its steps in seconds; of one that does not block, the mean of them, for it knows no more. Its step is a loop of `--work` turns on the device, so 3 % more turns are 3 % more time and
the compiled program stays the same. `--asynchronous` blocks once, behind the last step, as loops that people write do. `--alone` keeps other programs off its
processor while it is traced (SCHED_FIFO, for root): what a machine of one's own measures, on one that is shared.
"""
import argparse
import json
import os
import pathlib
import time

import jax
import jax.numpy as jnp


@jax.jit
def train_step(state, turns):
    return jax.lax.fori_loop(0, turns, lambda _, x: jnp.tanh(x @ x * 0.01), state)


def capture(out, steps, turns, blocks):
    state = jnp.ones((192, 192), jnp.float32) * 0.01
    ends = []
    with jax.profiler.trace(str(out)):
        begin = time.perf_counter()
        for step in range(steps):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                state = train_step(state, turns)
                if blocks:
                    state.block_until_ready()
            ends.append(time.perf_counter())
        state.block_until_ready()
        end = time.perf_counter()
    if not blocks:
        return [(end - begin) / steps] * steps
    return [b - a for a, b in zip([begin] + ends, ends)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--work", type=int, default=300)
    parser.add_argument("--asynchronous", action="store_true")
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    train_step(jnp.ones((192, 192), jnp.float32), 2).block_until_ready()
    if asked.alone:
        for thread in os.listdir("/proc/self/task"):
            os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(20))
            os.sched_setaffinity(int(thread), {os.cpu_count() - 1})
    clock = {}
    for run in range(asked.runs):
        name = f"run_{run:03}"
        clock[name] = capture(asked.out / name, asked.steps, asked.work, not asked.asynchronous)
    (asked.out / "clock.json").write_text(json.dumps(clock))


if __name__ == "__main__":
    main()
