#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A snapshot of memory is no run that one falls for: the latest is one with a timeline, and its own page says bytes."""

import json
import os
import pathlib
import time

from harness import TESTS, age, main

SNAPSHOT = TESTS / "golden/cases/memory.prof"  # save_device_memory_profile: five buffers of 4,000,000 B, two of 6,000,000 B


def snapshot(place, name, seconds=30):
    path = place.profiles / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SNAPSHOT.read_bytes())
    age(path, seconds)
    return path


def asked(place, verb, *operands):
    done = place.jviewd(verb, *operands, "--cache-dir", place.cache, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def the_latest_has_a_timeline(place):
    place.sample("step_500")
    snapshot(place, "memory.prof")
    snapshot(place, "later/memory.prof", 10)
    assert len(asked(place, "list", place.profiles)["runs"]) == 3
    assert asked(place, "overview", place.profiles)["run"]["name"] == "step_500"
    names = [asked(place, "overview", word, "--profile-dir", place.profiles)["run"]["name"] for word in ("latest", "latest-1")]
    assert names == ["step_500", "later"], names
    to = place.dir / "out"
    done = place.jviewd("--extract", place.profiles, "-o", to, "--cache-dir", place.cache)
    assert done.returncode == 0 and list(pathlib.Path(to).rglob("*.json")), done.stderr


def alone_it_says_bytes(place):
    path = snapshot(place, "memory.prof")
    page = asked(place, "overview", path)
    rows = {row["name"]: (row["value"], row["count"]) for row in page["snapshot"]["rows"] if row["value"]}
    assert page["snapshot"]["total_bytes"] == 32_000_000 and rows == {"weights": (20_000_000, 5), "cache": (12_000_000, 2)}, page["snapshot"]
    assert "holds 30.5 MiB: 19.1 MiB of weights, 11.4 MiB of cache" in page["sentence"], page["sentence"]
    done = place.jviewd("overview", path, "--cache-dir", place.cache)
    assert "Memory: the snapshot memory.prof holds 30.5 MiB." in done.stdout and "Where the time goes" not in done.stdout, done.stdout


def a_timeline_says_no_snapshot(place):
    place.sample("step_500")
    assert asked(place, "overview", place.profiles)["snapshot"] is None


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    main([the_latest_has_a_timeline, alone_it_says_bytes, a_timeline_says_no_snapshot])
