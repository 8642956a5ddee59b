# SPDX-License-Identifier: Apache-2.0
"""Programs that mark their steps in other ways, or in other threads."""

import concurrent.futures
import contextlib
import threading

import jax
import jax.numpy as jnp
from kit import Watch, data, made, main, mark, now, program

Plain = jax.profiler.TraceAnnotation
GUESS = {"family": None, "unknown": True, "rough": True, "count": [10, 12]}  # of a guess the last one may be left out


def waiting(run, span, count=12):
    """A loop that waits in span(number)."""
    step, (state, batch), times = made(), data(), []
    with run.record():
        for number in range(count):
            begun = now()
            with span(number):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": count, "step_s": times, "family": "train"}


def running(run, span, count=12):
    """A loop that waits for nothing."""
    step, (state, batch), watch, begun = made(), data(), Watch(), None
    with run.record():
        for number in range(count):
            with span(number):
                begun = begun or now()
                state, loss = step(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": count, "step_s": times, "family": "train"}


@program
def root_by_hand(run):
    """TraceAnnotation with _r and step_num, which is what StepTraceAnnotation is."""
    return waiting(run, lambda number: Plain("train", _r=1, step_num=number)) | {"first": 0, "ops": {"5": {"jit_train_step": 1}}}


@program
def step_num_without_root(run):
    """TraceAnnotation with step_num alone."""
    return waiting(run, lambda number: Plain("train", step_num=number))


@program
def step_num_without_root_ahead(run):
    """TraceAnnotation with step_num alone; nobody waits."""
    return running(run, lambda number: Plain("train", step_num=number))


@program
def no_number(run):
    """StepTraceAnnotation without step_num."""
    return waiting(run, lambda _: jax.profiler.StepTraceAnnotation("train"))


@program
def no_number_ahead(run):
    """StepTraceAnnotation without step_num; nobody waits."""
    return running(run, lambda _: jax.profiler.StepTraceAnnotation("train"))


@program
def plain_name(run):
    """TraceAnnotation("train_step"), no mark of a step."""
    return waiting(run, lambda _: Plain("train_step")) | GUESS


@program
def plain_name_ahead(run):
    """TraceAnnotation("train_step"); nobody waits."""
    return running(run, lambda _: Plain("train_step")) | GUESS


@program
def numbered_names(run):
    """TraceAnnotation("step 0"), "step 1", ..."""
    return waiting(run, lambda number: Plain(f"step {number}")) | GUESS


@program
def a_name_of_their_own(run):
    """A family whose name is no English word and has a slash."""
    return waiting(run, lambda number: mark(number, "тренировка/шаг")) | {"family": "тренировка/шаг", "first": 0}


@program
def more_arguments(run):
    """StepTraceAnnotation with arguments of the program's own."""
    return waiting(run, lambda number: jax.profiler.StepTraceAnnotation("train", step_num=number, epoch=3, lr=0.1)) | {"first": 0}


@program
def within_a_helper(run):
    """The mark is made by a context manager of the program's own, with a plain annotation around."""
    @contextlib.contextmanager
    def helper(number):
        with Plain("iteration"), mark(number):
            yield
    return waiting(run, helper) | {"first": 0}


@program
def annotated_function(run):
    """jax.profiler.annotate_function around the step, which is marked, too."""
    step = jax.profiler.annotate_function(made(), name="call")
    (state, batch), times = data(), []
    with run.record():
        for number in range(12):
            begun = now()
            with mark(number):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train"}


@program
def from_mark_to_mark(run):
    """The mark of step k is closed where that of step k + 1 is opened, at the top of the loop; nobody waits."""
    step, (state, batch), watch, begun, span = made(), data(), Watch(), None, None
    with run.record():
        for number in range(12):
            if span:
                span.__exit__(None, None, None)
            span = mark(number)
            span.__enter__()
            begun = begun or now()
            state, loss = step(state, batch)
            watch.add(loss)
        span.__exit__(None, None, None)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train"}


@program
def in_another_thread(run):
    """The loop runs in a thread that is not the main one."""
    told = {}
    trainer = threading.Thread(target=lambda: told.update(waiting(run, mark)))
    trainer.start()
    trainer.join()
    return told | {"first": 0}


@program
def calls_by_a_pool(run):
    """The span is in the main thread; a worker thread makes the call and waits, the span waits for the worker."""
    step, (state, batch), times = made(), data(), []

    def call(state):
        state, loss = step(state, batch)
        loss.block_until_ready()
        return state
    with concurrent.futures.ThreadPoolExecutor(1) as pool, run.record():
        for number in range(12):
            begun = now()
            with mark(number):
                state = pool.submit(call, state).result()
            times.append(now() - begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train"}


@program
def busy_thread_beside(run):
    """Another thread runs small modules of its own all the time; the marked loop waits in its spans."""
    beside, stop = jax.jit(lambda x: jnp.sin(x) + 1), threading.Event()
    beside(1.0).block_until_ready()

    def other():
        while not stop.wait(0.002):
            beside(1.0).block_until_ready()
    thread = threading.Thread(target=other)
    thread.start()
    truth = waiting(run, mark)
    stop.set()
    thread.join()
    return truth | {"first": 0, "ops": {"5": {"jit_train_step": 1}}}


if __name__ == "__main__":
    main()
