#!/usr/bin/env python3
"""The gate over runs: limits without a baseline, its three exit codes, odd pairs of runs, and names that mean harm in every form."""

import csv
import io
import json
import re
import shutil
import xml.etree.ElementTree

import common
import harness
from common import RUN, ask, good

HOSTILE = "=cmd|' /C calc'!A0 <b>&\"c'\x1b[2J|`*\n# d]]></script><!--"
ODD = "odd_2 <i>,|=1\x1b[2J"
STEPS = 12


def trace(place, name, ops, op_us=1000, steps=True):
    """Its file: on one stream each op once a step, all of about the same length."""
    def thread(pid, process, name):
        return [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": process}},
                {"ph": "M", "pid": pid, "tid": 1, "name": "thread_name", "args": {"name": name}}]

    events, now = thread(1, "/device:GPU:0", "Stream #1") + thread(2, "python", "main"), 0
    for step in range(STEPS):
        begin = now
        for op in ops:
            events.append({"ph": "X", "pid": 1, "tid": 1, "name": op, "ts": now, "dur": op_us + step % 5})
            now += op_us + step % 5
        if steps:
            events.append({"ph": "X", "pid": 2, "tid": 1, "name": "train", "ts": begin, "dur": now - begin + 5, "args": {"step_num": str(step)}})
        now += 10
    path = place.profiles / f"{name}.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    harness.age(path)
    return path


def cli(server, *words, code=0):
    place = server.place
    done = place.jviewd(*words, "--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data")
    assert done.returncode == code, (words, done.returncode, done.stdout[:1000], done.stderr[:1000])
    return done.stdout if done.stdout else done.stderr


def traces(server):
    """The others need them; those of two traces each, settled."""
    for name, ops, told in (("alpha_1", ["dot.1", "fusion.2", "copy.3"], {}), ("beta_2", ["conv.9", "sort.8", "scatter.7"], {}),
                            ("stepless", ["dot.1"], {"steps": False}), ("odd_1", [HOSTILE, "dot.1"], {}),
                            (ODD, [HOSTILE, "dot.1"], {"op_us": 1500})):
        trace(server.place, name, ops, **told)
    harness.until("the runs to be read", lambda: sum(run["state"] == "ready" for run in server.runs().values()) == 8)


def a_limit_needs_no_baseline(server):
    median = good(server, "/api/run", run=RUN).json["step_median_ps"]
    assert "step_time is ok: " in cli(server, "check", RUN, "--max", "step_time=10000ms")
    assert "step_time is ok: " in cli(server, "check", "alpha_1", "--max", "step_time=150ms")
    over = cli(server, "check", RUN, "--max", f"step_time={median // 20}ps", code=1)
    assert over.startswith(f"{RUN}: regressed\n") and "; at most: " in over, over
    assert good(server, "/api/check", run=RUN, max=f"step_time={median // 20}ps").json["answer"] == "regressed"
    assert "is no metric: step_time" in cli(server, "check", RUN, "--max", "step_tim=150ms", code=2)
    for wrong in ("step_time=1GiB", "step_time=", "step_time", "step_time=-1ms", "step_time=abc"):
        assert "METRIC=VALUE" in cli(server, "check", RUN, "--max", wrong, code=2), wrong
    assert "nothing to check against" in cli(server, "check", RUN, code=2)


def a_run_without_steps_is_no_pass_unsaid(server):
    for words in (["--max", "step_time=150ms"], ["--baseline", "alpha_1"]):
        said = cli(server, "check", "stepless", *words)
        assert "too noisy to say" in said and 'run "stepless" has no steps' in said, said
        assert cli(server, "check", "stepless", *words, "--noisy-exit", "7", code=7) == said
    other = cli(server, "check", "alpha_1", "--baseline", "stepless", "--noisy-exit", "1", code=1)
    assert 'run "stepless" has no steps' in other, other
    suite = xml.etree.ElementTree.fromstring(cli(server, "check", "stepless", "--max", "step_time=1s", "--format", "junit"))[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1"), suite.attrib


def three_answers_end_in_three_codes(server):
    cli(server, "check", "odd_1", "--baseline", "odd_1")
    cli(server, "check", ODD, "--baseline", "odd_1", code=1)
    cli(server, "check", RUN, "--baseline", "step_500", "--metric", "utilisation", "--noisy-exit", "9", code=9)
    cli(server, "check", ODD, "--baseline", "odd_1", "--noisy-exit", "9", code=1)
    assert "exit code" in cli(server, "check", RUN, "--baseline", "step_500", "--noisy-exit", "x", code=2)


def runs_with_nothing_in_common(server):
    told = good(server, "/api/diff", a="alpha_1", b="beta_2").json
    states = {row["name"]: row["state"] for row in told["rows"]}
    assert states == {"dot.1": "gone", "fusion.2": "gone", "copy.3": "gone", "conv.9": "new", "sort.8": "new", "scatter.7": "new",
                      "other": "same", "idle": "same"}, states
    assert sum(row["delta_ps"] for row in told["rows"]) == told["total_delta_ps"], told["rows"]
    assert {row["match"] for row in told["rows"]} == {"none", None}, "nobody found a partner"
    assert "0 % of both runs" in cli(server, "diff", "alpha_1", "beta_2")
    cli(server, "check", "beta_2", "--baseline", "alpha_1")
    slower = cli(server, "check", RUN, "--baseline", "alpha_1", code=1)
    assert slower.startswith(f"{RUN} against alpha_1: regressed\n") and "  slower: " in slower, slower
    rows = good(server, "/api/compare", runs="alpha_1,beta_2").json["rows"]
    ops = [row for row in rows if row["group"] == "op"]
    assert len(ops) == 6 and all(sum(value is not None for value in row["values"]) == 1 for row in ops), ops
    told = good(server, "/api/compare", runs="alpha_1,stepless").json
    assert [note["kind"] for note in told["notes"]] == ["no-steps"] and {run["basis"] for run in told["runs"]} == {"the capture"}, told["notes"]


def a_trend_of_odd_runs(server):
    """One cut off, two of one step, one without steps: each has its place, and what is odd is counted."""
    place = server.place
    whole = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    place.file("step_700", whole[:len(whole) * 6 // 10])
    (place.profiles / "again").mkdir()
    trace(place, "again/step_500", ["dot.1"])
    harness.until("both to be read", lambda: all(
        server.runs().get(name, {}).get("state") in ("ready", "partial") for name in ("step_700", "again/step_500")))
    told = good(server, "/api/trend", over="step").json
    rows = {row["name"]: row for row in told["rows"]}
    kinds = {note["kind"]: note["count"] for note in told["notes"]}
    assert kinds["same-step"] == 1 and kinds["cut-off"] == 1 and kinds["no-value"] == 1, told["notes"]
    assert "step_700" in rows and rows["stepless"]["value"] is None and rows["stepless"]["reasons"]["value"], rows
    assert len(rows) == len(server.runs())
    steps = [row["step"] for row in told["rows"] if row["step"] is not None]
    assert steps == sorted(steps) and steps.count(500) == 2, steps
    assert "Cut off: 1 run" in cli(server, "trend", "--over", "step")


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def names_that_mean_harm_stay_text(server):
    pair, ids = {"a": "odd_1", "b": ODD}, {name: run["id"] for name, run in server.runs().items()}
    runs = f"odd_1,{ids[ODD]}"
    asked = {"/api/diff": pair, "/api/trend": {"metric": f"op:{HOSTILE}"}, "/api/compare": {"runs": runs}, "/api/runs": {},
             "/api/top": {"run": "odd_1", "by": "name"}, "/api/findings": {"run": "odd_1"}}
    seen = 0
    for path, query in asked.items():
        sheet = rows_of(good(server, path, format="csv", **query).text)
        assert len({len(row) for row in sheet}) == 1, (path, sheet[:3])
        for cell in (cell for row in sheet for cell in row):
            assert not re.match(r"[=@\t\r]|[+-](?![\d.])", cell), (path, cell)
            seen += "calc" in cell
        marked = good(server, path, format="md", **query).text
        assert "\x1b" not in marked and not re.search(r"(?<!\\)<(b|i|/script|!--)", marked) and "\n# d" not in marked, (path, marked)
        lines = [line for line in marked.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) <= 1, (path, lines[:4])
    for words in (["compare", "odd_1", ids[ODD]], ["diff", "odd_1", ids[ODD]], ["trend"], ["check", ids[ODD], "--max", "step_time=1s"]):
        assert "\x1b" not in cli(server, *words), words
    assert seen >= 2, "the name itself was in no sheet"
    told = {"run": ODD, "baseline": "odd_1", "metric": f"step_time,op:{HOSTILE}"}
    suite = xml.etree.ElementTree.fromstring(good(server, "/api/check", format="junit", **told).text)[0]
    assert [case.get("name").count("calc") for case in suite.iter("testcase")] == [0, 1], suite.attrib
    text = good(server, "/api/check", format="text", **told).text
    assert "\x1b" not in text and "\n# d" not in text and "calc" in text, text
    marked = good(server, "/api/check", format="md", **told).text
    assert "\x1b" not in marked and not re.search(r"(?<!\\)<(b|i|/script|!--)", marked) and "\n# d" not in marked, marked
    page = good(server, "/api/bundle", run=ODD, html="yes").text
    assert page.count("</script>") == 2 and "<i>,=1</title>" not in page and "calc" in page, page.count("</script>")


def a_baseline_whose_run_is_gone(server):
    place = server.place
    cli(server, "baseline", "set", "kept", "step_500")
    before = good(server, "/api/check", run=RUN, baseline="kept").json
    shutil.rmtree(place.profiles / "step_500")
    harness.until("it to be gone", lambda: server.runs()["step_500"]["state"] == "gone")
    after = good(server, "/api/check", run=RUN, baseline="kept").json
    assert after["answer"] == before["answer"] == "regressed" and after["checks"] == before["checks"], after
    shutil.rmtree(place.cache / next(path.name for path in place.cache.glob("segments-*")))
    assert server.stop() == 0
    said = cli(server, "check", RUN, "--baseline", "kept", code=3)
    assert "step_500" in said and "calc" not in said, said
    again = place.serve()
    server.process, server.url, server.log = again.process, again.url, again.log
    server.port = int(again.url.rsplit(":", 1)[1].split("/")[0])
    server.until_settled()
    reply = ask(server, "/api/check", run=RUN, baseline="kept")
    assert reply.status == 404 and "step_500" in reply.json["detail"], reply.body
    row = next(row for row in good(server, "/api/baselines").json["rows"] if row["name"] == "kept")
    assert row["run"] == "step_500", row


if __name__ == "__main__":
    common.main([traces, a_limit_needs_no_baseline, a_run_without_steps_is_no_pass_unsaid, three_answers_end_in_three_codes,
                 runs_with_nothing_in_common, a_trend_of_odd_runs, names_that_mean_harm_stay_text, a_baseline_whose_run_is_gone])
