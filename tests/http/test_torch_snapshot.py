#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's memory snapshots over HTTP, against the counts of the allocator that made them and against sums over the pickle by
Python: totals, peaks, who held memory by stack, a history whose beginning is lost, two devices, refused pickles."""

import collections
import pathlib
import pickle
import pickletools
import sys

import common
import harness
import openapi
from common import ask, good

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import made_snapshot as made  # noqa: E402

CASES = {  # file -> arguments of the model, protocol, whether the history is whole
    "whole": ({"steps": 12, "seed": 3}, 4, True),
    "two": ({"steps": 9, "device_count": 2, "seed": 4}, 5, True),
    "cut": ({"steps": 12, "entries": 300, "seed": 5}, 2, False),
    "end": ({"steps": 3, "entries": 0, "seed": 6}, 4, False),
}
MADE = {}


class Calls:
    def __reduce__(self):
        return print, ("called",)


def copied_in(server):
    for name, (arguments, protocol, _) in CASES.items():
        MADE[name] = made.make(**arguments)
        path = server.place.profiles / f"{name}_snapshot.pickle"
        path.write_bytes(pickletools.optimize(pickle.dumps(MADE[name][0], protocol=protocol)) if name == "two" else
                         pickle.dumps(MADE[name][0], protocol=protocol))
        harness.age(path)
    for name in CASES:
        server.until_state(f"{name}_snapshot", "ready")


def properties(server, run):
    told = good(server, "/api/run", run=run).json["environment"]
    return {(one["track"], one["name"]): one["value"] for one in told}


def totals_are_those_of_memory_stats(server):
    for name, (_, truth) in MADE.items():
        told = properties(server, f"{name}_snapshot")
        for number, device in enumerate(truth):
            for key in ("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "allocation", "segment"):
                assert told[f"GPU {number} memory", f"{key}.all.current"] == device["stats"][key], (name, number, key)


def timeline(server, run):
    reply = good(server, "/api/memory", run=run, view="timeline").json
    openapi.check(reply, "/api/memory")
    return {one["name"]: one for one in reply["allocators"]}


def peaks_are_those_of_memory_stats(server):
    for name, (_, truth) in MADE.items():
        told = timeline(server, f"{name}_snapshot")
        for number, device in enumerate(truth):
            got = told[f"GPU {number}"]["peak_bytes"]
            if CASES[name][2]:
                assert got == device["peaks"]["requested_bytes"], (name, number, got)
            else:
                assert device["stats"]["requested_bytes"] <= got <= device["peaks"]["requested_bytes"], (name, number, got)


def folded(frames):
    return ";".join(f"{frame['name']} ({frame['filename'].rsplit('/', 1)[-1]})" for frame in reversed(frames))


def stacks_at_the_end(server):
    for name, (snapshot, _) in MADE.items():
        wanted = collections.Counter()
        for segment in snapshot["segments"]:
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    wanted[folded(block["frames"])] += block["requested_size"]
        text = good(server, "/api/flame", run=f"{name}_snapshot", by="stack", type="space", format="folded").text
        got = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}
        assert got == dict(wanted), (name, set(got) ^ set(wanted))


def held_at_the_peak(trace):
    """What a plain walk over the events finds alive when most of it is."""
    live, level, best, at_best = {}, 0, 0, {}
    for event in trace:
        if event["action"] == "alloc":
            live[event["addr"]] = event
            level += event["size"]
            if level > best:
                best, at_best = level, dict(live)
        elif event["action"] == "free_requested":
            level -= event["size"]
            del live[event["addr"]]
    return best, at_best


def owners_at_the_peak(server):
    for name in ("whole", "two"):
        for number, trace in enumerate(MADE[name][0]["device_traces"]):
            best, live = held_at_the_peak(trace)
            reply = good(server, "/api/memory", run=f"{name}_snapshot", view="peak", allocator=f"GPU {number}", by="op", limit=1000).json
            openapi.check(reply, "/api/memory")
            wanted = collections.Counter()
            for event in live.values():
                frame = next(one for one in event["frames"] if "site-packages" not in one["filename"])
                wanted[f"{frame['name']} (model.py:{frame['line']})"] += event["size"]
            assert reply["total_bytes"] == best
            assert {row["name"]: row["bytes"] for row in reply["rows"]} == dict(wanted), (name, number)


def a_lost_beginning_is_told(server):
    notes = {note["kind"] for note in good(server, "/api/run", run="cut_snapshot").json["notes"]}
    assert "before-history" in notes, notes
    trace, seen, wanted = MADE["cut"][0]["device_traces"][0], set(), 0
    for event in trace:
        if event["action"] == "alloc":
            seen.add(event["addr"])
        wanted += event["action"] == "free_requested" and event["addr"] not in seen
    rows = good(server, "/api/memory", run="cut_snapshot", view="peak", by="op", limit=1000, at_ps=0).json["rows"]
    assert sum(row["count"] for row in rows if row["name"] == "(no stack)") == wanted > 0, rows


def lives_lie_by_address(server):
    tracks = good(server, "/api/tracks", run="whole_snapshot").json["tracks"]
    segments = {one["name"].split()[1]: one["slice_count"] for one in tracks if one["name"].startswith("segment 0x")}
    trace = MADE["whole"][0]["device_traces"][0]
    bases = sorted(event["addr"] for event in trace if event["action"] == "segment_alloc")
    wanted = collections.Counter()
    for event in trace:
        if event["action"] == "alloc":
            wanted[hex(max(base for base in bases if base <= event["addr"]))] += 1
    assert {name: count for name, count in segments.items() if count} == dict(wanted)


def calls_are_refused(server):
    path = server.place.profiles / "hostile_snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [Calls()], "device_traces": []}))
    harness.age(path)
    server.until_state("hostile_snapshot", "failed")
    text = ask(server, "/api/run", run="hostile_snapshot").text
    assert "STACK_GLOBAL builtins.print" in text and "nothing in a pickle is ever run" in text, text[:600]


if __name__ == "__main__":
    common.main([copied_in, totals_are_those_of_memory_stats, peaks_are_those_of_memory_stats, stacks_at_the_end, owners_at_the_peak,
                 a_lost_beginning_is_told, lives_lie_by_address, calls_are_refused])
