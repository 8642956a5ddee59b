# SPDX-License-Identifier: Apache-2.0
"""Programs that mark in ways of their own, or drive devices by several threads: one number for all steps, marks that overlap, marks of a
part of the loop, micro-batches within steps, actors beside a learner, stages on several devices. Run with four devices."""

import asyncio
import queue
import threading

import jax
import jax.numpy as jnp
from kit import Watch, between, data, made, main, mark, now, program, sleep

SIDE = 256


@program
def one_number_for_all(run):
    """step_num=0 in every span, as of who forgot to count; waited for."""
    step, (state, batch), times = made(), data(), []
    with run.record():
        for _ in range(12):
            begun = now()
            with mark(0):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 12, "step_s": times, "span_s": times, "family": "train"}


@program
def one_number_for_all_ahead(run):
    """The same, and nobody waits."""
    step, (state, batch), watch, begun = made(), data(), Watch(), None
    with run.record():
        for _ in range(12):
            with mark(0):
                begun = begun or now()
                state, loss = step(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": 12, "step_s": times, "family": "train", "idle": 0}


@program
def counts_down(run):
    """Numbers that fall, from 11 to 0; waited for."""
    step, (state, batch), times = made(), data(), []
    with run.record():
        for number in range(11, -1, -1):
            begun = now()
            with mark(number):
                state, loss = step(state, batch)
                loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 12, "first": 11, "every": -1, "step_s": times, "span_s": times, "family": "train"}


@program
def requests_at_once(run):
    """Four tasks of one thread at once: a span a request, which others begin and end within."""
    step, (state, batch), times = made(times=2), data(), {}

    async def serve(first):
        for number in range(first, first + 5):
            begun = now()
            with mark(number, "request"):
                _, loss = step(state, batch)
                await asyncio.sleep(0.02)
                float(loss)
            times[number] = (begun, now() - begun)

    async def all_of_them():
        await asyncio.gather(*(serve(10 * task) for task in range(4)))
    with run.record():
        asyncio.run(all_of_them())
    own = [length for _, length in sorted(times.values())]
    return {"count": 20, "step_s": own, "family": "request", "unknown": True, "rough": True}


@program
def marks_half_of_the_loop(run):
    """The span holds forward and the loss, which is read; the update stands behind it and nobody waits for it."""
    forward, update = made("forward", 3), made("update", 3)
    (state, batch), times = data(), []
    with run.record():
        for number in range(12):
            begun = now()
            with mark(number):
                _, loss = forward(state, batch)
                float(loss)
            times.append(now() - begun)
            state, _ = update(state, batch)
        jax.block_until_ready(state)
    return {"count": 12, "first": 0, "step_s": times, "span_s": times, "family": "train", "ops": {str(k): {"jit_forward": 1} for k in (0, 5, 11)}}


@program
def micro_batches_are_marked(run):
    """A mark "train" around four marks "micro" and an update; nobody waits: the innermost that repeats is the step."""
    micro, update = made("micro", 2), made("update", 1)
    (state, batch), watch, begun = data(), Watch(), None
    with run.record():
        for number in range(6):
            with mark(number):
                for part in range(4):
                    with mark(4 * number + part, "micro"):
                        begun = begun or now()
                        state, loss = micro(state, batch)
                        watch.add(loss)
                state, loss = update(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        all_times = watch.steps(begun)
    times = [time for index, time in enumerate(all_times) if index % 5 != 4]
    for index in range(len(times)):  # what the update takes lies between its micro-batch and the next
        times[index] += all_times[5 * (index // 4) + 4] if index % 4 == 3 else 0
    return {"count": 24, "first": 0, "step_s": times, "family": "micro", "rough": True,
            "ops": {"3": {"jit_micro": 1}, "10": {"jit_micro": 1}}}


def on(device, name, times):
    def step(state):
        for _ in range(times):
            state = jnp.tanh(state @ state * 0.01)
        return state, state[0, 0]
    step.__name__ = name
    ready, state = jax.jit(step), jax.device_put(jnp.ones((SIDE, SIDE)), jax.devices()[device])
    jax.block_until_ready(ready(state))
    return ready, state


@program
def actors_beside_a_learner(run):
    """The main thread marks a learner on device 0 and does not wait; two threads act on devices 1 and 2 all the time, unmarked."""
    learn, state = on(0, "learn", 12)
    actors, ended, watch, begun = [on(device, f"act_{device}", 1) for device in (1, 2)], threading.Event(), Watch(), None

    def act(step, seen):
        while not ended.is_set():
            _, choice = step(seen)
            float(choice)
            sleep(1)
    threads = [threading.Thread(target=act, args=actor) for actor in actors]
    for thread in threads:
        thread.start()
    with run.record():
        for number in range(12):
            with mark(number):
                begun = begun or now()
                state, loss = learn(state)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
        ended.set()
        for thread in threads:
            thread.join()
    return {"count": 12, "first": 0, "step_s": times, "family": "train", "idle": 0,
            "ops": {str(k): {"jit_learn": 1} for k in (0, 5, 11)}}


@program
def learner_waits_for_actors(run):
    """The main thread marks a learner on device 0, and waits in each span for what threads made on devices 1 and 2, then for its own work."""
    learn, state = on(0, "learn", 12)
    actors, ended, seen, times = [on(device, f"act_{device}", 3) for device in (1, 2)], threading.Event(), queue.Queue(1), []

    def act(step, state):
        while not ended.is_set():
            _, choice = step(state)
            choice = float(choice)
            try:
                seen.put(choice, timeout=1)
            except queue.Full:
                pass
    threads = [threading.Thread(target=act, args=actor) for actor in actors]
    for thread in threads:
        thread.start()
    with run.record():
        for number in range(12):
            begun = now()
            with mark(number):
                seen.get()
                state, loss = learn(state)
                loss.block_until_ready()
            times.append(now() - begun)
    ended.set()
    for thread in threads:
        thread.join()
    return {"count": 12, "first": 0, "step_s": times, "span_s": times, "family": "train",
            "ops": {str(k): {"jit_learn": 1, "jit_act_1": 0, "jit_act_2": 0} for k in (0, 5, 11)}}


@program
def actors_call_what_the_learner_calls(run):
    """The same, but all three are programs of one name, and the learner's waits for what is made of an actor's result before it runs."""
    learn, state = on(0, "play", 12)
    actors, seen, times = [on(device, "play", 9) for device in (1, 2, 3)], queue.Queue(1), []

    def act(step, state):
        for _ in range(4):
            state, _ = step(state)
            seen.put(jax.device_get(state))
    jax.block_until_ready(state + jax.device_put(jax.device_get(state), jax.devices()[0]) * 1e-6)
    threads = [threading.Thread(target=act, args=actor) for actor in actors]
    with run.record():
        for thread in threads:
            thread.start()
        for number in range(12):
            begun = now()
            with mark(number):
                state, loss = learn(state + jax.device_put(seen.get(), jax.devices()[0]) * 1e-6)
                loss.block_until_ready()
            times.append(now() - begun)
        for thread in threads:
            thread.join()
    return {"count": 12, "first": 0, "step_s": times, "span_s": times, "family": "train",
            "ops": {str(k): {"jit_play": 1} for k in (0, 1, 5)}}


@program
def stages_ahead(run):
    """Four stages on four devices, four micro-batches a step go through them one behind the other; nobody waits."""
    stages = [on(device, f"stage_{device}", 3) for device in range(4)]
    watch, begun = Watch(), None
    with run.record():
        for number in range(8):
            with mark(number):
                begun = begun or now()
                for _ in range(4):
                    state = stages[0][1]
                    for device, (stage, _) in enumerate(stages):
                        state, loss = stage(jax.device_put(state, jax.devices()[device]))
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": 8, "first": 0, "step_s": times, "family": "train", "rough": True,
            "ops": {str(k): {f"jit_stage_{device}": 4 for device in range(4)} for k in (1, 6)}}


@program
def sharded_unmarked_ahead(run):
    """A jitted step over four devices, neither marked nor waited for."""
    mesh = jax.sharding.Mesh(jax.devices(), "batch")

    @jax.jit
    def train_step(state):
        for _ in range(4):
            state = jnp.tanh(state @ state * 0.01)
        return state, state.mean()
    state = jax.device_put(jnp.ones((4, SIDE, SIDE)), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch")))
    state, _ = jax.block_until_ready(train_step(state))
    watch, begun = Watch(), None
    with run.record():
        for _ in range(12):
            begun = begun or now()
            state, loss = train_step(state)
            watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": [10, 12], "step_s": times, "family": None, "unknown": True, "rough": True}


@program
def plays_unmarked(run):
    """Twenty turns of a small policy, each read, then one update, eight times; nothing is marked."""
    policy, update = made("policy", 1, 128), made("update", 6)
    (seen, acts), (state, batch), tops = data(128), data(), []
    with run.record():
        for _ in range(8):
            tops.append(now())
            for _ in range(20):
                _, act = policy(seen, acts)
                float(act)
            state, loss = update(state, batch)
            loss.block_until_ready()
        tops.append(now())
    return {"count": [6, 8], "step_s": between(tops), "family": None, "unknown": True, "rough": True}


@program
def trains_and_evaluates_under_one_name(run):
    """Every fourth span, of the same name and count, is an evaluation that takes four times as long; waited for."""
    train, evaluate = made("train_step", 2), made("eval_step", 8)
    (state, batch), times = data(), []
    with run.record():
        for number in range(16):
            begun = now()
            with mark(number, "step"):
                state, loss = (evaluate if number % 4 == 3 else train)(state, batch)
                float(loss)
            times.append(now() - begun)
    return {"count": 16, "first": 0, "step_s": times, "span_s": times, "family": "step", "ops": {"3": {"jit_eval_step": 1}, "4": {"jit_train_step": 1}}}


@program
def compiles_before_it_runs_ahead(run):
    """The recording begins before anything is compiled, as of who wraps the whole of main(); nobody waits."""
    @jax.jit
    def train_step(state, batch):
        for _ in range(6):
            state = jnp.tanh(state @ batch)
        return state, state[0, 0]
    (state, batch), watch = data(), Watch()
    with run.record():
        state = jax.jit(lambda x: x * 0.5)(state)
        state, loss = train_step(state, batch)  # warms up, unmarked
        loss.block_until_ready()
        begun = None
        for number in range(12):
            with mark(number):
                begun = begun or now()
                state, loss = train_step(state, batch)
                watch.add(loss)
        jax.block_until_ready(state)
        times = watch.steps(begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train", "idle": 0, "ops": {"0": {"jit_train_step": 1}}}


if __name__ == "__main__":
    main()
