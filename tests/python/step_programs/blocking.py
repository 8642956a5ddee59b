# SPDX-License-Identifier: Apache-2.0
"""Programs whose loop waits for each step: a step's time is what the span took by the clock."""

import jax
import jax.numpy as jnp
import numpy
from kit import data, evaluation, made, main, mark, now, program, sleep


def waiting(run, step, wait=lambda loss: loss.block_until_ready(), count=12, first=0, every=1, python=False, load=None):
    """The loop that most people write, waiting inside the span; load(k) is the loader within it, and tells how long it slept."""
    state, batch = data()
    times, slept = [], 0
    with run.record(python):
        for index in range(count):
            begun = now()
            with mark(first + index * every):
                slept += load(index) if load else 0
                state, loss = step(state, batch)
                wait(loss)
            times.append(now() - begun)
    truth = {"count": count, "first": first, "every": every, "step_s": times, "span_s": times, "family": "train"}
    return truth | {"idle": slept / sum(times)} if load else truth


@program
def blocks_in_span(run):
    """block_until_ready inside StepTraceAnnotation."""
    return waiting(run, made()) | {"ops": {str(k): {"jit_train_step": 1} for k in (0, 5, 11)}}


@program
def evaluates_unmarked(run):
    """After every fifth step the loop evaluates, between the marks."""
    train, evaluate, (state, batch), times = made(), evaluation(12), data(), []
    with run.record():
        for index in range(15):
            begun = now()
            with mark(index):
                state, loss = train(state, batch)
                float(loss)
            times.append(now() - begun)
            if index % 5 == 4:
                float(evaluate(state, batch))
    return {"count": 15, "first": 0, "step_s": times, "span_s": times, "family": "train",
            "ops": {str(k): {"jit_train_step": 1, "jit_evaluate": 0} for k in (0, 4, 5)}}


@program
def float_of_loss(run):
    """float(loss) inside the span."""
    return waiting(run, made(), float)


@program
def numpy_of_loss(run):
    """numpy.asarray(loss) inside the span."""
    return waiting(run, made(), numpy.asarray)


@program
def device_get(run):
    """jax.device_get(loss) inside the span."""
    return waiting(run, made(), jax.device_get)


@program
def item_of_loss(run):
    """loss.item() inside the span."""
    return waiting(run, made(), lambda loss: loss.item())


@program
def python_tracer(run):
    """With the profiler's default options: each Python call is recorded."""
    return waiting(run, made(), python=True)


@program
def sleeps_in_span(run):
    """The loader sleeps 12 ms inside the span: the device idles meanwhile."""
    return waiting(run, made(), load=lambda _: sleep(12))


@program
def input_bound(run):
    """The loader sleeps 40 ms inside the span, the step is short."""
    return waiting(run, made(times=2), load=lambda _: sleep(40))


@program
def even_median(run):
    """Ten steps, five that sleep 5 ms and five that sleep 25 ms: the median is the mean of the two in the middle."""
    return waiting(run, made(times=1), count=10, load=lambda index: sleep(25 if index % 2 else 5))


@program
def starts_at_1000(run):
    """Steps 1000 to 1011."""
    return waiting(run, made(), first=1000) | {"ops": {"1004": {"jit_train_step": 1}}}


@program
def every_tenth_number(run):
    """step_num 0, 10, 20, ..."""
    return waiting(run, made(), every=10) | {"ops": {"40": {"jit_train_step": 1}}}


@program
def donates(run):
    """The state is donated."""
    return waiting(run, made(donate_argnums=0))


@program
def ahead_of_time(run):
    """A step that lower().compile() made."""
    step = made().lower(*data()).compile()
    return waiting(run, step)


@program
def first_step_compiles(run):
    """The first step compiles inside the capture: it is warm-up."""
    @jax.jit
    def train_step(state, batch):
        for _ in range(4):
            state = jnp.tanh(state @ batch)
        return state, state[0, 0]
    return waiting(run, train_step)


@program
def loader_outside(run):
    """The loader sleeps 15 ms between the spans: it is in no span."""
    step, (state, batch), times = made(), data(), []
    with run.record():
        for index in range(12):
            sleep(15)
            begun = now()
            with mark(index):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train"}


@program
def several_jits(run):
    """Forward, backward and update are three calls; the loop waits for the last."""
    parts = [made(name, times) for name, times in (("forward", 1), ("backward", 2), ("update", 1))]

    def step(state, batch):
        for part in parts:
            state, loss = part(state, batch)
        return state, loss
    return waiting(run, step) | {"ops": {str(k): {"jit_forward": 1, "jit_backward": 1, "jit_update": 1} for k in (1, 6, 11)}}


@program
def accumulates(run):
    """Four micro-batches a step, then one update."""
    micro, update = made("micro", 1), made("update", 1)

    def step(state, batch):
        for _ in range(4):
            state, _ = micro(state, batch)
        return update(state, batch)
    return waiting(run, step) | {"ops": {str(k): {"jit_micro": 4, "jit_update": 1} for k in (1, 11)}}


@program
def each_step_its_program(run):
    """Step k runs the module jit_work_k and nothing else."""
    steps = [made(f"work_{index}", 2 + index % 3) for index in range(8)]
    (state, batch), times = data(), []
    with run.record():
        for index, step in enumerate(steps):
            begun = now()
            with mark(index):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 8, "first": 0, "step_s": times, "family": "train", "ops": {str(k): {f"jit_work_{k}": 1} for k in range(8)}}


@program
def gradients(run):
    """A two-layer network with jax.value_and_grad and Adam, the loss read each step."""
    def loss_of(weights, batch):
        return jnp.mean((jnp.tanh(batch @ weights[0]) @ weights[1] - batch) ** 2)

    @jax.jit
    def train_step(state, batch):
        weights, moments = state
        loss, slopes = jax.value_and_grad(loss_of)(weights, batch)
        moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments, slopes)
        weights = jax.tree.map(lambda w, m: w - 0.01 * m / (jnp.sqrt(m * m) + 1e-6), weights, moments)
        return (weights, moments), loss
    weights, batch = tuple(data()), data()[1]
    state, loss = jax.block_until_ready(train_step((weights, weights), batch))
    times = []
    with run.record():
        for index in range(12):
            begun = now()
            with mark(index):
                state, loss = train_step(state, batch)
                float(loss)
            times.append(now() - begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train"}


@program
def prints_inside(run):
    """jax.debug.callback inside the step tells the loss."""
    seen = []

    @jax.jit
    def train_step(state, batch):
        for _ in range(4):
            state = jnp.tanh(state @ batch)
        jax.debug.callback(lambda loss: seen.append(float(loss)), state[0, 0])
        return state, state[0, 0]
    jax.block_until_ready(train_step(*data()))
    return waiting(run, train_step)


if __name__ == "__main__":
    main()
