#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of files of timings, and over figures that have no spread."""

import json
import pathlib
import sys
import xml.etree.ElementTree

import common  # noqa: F401  (finds the harness)
import harness
from common import RUN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "api" / "python"))

HOSTILE = "a<b>&\"c'\x1b[2J|`*\n# d]]>"


def timing(mean, std=0.05, count=10, **more):
    told = {"mean": mean, "std": std, "min": mean - std, "max": mean + std, "median": mean, **more}
    return told if count is None else {**told, "count": count}


def check(place, run, baseline, *words, code=0):
    files = []
    for name, content in (("run.json", run), ("base.json", baseline)):
        path = place.dir / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        files.append(path)
    done = place.jviewd("check", files[0], "--baseline", files[1], *words, cwd=place.dir)
    assert done.returncode == code, (words, done.returncode, done.stdout[:2000], done.stderr[:2000])
    return done.stdout if code in (0, 1, 7) else done.stderr


def three_answers(place):
    assert ": ok\n" in check(place, timing(10), timing(10))
    said = check(place, timing(11), timing(10), code=1)
    assert ": regressed\n  mean regressed: 10 ms \u2192 11 ms, +10.0 %" in said and "p = " in said, said
    said = check(place, timing(11, 3), timing(10, 3), "--maybe-exit", "1", code=1)
    assert "may be slower" in said and "the difference may be chance" in said, said
    assert "calls of each run would decide it" in check(place, timing(10.4, 0.5), timing(10, 0.5))
    assert "seen from" in check(place, timing(10), timing(10)), "its power is told"
    check(place, timing(11), timing(10), "--max-regress", "20%")
    check(place, timing(11), timing(10), "--min-effect", "2ms")
    check(place, timing(11, 0.3), timing(10, 0.3), "--max-regress", "0.03", "--confidence", "0.999", code=1)
    assert "confidence" in check(place, timing(11), timing(10), "--confidence", "2", code=2)
    from jviewd import benchmark_function
    own = dict(benchmark_function(lambda: sum(range(2000)), num_iterations=30))
    check(place, {**own, "mean": own["max"] * 2, "max": own["max"] * 2}, {**own, "std": own["std"] / 10}, "--maybe-exit", "1", code=1)
    assert "ok" in check(place, own, own, "--max-regress", "1000%")


def how_many_calls_must_be_known(place):
    said = check(place, timing(20, count=None), timing(10), code=7)
    assert "cannot be said" in said and "the number of timed calls is not given" in said and "would decide it" not in said, said
    check(place, timing(20, count=None), timing(10, count=None), "--count", "10", code=1)
    assert "count" in check(place, timing(20), timing(10), "--count", "0", code=2)


def the_slower_names_come_first(place):
    base = {name: timing(10) for name in ("a", "b", "c", "gone")}
    run = {"a": timing(10), "b": timing(12), "c": timing(15), "new": timing(1)}
    lines = check(place, run, base, code=1).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["c", "b", "new", "gone", "a"], lines
    told = json.loads(check(place, run, base, "--format", "json", code=1))
    assert told["answer"] == "regressed" and [row["metric"] for row in told["checks"]] == ["c", "b", "new", "gone", "a"]
    assert told["checks"][0]["value"] == 15 * 10**9 and told["checks"][0]["count"] == 10
    suite = xml.etree.ElementTree.fromstring(check(place, run, base, "--format", "junit", code=1))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "2", "2")
    assert check(place, run, base, "--format", "md", code=1).index("| c |") < check(place, run, base, "--format", "md", code=1).index("| b |")


def names_stay_names(place):
    base, run = {HOSTILE: timing(10), "quo\"te": timing(10)}, {HOSTILE: timing(20), "quo\"te": timing(10)}
    text = check(place, run, base, code=1)
    assert "\x1b" not in text and "\n# d" not in text, text
    tree = xml.etree.ElementTree.fromstring(check(place, run, base, "--format", "junit", code=1))
    assert len(tree[0]) == 2
    assert json.loads(check(place, run, base, "--format", "json", code=1))["checks"][0]["metric"] == HOSTILE
    assert "<b>" not in check(place, run, base, "--format", "md", code=1)


def what_is_no_timing_is_refused(place):
    many = {f"name {i}": timing(10) for i in range(10001)}
    for what, content, why in (
            ("NaN", '{"mean": NaN, "std": 1}', "NaN"), ("infinite", '{"mean": 1e999, "std": 1}', "overflow"),
            ("a huge whole number", '{"mean": ' + "9" * 400 + ', "std": 1}', ""), ("huge", {"mean": 1e300, "std": 1}, "900,000,000"),
            ("negative std", {"mean": 1, "std": -0.1}, '"std" is negative'), ("no std", {"mean": 1}, '"std" is missing'),
            ("nothing", {"mean": 0, "std": 0}, '"mean" is zero'), ("a text", {"mean": 1, "std": "1"}, '"std" is not a number'),
            ("min over max", {"mean": 1, "std": 1, "min": 2, "max": 1}, '"min" is more'), ("outside", {"mean": 9, "std": 1, "max": 3}, "not between"),
            ("half a call", {"mean": 1, "std": 1, "count": 1.5}, '"count"'), ("no calls", {"mean": 1, "std": 1, "count": 0}, '"count"'),
            ("deep", '{"a":' * 100000 + "1" + "}" * 100000, "depth"), ("twice", '{"a": {}, "a": {}}', "duplicate"),
            ("empty", {}, "no timing"), ("no object", {"a": 3}, '"a" is not an object'), ("cut off", '{"mean": 1, ', "line 1"),
            ("of a name", {"x": {"mean": 1, "std": -1}}, '"x": "std" is negative'), ("too many", many, "10001 names"),
            ("a long name", {"x" * 5000: timing(1)}, "5000 bytes"), ("a zero", '{"a\\u0000b": {"mean": 1, "std": 1}}', "")):
        said = check(place, content, timing(10), code=6)
        assert "run.json is not a timing: " in said and why in said and len(said) < 1000, (what, said[:500])
    del many["name 0"]
    assert ": ok" in check(place, many, many)
    assert "mapping" in check(place, timing(1), {"a": timing(1)}, code=6)
    done = place.jviewd("check", place.dir / "run.json", "--baseline", place.dir / "nowhere.json")
    assert done.returncode == 3 and "nowhere.json" in done.stderr, done.stderr


def figures_are_compared_by_value(place):
    place.sample(RUN), place.sample("step_500")
    run, keep = place.profiles / RUN, ["--cache-dir", place.cache, "--data-dir", place.dir / "data"]
    metrics = "step_p95,share_idle,share_compute,compile_count,utilisation,step_max,compile_time"
    done = place.jviewd("check", run, "--baseline", "step_500", "--metric", metrics, "--format", "json", *keep)
    rows = {row["metric"]: row for row in json.loads(done.stdout)["checks"]}
    assert list(rows) == metrics.split(",") and done.returncode == 1, (done.returncode, done.stderr)
    for name in ("step_p95", "share_idle", "share_compute"):
        listed = json.loads(place.jviewd("trend", place.profiles, "--metric", name, "--format", "json", *keep).stdout)
        values = {row["name"] if "name" in row else row["run"]: row["value"] for row in listed["rows"]}
        assert [values["step_500"], values[RUN]] == [rows[name]["baseline"], rows[name]["value"]], (name, values, rows[name])
    assert rows["step_p95"]["answer"] == "regressed" and rows["share_idle"]["unit"] == "share" and rows["compile_count"]["unit"] in ("count", "ps")
    share = rows["share_compute"]
    assert share["answer"] == ("regressed" if share["delta"] < -share["allowed"] else "ok"), share
    assert rows["utilisation"]["answer"] == "unknown" and rows["utilisation"]["reason"], rows["utilisation"]
    assert "there is no spread to judge it by" in rows["step_p95"]["sentence"]
    told = place.jviewd("check", run, "--max", "share_idle=99%,step_p95=1ms", *keep)
    assert told.returncode == 1 and "share_idle is ok" in told.stdout and "step_p95 regressed" in told.stdout, told.stdout
    told = place.jviewd("check", run, "--baseline", "step_500", "--metric", "share_of", *keep)
    assert told.returncode == 2 and "step_p95" in told.stderr, told.stderr


if __name__ == "__main__":
    harness.main([three_answers, how_many_calls_must_be_known, the_slower_names_come_first, names_stay_names,
                  what_is_no_timing_is_refused, figures_are_compared_by_value])
