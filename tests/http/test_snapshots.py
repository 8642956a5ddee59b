#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots over HTTP: lists, sums, differences and graphs against sums of the samples by hand."""

import pathlib
import sys

import common
import harness
import openapi
from common import ask, good

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import make_pprof_seeds as made  # noqa: E402

GREW = made.MEMORY + made.sample([1, 2], [3, 1000], made.field(1, 5) + made.field(2, 6), made.field(1, 7) + made.field(2, 8))


def copied_in(server):
    folder = server.place.profiles / "memory"
    folder.mkdir()
    (folder / "mem_9.prof").write_bytes(made.MEMORY + made.MEMORY_STRINGS)
    (folder / "mem_10.prof").write_bytes(GREW + made.MEMORY_STRINGS)
    for path in folder.iterdir():
        harness.age(path)
    server.until_state("memory", "ready")


def memory(server, **query):
    reply = good(server, "/api/memory", run="memory", **query).json
    openapi.check(reply, "/api/memory")
    return reply


def in_order(server):
    reply = memory(server)
    assert reply["view"] == "pprof", "a run that is only snapshots answers with them"
    assert [one["name"].rsplit("/")[-1] for one in reply["snapshots"]] == ["mem_9.prof", "mem_10.prof"]
    assert [one["types"][1]["total"] for one in reply["snapshots"]] == [4095, 5095]
    assert reply["snapshot"].endswith("mem_10.prof") and reply["total"] == 5095


def sums(server):
    for by in ("owner", "function", "source", "frame", "device", "kind"):
        reply = memory(server, by=by)
        assert sum(row["value"] for row in reply["rows"]) == 5095, by
        assert sum(row["count"] for row in reply["rows"]) == 6, by
    kinds = {row["name"]: row["value"] for row in memory(server, by="kind")["rows"]}
    assert kinds == {"buffer": 5096, "executable": -1}


def difference(server):
    reply = memory(server, base="mem_9.prof", by="kind")
    assert reply["base_total"] == 4095
    assert {row["name"]: (row["base_value"], row["delta"]) for row in reply["rows"]} == {"buffer": (4096, 1000), "executable": (-1, 0)}


def types(server):
    reply = memory(server, type="allocations")
    assert (reply["unit"], reply["total"]) == ("count", 6)


def pages(server):
    first = memory(server, limit=1)
    second = memory(server, limit=1, cursor=first["next"])
    assert first["rows"] != second["rows"] and second["next"] is None
    table = good(server, "/api/memory", run="memory", format="csv", sort="name").text.split("\r\n")
    assert table[0].startswith("name,source,device,kind,value") and len(table) == 4


def graph(server):
    reply = good(server, "/api/flame", run="memory", by="bytes", snapshot="mem_9.prof").json
    openapi.check(reply, "/api/flame")
    assert (reply["unit"], reply["root"]["total"]) == ("bytes", 4095)
    folded = good(server, "/api/flame", run="memory", by="bytes", format="folded").text
    assert folded == "main (train.py);apply_primitive (dispatch.py) 5096\n", folded


def refused(server):
    for query in ({"snapshot": "mem_1.prof"}, {"base": "x"}, {"type": "x"}, {"sort": "x"}, {"view": "timeline", "sort": "name"}):
        reply = ask(server, "/api/memory", run="memory", **query)
        assert reply.status in (400, 404), (query, reply.status)


if __name__ == "__main__":
    common.main([copied_in, in_order, sums, difference, types, pages, graph, refused])
