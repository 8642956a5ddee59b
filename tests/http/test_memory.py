#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory over HTTP: allocators and owners against a replay by hand, heaps of the samples, what each view refuses."""

import csv
import io
import json

import common
import harness
import openapi
from common import RUN, ask, good

# (us, frees, address, bytes, allocated, op): 100 bytes were there before; 400 is reached twice
EVENTS = [(10, False, 1, 100, 200, "f/a"), (20, False, 2, 200, 400, "f/g/b"), (30, True, 1, 100, 300, None), (40, False, 3, 100, 400, "f/a"),
          (50, True, 9, 50, 350, None), (60, True, 3, 100, 250, None)]


def copied_in(server):
    folder = server.place.profiles / "allocators"
    folder.mkdir()
    events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}}, {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "name": "train"}]
    for at, frees, address, size, allocated, op in EVENTS:
        args = {"allocator_name": "GPU_0_bfc", "addr": str(address), "allocation_bytes": str(size), "bytes_allocated": str(allocated),
                "bytes_available": str(1000 - allocated), "bytes_reserved": "0", "peak_bytes_in_use": "500"}
        events.append({"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": 0, "name": "MemoryDeallocation" if frees else "MemoryAllocation",
                       "args": args | ({"tf_op": op} if op else {})})
    file = folder / "hostA.trace.json"
    file.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    harness.age(file)
    server.until_state("allocators/hostA", "ready")


def memory(server, run="allocators/hostA", **query):
    reply = good(server, "/api/memory", run=run, **query).json
    openapi.check(reply, "/api/memory")
    return reply


def over_time(server):
    (one,) = memory(server)["allocators"]
    assert (one["peak_bytes"], one["peak_at_ps"], one["capacity_bytes"], one["before_bytes"]) == (400, 20_000_000, 1000, 100), one
    assert (one["lifetime_peak_bytes"], one["levels"], len(one["samples"])) == (500, "told", len(EVENTS))


def in_a_window(server):
    (one,) = memory(server, start_ps=32_000_000, end_ps=38_000_000)["allocators"]
    assert (one["peak_bytes"], one["peak_at_ps"], one["event_count"]) == (300, 32_000_000, 0), "what was in use when it began"


def owners(server):
    reply = memory(server, view="peak")
    assert {(row["name"], row["bytes"], row["row_kind"]) for row in reply["rows"]} == \
        {("b", 200, "owner"), ("a", 100, "owner"), ("(allocated before the capture)", 100, "before")}
    assert (reply["at_ps"], reply["total_bytes"]) == (20_000_000, 400)
    live, before = {}, 100
    for at, frees, address, size, allocated, _ in EVENTS:
        if frees:
            before -= size if live.pop(address, 0) == 0 else 0
        else:
            live[address] = size
        for by in ("owner", "op", "scope", "shape", "category", "allocation"):
            reply = memory(server, view="peak", at_ps=at * 1_000_000, by=by)
            sums = {kind: sum(row["bytes"] for row in reply["rows"] if row["row_kind"] == kind) for kind in ("owner", "before")}
            assert sums == {"owner": sum(live.values()), "before": before}, (at, by, sums)
            assert reply["total_bytes"] == allocated, (at, by)


def owners_over_time(server):
    """Every event is a moment of its own here: each layer against a replay by hand, and all of them against the level."""
    for by, name_of in (("op", lambda op: op.split("/")[-1]), ("scope", lambda op: op.rsplit("/", 1)[0])):
        reply = memory(server, view="layers", by=by)
        assert reply["moments_ps"] == [event[0] * 1_000_000 for event in EVENTS] and reply["in_use_bytes"] == [event[4] for event in EVENTS]
        layers = {layer["name"]: layer for layer in reply["layers"]}
        live, want = {}, []
        for _, frees, address, size, allocated, op in EVENTS:
            live.pop(address, None)
            if not frees:
                live[address] = (name_of(op), size)
            held = {}
            for name, bytes_ in live.values():
                held[name] = held.get(name, 0) + bytes_
            want.append(held | {"(allocated before the capture)": allocated - sum(held.values())})
        for at, held in enumerate(want):
            assert {name: layer["bytes"][at] for name, layer in layers.items() if layer["bytes"][at]} == {name: size for name, size in held.items() if size}, (by, at)
    assert all(layer["slice"] for layer in reply["layers"] if layer["row_kind"] == "owner")
    cut = memory(server, view="layers", start_ps=32_000_000, end_ps=38_000_000)
    assert (cut["moments_ps"], cut["in_use_bytes"]) == ([32_000_000], [300]), "what was in use when the window began"


def heap(server):
    reply = memory(server, run=RUN, view="heap", limit=10000)
    assert reply["peak_bytes"] == sum(row["bytes"] for row in reply["rows"]) == max(point["bytes"] for point in reply["points"])
    assert reply["fixed_bytes"] == reply["parameter_bytes"] + reply["output_bytes"] + reply["constant_bytes"]
    everything = memory(server, run=RUN, view="heap", buffers="all", limit=10000)
    assert everything["row_count"] >= reply["row_count"] and everything["position"] is None
    for position in (0, reply["peak_position"], reply["position_count"] - 1):
        there = memory(server, run=RUN, view="heap", position=position, limit=10000)
        assert there["alive_bytes"] == next(point["bytes"] for point in reply["points"] if point["position"] == position), position
    rows = list(csv.DictReader(io.StringIO(good(server, "/api/memory", run=RUN, view="heap", format="csv", limit=10000).text)))
    assert sum(int(row["bytes"]) for row in rows) == reply["peak_bytes"]
    for index, point in enumerate(everything["points"]):
        alive = [row for row in everything["rows"] if row["from_point"] is not None and row["from_point"] <= index <= row["to_point"]]
        assert sum(row["bytes"] for row in alive) == point["bytes"], index
    for module in good(server, "/api/hlo", run=RUN, limit=1000).json["modules"]:
        if module["has_buffer_assignment"]:
            one = memory(server, run=RUN, view="heap", module=module["key"], limit=10000)
            assert one["alive_bytes"] == one["peak_bytes"], module["key"]


def nothing_says_why(server):
    assert memory(server, run=RUN)["reasons"]["allocators"]
    assert "the profile holds no allocator events" in good(server, "/api/memory", run=RUN, format="md").text, "as text too"
    assert memory(server, run=RUN, view="peak")["reasons"]["allocator"]
    assert memory(server, view="heap")["reasons"]["module"]


def refused(server):
    for query in ({"at_ps": 1}, {"view": "heap", "at_ps": 1}, {"view": "peak", "module": "x"}, {"view": "peak", "snapshot": "x"}, {"position": 1},
                  {"view": "peak", "allocator": "x"}, {"view": "peak", "by": "frame"}, {"view": "heap", "module": "x"}, {"view": "layers", "by": "allocation"},
                  {"view": "layers", "limit": 5}, {"view": "layers", "allocator": "x"}, {"view": "layers", "format": "csv"}, {"view": "x"}):
        reply = ask(server, "/api/memory", run="allocators/hostA", **query)
        assert reply.status in (400, 404), (query, reply.status)


if __name__ == "__main__":
    common.main([copied_in, over_time, in_a_window, owners, owners_over_time, heap, nothing_says_why, refused])
