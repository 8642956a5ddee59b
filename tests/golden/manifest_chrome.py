#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_chrome.py TRACE_DUMP: every Chrome JSON of $JVIEW_CORPUS is read as its manifest counts it, and as Python reads it.

From MANIFEST.json: events by phase, processes, threads, times by spelling, span, displayTimeUnit, members beside the events.
From Python's json with exact decimals: slices, sum and hull of every thread (of PyTorch's streams: kernels, marks and waits each)
on which only X events and instants lie; arrows from launches to kernels; allocators' events; samples of stacks."""
import collections
import decimal
import gzip
import json
import os
import pathlib
import sys

import manifest

PS = decimal.Decimal(1000000)
decimal.getcontext().prec = 60
PLACES = {"kernel": "stream", "Kernel": "stream", "gpu_memcpy": "stream", "Memcpy": "stream", "gpu_memset": "stream",
          "Memset": "stream", "gpu_user_annotation": "marks", "cuda_sync": "syncs"}
SPELLINGS = {"int": "times that are whole microseconds", "float": "times with decimals", "str": "times that are texts"}
FLATTENED = ("metadata", "otherData")
READ_OTHERWISE = ("username", "systemTraceEvents", "stackFrames", "samples")  # names, notes, stacks


def load(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text, parse_float=decimal.Decimal)
    except ValueError:
        return json.loads(text.rstrip().rstrip(",") + "]", parse_float=decimal.Decimal)


def ps(value):
    exact = decimal.Decimal(value) * PS
    return int(exact.quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def threads_of(events):
    """(slices, sum, hull) of each place where no slice is made of two events."""
    found = collections.defaultdict(lambda: [0, 0, [], []])
    mixed = set()
    for event in events:
        key = (str(event.get("pid", 0)), str(event.get("tid", 0)), PLACES.get(event.get("cat"), "host"))
        phase = event.get("ph")
        if phase in ("B", "E"):
            mixed.add(key)
        if phase not in ("X", "i", "I", "R"):
            continue
        start = ps(event["ts"])
        length = ps(event.get("dur", 0)) if phase == "X" else 0
        entry = found[key]
        entry[0] += 1
        entry[1] += length
        entry[2].append(start)
        entry[3].append(start + length)
    return [(count, total, max(ends) - min(starts)) for key, (count, total, starts, ends) in found.items()
            if key not in mixed]


def launches_of(events):
    """How many kernels and copies have the correlation of a call."""
    calls, launched = set(), collections.Counter()
    for event in events:
        correlation = (event.get("args") or {}).get("correlation") if event.get("ph") == "X" else None
        cat = event.get("cat", "")
        if not correlation:
            continue
        if cat == "Runtime" or cat.endswith("_runtime") or cat.endswith("_driver"):
            calls.add(correlation)
        elif PLACES.get(cat) == "stream":
            launched[correlation] += 1
    return sum(count for correlation, count in launched.items() if correlation in calls)


def samples_of(events, listed):
    """How many samples of call stacks there are, in all spellings."""
    count = len(listed)
    for event in events:
        data = (event.get("args") or {}).get("data") or {}
        if event.get("ph") == "P" and event.get("name") in ("Profile", "ProfileChunk", "CpuProfile"):
            count += len((data.get("cpuProfile") or {}).get("samples") or [])
        elif event.get("ph") == "P":
            count += 1
    return count


def check_counts(path, facts, got):
    counts = got["counts"]
    wanted = {"events": facts["events"]}
    for phase, count in facts["phases"].items():
        wanted["events without phase" if phase == "None" else "events of phase " + phase] = count
    manifest.equal(path, "phases", {key: count for key, count in counts.items() if key.startswith("events")}, wanted)
    manifest.equal(path, "processes", counts.get("processes"), facts["processes"])
    manifest.equal(path, "threads", counts.get("threads"), facts["threads"])
    manifest.equal(path, "times", {key: count for key, count in counts.items() if key.startswith("times ")},
                   {SPELLINGS[kind]: count for kind, count in facts["ts_types"].items()})


def check_around(path, facts, got, loaded):
    around = got["file_properties"]
    manifest.equal(path, "displayTimeUnit", around.get("displayTimeUnit"), facts["displayTimeUnit"])
    for key in facts["other_keys"]:
        if key in FLATTENED:
            for inner in loaded[key]:
                manifest.equal(path, f"{key}.{inner}", f"{key}.{inner}" in around, True)
        elif key not in READ_OTHERWISE:
            manifest.equal(path, key, key in around, True)
    manifest.equal(path, "no user's name", "username" in around, False)


def check(path, facts, got):
    loaded = load(pathlib.Path(os.environ["JVIEW_CORPUS"]) / path)
    events = loaded["traceEvents"] if isinstance(loaded, dict) else loaded
    check_counts(path, facts, got)
    check_around(path, facts, got, loaded)
    seen = collections.Counter((track["count"], track["sum_ps"], track["end_ps"] - track["start_ps"])
                               for track in got["tracks"])
    manifest.equal(path, "threads that are not there", collections.Counter(threads_of(events)) - seen,
                   collections.Counter())
    manifest.equal(path, "launches", got["flows_by_kind"].get("kernel launch", 0), launches_of(events))
    manifest.equal(path, "samples", got["stack_samples"],
                   samples_of(events, loaded.get("samples", []) if isinstance(loaded, dict) else []))
    begun = sum(facts["phases"].get(phase, 0) for phase in "XiIRNODvVcBbSnTp")
    manifest.equal(path, "slices", got["slices"], begun)
    manifest.equal(path, "allocators' events", got["memory_events"],
                   sum(event.get("name") == "[memory]" for event in events))
    starts = [track["start_ps"] for track in got["tracks"] if track["count"]]
    ends = [track["end_ps"] for track in got["tracks"] if track["count"]]
    if set(facts["phases"]) <= {"X", "i", "I", "M", "None"}:
        manifest.equal(path, "span", round((max(ends) - min(starts)) / 1e6, 3), facts["span_us"])


if __name__ == "__main__":
    sys.exit(manifest.run(sys.argv[1], "chrome-trace-json", check))
