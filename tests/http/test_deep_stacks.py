#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of 600 frames: JSON nests at most 500 deep, and no weight is lost by that."""

import json

import common
import harness
from common import ask, good

FRAMES, SAMPLES = 600, 7


def nesting(value):
    """Without recursion: how deep objects and lists stand in one another."""
    most, left = 0, [(value, 1)]
    while left:
        one, depth = left.pop()
        if isinstance(one, (dict, list)):
            most = max(most, depth)
            left += [(inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one)]
    return most


def made(server):
    frames = {str(number): {"name": f"f{number}", **({"parent": str(number - 1)} if number else {})} for number in range(FRAMES)}
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "name": "train"}]
    events += [{"ph": "P", "pid": 1, "tid": 1, "ts": at, "name": "sample", "sf": str(FRAMES - 1)} for at in range(SAMPLES)]
    file = server.place.profiles / "deep" / "hostA.trace.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"traceEvents": events, "stackFrames": frames}))
    harness.age(file)
    server.until_state("deep/hostA", "ready")


def it_nests_500_at_most(server):
    made(server)
    for query in ({}, {"depth": 512}):
        reply = good(server, "/api/flame", run="deep/hostA", by="stack", **query)
        assert nesting(reply.json) <= 500, nesting(reply.json)
        at, levels = reply.json["root"], 0
        while at["children"]:
            (at,), levels = at["children"], levels + 1
        assert levels == 240 and at["name"] == "f239", (levels, at["name"])
        assert at["count"] == SAMPLES and at.get("self", at.get("self_ps")) == reply.json["root"].get("total", reply.json["root"].get("total_ps")), at
        assert [note["kind"] for note in reply.json["notes"]].count("deep-stacks") == 1, reply.json["notes"]


def the_other_formats_have_more(server):
    text = ask(server, "/api/flame", run="deep/hostA", by="stack", format="folded").body.decode()
    assert ";f511" in text and ";f512" not in text, text[-200:]


if __name__ == "__main__":
    common.main([it_nests_500_at_most, the_other_formats_have_more])
