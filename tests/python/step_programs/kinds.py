# SPDX-License-Identifier: Apache-2.0
"""Programs of kinds that are no plain loop of products: networks by libraries of users, decoding, learning by playing, linear algebra,
convolutions, lengths that change, steps of microseconds and of a second, threads that share one family."""

import threading

import jax
import jax.numpy as jnp
import numpy
from kit import SIZE, Watch, between, data, made, main, mark, now, program, sleep


def looped(run, step, count):
    """step(k) in a span each, which waits."""
    times = []
    with run.record():
        for number in range(count):
            begun = now()
            with mark(number):
                step(number)
            times.append(now() - begun)
    return {"count": count, "first": 0, "step_s": times, "span_s": times, "family": "train"}


def ahead(run, step, count):
    """step(k) gives what is there when its work is done; nobody waits."""
    watch, begun = Watch(), None
    with run.record():
        for number in range(count):
            with mark(number):
                begun = begun or now()
                last = step(number)
                watch.add(last)
        jax.block_until_ready(last)
        times = watch.steps(begun)
    return {"count": count, "first": 0, "step_s": times, "family": "train"}


@program
def decodes(run):
    """A span a request: a prompt, then 24 tokens one after the other, each read by the host before the next."""
    @jax.jit
    def prefill(prompt, weights):
        for _ in range(3):
            prompt = jnp.tanh(prompt @ weights)
        return prompt[-1:], jnp.argmax(prompt[-1])

    @jax.jit
    def decode(state, weights):
        for _ in range(3):
            state = jnp.tanh(state @ weights)
        return state, jnp.argmax(state)
    prompt, weights = data()
    state, _ = prefill(prompt, weights)
    jax.block_until_ready(decode(state, weights))

    def request(_):
        state, token = prefill(prompt, weights)
        for _ in range(24):
            state, token = decode(state, weights)
            int(token)
    return looped(run, request, 10) | {"ops": {str(k): {"jit_prefill": 1, "jit_decode": 24} for k in (0, 4, 9)}}


@program
def plays(run):
    """A span an update: 32 turns of a game on the host, each asking the policy, then one update that is not waited for."""
    policy, update = made("policy", 1, 128), made("update", 6)
    (seen, acts), (state, batch) = data(128), data()

    def turn(_):
        nonlocal state
        for _ in range(32):
            _, act = policy(seen, acts)
            float(act)
            sleep(0.2)
        state, loss = update(state, batch)
        return loss
    watch, tops = Watch(), []
    with run.record():
        for number in range(8):
            tops.append(now())
            with mark(number):
                watch.add(turn(number))
        tops.append(now())
        jax.block_until_ready(state)
        watch.steps(tops[0])
    return {"count": 8, "first": 0, "step_s": between(tops), "family": "train", "rough": True,
            "ops": {"3": {"jit_policy": 32, "jit_update": 1}}}


@program
def minimises(run):
    """An optimiser on the host asks for value and gradient as often as it likes; a span each of its iterations."""
    @jax.jit
    def value_and_grad(x, matrix):
        return jax.value_and_grad(lambda y: jnp.sum(jnp.tanh(matrix @ y) ** 2) + 1e-3 * jnp.sum(y * y))(x)
    matrix = jnp.ones((4 * SIZE, 4 * SIZE)) * 1e-3
    point = numpy.linspace(-1, 1, 4 * SIZE).astype(numpy.float32)
    jax.block_until_ready(value_and_grad(point, matrix))

    def iteration(number):
        nonlocal point
        for trial in range(2 + number % 3):
            value, slope = value_and_grad(point, matrix)
            point = point - 0.01 / (1 + trial) * numpy.asarray(slope)
            float(value)
    return looped(run, iteration, 12) | {"ops": {str(k): {"jit_value_and_grad": 2 + k % 3} for k in (0, 4, 11)}}


@program
def lengths_that_change(run):
    """Sequences of four lengths by turns, all compiled before, nobody waits."""
    steps = [made(f"train_{length}", 4, length) for length in (256, 320, 384, 512)]
    states = [data(length) for length in (256, 320, 384, 512)]

    def step(number):
        which = number % 4
        state, loss = steps[which](*states[which])
        states[which] = (state, states[which][1])
        return loss
    return ahead(run, step, 16) | {"idle": 0, "ops": {"6": {"jit_train_384": 1}, "7": {"jit_train_512": 1}}}


@program
def a_new_length_each_fourth(run):
    """Every fourth step has a length that is new and compiles; the loop waits."""
    step = jax.jit(lambda state, batch: (jnp.tanh(state @ batch), state[0, 0]))

    def turn(number):
        state, batch = data(256 + 16 * (number // 4))
        for _ in range(6):
            state, loss = step(state, batch)
        loss.block_until_ready()
    return looped(run, turn, 16)


@program
def convolves(run):
    """A small network of convolutions with its gradient, waited for."""
    def loss_of(kernels, images):
        for kernel in kernels:
            images = jax.nn.relu(jax.lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.mean(images)
    train = jax.jit(lambda kernels, images: jax.tree.map(lambda k, g: k - 0.1 * g, kernels, jax.grad(loss_of)(kernels, images)))
    kernels = [jnp.ones((3, 3, a, b)) * 0.01 for a, b in ((3, 16), (16, 16), (16, 16))]
    images = jnp.ones((8, 32, 32, 3))
    kernels = jax.block_until_ready(train(kernels, images))

    def step(_):
        nonlocal kernels
        kernels = train(kernels, images)
        jax.block_until_ready(kernels)
    return looped(run, step, 12) | {"idle": 0}


@program
def convolves_ahead(run):
    """The same, nobody waits."""
    kernel = jnp.ones((3, 3, 16, 16)) * 0.01

    @jax.jit
    def train(images):
        for _ in range(4):
            images = jax.nn.relu(jax.lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return images, images[0, 0, 0, 0]
    images = jax.block_until_ready(train(jnp.ones((8, 32, 32, 16))))[0]

    def step(_):
        nonlocal images
        images, loss = train(images)
        return loss
    return ahead(run, step, 12) | {"idle": 0}


@program
def solves(run):
    """LAPACK on the device (Cholesky and a singular value decomposition), nobody waits."""
    @jax.jit
    def train(matrix):
        square = matrix @ matrix.T + jnp.eye(len(matrix)) * len(matrix)
        factor = jnp.linalg.cholesky(square)
        _, values, _ = jnp.linalg.svd(factor[:96, :96])
        return matrix + 1e-3 * factor, values[0]
    state = jax.block_until_ready(train(data(384)[0]))[0]

    def step(_):
        nonlocal state
        state, value = train(state)
        return value
    return ahead(run, step, 10)


@program
def sorts_on_host(run):
    """pure_callback to numpy inside the step takes most of it; waited for."""
    def sort(values):
        return numpy.sort(numpy.asarray(values).reshape(-1)).astype(numpy.float32)[:1]

    @jax.jit
    def train(state, batch):
        state = jnp.tanh(state @ batch)
        return state, jax.pure_callback(sort, jax.ShapeDtypeStruct((1,), jnp.float32), state)
    state, batch = data()
    jax.block_until_ready(train(state, batch))

    def step(_):
        nonlocal state
        state, low = train(state, batch)
        low.block_until_ready()
    return looped(run, step, 12)


@program
def tiny_steps(run):
    """A thousand steps of a small product, each waited for: dispatch is most of it."""
    step, (state, batch), times, around_s = made(times=1, size=32), data(32), [], 0
    with run.record():
        for number in range(1000):
            before = now()
            with mark(number):
                begun = now()
                state, loss = step(state, batch)
                loss.block_until_ready()
                times.append(now() - begun)
            around_s += now() - before
    return {"count": 1000, "first": 0, "step_s": times, "family": "train", "rough": True, "mark_s": (around_s - sum(times)) / 1000}


@program
def tiny_steps_ahead(run):
    """A thousand steps of a small product, nobody waits: the period is what the host takes to call."""
    step = made(times=1, size=32)
    state, batch = data(32)
    tops = []
    with run.record():
        jax.block_until_ready(step(state, batch))  # its threads are awake now
        for number in range(1000):
            tops.append(now())
            with mark(number):
                state, _ = step(state, batch)
        tops.append(now())
        jax.block_until_ready(state)
    return {"count": 1000, "first": 0, "step_s": between(tops), "family": "train", "rough": True}


@program
def long_steps_ahead(run):
    """Four steps of some tenths of a second, nobody waits."""
    step = made(times=60)
    state, batch = data()

    def turn(_):
        nonlocal state
        state, loss = step(state, batch)
        return loss
    return ahead(run, turn, 4) | {"idle": 0, "ops": {"2": {"jit_train_step": 1}}}


@program
def updates_each_fourth(run):
    """A span each micro-batch, nobody waits; every fourth also updates, which takes as long as two."""
    micro, update = made("micro", 2), made("update", 4)
    state, batch = data()

    def step(number):
        nonlocal state
        state, loss = micro(state, batch)
        if number % 4 == 3:
            state, loss = update(state, batch)
        return loss
    return ahead(run, step, 16) | {"idle": 0, "ops": {"2": {"jit_micro": 1}, "7": {"jit_micro": 1, "jit_update": 1}}}


@program
def stalls_each_seventh(run):
    """Nobody waits, but every seventh turn writes a file for 60 ms, longer than what was sent lasts."""
    step = made(times=2)
    state, batch = data()
    watch, calls = Watch(), []
    with run.record():
        for number in range(21):
            if number % 7 == 6:
                jax.block_until_ready(state)
                sleep(60)
            with mark(number):
                calls.append(now())
                state, loss = step(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        watch.steps(calls[0])
    done = watch.done
    begins = [call if index == 0 else max(call, done[index - 1]) for index, call in enumerate(calls)]
    return {"count": 21, "first": 0, "step_s": between([*begins, done[-1]]), "family": "train", "rough": True}


@program
def two_threads_one_family(run):
    """Two threads train on shared weights: both call their spans "train", with numbers of their own."""
    step, times = made(times=4), {}

    def loop(which):
        state, batch = data()
        ready.wait()
        times[which] = []
        for number in range(12):
            begun = now()
            with mark(number):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times[which].append((begun, now() - begun))
    ready = threading.Barrier(3)
    threads = [threading.Thread(target=loop, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    with run.record():
        ready.wait()
        for thread in threads:
            thread.join()
    return {"count": 24, "step_s": [length for _, length in sorted([*times[0], *times[1]])], "family": "train", "rough": True}


@program
def samples_by_chunks(run):
    """A chain of a hundred moves is one call of fori_loop; each chunk's sample is written to a file, in a span of a plain name."""
    @jax.jit
    def chunk(state, batch):
        return jax.lax.fori_loop(0, 20, lambda _, x: jnp.tanh(x @ batch), state)
    state, batch = data(256)
    jax.block_until_ready(chunk(state, batch))
    times = []
    with run.record():
        for number in range(10):
            begun = now()
            with jax.profiler.TraceAnnotation("chunk", step_num=number):
                state = chunk(state, batch)
                numpy.save(run.folder / "sample.npy", numpy.asarray(state))
            times.append(now() - begun)
    return {"count": 10, "first": 0, "step_s": times, "span_s": times, "family": "chunk", "ops": {"4": {"jit_chunk": None}}}


if __name__ == "__main__":
    main()
