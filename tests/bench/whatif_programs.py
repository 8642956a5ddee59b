# SPDX-License-Identifier: Apache-2.0
"""The programs of whatif_pairs.py: each before and after a change made in it, run by turns in one process.

    whatif_programs.py PAIR FOLDER [--profiles 3] [--rounds 16] [--steps 12]      FOLDER/before_N/ (profiles), FOLDER/truth.json

A program is a function marked @program that takes its parameters and the devices, and gives `step(state, number)`, `load(number)` where
the step loads, and `part()`, the changed part alone, where its size is measured. The clock is the program's own: of a loop that blocks the time around each step, of one that runs ahead the moments at which
a thread saw the results. Both variants are profiled alike, so that what recording costs is in both. While it is measured the process goes
before all others where it may (SCHED_RR): other programs on the machine are then no part of the truth.
"""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import queue
import tempfile
import threading
import time
import types

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from whatif_table import PAIRS

PROGRAMS = {}
WARM = 2  # steps at the beginning of a round that do not count
WIDTH = 96
now = time.perf_counter


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def of_process(policy, priority):
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(int(thread), policy, os.sched_param(priority))


@contextlib.contextmanager
def alone():
    of_process(os.SCHED_RR, 10)
    try:
        yield
    finally:
        of_process(os.SCHED_OTHER, 0)


def annotated_sleep(name, milliseconds):
    def sleep(*_):
        with jax.profiler.TraceAnnotation(name):
            time.sleep(milliseconds / 1000)
    return sleep


def weights(rows, columns):
    return jnp.asarray(numpy.random.default_rng(1).normal(0, rows ** -0.5, (rows, columns)), jnp.float32)


def turning(name, x, weight, turns):
    """`turns` products, one after the other, in a loop of the compiled program: twice the turns are twice the work."""
    with jax.named_scope(name):
        return jax.lax.fori_loop(0, turns, lambda _, x: jnp.tanh(x @ weight), x)


def sleeping(name, x, index, milliseconds):
    """The device sleeps as a call of the host: by its place in `milliseconds`, which costs no core."""
    times = numpy.asarray(milliseconds, float) / 1000

    def call(index, value):
        time.sleep(times[int(index)])
        return numpy.asarray(value)

    with jax.named_scope(name):
        told = jax.pure_callback(call, jax.ShapeDtypeStruct((), jnp.float32), index, x.ravel()[0])
        return x + 0 * told


def sleep_alone(milliseconds):
    """The call of the host as a program of its own, many times, so that the program's own start is nothing beside it."""
    def many(x):
        for _ in range(8):
            x = sleeping("alone", x, jnp.int32(0), [milliseconds])
        return x

    only, x = jax.jit(many), jnp.ones((WIDTH, WIDTH))
    return lambda: only(x)


def placed(devices, step, state):
    """`step(state, index, total)` on each device, compiled as one program; `total` adds over all of them."""
    if len(devices) == 1:
        return jax.jit(lambda x, *more: step(x, jnp.int32(0), lambda value: value, *more)), jax.device_put(state, devices[0])
    mesh, spec = Mesh(numpy.array(devices), ("device",)), PartitionSpec("device")

    def each(x, *more):
        return step(x[0], jax.lax.axis_index("device"), lambda value: jax.lax.psum(value, "device"), *more)[None]

    def whole(x, *more):
        inside = jax.shard_map(each, mesh=mesh, in_specs=(spec, *(PartitionSpec() for _ in more)), out_specs=spec, check_vma=False)
        return inside(x, *more)

    many = jnp.broadcast_to(state, (len(devices), *state.shape))
    return jax.jit(whole), jax.device_put(many, NamedSharding(mesh, spec))


def variant(step, state, load=None, begin=lambda: None, end=lambda: None, nothing=lambda: None, **more):
    return types.SimpleNamespace(step=step, state=state, load=load, begin=begin, end=end, nothing=nothing, **more)


def idle_program(devices):
    """A program that does nothing on these devices."""
    call, state = placed(devices, lambda x, index, total: x + 1, jnp.ones(2048))
    return lambda: call(state)


@program
def layers(devices, turns, sleep=None, together=True):
    """Three layers one after the other, then the mean over the devices; a loader in front where it sleeps."""
    weight = weights(WIDTH, WIDTH)

    def body(x, index, total, turns):
        for number in range(3):
            x = turning(f"layer_{number}", x, weight, turns[number])
        if together:
            with jax.named_scope("grad_sync"):
                x = x + 0 * total(x.mean())
        return x

    call, state = placed(devices, body, jnp.ones((WIDTH, WIDTH)))
    asked = jnp.asarray(turns, jnp.int32)
    sleeps = {"load": annotated_sleep("data_loading", sleep)} if sleep else {}
    return variant(lambda state, _: call(state, asked), state, **sleeps, **({"part": sleeps["load"]} if sleep else {}))


@program
def shapes(devices, hidden):
    """A layer between two others is wider or narrower; its share is measured by itself."""
    def layer(name, x, inner, outer):
        with jax.named_scope(name):
            for _ in range(8):
                x = jnp.tanh(jnp.tanh(x @ inner) @ outer)
            return x

    def body(x, index, total, plain, inner, outer):
        x = layer("layer_0", x, plain, plain)
        x = layer("layer_1", x, inner, outer)
        x = layer("layer_2", x, plain, plain)
        with jax.named_scope("grad_sync"):
            return x + 0 * total(x.mean())

    call, state = placed(devices, body, jnp.ones((128, 128)))
    plain, inner, outer = weights(128, 128), weights(128, hidden), weights(hidden, 128)
    only, start = placed(devices, lambda x, index, total, inner, outer: layer("layer_1", x, inner, outer), jnp.ones((128, 128)))
    return variant(lambda state, _: call(state, plain, inner, outer), state, part=lambda: only(start, inner, outer),
                   nothing=idle_program(devices))


@program
def queued(devices, turns, sleep):
    """A thread loads and keeps two batches ready; the step takes one of them."""
    base, ready, wanted, load = layers(devices, turns), queue.Queue(2), threading.Event(), annotated_sleep("load_batch", sleep)

    def loader():
        while True:
            wanted.wait()
            load()
            ready.put(now())

    threading.Thread(target=loader, daemon=True).start()
    def take(_):
        with jax.profiler.TraceAnnotation("next_batch"):
            ready.get()

    return variant(base.step, base.state, take, begin=wanted.set, end=lambda: drained(wanted, ready), part=load)


def drained(wanted, ready):
    """No batch is loaded any more; those that are ready go, so that the next round begins as this one did."""
    wanted.clear()
    time.sleep(0.03)
    with contextlib.suppress(queue.Empty):
        while True:
            ready.get(timeout=0.05)


@program
def scanned(devices, unroll):
    """A scan of small turns: what it costs is the loop itself."""
    weight = weights(WIDTH, WIDTH)

    def body(x, index, total, turns):
        with jax.named_scope("scan_layers"):
            x = jax.lax.scan(lambda carry, _: (carry * 0.9 + 0.1, None), x, length=512, unroll=unroll)[0]
        x = x + 0 * turning("mlp", weight, weight, turns)[0, 0]
        with jax.named_scope("grad_sync"):
            return x + 0 * total(x.mean())

    call, state = placed(devices, body, jnp.ones(2048))
    return variant(lambda state, _: call(state, 10), state, part=lambda: call(state, 0), nothing=idle_program(devices))


@program
def called(devices, turns, check):
    """A step that calls Python in its middle, or does not."""
    weight = weights(WIDTH, WIDTH)

    def body(x, index, total, turns):
        x = turning("layer_0", x, weight, turns[0])
        if check:
            x = sleeping("host_check", x, index, [check] * len(devices))
        x = turning("layer_1", x, weight, turns[1])
        with jax.named_scope("grad_sync"):
            return x + 0 * total(x.mean())

    call, state = placed(devices, body, jnp.ones((WIDTH, WIDTH)))
    asked = jnp.asarray(turns, jnp.int32)
    return variant(lambda state, _: call(state, asked), state, part=sleep_alone(check))


def by_device(x, index, times, name):
    """Each device has a branch of its own, and its scope: what only it does can be named."""
    branches = [functools.partial(lambda x, number: sleeping(f"{name}_{number}", x, jnp.int32(number), times), number=number) if times[number]
                else lambda x: x for number in range(len(times))]
    return jax.lax.switch(index, branches, x) if len(times) > 1 else branches[0](x)


@program
def uneven(devices, turns, late):
    """All devices compute alike, then each sleeps as long as `late` says, then they add up."""
    weight = weights(WIDTH, WIDTH)

    def body(x, index, total, turns):
        x = turning("layer_0", x, weight, turns)
        x = by_device(x, index, late, "stage")
        with jax.named_scope("grad_sync"):
            return x + 0 * total(x.mean())

    call, state = placed(devices, body, jnp.ones((WIDTH, WIDTH)))
    return variant(lambda state, _: call(state, jnp.int32(turns)), state, part=sleep_alone(late[-1]))


@program
def ordered(devices, turns, early, late, behind):
    """One device is busy in front of a collective, another behind it; the collective may wait until both are done."""
    weight = weights(WIDTH, WIDTH)

    def body(x, index, total, turns):
        x = turning("layer_0", x, weight, turns)
        x = by_device(x, index, early, "early")
        if behind:
            x = by_device(x, index, late, "late")
        with jax.named_scope("grad_sync"):
            x = x + 0 * total(x.mean())
        return x if behind else by_device(x, index, late, "late")

    call, state = placed(devices, body, jnp.ones((WIDTH, WIDTH)))
    return variant(lambda state, _: call(state, jnp.int32(turns)), state)


@program
def pipeline(devices, stages, ticks):
    """Each device is a stage; in each tick it does its part and hands it to the next one."""
    weight, ring = weights(WIDTH, WIDTH), [(number, (number + 1) % len(devices)) for number in range(len(devices))]

    def body(x, index, total):
        for _ in range(ticks):
            x = turning("work", x, weight, 4)
            x = by_device(x, index, stages, "stage")
            with jax.named_scope("hand_over"):
                x = jax.lax.ppermute(x, "device", ring)
        return x

    call, state = placed(devices, body, jnp.ones((WIDTH, WIDTH)))
    return variant(lambda state, _: call(state), state, part=sleep_alone(stages[2]))


class Watch:
    """When each result was there: a thread waits for them in turn, so that the loop need not."""

    def __init__(self):
        self.results, self.done = queue.SimpleQueue(), []
        self.thread = threading.Thread(target=self._wait)
        self.thread.start()

    def _wait(self):
        while (result := self.results.get()) is not None:
            jax.block_until_ready(result)
            self.done.append(now())

    def steps(self):
        self.results.put(None)
        self.thread.join()
        return [after - before for before, after in zip(self.done, self.done[1:])]


def loop(one, steps, blocks):
    """What each step took, by the clock of the program."""
    state, times, watch = one.state, [], None if blocks else Watch()
    for number in range(steps):
        begun = now()
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            if one.load:
                one.load(number)
            state = one.step(state, number)
            if blocks:
                jax.block_until_ready(state)
            else:
                watch.results.put(state)
        times.append(now() - begun)
    return times if blocks else watch.steps()


@contextlib.contextmanager
def traced(folder):
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    jax.profiler.start_trace(str(folder), profiler_options=options)
    try:
        with alone():
            yield
    finally:
        jax.profiler.stop_trace()


def run(one, steps, blocks):
    """A round of so many steps that count."""
    one.begin()
    times = loop(one, steps + WARM, blocks)
    one.end()
    return times[WARM - (not blocks):]


def alternated(variants, rounds, steps, blocks):
    """Both variants by turns, in so short rounds that the machine is as fast in one as in the next; a recording runs, and is thrown away."""
    told = {side: [] for side in variants}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(rounds // 4):  # of four rounds each, so that nobody else waits for long
            with traced(scratch):
                for _ in range(4):
                    for side, one in variants.items():
                        told[side].append(run(one, steps, blocks))
    return told


def part_shares(variants):
    """What the changed part takes after the change, as a share of what it took before; by turns, and recorded, for recording costs. What a
    program takes that does nothing is no part of either."""
    def timed(call):
        begun = now()
        jax.block_until_ready(call())
        return now() - begun

    first, last = variants.values()
    jax.block_until_ready([first.part(), last.part(), first.nothing()])
    with tempfile.TemporaryDirectory() as scratch, traced(scratch):
        turns = [(timed(first.part), timed(last.part), timed(first.nothing)) for _ in range(30)]
    return [(after - nothing) / (before - nothing) for before, after, nothing in turns[10:]]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("pair")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--profiles", type=int, default=3)
    words.add_argument("--rounds", type=int, default=16)
    words.add_argument("--steps", type=int, default=12)
    asked = words.parse_args()
    pair = next(pair for pair in PAIRS if pair["name"] == asked.pair)
    devices = jax.devices()[:pair["devices"]]
    assert len(devices) == pair["devices"], "XLA_FLAGS names fewer devices"
    variants = {side: PROGRAMS[pair.get(side + "_program", pair["program"])](devices, **pair[side]) for side in ("before", "after")}
    for one in variants.values():
        run(one, 2, pair["blocks"])
    told = {**pair, "jax": jax.__version__, "load": os.getloadavg()[0] / os.cpu_count(), "profiles": {}}
    for number in range(asked.profiles):
        with traced(asked.folder / f"before_{number}"):
            told["profiles"][f"before_{number}"] = run(variants["before"], asked.steps, pair["blocks"])
    told["rounds"] = alternated(variants, asked.rounds, asked.steps // 2, pair["blocks"])
    if hasattr(variants["before"], "part"):
        told["part_shares"] = part_shares(variants)
    asked.folder.mkdir(parents=True, exist_ok=True)
    (asked.folder / "truth.json").write_text(json.dumps(told, indent=1) + "\n")
    os._exit(0)  # a loader's thread waits for ever


if __name__ == "__main__":
    main()
