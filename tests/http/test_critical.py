#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Critical paths over HTTP, in SQL and on the command line: sums, order, links, formats, what is refused."""

import csv
import io
import json
import re
import subprocess

import common
import harness
import openapi
from common import ask, good

RUNS = ("step_500", "step_1000", "step_1500")


def critical(server, **query):
    reply = good(server, "/api/critical", **query).json
    openapi.check(reply, "/api/critical")
    return reply


def sql(server, query):
    return good_post(server, "/api/sql", {"query": query}, run="step_1000")["rows"]


def good_post(server, path, body, **query):
    reply = ask(server, path, "POST", {"Content-Type": "application/json"}, json.dumps(body), **query)
    assert reply.status == 200, (path, body, reply.body[:300])
    return reply.json


def pieces_sum_to_the_step(server):
    for run in RUNS:
        for step in good(server, "/api/steps", run=run, limit=10000).json["rows"]:
            path = critical(server, run=run, step=step["step"], limit=10000)
            assert path["step"] == {"step": step["step"], "host": step["host"], "dur_ps": step["dur_ps"]}, path["step"]
            at = step["start_ps"]
            for piece in path["pieces"]:
                assert piece["start_ps"] == at and piece["dur_ps"] > 0, piece
                at += piece["dur_ps"]
            assert at == step["end_ps"], (at, step)
            assert path["row_count"] == len(path["pieces"]) and path["next"] is None


def overview_says_where_it_lies(server):
    for run in RUNS:
        path = good(server, "/api/overview", run=run).json["path"]
        whole = critical(server, run=run, limit=10000)
        assert (path["step"], path["dur_ps"]) == (whole["step"]["step"], whole["step"]["dur_ps"]), path
        assert path["row_count"] <= 5 or sum(row["on_path_ps"] for row in path["rows"]) <= path["dur_ps"]
        for row in path["rows"]:
            if row["of"] in ("slice", "gap"):  # by name: the same pieces, added up by another
                assert row["on_path_ps"] == sum(piece["dur_ps"] for piece in whole["pieces"] if piece["name"] == row["name"]), row
        scopes = {row["name"]: row["on_path_ps"] for row in path["rows"] if row["of"] == "scope"}
        for scope in scopes:
            assert f"`{scope}`" in path["sentence"] or scopes[scope] <= path["rows"][0]["on_path_ps"], path
    assert path["sentence"].startswith(f"Of the {path['dur_ps'] / 1e9:.3g} ms of step "), path["sentence"]


def a_slice_knows_its_slack(server):
    told = sql(server, "select slice, step, min(slack_ps) as slack_ps from slack group by slice, step order by slice")
    for row in told[::97]:
        reply = critical(server, run="step_1000", slice=row["slice"], limit=10000)
        on_path = sum(piece["dur_ps"] for piece in reply["pieces"] if piece["slice"] == row["slice"])
        if reply["step"]["step"] == row["step"]:
            assert (reply["slice"]["slack_ps"], reply["slice"]["on_path_ps"]) == (row["slack_ps"], on_path), (row, reply["slice"])
    assert ask(server, "/api/critical", run="step_1000", slice="nobody-1").status == 404
    assert "slice" not in critical(server, run="step_1000", limit=1)


def pieces_are_slices_of_the_run(server):
    path = critical(server, run="step_1000", limit=10000)
    for piece in path["pieces"][::17]:
        if piece["slice"] is None:
            assert piece["reasons"]["slice"], piece
            continue
        slice_ = good(server, "/api/slice", run="step_1000", id=piece["slice"]).json
        assert slice_["start_ps"] <= piece["start_ps"] and slice_["name"] == piece["name"], (slice_, piece)


def unexplained_is_little(server):
    """Of JAX on a CPU, whose pools mark what they went on with."""
    for run in RUNS:
        rows = {row["name"]: row for row in critical(server, run=run, by="kind", limit=100)["rows"]}
        assert abs(sum(row["share"] for row in rows.values()) - 1) < 1e-9, rows
        assert rows.get("unexplained", {"share": 0})["share"] <= 0.1, rows["unexplained"]


def rows_hold_the_path(server):
    total = critical(server, run="step_1000", by="op", limit=10000)
    assert sum(row["on_path_ps"] for row in total["rows"]) == total["total_ps"]
    kinds = critical(server, run="step_1000", by="kind", limit=100)
    assert sum(row["on_path_ps"] for row in kinds["rows"]) == kinds["total_ps"] == total["total_ps"]
    for row in total["rows"]:
        assert row["slack_ps"] is None or row["time_ps"] >= row["on_path_ps"], row


def pages_and_formats(server):
    whole = critical(server, run="step_1000", limit=10000)["pieces"]
    first = critical(server, run="step_1000", limit=7)
    rest = critical(server, run="step_1000", limit=10000, cursor=first["next"])
    assert first["pieces"] + rest["pieces"] == whole
    table = list(csv.DictReader(io.StringIO(good(server, "/api/critical", run="step_1000", format="csv", limit=10000).text)))
    assert [row["dur_ps"] for row in table] == [str(piece["dur_ps"]) for piece in whole]
    said = subprocess.run([harness.program(), "why", str(server.place.profiles / "step_1000"), "--format", "json", "--limit", "7", "--cache-dir",
                           str(server.place.dir / "cli")], capture_output=True, check=True, timeout=120).stdout
    assert b'"pieces":[{"kind":' in said
    assert ask(server, "/api/critical", run="step_1000", sort="name").status == 400
    assert ask(server, "/api/critical", run="step_1000", step=99).status == 404


def the_last_step_has_a_word(server):
    last = max(good(server, "/api/steps", run="step_1000", limit=10000).json["rows"], key=lambda step: step["start_ps"])["step"]
    assert critical(server, run="step_1000", step="last", limit=10000) == critical(server, run="step_1000", step=last, limit=10000)
    assert [step["step"] for step in good_post(server, "/api/whatif", {"run": "step_1000"}, step="last")["steps"]] == [last]
    assert [step["step"] for step in good(server, "/api/steps", run="step_1000", step="last").json["rows"]] == [last]
    for path in ("/api/critical", "/api/steps", "/api/top", "/api/flame", "/api/hosts"):
        reply = ask(server, path, run="step_1000", step="-1")
        assert reply.status == 400 and '"last" for the last step' in reply.json["detail"], (path, reply.body[:300])


def a_page_of_its_own_holds_the_path(server):
    """What the standalone page is asked for: the path of the step that stands for others, its places."""
    text = good(server, "/api/bundle", run="step_1000", html="yes").body.decode()
    held = json.loads(re.search(r'<script type="application/json" id="answers">(.*?)</script>', text, re.DOTALL)[1])["answers"]
    path = critical(server, run="step_1000", limit=2000)
    assert held["api/critical"]["body"]["pieces"] == path["pieces"]
    for by in ("place", "op", "kind"):
        assert held[f"api/critical?by={by}"]["body"]["rows"] == critical(server, run="step_1000", by=by, limit=500)["rows"], by


def sql_has_the_same(server):
    path = critical(server, run="step_1000", limit=10000)
    rows = sql(server, f"select kind, name, slice, start_ps, dur_ps, edge from critical_path where step = {path['step']['step']} order by start_ps")
    assert rows == [{key: piece[key] for key in ("kind", "name", "slice", "start_ps", "dur_ps", "edge")} for piece in path["pieces"]]
    (least,) = sql(server, "select min(slack_ps) as least, count(*) as n from slack")
    assert least["least"] == 0 and least["n"] > len(rows)


def whatif(server, **body):
    reply = good_post(server, "/api/whatif", {"run": "step_1000", **body})
    openapi.check(reply, "/api/whatif")
    return reply


def without_a_change_nothing_changes(server):
    for run in RUNS:
        reply = whatif(server, run=run)
        assert reply["recorded_ps"] == reply["replayed_ps"] == reply["predicted_ps"], reply
        for step in reply["steps"]:
            assert step["recorded_ps"] == step["replayed_ps"] == step["predicted_ps"], step


def less_work_is_never_slower(server):
    now = whatif(server)["replayed_ps"]
    half, none = (whatif(server, scale=f"kind:compute={factor}")["predicted_ps"] for factor in (0.5, 0))
    assert none < half < now < whatif(server, scale=["kind:compute=2"])["predicted_ps"]
    both = whatif(server, scale=["kind:compute=0", "kind:input=0"])["predicted_ps"]
    assert both < none
    none = whatif(server, scale="kind:input=0")["predicted_ps"]
    assert none <= whatif(server, overlap="input")["predicted_ps"] < now
    for change in ({"overlap": "communication"}, {"fuse_launches": True}, {"devices_even": True}):
        assert whatif(server, **change)["predicted_ps"] <= now, change


def top_has_the_path(server):
    rows = {(row["name"], row["module"]): row for row in critical(server, run="step_1000", by="op", limit=10000)["rows"]}
    top = good(server, "/api/top", run="step_1000", limit=10000).json["rows"]
    assert sum(row["on_path_ps"] for row in top) > 0
    for row in top:
        of = rows[row["name"], row["module"]]
        assert (row["on_path_ps"], row["slack_ps"]) == (of["on_path_ps"], of["slack_ps"]), (row, of)
    names = {row["name"]: row for row in good(server, "/api/top", run="step_1000", by="name", limit=10000).json["rows"]}
    assert names["data_loading"]["on_path_ps"] == rows["data_loading", None]["on_path_ps"]
    one = good(server, "/api/top", run="step_1000", step=1002, limit=10000).json["rows"]
    assert sum(row["on_path_ps"] for row in one) < sum(row["on_path_ps"] for row in top)
    for query, word in (({"start_ps": 0, "end_ps": 20 * 10**9}, "window"), ({"spread": "none"}, "path=yes"), ({"by": "device"}, "by op")):
        row = good(server, "/api/top", run="step_1000", **query).json["rows"][0]
        assert row["on_path_ps"] is None and word in row["reasons"]["on_path_ps"], row


def findings_win_what_the_replay_says(server):
    for run in RUNS:
        found = good(server, "/api/findings", run=run, limit=100).json["rows"]
        openapi.check(good(server, "/api/findings", run=run).json, "/api/findings")
        for row in found:
            assert row["replay_ps"] is None or row["replay_ps"] <= row["win_ps"], row
    (bound,) = (row for row in good(server, "/api/findings", run="step_1000", limit=100).json["rows"] if row["rule"] == "input-bound")
    steps = whatif(server, scale="kind:input=0")["steps"]
    gained = sum(step["replayed_ps"] - step["predicted_ps"] for step in steps)
    assert abs(bound["replay_ps"] - min(gained, bound["win_ps"])) <= 5 + gained // 1000, (bound, gained)


def what_cannot_be_changed_is_told(server):
    for body, status, word in (({"scale": "scope:mpl=1"}, 404, "mlp"), ({"scale": "op:a=-1"}, 400, "0 to 1000"), ({"scale": "foo"}, 400, "scope:"),
                               ({"scale": "kind:none=1"}, 400, "compute"), ({"scale": 3}, 400, "text"), ({"overlap": "x"}, 400, "copy"),
                               ({"fuse_launches": 1}, 400, "true or false"), ({"x": 1}, 400, "devices_even"), ({"scale": "op:a=inf"}, 400, "0 to 1000")):
        reply = ask(server, "/api/whatif", "POST", {"Content-Type": "application/json"}, json.dumps({"run": "step_1000", **body}))
        assert reply.status == status and word in reply.json["detail"], (body, reply.body)
    reply = ask(server, "/api/whatif", "POST", {"Content-Type": "application/json"}, "{}")
    assert reply.status == 400 and "run" in reply.json["detail"], reply.body


def the_verb_is_the_endpoint(server):
    said = json.loads(subprocess.run([harness.program(), "whatif", str(server.place.profiles / "step_1000"), "--scale", "kind:input=0", "--scale",
                                      "scope:mlp=0.5", "--format", "json", "--cache-dir", str(server.place.dir / "cli")], capture_output=True,
                                     check=True, timeout=120).stdout)
    assert said["predicted_ps"] == whatif(server, scale=["kind:input=0", "scope:mlp=0.5"])["predicted_ps"] < said["replayed_ps"]


if __name__ == "__main__":
    common.main([pieces_sum_to_the_step, overview_says_where_it_lies, a_slice_knows_its_slack, pieces_are_slices_of_the_run, unexplained_is_little, rows_hold_the_path, pages_and_formats, the_last_step_has_a_word, a_page_of_its_own_holds_the_path, sql_has_the_same,
                 without_a_change_nothing_changes, less_work_is_never_slower, top_has_the_path, findings_win_what_the_replay_says, what_cannot_be_changed_is_told, the_verb_is_the_endpoint])
