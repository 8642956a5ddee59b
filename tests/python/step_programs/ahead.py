# SPDX-License-Identifier: Apache-2.0
"""Programs whose loop does not wait: the host runs ahead, and a step's time is from its work to the next one's."""

import queue
import threading

import jax
import jax.numpy as jnp
from kit import Watch, between, data, evaluation, made, main, mark, now, program, sleep


def running(run, step, count=12, python=False, load=None, each=None, after=None, first=0):
    """A loop that only dispatches; load(k) before the span, each(k, loss) inside it, after(k, loss) behind it."""
    (state, batch), watch, begun, spans = data(), Watch(), None, []
    with run.record(python):
        for index in range(count):
            if load:
                load(index)
            top = now()
            with mark(first + index):
                begun = begun or now()
                state, loss = step(state, batch)
                watch.add(loss)
                if each:
                    each(index, loss)
            spans.append(now() - top)
            if after:
                after(index, loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": count, "first": first, "step_s": times, "span_s": spans, "family": "train"}


@program
def guide(run):
    """The loop of JAX's documentation: annotate, call, wait after the loop."""
    return running(run, made()) | {"idle": 0, "ops": {str(k): {"jit_train_step": 1} for k in (0, 5, 11)}}


@program
def guide_large(run):
    """The same with steps four times as long."""
    return running(run, made(times=16), count=8) | {"idle": 0}


@program
def guide_python_tracer(run):
    """The same with the profiler's default options."""
    return running(run, made(), python=True) | {"idle": 0}


@program
def more_than_may_wait(run):
    """64 steps: more than the client lets wait, so that the host is held back."""
    return running(run, made(times=2), count=64) | {"idle": 0}


def evaluating(run, waits, count=15, calls=8):
    """After every fifth step an evaluation of several calls that nobody marks: no part of any step."""
    train, evaluate, (state, batch) = made(), evaluation(), data()
    watch, begun, trains = Watch(), None, []
    with run.record():
        for index in range(count):
            with mark(index):
                begun = begun or now()
                state, loss = train(state, batch)
                watch.add(loss)
                trains.append(True)
            if index % 5 == 4:
                if waits:
                    state.block_until_ready()
                for _ in range(calls):
                    loss = evaluate(state, batch)
                if waits:
                    float(loss)
                watch.add(loss)
                trains.append(False)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    own = [time for time, is_train in zip(times, trains) if is_train]
    return {"count": count, "first": 0, "step_s": own, "family": "train", "ops": {str(k): {"jit_train_step": 1, "jit_evaluate": 0} for k in (0, 4, 5)},
            "apart": "jit_evaluate"}


@program
def evaluates_unmarked(run):
    """An unmarked evaluation after every fifth step; nobody waits."""
    return evaluating(run, waits=False)


@program
def evaluates_unmarked_and_waits(run):
    """The same; the loop waits for the step before it, and for the evaluation."""
    return evaluating(run, waits=True)


@program
def evaluates_unmarked_after_each(run):
    """An unmarked evaluation after each step is what the loop does, and of its time."""
    train, evaluate, (state, batch), watch, begun = made(), evaluation(2), data(), Watch(), None
    with run.record():
        for index in range(12):
            with mark(index):
                begun = begun or now()
                state, _ = train(state, batch)
            watch.add(evaluate(state, batch))
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train"}


@program
def logs_every_fourth(run):
    """Every fourth loss is read inside the span."""
    return running(run, made(), count=16, each=lambda k, loss: float(loss) if k % 4 == 3 else None)


@program
def logs_every_fifth_outside(run):
    """Every fifth loss is read behind the span."""
    return running(run, made(), count=15, after=lambda k, loss: float(loss) if k % 5 == 4 else None)


@program
def logs_the_last_one(run):
    """Step k reads the loss of step k - 1: one step ahead."""
    losses = []

    def read(_, loss):
        losses.append(loss)
        if len(losses) > 1:
            float(losses[-2])
    return running(run, made(), each=read) | {"idle": 0}


@program
def logs_four_behind(run):
    """Step k reads the loss of step k - 4."""
    losses = []

    def read(_, loss):
        losses.append(loss)
        if len(losses) > 4:
            float(losses[-5])
    return running(run, made(), count=16, each=read) | {"idle": 0}


@program
def waits_behind_span(run):
    """The span holds the call only; the loop waits behind it."""
    return running(run, made(), after=lambda _, loss: loss.block_until_ready()) | {"ops": {"6": {"jit_train_step": 1}}}


@program
def several_jits(run):
    """Forward, backward and update are three calls that nobody waits for."""
    parts = [made(name, times) for name, times in (("forward", 1), ("backward", 2), ("update", 1))]

    def step(state, batch):
        for part in parts:
            state, loss = part(state, batch)
        return state, loss
    return running(run, step) | {"idle": 0, "ops": {str(k): {"jit_forward": 1, "jit_backward": 1, "jit_update": 1} for k in (0, 6, 11)}}


@program
def accumulates(run):
    """Four micro-batches and one update a step, nobody waits."""
    micro, update = made("micro", 1), made("update", 1)

    def step(state, batch):
        for _ in range(4):
            state, _ = micro(state, batch)
        return update(state, batch)
    return running(run, step) | {"idle": 0, "ops": {str(k): {"jit_micro": 4, "jit_update": 1} for k in (0, 7, 11)}}


@program
def each_step_its_program(run):
    """Step k runs the module jit_work_k, all of one length, and nobody waits."""
    steps = iter([made(f"work_{index}", 3) for index in range(8)])
    return running(run, lambda *state: next(steps)(*state), count=8) | {"idle": 0, "ops": {str(k): {f"jit_work_{k}": 1} for k in range(8)}}


@program
def donates(run):
    """The state is donated, nobody waits."""
    return running(run, made(donate_argnums=0)) | {"idle": 0}


@program
def ahead_of_time(run):
    """lower().compile(), nobody waits."""
    return running(run, made().lower(*data()).compile()) | {"idle": 0, "ops": {"5": {"jit_train_step": 1}}}


def idle(calls, done):
    """Of the time from the first call to the last end: in which no call had begun that was not done."""
    busy, free = 0, 0
    for call, end in zip(calls, done):
        busy += end - max(call, free)
        free = end
    return 1 - busy / (done[-1] - calls[0])


def slow_loader(run, milliseconds, times, inside=False):
    """Work shorter than the loader's sleep: the period is the loop's, and idle is what the step's own work leaves of it."""
    step, (state, batch) = made(times=times), data()
    watch, begins, calls = Watch(), [], []
    with run.record():
        for index in range(12):
            if not inside:
                sleep(milliseconds)
            begins.append(now())
            with mark(index):
                if inside:
                    sleep(milliseconds)
                calls.append(now())
                state, loss = step(state, batch)
                watch.add(loss)
        ended = now()
        jax.block_until_ready(state)
        watch.steps(calls[0])
    truth = {"count": 12, "first": 0, "step_s": between([*calls, watch.done[-1]]), "family": "train", "idle": idle(calls, watch.done)}
    if inside:  # a step begins with its own load, also the first one, and waits for its work in the next one's
        times = between([*begins, ended])
        truth |= {"step_s": times, "idle": 1 - sum(done - call for call, done in zip(calls, watch.done)) / sum(times)}
    return truth


@program
def input_bound(run):
    """The loader sleeps 30 ms between the spans; nobody waits."""
    return slow_loader(run, 30, 2)


@program
def input_bound_inside(run):
    """The loader sleeps 30 ms inside the span; nobody waits."""
    return slow_loader(run, 30, 2, inside=True)


@program
def loader_hidden(run):
    """The loader sleeps 2 ms, the step is longer: the device never idles."""
    return running(run, made(times=8), load=lambda _: sleep(2)) | {"idle": 0}


def prefetched(run, milliseconds, times):
    """A thread makes batches, sends them to the device and puts them into a queue of two."""
    step, (state, host) = made(times=times), data()
    host = jax.device_get(host)
    batches, calls, watch = queue.Queue(2), [], Watch()

    def load():
        for _ in range(12):
            sleep(milliseconds)
            batches.put(jax.device_put(host))
    loader = threading.Thread(target=load)
    with run.record():
        loader.start()
        for index in range(12):
            batch = batches.get()
            with mark(index):
                calls.append(now())
                state, loss = step(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(calls[0])
    loader.join()
    return times, calls, watch.done


@program
def prefetch(run):
    """A prefetching thread that keeps up: only the first batch is waited for."""
    times, _, _ = prefetched(run, 1, 8)
    return {"count": 12, "first": 0, "step_s": times, "family": "train", "idle": 0}


@program
def prefetch_too_slow(run):
    """A prefetching thread that needs 30 ms a batch: the period is the loader's."""
    _, calls, done = prefetched(run, 30, 2)
    return {"count": 12, "first": 0, "step_s": between([*calls, done[-1]]), "family": "train", "idle": idle(calls, done)}


@program
def first_step_compiles(run):
    """The first step compiles inside the capture, then the host runs ahead."""
    @jax.jit
    def train_step(state, batch):
        for _ in range(4):
            state = jnp.tanh(state @ batch)
        return state, state[0, 0]
    return running(run, train_step)


@program
def scan_inside(run):
    """Each step is a lax.scan over eight micro-batches."""
    @jax.jit
    def train_step(state, batch):
        state, losses = jax.lax.scan(lambda carry, _: (jnp.tanh(carry @ batch), carry[0, 0]), state, length=8)
        return state, losses[-1]
    jax.block_until_ready(train_step(*data()))
    return running(run, train_step) | {"idle": 0}


@program
def callback_inside(run):
    """io_callback inside the step counts, in order, while nobody waits."""
    seen = []

    @jax.jit
    def train_step(state, batch):
        for _ in range(4):
            state = jnp.tanh(state @ batch)
        jax.debug.callback(lambda loss: seen.append(float(loss)), state[0, 0], ordered=True)
        return state, state[0, 0]
    jax.block_until_ready(train_step(*data()))
    return running(run, train_step)


@program
def eager_beside(run):
    """Small operations outside of jit stand between the calls."""
    step = made()

    def eager(state, batch):
        state, loss = step(state * 1.0, batch)
        return state, loss * 0.5 + 1.0
    eager(*data())
    return running(run, eager) | {"idle": 0, "ops": {str(k): {"jit_train_step": 1} for k in (0, 5, 11)}}


@program
def logging_thread(run):
    """Another thread reads every loss while the loop goes on."""
    losses, read = queue.SimpleQueue(), []

    def log():
        while (loss := losses.get()) is not None:
            read.append(float(loss))
    logger = threading.Thread(target=log)
    logger.start()
    truth = running(run, made(), each=lambda _, loss: losses.put(loss))
    losses.put(None)
    logger.join()
    return truth | {"idle": 0}


if __name__ == "__main__":
    main()
