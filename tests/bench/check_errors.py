#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `jviewd check` is wrong on real runs: pairs of equal programs, and of one that does 3 % more.

    check_errors.py JVIEWD EQUAL SLOWER [--pairs 200] [--slow 100] [--baseline 1]

EQUAL and SLOWER hold what check_program.py wrote, a directory a process: the two runs of a pair are never of one process, for that is what
nobody compares. `--baseline 5` gives each check five runs of as many processes. Prints a line of JSON: how many checks of each kind ended in
which exit code, and what the programs' own clocks say of how whole runs differ.
"""
import argparse
import collections
import json
import pathlib
import random
import statistics
import subprocess


def processes(place):
    return [sorted(path for path in folder.iterdir() if path.is_dir()) for folder in sorted(place.iterdir()) if (folder / "clock.json").is_file()]


def spread(place):
    """Of whole runs, by their own clocks: the standard deviation of their medians, of the mean."""
    medians = [statistics.median(steps[2:]) for clock in place.glob("*/clock.json") for steps in json.loads(clock.read_text()).values()]
    return statistics.stdev(medians) / statistics.mean(medians)


def check(asked, run, baselines):
    done = subprocess.run([asked.jviewd, "check", run, "--baseline", ",".join(map(str, baselines)), "--cache-dir", asked.cache, "--maybe-exit", "8"],
                          capture_output=True, text=True)
    return {0: "ok", 1: "regressed", 7: "unknown", 8: "maybe"}.get(done.returncode, done.stderr.strip()[:80])


def count(asked, baselines, runs, checks, seed):
    draw, answers = random.Random(seed), collections.Counter()
    for _ in range(checks):
        places = draw.sample(range(len(baselines)), asked.baseline + 1)
        run = draw.choice(runs[places[0] % len(runs)])
        answers[check(asked, run, [draw.choice(baselines[place]) for place in places[1:]])] += 1
    return dict(answers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jviewd")
    parser.add_argument("equal", type=pathlib.Path)
    parser.add_argument("slower", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--slow", type=int, default=100)
    parser.add_argument("--baseline", type=int, default=1)
    parser.add_argument("--cache", default="/tmp/jviewd-check")
    asked = parser.parse_args()
    equal, slower = processes(asked.equal), processes(asked.slower)
    print(json.dumps({"baseline_runs": asked.baseline, "runs_differ_by": round(spread(asked.equal), 4),
                      "equal": count(asked, equal, equal, asked.pairs, 1), "slower": count(asked, equal, slower, asked.slow, 2)}))


if __name__ == "__main__":
    main()
