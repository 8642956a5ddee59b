# SPDX-License-Identifier: Apache-2.0
"""Programs with more than one family of steps: train and eval, epochs around steps, two networks in turn."""

import jax
from kit import Watch, data, made, main, mark, now, program, sleep


class Family:
    """A family whose loop waits in each span."""

    def __init__(self, name, step, load=0):
        self.name, self.step, self.load, self.times, self.state = name, step, load, [], data()

    def run(self, number):
        begun = now()
        with mark(number, self.name):
            if self.load:
                sleep(self.load)
            state, loss = self.step(*self.state)
            loss.block_until_ready()
        self.times.append(now() - begun)
        self.state = (state, self.state[1])

    def told(self):
        return {"count": len(self.times), "step_s": self.times}


def two(run, order, first, second, which="train"):
    """order is a text of a letter a step: t is the first family, e the second."""
    with run.record():
        for number, letter in enumerate(order):
            (first if letter == "t" else second).run(number)
    trains, other = (first, second) if which == first.name else (second, first)
    return {**trains.told(), "family": trains.name, "others": {other.name: other.told()}}


@program
def train_and_eval(run):
    """Sixteen steps of training, four of evaluation after each eight of them."""
    return two(run, "tttttttteeee" * 2, Family("train", made("train_step")), Family("eval", made("eval_step", 2)))


@program
def eval_longer(run):
    """Evaluation takes more time and more steps than training."""
    return two(run, "tttteeeeee" * 3, Family("train", made("train_step", 2)), Family("eval", made("eval_step", 8)))


@program
def eval_at_the_end(run):
    """Twelve steps of training, then ten of evaluation with a slow loader."""
    return two(run, "t" * 12 + "e" * 10, Family("train", made("train_step")), Family("evaluate", made("eval_step", 2), load=20))


@program
def validation_first(run):
    """Validation comes before training."""
    return two(run, "eeee" + "t" * 12, Family("train", made("train_step")), Family("validation", made("valid_step")))


@program
def two_networks(run):
    """A generator and a discriminator in turn: the overview is about one of them and names the other."""
    truth = two(run, "te" * 10, Family("discriminator", made("discriminator_step", 2)), Family("generator", made("generator_step", 6)), "generator")
    return truth | {"either": True}


@program
def checkpoints(run):
    """Every fifth step is followed by a save that sleeps 60 ms in a family of its own."""
    train, times = Family("train", made("train_step")), []
    with run.record():
        for number in range(15):
            train.run(number)
            if number % 5 == 4:
                begun = now()
                with mark(number // 5, "save"):
                    sleep(60)
                times.append(now() - begun)
    return {**train.told(), "family": "train", "others": {"save": {"count": 3, "step_s": times}}}


@program
def epochs_around_steps(run):
    """StepTraceAnnotation "epoch" around six of "train": the innermost that repeats is the step."""
    train, epochs = Family("train", made("train_step")), []
    with run.record():
        for epoch in range(3):
            begun = now()
            with mark(epoch, "epoch"):
                for number in range(6):
                    train.run(epoch * 6 + number)
            epochs.append(now() - begun)
    return {**train.told(), "family": "train", "others": {"epoch": {"count": 3, "step_s": epochs}}}


@program
def one_epoch_around(run):
    """One span "epoch" around all steps."""
    train = Family("train", made("train_step"))
    with run.record(), mark(0, "epoch"):
        for number in range(12):
            train.run(number)
    return {**train.told(), "family": "train"}


@program
def plain_epoch_around(run):
    """A TraceAnnotation "epoch" around steps."""
    train = Family("train", made("train_step"))
    with run.record():
        for epoch in range(2):
            with jax.profiler.TraceAnnotation("epoch"):
                for number in range(6):
                    train.run(epoch * 6 + number)
    return {**train.told(), "family": "train"}


@program
def parts_within_steps(run):
    """TraceAnnotations "forward" and "update" within each step are no steps."""
    forward, update, (state, batch), times = made("forward", 2), made("update", 2), data(), []
    with run.record():
        for number in range(12):
            begun = now()
            with mark(number):
                with jax.profiler.TraceAnnotation("forward"):
                    state, _ = forward(state, batch)
                with jax.profiler.TraceAnnotation("update"):
                    state, loss = update(state, batch)
                    loss.block_until_ready()
            times.append(now() - begun)
    return {"count": 12, "first": 0, "step_s": times, "family": "train", "ops": {"4": {"jit_forward": 1, "jit_update": 1}}}


@program
def numbers_begin_again(run):
    """Two epochs whose steps are both numbered 0 to 5."""
    train = Family("train", made("train_step"))
    with run.record():
        for number in [*range(6), *range(6)]:
            train.run(number)
    return {**train.told(), "family": "train"}


@program
def train_ahead_eval_waits(run):
    """Training runs ahead, evaluation after it waits for each of its steps."""
    step, (state, batch), watch, begun = made("train_step"), data(), Watch(), None
    evaluate = Family("eval", made("eval_step", 6))
    with run.record():
        for number in range(12):
            with mark(number):
                begun = begun or now()
                state, loss = step(state, batch)
                watch.add(loss)
        times = watch.steps(begun)
        for number in range(5):
            evaluate.run(number)
    return {"count": 12, "first": 0, "step_s": times, "family": "train", "others": {"eval": evaluate.told()},
            "ops": {"6": {"jit_train_step": 1, "jit_eval_step": 0}}}


@program
def both_ahead(run):
    """Training and evaluation both run ahead in one queue: what eval takes is in no step of train."""
    train, evaluate, (state, batch), watch, begun = made("train_step"), made("eval_step", 2), data(), Watch(), None
    with run.record():
        for number in range(16):
            with mark(number):
                begun = begun or now()
                state, loss = train(state, batch)
                watch.add(loss)
            if number == 7:
                with mark(0, "eval"):
                    watch.add(evaluate(state, batch)[1])
        jax.block_until_ready(state)
        times = watch.steps(begun)
    del times[8]
    return {"count": 16, "first": 0, "step_s": times, "family": "train", "ops": {"3": {"jit_train_step": 1, "jit_eval_step": 0}}}


if __name__ == "__main__":
    main()
