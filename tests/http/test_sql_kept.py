#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQL over a large run: views are the tables that the server keeps for its endpoints, and need no segment."""

import json
import pathlib
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import harness  # noqa: E402
from test_sql import VIEWS, flat  # noqa: E402

KEPT = ("ops", "names", "scopes", "modules", "steps", "hosts", "kernels", "roofline", "collectives")


def rows(server, query):
    request = urllib.request.Request(f"{server.url}/api/sql?run=large", json.dumps({"query": query}).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["rows"]


def endpoint(server, view):
    path, query = VIEWS[view]
    status, _, body = server.fetch(path, run="large", limit=10000, **query)
    assert status == 200, body
    return [flat(row) for row in body["rows"]]


def segments_open(server):
    return sum(".seg" in pathlib.Path(f"/proc/{pid}/maps").read_text() for pid in server.children())


def large(place):
    harness.make_profile(place.session("large"), events=1_100_000)
    server = place.serve()
    server.until_state("large", "ready")
    return server, {view: endpoint(server, view) for view in KEPT}  # who asks is who keeps


def views_are_what_the_endpoints_keep(place):
    server, want = large(place)
    for view in KEPT:
        got = rows(server, f"select * from {view}")
        for row in got:
            assert row.pop("run") == "large"
        assert got == want[view], view
    assert len(want["ops"]) > 50 and len(want["names"]) > 50, want
    assert segments_open(server) == 0
    assert rows(server, "select count(*) c from slices") == [{"c": server.run("large")["slice_count"]}]
    assert segments_open(server) == 1


def damaged_ones_are_made_again(place):
    server, want = large(place)
    for answer in (place.cache / "answers").iterdir():
        data = bytearray(answer.read_bytes())
        data[len(data) // 2] ^= 1
        answer.write_bytes(data)
    got = rows(server, "select name, self_ps from ops")
    assert got == [{"name": row["name"], "self_ps": row["self_ps"]} for row in want["ops"]]
    assert segments_open(server) == 1


if __name__ == "__main__":
    harness.main([views_are_what_the_endpoints_keep, damaged_ones_are_made_again])
