#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trends over what was measured of each run: the numbers of compare, over HTTP, from the command line and for Prometheus."""

import csv
import io
import json

import common
import harness
import openapi
from common import RUN, ask, good

RUNS = ("step_500", "step_1000", "step_1500")


def trend(server, **query):
    return good(server, "/api/trend", **query).json


def measured(server):
    harness.until("all runs to be measured",
                  lambda: not any(note["kind"] == "not-measured" for note in trend(server, metric="step_p95")["notes"]))


def compared(server, run):
    figures = good(server, "/api/compare", runs=run, ops=1000).json
    return {(row["group"], row["key"]): row["values"][0] for row in figures["rows"] if row["group"] != "op"}, figures


def values(server, metric):
    return {row["name"]: row["value"] for row in trend(server, metric=metric)["rows"]}


def figures_are_those_of_compare(server):
    measured(server)
    for run in RUNS:
        told, figures = compared(server, run)
        for metric, key in (("step_min", ("step", "min")), ("step_mean", ("step", "mean")), ("step_p95", ("step", "p95")),
                            ("step_max", ("step", "max")), ("compile_time", ("compile", "time")), ("memory_peak", ("memory", "peak"))):
            assert values(server, metric)[run] == told.get(key), (run, metric)
        shares = {kind: told.get(("time", kind), 0) / told["step", "mean"]
                  for kind in ("compute", "communication", "copy", "host", "input", "compile", "other", "idle")}
        for kind, share in shares.items():
            assert abs(values(server, f"share_{kind}")[run] - share) < 2e-9, (run, kind, share)
        assert abs(sum(values(server, f"share_{kind}")[run] for kind in shares) - 1) < 1e-6


def ops_are_sums_of_their_name(server):
    sums = {}
    for row in good(server, "/api/compare", runs=RUN, ops=32).json["rows"]:
        if row["group"] == "op":
            name = row.get("name", row["key"])
            sums[name] = sums.get(name, 0) + row["values"][0]
    named = {one["name"] for one in trend(server, names="all")["names"]}
    seen = 0
    for name, value in sums.items():
        if f"op:{name}" in named:
            assert values(server, f"op:{name}")[RUN] == value, name
            seen += 1
    assert seen >= 10, (seen, sorted(sums)[:5], sorted(named)[:30])


def what_is_unknown_says_why(server):
    for row in trend(server, metric="memory_peak")["rows"]:
        assert row["value"] is None and "allocator" in row["reasons"]["value"], row
    for row in trend(server, metric="op:nothing")["rows"]:
        assert row["value"] is None and "32" in row["reasons"]["value"], row
    assert "step_p95" in ask(server, "/api/trend", metric="nothing").json["detail"]
    openapi.check(trend(server, metric="share_idle", names="all"), "/api/trend")


def prometheus_has_them(server):
    told = good(server, "/metrics", runs=50).text
    line = next(line for line in told.splitlines()
                if line.startswith('jviewd_run_metric_seconds{run="step_1000"') and 'metric="step_p95"' in line)
    assert abs(float(line.rsplit(" ", 1)[1]) * 1e12 - values(server, "step_p95")["step_1000"]) < 1
    assert 'metric="memory_peak"' not in told, "what is unknown has no line"


def the_command_line_measures_for_itself(server):
    place = server.place
    done = place.jviewd("trend", place.profiles, "--metric", "step_p95", "--format", "csv", "--cache-dir", place.dir / "cache-2")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: int(row["value"]) for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows == values(server, "step_p95"), (rows, done.stderr)


def jview_json_is_news_where_it_is_rewritten(server):
    path = server.place.profiles / "step_500/jview.json"
    path.write_text(json.dumps({"name": "wide mlp", "commit": "4f0c9b5", "commit_time": 1795253400}))
    titles = lambda: {run["name"]: run["title"] for run in good(server, "/api/runs").json["runs"]}
    harness.until("the title", lambda: titles()["step_500"] == "wide mlp")
    tags = {path: good(server, path, **query).headers["ETag"] for path, query in QUESTIONS.items()}
    with open(path, "r+") as file:  # the same inode, the same size
        file.write(json.dumps({"name": "thin mlp", "commit": "4f0c9b5", "commit_time": 1795253400}))
    harness.until("another title", lambda: titles()["step_500"] == "thin mlp")
    for path, query in QUESTIONS.items():
        assert good(server, path, **query).headers["ETag"] != tags[path], path
    assert titles()["step_1000"] is None
    assert good(server, "/api/notes", run="step_500").json["about"]["commit_time"] == 1795253400


QUESTIONS = {"/api/runs": {}, "/api/trend": {}, "/api/run": {"run": "step_500"}, "/api/notes": {"run": "step_500"}}


def commits_order_runs(server):
    for run, seconds in (("step_500", 30), ("step_1000", 20), ("step_1500", 10)):
        path = server.place.profiles / run / "jview.json"
        path.write_text(json.dumps({"commit": f"c{seconds}", "commit_time": seconds}))
    order = lambda: [row["commit"] for row in trend(server, over="commit")["rows"]]
    harness.until("the order of commits", lambda: order() == ["c10", "c20", "c30"])
    assert trend(server)["over"] == "step", "a step number goes before"


if __name__ == "__main__":
    common.main([figures_are_those_of_compare, ops_are_sums_of_their_name, what_is_unknown_says_why, prometheus_has_them,
                 the_command_line_measures_for_itself, jview_json_is_news_where_it_is_rewritten, commits_order_runs])
