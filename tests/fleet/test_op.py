#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An op is the same in each answer: its row of the table, its own answer, the hits of its search; over the whole
recording, of the steps that count, of one step."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
import common  # noqa: E402
import openapi  # noqa: E402
from common import ask, good  # noqa: E402

RUNS = ("step_500", "step_1000", "step_1500")


def op_of(server, run, row, **within):
    reply = good(server, "/api/op", run=run, name=row["name"], module=row["module"], **within).json
    openapi.check(reply, "/api/op")
    return reply


def hits(server, run, row, **within):
    q = f'op:"{row["name"]}"' + (f' module:"{row["module"]}"' if row["module"] else "")
    return good(server, "/api/search", run=run, q=q, limit=1, **within).json["row_count"]


def check_row(server, run, row, within):
    found = op_of(server, run, row, **within)
    where = (run, row["name"], within)
    assert found["event_count"] == row["event_count"] == hits(server, run, row, **within), where
    assert found["self_ps"] == row["self_ps"], where
    assert found["max_ps"] == row["max_ps"] and found["min_ps"] == row["min_ps"], where
    parts = [*found["steps"], found["outside"]]
    assert sum(part["self_ps"] for part in parts) == found["self_ps"], where
    assert sum(part["count"] for part in parts) == found["event_count"], where
    if found["histogram"]:
        assert sum(found["histogram"]["counts"]) == found["event_count"], where
    slice_ = good(server, "/api/slice", run=run, id=found["longest"]).json
    assert slice_["op"] == row["name"] or slice_["name"] == row["name"], where
    return found


def rows_are_ops(server):
    for run in RUNS:
        steps = good(server, "/api/overview", run=run).json["step"]["numbers"]
        first = steps.split("-")[0]
        for within in ({}, {"step": "counted"}, {"step": first}):
            top = good(server, "/api/top", run=run, by="op", limit=5000, **within).json
            assert ("counted" in top) == (within.get("step") == "counted")
            assert top.get("counted", steps) == steps
            for row in [*top["rows"][:12], *top["rows"][-3:]]:
                found = check_row(server, run, row, within)
                if within:
                    assert found["outside"]["count"] == 0, (run, row["name"])


def one_step_is_a_part(server):
    """Of an op the steps of its own answer are what the table of that step says."""
    (row,) = good(server, "/api/top", run="step_1500", by="op", limit=1, step="counted").json["rows"]
    found = op_of(server, "step_1500", row, step="counted")
    for step in found["steps"]:
        rows = good(server, "/api/top", run="step_1500", by="op", limit=5000, step=step["step"]).json["rows"]
        own = sum(one["self_ps"] for one in rows if one["key"] == row["key"])
        assert own == step["self_ps"], step


def names(server):
    """By name it is what the table by name sums."""
    for row in good(server, "/api/top", run="step_1000", by="name", limit=10).json["rows"]:
        found = good(server, "/api/op", run="step_1000", by="name", name=row["name"]).json
        assert (found["event_count"], found["self_ps"]) == (row["event_count"], row["self_ps"]), row["name"]
        q = f'is:"{row["name"]}"'
        assert good(server, "/api/search", run="step_1000", q=q, limit=1).json["row_count"] >= row["event_count"]


def faults(server):
    assert ask(server, "/api/op", run="step_1000").status == 400
    assert ask(server, "/api/op", run="step_1000", name="no such op").status == 404
    assert ask(server, "/api/top", run="step_1000", step="some").status == 400
    assert ask(server, "/api/search", run="step_1000", q="dot", step="999999").status == 404


if __name__ == "__main__":
    common.main([rows_are_ops, one_step_is_a_part, names, faults])
