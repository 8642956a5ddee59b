# SPDX-License-Identifier: Apache-2.0
"""Twelve steps in plain Python, each a load that sleeps and a computation; writes what each took to the file named."""

import json
import sys
import time


def load():
    time.sleep(0.02)


def compute(count):
    total = 0
    for number in range(count):
        total += number * number
    return total


def train_step():
    load()
    return compute(150_000)


def main():
    times = []
    for _ in range(12):
        begun = time.perf_counter()
        train_step()
        times.append(time.perf_counter() - begun)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"step_s": times}, file)


main()
