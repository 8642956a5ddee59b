# SPDX-License-Identifier: Apache-2.0
"""Programs on eight CPU devices: pmap, shard_map, jit with shardings, one device after the other."""

import threading

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from kit import Watch, main, mark, now, program, sleep

COUNT = 8
SIDE = 192


def waiting(run, step, state, count=12, load=0):
    """Waits in each span."""
    times, slept = [], 0
    with run.record():
        for number in range(count):
            begun = now()
            with mark(number):
                slept += sleep(load) if load else 0
                state, loss = step(state)
                jax.block_until_ready(loss)
            times.append(now() - begun)
    return {"count": count, "first": 0, "step_s": times, "family": "train"} | ({"idle": slept / sum(times)} if load else {})


def running(run, step, state, count=12):
    """Waits after the loop."""
    watch, begun = Watch(), None
    with run.record():
        for number in range(count):
            with mark(number):
                begun = begun or now()
                state, loss = step(state)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": count, "first": 0, "step_s": times, "family": "train"}


def multiply(state, times=4):
    for _ in range(times):
        state = jnp.tanh(state @ state * 0.01)
    return state


def mesh():
    return Mesh(jax.devices(), "batch")


def shards():
    return jax.device_put(jnp.ones((COUNT, SIDE, SIDE)), NamedSharding(mesh(), PartitionSpec("batch")))


def pmapped():
    def train_step(state):
        state = multiply(state)
        return state, jax.lax.pmean(state[0, 0], "batch")
    step, state = jax.pmap(train_step, "batch"), jnp.ones((COUNT, SIDE, SIDE))
    for _ in range(2):  # where the state lies is part of what is compiled
        state, _ = jax.block_until_ready(step(state))
    return step, state


def mapped(collective):
    def train_step(state):
        state = multiply(state)
        return collective(state), jax.lax.pmean(state[0, 0, 0], "batch")
    part = PartitionSpec("batch")
    step = jax.jit(jax.shard_map(train_step, mesh=mesh(), in_specs=part, out_specs=(part, PartitionSpec())))
    return step, jax.block_until_ready(step(shards()))[0]


def sharded():
    @jax.jit
    def train_step(state):
        state = multiply(state)
        return state, state.mean()
    return train_step, jax.block_until_ready(train_step(shards()))[0]


@program
def pmap_waits(run):
    """pmap with a pmean, waited for each step."""
    return waiting(run, *pmapped())


@program
def pmap_ahead(run):
    """pmap with a pmean, nobody waits."""
    return running(run, *pmapped())


@program
def shard_map_waits(run):
    """shard_map with a psum, waited for."""
    return waiting(run, *mapped(lambda state: state + jax.lax.psum(state[0, 0, 0], "batch") * 0.0)) | {"ops": {"5": {"jit_train_step": None}}}


@program
def shard_map_ahead(run):
    """shard_map with a psum, nobody waits."""
    return running(run, *mapped(lambda state: state + jax.lax.psum(state[0, 0, 0], "batch") * 0.0))


@program
def ring_ahead(run):
    """shard_map whose state goes round a ring by ppermute."""
    ring = [(index, (index + 1) % COUNT) for index in range(COUNT)]
    return running(run, *mapped(lambda state: jax.lax.ppermute(state, "batch", ring)))


@program
def gather_waits(run):
    """shard_map that gathers all shards and keeps their mean."""
    return waiting(run, *mapped(lambda state: jax.lax.all_gather(state, "batch").mean(0)))


@program
def jit_sharded_waits(run):
    """jit over a sharded batch, waited for."""
    return waiting(run, *sharded())


@program
def jit_sharded_ahead(run):
    """jit over a sharded batch, nobody waits."""
    return running(run, *sharded())


@program
def sharded_input_bound(run):
    """jit over a sharded batch; the loader sleeps 60 ms in the span."""
    truth = waiting(run, *sharded(), load=60)
    return truth | {"idle_at_least": truth.pop("idle")}  # devices run one after the other on few cores


def on(device, name, times):
    def step(state):
        return multiply(state, times), state[0, 0]
    step.__name__ = name
    return jax.jit(step), jax.device_put(jnp.ones((2 * SIDE, 2 * SIDE)), device)


@program
def one_of_eight(run):
    """One device works, seven never do."""
    step, state = on(jax.devices()[3], "train_step", 4)
    jax.block_until_ready(step(state))
    return waiting(run, step, state) | {"ops": {"5": {"jit_train_step": 1}}}


@program
def pipeline(run):
    """Device 0 runs the first half of the step, device 1 the second; the loop waits."""
    (first, state), (second, _) = on(jax.devices()[0], "stage_0", 3), on(jax.devices()[1], "stage_1", 3)

    def step(state):
        half, _ = first(state)
        _, loss = second(jax.device_put(half, jax.devices()[1]))
        return state, loss
    jax.block_until_ready(step(state))
    return waiting(run, step, state) | {"ops": {str(k): {"jit_stage_0": 1, "jit_stage_1": 1} for k in (1, 8)}}


@program
def alternates(run):
    """Even steps run on device 0, odd ones on device 1; waited for."""
    parts = [on(device, f"half_{index}", 4) for index, device in enumerate(jax.devices()[:2])]
    for part, state in parts:
        jax.block_until_ready(part(state))
    numbers = iter(range(12))

    def step(_):
        part, state = parts[next(numbers) % 2]
        return part(state)
    return waiting(run, step, None) | {"ops": {"4": {"jit_half_0": 1}, "5": {"jit_half_1": 1}}}


@program
def a_thread_each(run):
    """Two threads drive a device each, with a family each."""
    parts, times = {f"worker_{index}": on(jax.devices()[index], f"work_{index}", 4) for index in range(2)}, {}

    def loop(name, step, state):
        jax.block_until_ready(step(state))
        ready.wait()
        times[name] = []
        for number in range(12):
            begun = now()
            with mark(number, name):
                state, loss = step(state)
                loss.block_until_ready()
            times[name].append(now() - begun)
    ready = threading.Barrier(3)
    threads = [threading.Thread(target=loop, args=(name, *part)) for name, part in parts.items()]
    for thread in threads:
        thread.start()
    with run.record():
        ready.wait()
        for thread in threads:
            thread.join()
    return {"count": 12, "step_s": times["worker_0"], "family": "worker_0", "either": True,
            "others": {"worker_1": {"count": 12, "step_s": times["worker_1"]}}}


if __name__ == "__main__":
    main()
