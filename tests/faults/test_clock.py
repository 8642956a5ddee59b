#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machines whose wall clock is wrong or jumps (tests/shims/clock.c): what is read, the order of runs, what the cache holds and who
may ask do not depend on it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import harness

SHIM = pathlib.Path(__file__).resolve().parent.parent / "shims/clock.c"
NAMES, HOUR, YEAR = ("step_500", "step_1000", "step_1500"), 3600, 31557600


def build(place):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        print("skipped: no compiler for tests/shims/clock.c")
        sys.exit(77)
    library = place.dir / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-std=gnu17", "-fno-builtin", "-o", library, SHIM, "-ldl"], check=True)
    return library


class Clock:
    """The wall clock of the programs that get its `env`."""

    def __init__(self, place):
        self.path = place.dir / "clock"
        self.path.write_bytes(bytes(64))
        self.env = {"LD_PRELOAD": str(build(place)), "SHIM_CLOCK": str(self.path), "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def shift(self, seconds):
        with open(self.path, "r+b") as file:
            file.write(f"{int(seconds)}\n".encode().ljust(32, b"\0"))

    def at(self, seconds):
        """It is that moment, in seconds since 1970."""
        self.shift(seconds - time.time())


def told(place, clock, *words):
    done = place.jviewd(*words, "--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data", "--format", "json",
                        env={**os.environ, **clock.env})
    assert done.returncode == 0, (words, done.stdout[-300:], done.stderr)
    return json.loads(done.stdout)


def answers(place, clock):
    """Verbs that name a run wait for it: where the clock is behind the files' times, each of them looks as if written just now."""
    rows = {name: told(place, clock, "top", name)["rows"] for name in ("latest", *NAMES)}
    return rows | {"runs": [(run["name"], run["state"], run["started_at"], run["content_id"]) for run in told(place, clock, "list")["runs"]]}


def indexed(place):
    return [(path.name, path.stat().st_ino) for path in place.segments()]  # its time is when it was last used


def any_year_gives_the_same_answers(place):
    clock = Clock(place)
    for name in NAMES:
        place.sample(name)
    right = answers(place, clock)
    assert [state for _, state, _, _ in right["runs"]] == ["ready"] * len(NAMES), right["runs"]
    segments = indexed(place)
    for moment in (2 * HOUR, 30 * YEAR, 69 * YEAR, 140 * YEAR):
        clock.at(moment)
        assert answers(place, clock) == right and indexed(place) == segments, f"{moment}: nothing is read again"
        fresh, place.cache = place.cache, place.dir / f"cache-{moment}"
        assert answers(place, clock) == right, f"{moment}, a new cache"
        place.cache = fresh


def it_jumps_under_a_server(place):
    clock = Clock(place)
    place.sample(NAMES[0])
    server = place.serve(env=clock.env)
    server.until_state(NAMES[0], "ready")
    for name, shift in ((NAMES[1], -HOUR), (NAMES[2], 5 * YEAR)):
        clock.shift(shift)
        target = place.session(name)
        target.write_bytes(next((harness.SAMPLES / name).rglob("*.xplane.pb")).read_bytes())  # of now by the disk's clock
        server.until_state(name, "ready")
        server.answers(name)
    runs = server.fetch("/api/runs")[2]["runs"]
    clock.shift(0)
    assert [run["name"] for run in runs] == [run["name"] for run in told(place, clock, "list")["runs"]], runs
    assert [run["started_at"] for run in runs] == sorted((run["started_at"] for run in runs), reverse=True), runs
    assert server.stop() == 0, server.words()


def notes_keep_their_order(place):
    clock = Clock(place)
    place.sample(NAMES[0])
    for text, shift in (("first", 0), ("second", -HOUR), ("third", -30 * YEAR), ("fourth", YEAR)):
        clock.shift(shift)
        done = place.jviewd("note", "add", NAMES[0], text, "--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir",
                            place.dir / "data", env={**os.environ, **clock.env})
        assert done.returncode == 0, done.stderr
    assert [row["text"] for row in told(place, clock, "note", "show", NAMES[0])["rows"]] == ["first", "second", "third", "fourth"]


if __name__ == "__main__":
    harness.main([any_year_gives_the_same_answers, it_jumps_under_a_server, notes_keep_their_order])
