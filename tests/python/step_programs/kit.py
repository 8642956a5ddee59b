# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: recording, a clock of their own, and the truth that they write beside the profile.

A program is a function marked @program. It gets a Run, does its loop between run.record() and returns its truth:

    count     how many steps the capture holds, or [least, most]
    step_s    what each took by the program's clock, in the order they began; mean_s where only their mean is known
    span_s    what each annotation took
    first     the number of the first step; every: what each next one adds (1)
    family    the name of what trains; others: {name: {"count", "step_s"}} of the other families
    apart     the program that the loop calls now and then between steps, and that is no part of them
    idle      the share of the steps in which the device had nothing to do
    ops       {step: {module: executions}}: what belongs to a step; a module not listed there did not run in it
    rough     true where single times are off by a moment, and only sums exact: another thread took them, or at another place of the loop
    mark_s    what making a mark takes, where steps are so short that it counts: a clock within the mark does not see it
    load      what ran or waited for a core, for each core
    unknown   true where no step time with a reason is a right answer, too

The clock is the program's own of the run that is recorded: noise of the machine is in both.
"""

import contextlib
import json
import os
import pathlib
import queue
import statistics
import sys
import threading
import time

import jax
import jax.numpy as jnp

PROGRAMS = []
SIZE = 448
now = time.perf_counter


def program(function):
    PROGRAMS.append(function)
    return function


class Run:
    """One program's folder."""

    def __init__(self, folder):
        self.folder = folder

    @contextlib.contextmanager
    def record(self, python=False):
        start(self.folder, python)
        try:
            yield
        finally:
            jax.profiler.stop_trace()


def start(folder, python=False):
    options = jax.profiler.ProfileOptions()
    if not python:
        options.python_tracer_level = 0
    jax.profiler.start_trace(str(folder), profiler_options=options)


def go_first():
    """Where it may, this thread goes before all others: what its clock says is then the moment itself, on a loaded machine too."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)


class Watch:
    """When each result was there: a thread waits for them in turn, so that the loop need not."""

    used = False

    def __init__(self):
        Watch.used = True
        self.results, self.done = queue.SimpleQueue(), []
        self.thread = threading.Thread(target=self._wait)
        self.thread.start()

    def _wait(self):
        go_first()
        while (result := self.results.get()) is not None:
            result.block_until_ready()
            self.done.append(now())

    def add(self, result):
        self.results.put(result)

    def steps(self, begun):
        """From the beginning of the first one's work, each until it was done."""
        self.results.put(None)
        self.thread.join()
        return between([begun, *self.done])


def between(times):
    return [after - before for before, after in zip(times, times[1:])]


def made(name="train_step", times=4, size=SIZE, wrap=jax.jit, **options):
    """A compiled step of that name: times products one after the other; it gives the state and a loss."""
    def step(state, batch):
        for _ in range(times):
            state = jnp.tanh(state @ batch)
        return state, state[0, 0]

    step.__name__ = step.__qualname__ = name
    ready = wrap(step, **options)
    jax.block_until_ready(ready(*data(size)))
    return ready


def evaluation(times=3):
    """A compiled evaluation, which gives back a loss alone."""
    def evaluate(state, batch):
        other = state
        for _ in range(times):
            other = jnp.tanh(other @ batch)
        return other[0, 0]

    ready = jax.jit(evaluate)
    jax.block_until_ready(ready(*data()))
    return ready


def data(size=SIZE):
    return jnp.ones((size, size)) * 0.5, jnp.ones((size, size)) * 0.01


def mark(number, name="train"):
    return jax.profiler.StepTraceAnnotation(name, step_num=number)


def sleep(milliseconds):
    """Waits as a loader does; tells how long it was."""
    begun = now()
    time.sleep(milliseconds / 1000)
    return now() - begun


def main():
    """Runs all programs of a file, or those named, each below the folder given."""
    home = pathlib.Path(sys.argv[1])
    jax.devices()  # its threads are there now, and stay as they are
    go_first()
    for function in PROGRAMS:
        if sys.argv[2:] and function.__name__ not in sys.argv[2:]:
            continue
        folder = home / function.__name__
        folder.mkdir(parents=True)
        Watch.used = False
        truth = function(Run(folder))
        truth["rough"], truth["load"] = Watch.used or truth.get("rough", False), os.getloadavg()[0] / os.cpu_count()
        if truth.get("step_s"):
            truth["median_s"] = statistics.median(truth["step_s"])
            truth["mean_s"] = statistics.fmean(truth["step_s"])
        told = {"name": function.__name__, "about": " ".join((function.__doc__ or "").split()), "jax": jax.__version__, **truth}
        (folder / "truth.json").write_text(json.dumps(told, indent=1) + "\n")
        jax.clear_caches()
