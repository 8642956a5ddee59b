# SPDX-License-Identifier: Apache-2.0
"""Programs without marks: what repeats is the step, or there is none with a reason. A wait for data is not a step."""

import jax
import jax.numpy as jnp
from kit import Watch, between, data, made, main, now, program, sleep

GUESS = {"family": None, "unknown": True, "rough": True}


def waiting(run, step, count=12, load=0, annotate=None):
    """Waits for each step; the time is from the top of the loop to the next one."""
    (state, batch), tops = data(), []
    with run.record():
        for _ in range(count):
            tops.append(now())
            if load and annotate:
                with jax.profiler.TraceAnnotation(annotate):
                    sleep(load)
            elif load:
                sleep(load)
            state, loss = step(state, batch)
            loss.block_until_ready()
        tops.append(now())
    return {"count": [count - 2, count], "step_s": between(tops), **GUESS}


def running(run, step, count=12, load=0):
    """Waits after the loop."""
    (state, batch), watch, calls = data(), Watch(), []
    with run.record():
        for _ in range(count):
            if load:
                sleep(load)
            calls.append(now())
            state, loss = step(state, batch)
            watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(calls[0])
    return {"count": [count - 2, count], "step_s": between(calls) if load else times, **GUESS}


@program
def waits(run):
    """A loop that waits for each step."""
    return waiting(run, made())


@program
def ahead(run):
    """A loop that nobody waits for."""
    return running(run, made())


@program
def waits_and_sleeps(run):
    """The loader sleeps 20 ms: the period is loader and step."""
    return waiting(run, made(times=2), load=20)


@program
def loader_is_annotated(run):
    """The loader's 20 ms are annotated DataLoader.__next__: that is a wait, not a step."""
    return waiting(run, made(times=2), load=20, annotate="DataLoader.__next__")


@program
def ahead_and_sleeps(run):
    """The loader sleeps 30 ms; nobody waits."""
    return running(run, made(times=2), load=30)


@program
def several_jits(run):
    """Forward, backward and update, waited for."""
    parts = [made(name, times) for name, times in (("forward", 1), ("backward", 2), ("update", 1))]

    def step(state, batch):
        for part in parts:
            state, loss = part(state, batch)
        return state, loss
    return waiting(run, step)


@program
def sums_of_gradients(run):
    """Four calls add up gradients, a fifth applies them: a step is all of them, or there is none."""
    add = jax.jit(lambda total, state, batch: total + jax.grad(lambda state: jnp.mean(jnp.tanh(jnp.tanh(state @ batch) @ batch)))(state))
    update = jax.jit(lambda state, total: (state - 0.01 * total, jnp.zeros_like(total)))
    (state, batch), tops = data(), []
    state, total = update(state, add(state, state, batch))
    jax.block_until_ready(total)
    with run.record():
        for _ in range(8):
            tops.append(now())
            for _ in range(4):
                total = add(total, state, batch)
            state, total = update(state, total)
            state.block_until_ready()
        tops.append(now())
    return {"count": [6, 8], "step_s": between(tops), **GUESS}


@program
def evaluates_between(run):
    """Ten steps of training, two of evaluation, ten of training."""
    train, evaluate, (state, batch), tops = made("train_step", 6), made("eval_step", 2), data(), []
    with run.record():
        for letter in "t" * 10 + "ee" + "t" * 10:
            if letter == "t":
                tops.append(now())
            state, loss = (train if letter == "t" else evaluate)(state, batch)
            loss.block_until_ready()
        tops.append(now())
    return {"count": [18, 20], "step_s": between(tops), **GUESS}


@program
def scan_over_steps(run):
    """One call runs all steps in a lax.scan: iterations of it, or no step."""
    @jax.jit
    def train(state, batch):
        return jax.lax.scan(lambda carry, _: (jnp.tanh(carry @ batch), carry[0, 0]), state, length=20)
    jax.block_until_ready(train(*data()))
    with run.record():
        begun = now()
        jax.block_until_ready(train(*data()))
        took = now() - begun
    return {"count": [0, 20], "step_s": [took / 20], **GUESS}


@program
def scan_by_chunks(run):
    """Eight calls of a lax.scan over five steps, waited for: a call is what repeats."""
    @jax.jit
    def train(state, batch):
        state, losses = jax.lax.scan(lambda carry, _: (jnp.tanh(carry @ batch), carry[0, 0]), state, length=5)
        return state, losses[-1]
    jax.block_until_ready(train(*data()))
    return waiting(run, train, count=8)


@program
def eager(run):
    """Nothing is jitted: five operations a step, waited for."""
    def step(state, batch):
        for _ in range(2):
            state = jnp.tanh(state @ batch)
        return state, state[0, 0]
    jax.block_until_ready(step(*data()))
    return waiting(run, step)


@program
def two_modules_at_odds(run):
    """Two modules run in no order at all: a guess that its own evidence contradicts is not stated."""
    short, long, (state, batch) = made("short", 1), made("long", 12), data()
    with run.record():
        for letter in "slslllsssllssslsls":
            sleep(3 if letter == "s" else 0)
            state, loss = (short if letter == "s" else long)(state, batch)
            loss.block_until_ready()
    return {"count": [0, 18], "step_s": [], **GUESS}


if __name__ == "__main__":
    main()
