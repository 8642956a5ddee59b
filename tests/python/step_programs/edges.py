# SPDX-License-Identifier: Apache-2.0
"""Programs whose recording begins or ends in the middle, or holds next to nothing."""

import contextlib
import threading

import jax
from kit import Watch, between, data, made, main, mark, now, program, sleep, start


def spans(step, numbers, begin, end):
    """A loop that waits in each span; begin and end are (number, what is called in its span)."""
    (state, batch), times = data(), {}
    for number in numbers:
        begun = now()
        with mark(number):
            for when, what in (begin, end):
                if number == when:
                    sleep(4)
                    what()
                    sleep(4)
            state, loss = step(state, batch)
            loss.block_until_ready()
        times[number] = now() - begun
    return times


@program
def begins_within_a_step(run):
    """start_trace inside step 3: its span is not in the file, steps 4 to 14 are."""
    times = spans(made(), range(15), (3, lambda: start(run.folder)), (None, None))
    jax.profiler.stop_trace()
    return {"count": 11, "first": 4, "step_s": [times[k] for k in range(4, 15)], "family": "train"}


@program
def ends_within_a_step(run):
    """stop_trace inside step 11: eleven steps are whole."""
    start(run.folder)
    times = spans(made(), range(14), (None, None), (11, jax.profiler.stop_trace))
    return {"count": 11, "first": 0, "step_s": [times[k] for k in range(11)], "family": "train"}


@program
def begins_and_ends_within_steps(run):
    """start_trace inside step 2, stop_trace inside step 13."""
    times = spans(made(), range(15), (2, lambda: start(run.folder)), (13, jax.profiler.stop_trace))
    return {"count": 10, "first": 3, "step_s": [times[k] for k in range(3, 13)], "family": "train"}


@program
def hooks_between_steps(run):
    """As frameworks do: a hook before step 3 begins, one after step 12 ends."""
    step, (state, batch), times = made(), data(), []
    for number in range(16):
        if number == 3:
            start(run.folder)
        begun = now()
        with mark(number):
            state, loss = step(state, batch)
            loss.block_until_ready()
        if 3 <= number <= 12:
            times.append(now() - begun)
        if number == 12:
            jax.profiler.stop_trace()
    return {"count": 10, "first": 3, "step_s": times, "family": "train"}


def ahead(run, first, last, drained, count=16):
    """A loop that nobody waits for; recorded from before step first, while earlier ones may still run, to after step last."""
    step, (state, batch), watch, calls, stopped = made(), data(), Watch(), [], None
    for number in range(count):
        if number == first:
            start(run.folder)
        calls.append(now())
        with mark(number):
            state, loss = step(state, batch)
            watch.add(loss)
        if number == last:
            if drained:
                loss.block_until_ready()
            stopped = now()
            jax.profiler.stop_trace()
    watch.steps(calls[0])
    done = [calls[0], *watch.done]
    whole = [number for number in range(first, last + 1) if done[number + 1] <= stopped]
    return done, whole


@program
def begins_with_a_full_queue(run):
    """Recording begins while four earlier steps still run: their work is no step's of the file."""
    done, whole = ahead(run, 4, 15, drained=True)
    return {"count": 12, "first": 4, "step_s": [done[k + 1] - done[k] for k in whole], "family": "train", "ops": {"9": {"jit_train_step": 1}}}


@program
def ends_with_a_full_queue(run):
    """stop_trace while steps still wait to run: what was not seen to end does not count."""
    done, whole = ahead(run, 0, 11, drained=False)
    return {"count": [max(0, len(whole) - 1), len(whole) + 1], "first": 0, "step_s": [done[k + 1] - done[k] for k in whole], "family": "train",
            "unknown": len(whole) < 4}


@program
def block_is_outside(run):
    """The program waits, but only after the recording has ended, as many do: sleep lets some steps end."""
    step, (state, batch), watch, begun = made(), data(), Watch(), None
    with run.record():
        for number in range(12):
            with mark(number):
                begun = begun or now()
                state, loss = step(state, batch)
                watch.add(loss)
        sleep(60)
        stopped = now()
    watch.steps(begun)
    done = [begun, *watch.done]
    whole = sum(moment <= stopped for moment in watch.done)
    return {"count": [max(0, whole - 1), whole + 1], "first": 0, "step_s": between(done[:whole + 1]), "family": "train", "unknown": whole < 4}


@program
def one_step(run):
    """A capture of one step: its time is that of its span."""
    start(run.folder)
    times = spans(made(times=8), [7], (None, None), (None, None))
    jax.profiler.stop_trace()
    return {"count": 1, "first": 7, "step_s": [times[7]], "family": "train"}


@program
def two_steps_ahead(run):
    """Two steps, nobody waits in them."""
    step, (state, batch), watch, begun = made(times=8), data(), Watch(), None
    with run.record():
        for number in range(2):
            with mark(number):
                begun = begun or now()
                state, loss = step(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": 2, "first": 0, "step_s": times, "family": "train"}


@program
def one_call(run):
    """One call without a mark: there is no step."""
    step = made(times=8)
    with run.record():
        jax.block_until_ready(step(*data()))
    return {"count": [0, 1], "step_s": [], "unknown": True}


@program
def nothing(run):
    """A recording of a sleep."""
    with run.record():
        sleep(30)
    return {"count": 0, "step_s": [], "unknown": True}


@program
def an_exception_in_a_step(run):
    """Step 5 raises before its work and is skipped by the loop: its span is short and holds nothing."""
    step, (state, batch), times = made(), data(), []
    with run.record():
        for number in range(12):
            begun = now()
            with contextlib.suppress(ValueError), mark(number):
                if number == 5:
                    raise ValueError
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train", "ops": {"4": {"jit_train_step": 1}, "5": {"jit_train_step": 0}, "6": {"jit_train_step": 1}}}


@program
def recorded_by_another_thread(run):
    """A thread begins and ends the recording while the loop runs: steps at both ends are cut."""
    step, (state, batch), begun, ended = made(), data(), [], []
    window = []

    def record():
        sleep(60)
        start(run.folder)
        window.append(now())
        sleep(300)
        window.append(now())
        jax.profiler.stop_trace()
    recorder = threading.Thread(target=record)
    recorder.start()
    number = 0
    while recorder.is_alive():
        begun.append(now())
        with mark(number):
            state, loss = step(state, batch)
            loss.block_until_ready()
        ended.append(now())
        number += 1
    recorder.join()
    whole = [k for k in range(number) if begun[k] >= window[0] and ended[k] <= window[1]]
    return {"count": [len(whole) - 1, len(whole) + 2], "step_s": [ended[k] - begun[k] for k in whole], "family": "train"}


if __name__ == "__main__":
    main()
