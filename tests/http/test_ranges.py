#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A range of a run is answered alike by a server that knows the run already and by a process that begins anew."""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import harness  # noqa: E402

QUESTIONS = ("overview", "findings", "steps", "hosts", "collectives", "transfers", "compiles")
RANGES = 4


def runs(place):
    for shape in ("gpu", "tpu", "cpu"):
        harness.make_profile(place.session(shape), shape, events=30000)
    place.sample("step_1000")
    return ("gpu", "tpu", "cpu", "step_1000")


def ranges(run, dice):
    """Wide and narrow ones, one that begins before the run, one that ends behind it."""
    duration_ps = run["duration_ps"]
    for share in (0.5, 0.1, 0.02)[:RANGES - 1]:
        start_ps = dice.randrange(int(duration_ps * (1 - share)))
        yield start_ps, start_ps + int(duration_ps * share)
    yield -1000, dice.randrange(duration_ps)
    yield dice.randrange(duration_ps), 2 * duration_ps


def anew(place, question, name, asked):
    flags = [word for key, value in asked.items() for word in (f"--{key.replace('_', '-')}={value}",)]
    done = place.jviewd(question, name, *flags, "--format", "json", "--profile-dir", place.profiles, "--cache-dir",
                        place.dir / "anew", "--data-dir", place.dir / "data")
    assert done.returncode == 0, (question, name, asked, done.stderr)
    return json.loads(done.stdout)


def whoever_answers(place):
    names, dice, answers = runs(place), random.Random(7), 0
    server = place.serve()
    known = server.until_settled()
    for name in names:
        for question in QUESTIONS:  # of the whole run, so that all that is kept of it is
            server.fetch("/api/" + question, run=name, wait_ms=30000)
        for start_ps, end_ps in ranges(known[name], dice):
            asked = {"start_ps": start_ps, "end_ps": end_ps}
            for question in QUESTIONS:
                status, _, got = server.fetch("/api/" + question, run=name, **asked)
                assert status == 200, (question, name, asked, got)
                want = anew(place, question, name, asked)
                assert got == want, (question, name, asked, *(
                    (key, got.get(key), want.get(key)) for key in got if got.get(key) != want.get(key)))
                answers += len(got.get("rows", got))
    assert answers > 500, answers


if __name__ == "__main__":
    harness.main([whoever_answers])
