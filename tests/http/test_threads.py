#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads over HTTP, in SQL and on the command line, against a reader of its own (golden/xplane_reader.py)."""

import csv
import io
import json
import pathlib
import subprocess
import sys

import common
import harness
import openapi
from common import ask, good

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import xplane_reader  # noqa: E402

RUNS = ("step_500", "step_1000", "step_1500")


def threads(server, run, **query):
    reply = good(server, "/api/threads", run=run, limit=10000, **query).json
    openapi.check(reply, "/api/threads")
    return reply


def raw_threads(run):
    """{(process, thread's number): events} of the file, and the run's first moment."""
    (file,) = (harness.SAMPLES / run).rglob("*.xplane.pb")
    planes = xplane_reader.read(file)["planes"]
    lines = {(plane["name"], str(line["id"])): line["events"] for plane in planes for line in plane["lines"] if line["events"]}
    return lines, min(event["begin_ps"] for events in lines.values() for event in events) // 1000 * 1000


def within(events, zero, begin, end):
    """Those that touch [begin, end) as (from, to, event); instants at the end are behind it."""
    out = []
    for event in events:
        start, dur = event["begin_ps"] - zero, event["dur_ps"]
        if start < end and (start + dur > begin or (dur == 0 and start >= begin)):
            out.append((max(start, begin), min(start + dur, end), event))
    return out


def union(spans):
    total, reached = 0, None
    for start, stop in sorted(spans):
        if reached is None or start > reached:
            reached = start
        if stop > reached:
            total += stop - reached
            reached = stop
    return total


def check(rows, run, begin, end, span):
    lines, zero = raw_threads(run)
    inside = {key: found for key, events in lines.items() if (found := within(events, zero, begin, end))}
    assert {(row["process"], row["tid"]) for row in rows} == set(inside), (run, rows)
    for row in rows:
        found = inside[row["process"], row["tid"]]
        longest = max(event["dur_ps"] for _, _, event in found)
        want = (len(found), union([item[:2] for item in found]), min(item[0] for item in found), max(item[1] for item in found), longest)
        assert (row["slice_count"], row["busy_ps"], row["start_ps"], row["end_ps"], row["longest_ps"]) == want, (run, row, want)
        assert row["longest"] in {event["name"] for _, _, event in found if event["dur_ps"] == longest}, row
        assert abs(row["share"] - row["busy_ps"] / span) < 1e-9, (row, span)


def span_of(run):
    lines, zero = raw_threads(run)
    times = [time - zero for events in lines.values() for event in events for time in (event["begin_ps"], event["begin_ps"] + event["dur_ps"])]
    return min(times), max(times)


def whole_runs(server):
    for run in RUNS:
        begin, end = span_of(run)
        reply = threads(server, run)
        check(reply["rows"], run, begin, end + 1, end - begin)
        assert reply["total_ps"] == sum(row["busy_ps"] for row in reply["rows"])
        assert [row["busy_ps"] for row in reply["rows"]] == sorted((row["busy_ps"] for row in reply["rows"]), reverse=True)


def windows(server):
    for run in RUNS:
        begin, end = span_of(run)
        for part in range(1, 4):
            start, stop = begin + part * (end - begin) // 5, begin + (part + 1) * (end - begin) // 5
            check(threads(server, run, start_ps=start, end_ps=stop)["rows"], run, start, stop, stop - start)


def longest_is_a_slice(server):
    for row in threads(server, "step_1000")["rows"]:
        slice_ = good(server, "/api/slice", run="step_1000", id=row["slice"]).json
        assert (slice_["name"], slice_["dur_ps"]) == (row["longest"], row["longest_ps"]), (row, slice_)


def restricted(server):
    rows = threads(server, "step_1000")["rows"]
    assert threads(server, "step_1000", track=rows[1]["track"])["rows"] == [rows[1]]
    assert threads(server, "step_1000", host="trainer-0")["rows"] == rows
    (note,) = [note for note in threads(server, "step_1000", start_ps=-100, end_ps=-50)["notes"] if note["kind"] == "no-threads"]
    assert "no host thread" in note["message"]
    assert ask(server, "/api/threads", run="step_1000", sort="nothing").status == 400


def everywhere_the_same(server):
    rows = threads(server, "step_1000")["rows"]
    table = list(csv.DictReader(io.StringIO(good(server, "/api/threads", run="step_1000", format="csv").text)))
    assert [int(row["busy_ps"]) for row in table] == [row["busy_ps"] for row in rows]
    reply = ask(server, "/api/sql", "POST", {"Content-Type": "application/json"}, json.dumps({"query": "select name, busy_ps from threads"}), run="step_1000")
    assert [row["busy_ps"] for row in reply.json["rows"]] == [row["busy_ps"] for row in rows], reply.body
    said = subprocess.run([harness.program(), "threads", str(server.place.profiles / "step_1000"), "--format", "json", "--cache-dir",
                           str(server.place.dir / "cli")], capture_output=True, check=True, timeout=60).stdout
    assert [row["busy_ps"] for row in json.loads(said)["rows"]] == [row["busy_ps"] for row in rows]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    tools = ask(server, "/mcp", "POST", {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}, json.dumps(message)).json
    (sql,) = [tool for tool in tools["result"]["tools"] if tool["name"] == "sql"]
    assert "threads" in sql["inputSchema"]["properties"]["query"]["description"]


if __name__ == "__main__":
    common.main([whole_runs, windows, longest_is_a_slice, restricted, everywhere_the_same])
