#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of runs: limits without a baseline, its exit codes, several runs of a baseline, odd pairs of runs, and names that mean harm in every form."""

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


def requests(place):
    """Its file: each span begins within the one before, as those of tasks that one thread serves by turns."""
    events = [{"ph": "X", "pid": 2, "tid": 1, "name": "request", "ts": 100 * number, "dur": 250, "args": {"step_num": str(number)}} for number in range(STEPS)]
    path = place.profiles / "requests.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    harness.age(path)


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
    requests(server.place)
    harness.until("the runs to be read", lambda: sum(run["state"] == "ready" for run in server.runs().values()) == 9)


def a_limit_needs_no_baseline(server):
    median = good(server, "/api/run", run=RUN).json["step_median_ps"]
    assert "step_time is ok: " in cli(server, "check", RUN, "--max", "step_time=10000ms")
    assert "step_time is ok: " in cli(server, "check", "alpha_1", "--max", "step_time=150ms")
    over = cli(server, "check", RUN, "--max", f"step_time={median // 20}ps", code=1)
    assert over.startswith(f"{RUN}: regressed\n") and "; at most: " in over, over
    assert good(server, "/api/check", run=RUN, max=f"step_time={median // 20}ps").json["answer"] == "regressed"
    assert "is not a metric; the nearest is step_time" in cli(server, "check", RUN, "--max", "step_tim=150ms", code=2)
    for wrong in ("step_time=1GiB", "step_time=", "step_time", "step_time=-1ms", "step_time=abc"):
        assert "METRIC=VALUE" in cli(server, "check", RUN, "--max", wrong, code=2), wrong
    assert "nothing to check against" in cli(server, "check", RUN, code=2)


def what_cannot_be_said_is_no_pass(server):
    for words in (["--max", "step_time=150ms"], ["--baseline", "alpha_1"]):
        said = cli(server, "check", "stepless", *words, code=7)
        assert "cannot be said" in said and 'run "stepless" has no steps' in said, said
        assert cli(server, "check", "stepless", *words, "--maybe-exit", "0", code=7) == said, "nobody may turn that off"
    doubted = cli(server, "check", "requests", "--baseline", "requests", code=7)
    assert "is not stated: 11 of 12 spans on " in doubted, doubted
    assert good(server, "/api/diff", a="requests", b="requests").json["a"]["basis"] == "the capture"
    run = good(server, "/api/run", run="requests").json
    assert run["step_median_ps"] is None and run["step_count"] == STEPS and "step time is not stated" in run["reasons"]["step_median_ps"], run
    other = cli(server, "check", "alpha_1", "--baseline", "stepless", code=7)
    assert 'run "stepless" has no steps' in other, other
    suite = xml.etree.ElementTree.fromstring(cli(server, "check", "stepless", "--max", "step_time=1s", "--format", "junit", code=7))[0]
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "1", "0"), suite.attrib
    assert good(server, "/api/check", run="stepless", baseline="alpha_1").json["answer"] == "unknown"
    cli(server, "check", RUN, "--baseline", "step_500", "--metric", "memory_peak", code=7)
    said = cli(server, "check", RUN, "--baseline", "alpha_1", "--metric", "op:dot.l", code=2)
    assert 'neither run has an op of this name; the nearest is "op:dot.' in said, said
    assert ask(server, "/api/check", run="alpha_1", max="op:fusion.22=1ms").status == 400
    assert "the nearest is memory_peak" in cli(server, "check", RUN, "--baseline", "alpha_1", "--metric", "memory_pek", code=2)


def each_answer_has_its_code(server):
    said = cli(server, "check", "odd_1", "--baseline", "odd_1")
    assert "; seen from +1." in said, said
    cli(server, "check", ODD, "--baseline", "odd_1", code=1)
    cli(server, "check", RUN, "--baseline", "step_500", "--metric", "utilisation", code=7)
    cli(server, "check", ODD, "--baseline", "odd_1", "--maybe-exit", "9", code=1)
    assert "a slowdown of the size to be detected may have been missed" in cli(server, "check", "odd_1", "--baseline", "odd_1", "--must-see", "1%", code=7)
    assert "exit code" in cli(server, "check", RUN, "--baseline", "step_500", "--maybe-exit", "x", code=2)
    help_text = server.place.jviewd("check", "--help").stdout
    assert "7 cannot be decided" in help_text and "last:5" in help_text, help_text


def a_baseline_of_several_runs(server):
    """Five that differ by 10 % among themselves: one more by that much is none of the slower ones, which against one of them it is."""
    place = server.place
    for number, op_us in enumerate((1000, 1100, 1020, 1080, 1050, 1100, 3000)):
        trace(place, f"many_{number}", ["dot.1"], op_us=op_us)
    harness.until("the runs to be read", lambda: sum(run["state"] == "ready" for name, run in server.runs().items() if name.startswith("many_")) == 7)
    five = ",".join(f"many_{number}" for number in range(5))
    cli(server, "check", "many_5", "--baseline", "many_0", code=1)
    said = cli(server, "check", "many_5", "--baseline", five, "--maybe-exit", "9", code=9)
    assert "step_time may be slower" in said and "compared with 5 baseline runs" in said, said
    cli(server, "check", "many_6", "--baseline", five, code=1)
    cli(server, "check", "many_6", "--baseline", "many_0,many_1", code=7)
    told = good(server, "/api/check", run="many_6", baseline=five, metric="step_time,step_p95").json
    assert told["baseline"] is None and [run["name"] for run in told["baselines"]] == five.split(","), told
    assert [row["answer"] for row in told["checks"]] == ["regressed"] * 2 and {row["baseline_runs"] for row in told["checks"]} == {5}, told["checks"]
    assert "spread to judge it by" not in told["checks"][1]["sentence"], told["checks"][1]
    paths = [str(place.profiles / f"many_{number}.trace.json") for number in range(7)]
    done = place.jviewd("check", paths[6], "--baseline", ",".join(paths[:5]), "--cache-dir", place.cache)
    assert done.returncode == 1 and done.stdout.startswith("many_6"), done
    assert "from last:3 to last:64" in cli(server, "check", "many_6", "--baseline", "last:2", code=2)


def files_are_told_apart(server):
    """Two files of one directory, which names alone would make two hosts of one run."""
    place = server.place
    for name, sample in (("one", "step_500"), ("two", RUN)):
        path = place.dir / "pair" / f"{name}.xplane.pb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(next((harness.SAMPLES / sample).rglob("*.xplane.pb")).read_bytes())
        harness.age(path)
    files, keep = [str(place.dir / "pair" / f"{name}.xplane.pb") for name in ("one", "two")], ["--cache-dir", place.cache]
    for words in (["diff", *files], ["compare", *files], ["check", files[1], "--baseline", files[0]]):
        done = place.jviewd(*words, *keep)
        assert done.returncode == (1 if words[0] == "check" else 0), (words, done)
        assert "one.xplane.pb" in done.stdout and "two.xplane.pb" in done.stdout, done.stdout
    assert place.jviewd("overview", files[0], *keep).stdout != place.jviewd("overview", files[1], *keep).stdout


def runs_with_nothing_in_common(server):
    told = good(server, "/api/diff", a="alpha_1", b="beta_2").json
    states = {row["name"]: row["state"] for row in told["rows"]}
    assert states == {"dot.1": "gone", "fusion.2": "gone", "copy.3": "gone", "conv.9": "new", "sort.8": "new", "scatter.7": "new",
                      "not matched": "same", "idle": "same"}, states
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
    assert kinds["same-step"] == 1 and kinds["cut-off"] == 1 and kinds["no-value"] == 2, told["notes"]
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
    common.main([traces, a_limit_needs_no_baseline, what_cannot_be_said_is_no_pass, each_answer_has_its_code,
                 a_baseline_of_several_runs, files_are_told_apart, runs_with_nothing_in_common, a_trend_of_odd_runs, names_that_mean_harm_stay_text, a_baseline_whose_run_is_gone])
