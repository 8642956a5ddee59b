# SPDX-License-Identifier: Apache-2.0
"""A program of which it is known where it spends its time: three quarters of the main thread's in heavy, a
quarter in light, all of another thread's waiting."""

import sys
import threading
import time


def heavy(until):
    number = 0
    while time.monotonic() < until:
        for index in range(500):
            number += index * index
    return number


def light(until):
    number = 0
    while time.monotonic() < until:
        number += sum(index for index in range(300))
    return number


def waits(stop):
    stop.wait()


class Trainer:
    def step(self, span):
        now = time.monotonic()
        heavy(now + span * 0.75)
        light(now + span)


def naïve():
    trainer = Trainer()
    for _ in range(int(sys.argv[1])):
        trainer.step(0.1)


def main():
    stop = threading.Event()
    thread = threading.Thread(target=waits, args=(stop,))
    thread.start()
    naïve()
    stop.set()
    thread.join()


if __name__ == "__main__":
    main()
