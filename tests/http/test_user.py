#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people say of runs: baselines, notes, tags, links; over HTTP and from the command line."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess

import common
import harness
import openapi
from common import RUN, ask, good

JSON = {"Content-Type": "application/json"}
HOSTILE = "<img src=x onerror=alert(1)> =cmd|' /C calc'!A0 | `x` \u202e\n# h"


def post(server, path, value, status=200, **headers):
    reply = ask(server, path, "POST", {**JSON, **headers}, json.dumps(value).encode())
    assert reply.status == status, (path, value, reply.status, reply.body[:300])
    return reply.json


def delete(server, path, status=200, headers=None, **query):
    reply = ask(server, path, "DELETE", headers, **query)
    assert reply.status == status, (path, query, reply.status, reply.body[:300])
    return reply.json


def cli(server, *words, code=0):
    done = server.place.jviewd(*words, "--profile-dir", server.place.profiles, "--cache-dir", server.place.cache,
                               "--data-dir", server.place.dir / "data")
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


def a_baseline_is_found_by_its_name(server):
    assert good(server, "/api/baselines").json["rows"] == []
    assert post(server, "/api/baselines", {"name": "main", "run": "step_500"})["run"]["name"] == "step_500"
    listed = good(server, "/api/baselines").json
    openapi.check(listed, "/api/baselines")
    assert [(row["name"], row["run"]) for row in listed["rows"]] == [("main", "step_500")]
    named = good(server, "/api/check", run=RUN, baseline="main").json
    asked = good(server, "/api/check", run=RUN, baseline="step_500").json
    assert named == asked and named["baseline"]["name"] == "step_500"
    assert good(server, "/api/diff", a="main", b=RUN).json == good(server, "/api/diff", a="step_500", b=RUN).json


def a_changed_baseline_changes_the_answer(server):
    first = good(server, "/api/check", run=RUN, baseline="main")
    post(server, "/api/baselines", {"name": "main", "run": "step_1500"})
    again = ask(server, "/api/check", headers={"If-None-Match": first.headers["ETag"]}, run=RUN, baseline="main")
    assert again.status == 200 and again.json["baseline"]["name"] == "step_1500", (again.status, again.body[:200])


def a_baseline_wins_over_a_run_only_where_one_is_asked_for(server):
    post(server, "/api/baselines", {"name": "step_500", "run": "step_1500"})
    assert good(server, "/api/check", run=RUN, baseline="step_500").json["baseline"]["name"] == "step_1500"
    assert good(server, "/api/diff", a="step_500", b=RUN).json["a"]["name"] == "step_500"
    delete(server, "/api/baselines", name="step_500")


def a_baseline_whose_run_is_elsewhere_says_so(server):
    script = ("import sqlite3,sys; c=sqlite3.connect(sys.argv[1]);"
              "c.execute(\"INSERT INTO baselines VALUES('old','deadbeefdeadbeefdeadbeefdeadbeef','step_7',1)\"); c.commit()")
    subprocess.run(["python3", "-c", script, str(server.place.dir / "data/user.db")], check=True)
    row = next(row for row in good(server, "/api/baselines").json["rows"] if row["name"] == "old")
    assert row["run"] == "step_7" and row["id"] is None and "no run" in row["reasons"]["id"], row
    reply = ask(server, "/api/check", run=RUN, baseline="old")
    assert reply.status == 404 and "step_7" in reply.json["detail"], reply.body
    delete(server, "/api/baselines", name="old")


def bad_requests_are_refused(server):
    for value, word in (({"name": "main"}, "run"), ({"name": "a b", "run": RUN}, "name"), ({"name": 1, "run": RUN}, "text"),
                        ({"name": "x", "run": RUN, "color": 1}, "color"), ([], "object")):
        assert word in post(server, "/api/baselines", value, 400)["detail"], value
    assert post(server, "/api/baselines", {"name": "x", "run": "nothing"}, 404)["nearest"]
    delete(server, "/api/baselines", 404, name="nobody")
    delete(server, "/api/notes", 400)
    for value in ({"run": RUN}, {"run": RUN, "text": "a", "tag": "b"}, {"run": RUN, "text": ""}, {"run": RUN, "tag": "a b"},
                  {"run": RUN, "text": "a", "start_ps": 1}, {"run": RUN, "text": "a", "start_ps": 2, "end_ps": 1},
                  {"run": RUN, "text": "x" * 4001}, {"run": RUN, "text": "a", "start_ps": 1.5, "end_ps": 2}):
        post(server, "/api/notes", value, 400)
    reply = ask(server, "/api/notes", "POST", JSON, b'{"run": "step_500"')
    assert reply.status == 400 and "JSON" in reply.json["detail"], reply.body


def other_sites_cannot_write(server):
    evil = {"Origin": "http://evil.example"}
    post(server, "/api/notes", {"run": RUN, "text": "x"}, 403, **evil)
    delete(server, "/api/notes", 403, headers=evil, id=1)
    reply = ask(server, "/api/notes", "POST", {"Content-Type": "text/plain"}, b"{}")
    assert reply.status == 415, reply.status
    assert good(server, "/api/notes").json["rows"] == []


def notes_hang_on_runs_and_windows(server):
    whole = post(server, "/api/notes", {"run": RUN, "text": HOSTILE})["id"]
    window = post(server, "/api/notes", {"run": RUN, "text": "slow", "start_ps": 5, "end_ps": 9, "track": "ab.1"})["id"]
    post(server, "/api/notes", {"run": RUN, "tag": "pinned"})
    mine = good(server, "/api/notes", run=RUN).json
    openapi.check(mine, "/api/notes")
    assert [(row["id"], row["text"], row["start_ps"], row["track"]) for row in mine["rows"]] == [
        (whole, HOSTILE, None, None), (window, "slow", 5, "ab.1")], mine
    assert [tag["tag"] for tag in mine["tags"]] == ["pinned"]
    assert good(server, "/api/notes", run="step_500").json["rows"] == []
    assert good(server, "/api/notes").json["row_count"] == 2
    post(server, "/api/notes", {"run": RUN, "id": int(window), "text": "slower", "start_ps": 5, "end_ps": 10})
    assert [row["text"] for row in good(server, "/api/notes", run=RUN).json["rows"]] == [HOSTILE, "slower"]
    markdown = good(server, "/api/notes", run=RUN, format="md").text
    assert "<img" not in markdown.replace("\\<", ""), markdown
    delete(server, "/api/notes", id=whole)
    delete(server, "/api/notes", 404, id=whole)
    delete(server, "/api/notes", run=RUN, tag="pinned")
    left = good(server, "/api/notes", run=RUN).json
    assert len(left["rows"]) == 1 and left["tags"] == []
    delete(server, "/api/notes", id=window)


def what_was_said_goes_along_when_a_run_grows(server):
    """Of a host that came late, or a file that could not be read before: the content is another one."""
    samples = [next((server.place.profiles / run).rglob("*.xplane.pb")) for run in ("step_500", "step_1000", "step_1500")]
    grows, twin = (server.place.profiles / name / "plugins/profile/2026_01_02_03_04_05" for name in ("grows", "twin"))

    def settled(name, hosts):
        reply = ask(server, "/api/run", run=name, wait_ms=60000)
        run = reply.json if reply.status == 200 else {}
        return run if run.get("state") == "ready" and len(run["hosts"]) == hosts else None

    grows.mkdir(parents=True)
    shutil.copy(samples[0], grows / "a.xplane.pb")
    before = harness.until("one host", lambda: settled("grows", 1))["content_id"]
    post(server, "/api/notes", {"run": "grows", "text": "first"})
    post(server, "/api/notes", {"run": "grows", "tag": "kept"})
    post(server, "/api/baselines", {"name": "grown", "run": "grows"})
    shutil.copy(samples[1], grows / "b.xplane.pb")
    after = harness.until("two hosts", lambda: settled("grows", 2))["content_id"]
    assert after != before
    mine = good(server, "/api/notes", run="grows").json
    assert [row["text"] for row in mine["rows"]] == ["first"] and [tag["tag"] for tag in mine["tags"]] == ["kept"], mine
    assert good(server, "/api/check", run="step_500", baseline="grown").json["baseline"]["name"] == "grows"

    twin.mkdir(parents=True)  # the same content elsewhere keeps what was said of it
    for host, sample in zip("ab", samples):
        shutil.copy(sample, twin / f"{host}.xplane.pb")
    harness.until("the twin", lambda: settled("twin", 2))
    shutil.copy(samples[2], twin / "c.xplane.pb")
    harness.until("three hosts", lambda: settled("twin", 3))
    assert [row["text"] for row in good(server, "/api/notes", run="grows").json["rows"]] == ["first"]
    assert good(server, "/api/notes", run="twin").json["rows"] == []

    shutil.copy(samples[2], grows / "a.xplane.pb")  # not what was spoken of
    harness.until("another file", lambda: (settled("grows", 2) or {"content_id": after})["content_id"] != after)
    assert good(server, "/api/notes", run="grows").json["rows"] == []


def the_program_tells_of_its_run(server):
    """jview.json: read beside the profile, an order for the trend, and refused where it is odd."""
    assert good(server, "/api/notes", run=RUN).json["about"] is None
    file = server.place.profiles / RUN / "jview.json"
    file.write_text(json.dumps({"name": HOSTILE, "step": 7, "commit": "4f0c", "tags": ["t"], "metrics": {"loss": 2.5}}))
    told = harness.until("jview.json", lambda: good(server, "/api/notes", run=RUN).json["about"])
    openapi.check(good(server, "/api/notes", run=RUN).json, "/api/notes")
    assert told["path"] == f"{RUN}/jview.json" and told["name"] == HOSTILE and told["commit"] == "4f0c", told
    assert told["metrics"] == [{"name": "loss", "value": 2.5}] and told["step"] == 7
    steps = lambda: [row["step"] for row in good(server, "/api/trend").json["rows"]]
    harness.until("the next look at the directory", lambda: steps() == [7, 500, 1500])
    file.write_text('{"step": "soon"}')
    reply = good(server, "/api/notes", run=RUN).json
    assert reply["about"] is None and any(note["kind"] == "jview-json" and "step" in note["message"] for note in reply["notes"]), reply
    harness.until("another look", lambda: steps() == [500, 1000, 1500])
    file.unlink()
    file.symlink_to("/etc/hostname")
    assert good(server, "/api/notes", run=RUN).json["about"] is None
    file.unlink()


def a_link_leads_to_its_view(server):
    made = post(server, "/api/links", {"address": "?run=step_500&view=flame"})
    openapi.check(made, "/api/links")
    assert made == post(server, "/api/links", {"address": "?run=step_500&view=flame"})
    reply = ask(server, "/" + made["path"])
    assert reply.status == 303 and reply.headers["Location"] == "../?run=step_500&view=flame", reply.headers
    assert ask(server, "/l/" + "0" * 26).status == 404
    for address in ("http://evil.example", "//evil.example", "?a\r\nb", "?a b", "?", "", "?<script>", "/l/x"):
        post(server, "/api/links", {"address": address}, 400)


def many_runs_stand_side_by_side(server):
    """The numbers of the overview and of the difference from the first run."""
    names = ["step_500", "step_1000", "step_1500"]
    compared = good(server, "/api/compare", runs=",".join(names), ops=1000).json
    openapi.check(compared, "/api/compare")
    assert [run["name"] for run in compared["runs"]] == names
    rows = {(row["group"], row["key"]): row for row in compared["rows"] if row["group"] != "op"}
    for index, name in enumerate(names):
        overview = good(server, "/api/overview", run=name).json
        for figure, member in (("min", "min_ps"), ("median", "median_ps"), ("p95", "p95_ps"), ("max", "max_ps")):
            assert rows["step", figure]["values"][index] == overview["step"][member], (name, figure)
    for index, name in enumerate(names[1:], 1):
        diff = good(server, "/api/diff", a=names[0], b=name, limit=10000).json
        kinds = {part["kind"]: part["self_ps"] for part in diff["b"]["breakdown"]}
        assert all(row["values"][index] == kinds[key] for (group, key), row in rows.items() if group == "time")
        told = [row["b_self_ps"] for row in diff["rows"] if row["b_self_ps"] and row["match"]]
        seen = [row["values"][index] for row in compared["rows"] if row["group"] == "op" and row["values"][index]]
        assert abs(sum(told) - sum(seen)) <= len(told) + len(seen), (name, sum(told), sum(seen))
    for row in compared["rows"]:
        known = [value for value in row["values"] if isinstance(value, int)]
        if row["best"] is not None:
            assert row["values"][row["best"]] == min(known) < max(known), row
        assert sorted(row["reasons"]) == [str(i) for i, value in enumerate(row["values"]) if value is None], row


def odd_comparisons_are_told(server):
    same = good(server, "/api/compare", runs=f"{RUN},{RUN}").json
    assert all(row["best"] is None for row in same["rows"]), "a run is as good as itself"
    assert ask(server, "/api/compare", runs=",".join([RUN] * 65)).status == 400
    assert ask(server, "/api/compare", runs="step_500,nothing").status == 404
    lines = good(server, "/api/compare", runs="step_500,step_1000", ops=3, format="csv").text.splitlines()
    assert lines[0] == "group,key,scope,unit,id,run,value,best,module", lines[0]
    part = good(server, "/api/compare", runs="step_1000,step_1000@step=1001-1002").json
    assert part["runs"][1]["called"] == "step_1000@step=1001-1002" and part["runs"][1]["step_count"] == 2, part["runs"]
    assert "step_1500" in cli(server, "compare", "step_500", "step_1500", "--ops", "2")


def metrics_tell_runs_on_request(server):
    assert "jviewd_run_" not in good(server, "/metrics").text
    lines = good(server, "/metrics", runs=2).text.splitlines()
    steps = [line for line in lines if line.startswith("jviewd_run_step_seconds{")]
    assert len(steps) == 2, steps
    run = good(server, "/api/run", run="step_1500").json
    wanted = f'jviewd_run_step_seconds{{run="step_1500",id="{run["id"]}"}} '
    value = next(float(line[len(wanted):]) for line in steps if line.startswith(wanted))
    assert abs(value * 1e12 - run["step_median_ps"]) < 1, (value, run["step_median_ps"])
    assert ask(server, "/metrics", runs=-1).status == 400


def a_difference_tells_what_was_set_otherwise(server):
    """process_id and the like differ always, and say nothing."""
    diff = good(server, "/api/diff", a="step_500", b=RUN).json
    assert isinstance(diff["setup"], list) and all(row["a"] != row["b"] for row in diff["setup"]), diff["setup"]
    assert not any("process_id" in row["key"] or "_time" in row["key"] for row in diff["setup"]), diff["setup"]
    assert not any("metadata" in row["key"] for row in diff["setup"]), "a count of names is no setting"
    assert not any("metadata" in one["name"] for one in good(server, "/api/run", run=RUN).json["environment"])
    assert good(server, "/api/diff", a=RUN, b=RUN).json["setup"] == []


def the_command_line_says_the_same(server):
    assert "main is" in cli(server, "baseline", "set", "main", "step_500")
    assert good(server, "/api/baselines").json["rows"][0]["run"] == "step_500"
    assert "step_500" in cli(server, "baseline", "list")
    cli(server, "check", RUN, "--baseline", "main", "--max-regress", "900%")
    cli(server, "note", "add", RUN, "a note; \"quoted\"", "--start", "1ms", "--end", "2ms")
    row = good(server, "/api/notes", run=RUN).json["rows"][0]
    assert row["text"] == "a note; \"quoted\"" and row["start_ps"] == 10**9 and row["end_ps"] == 2 * 10**9, row
    cli(server, "note", "tag", RUN, "pinned")
    assert "quoted" in cli(server, "note", "show", RUN)
    cli(server, "note", "untag", RUN, "pinned")
    cli(server, "note", "untag", RUN, "pinned", code=3)
    cli(server, "note", "remove", row["id"])
    cli(server, "baseline", "remove", "main")
    assert "baseline" in cli(server, "baseline", "remove", "main", code=3)
    assert "set NAME RUN" in cli(server, "baseline", "set", "main", code=2)


def without_a_place_to_write_the_rest_works(server):
    """A directory in the file's place: nothing can be kept there, and everything else answers."""
    place = server.place
    blocked = place.dir / "blocked"
    (blocked / "user.db").mkdir(parents=True)
    other = place.serve(data=blocked)
    other.port = int(other.url.rsplit(":", 1)[1].split("/")[0])
    other.until_settled()
    assert good(other, "/api/overview", run=RUN).json["run"]["name"] == RUN
    reply = ask(other, "/api/baselines", "POST", JSON, json.dumps({"name": "a", "run": RUN}).encode())
    assert reply.status == 500 and str(blocked) in reply.json["detail"], reply.body
    assert any(note["kind"] == "user-database" for note in good(other, "/api/notes").json["notes"])
    assert other.stop() == 0
    assert (blocked / "user.db").is_dir() and not os.listdir(blocked / "user.db")


def damaged(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))


def letter(path):
    path.write_text("a letter " * 200)


def newer(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA user_version=99; ALTER TABLE baselines ADD COLUMN colour TEXT")


def held(path):
    """Until the test lets go of it."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    return holder


def what_is_wrong_with_the_database_is_told_and_it_stays(server):
    """Reading goes on, writing is refused with the reason, and every byte stays; a run's numbers need none of it."""
    place = server.place
    for what, spoil, word in (("damaged", damaged, "damaged"), ("newer", newer, "newer"), ("held", held, "another program has locked"),
                              ("not a database", letter, "damaged")):
        data = place.dir / f"data {what}"
        data.mkdir()
        path = data / "user.db"
        words = ("--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", data)
        assert place.jviewd("baseline", "set", "main", "step_500", *words).returncode == 0
        before = path.read_bytes()
        holder = spoil(path)
        if holder is None:  # else reading it here would end the hold: a process has one lock of a file
            before = path.read_bytes()
        other = place.serve(data=data)
        other.port = int(other.url.rsplit(":", 1)[1].split("/")[0])
        other.until_settled()
        assert good(other, "/api/overview", run=RUN).json["run"]["name"] == RUN, what
        for path_asked, value in (("/api/baselines", {"name": "a", "run": RUN}), ("/api/notes", {"run": RUN, "text": "x"})):
            reply = ask(other, path_asked, "POST", JSON, json.dumps(value).encode())
            assert reply.status >= 500 and word in reply.json["detail"], (what, path_asked, reply.status, reply.body)
        if what == "newer":
            assert [row["name"] for row in good(other, "/api/baselines").json["rows"]] == ["main"], what
        if holder is None:
            seen = good(other, "/api/notes")
            assert any(note["kind"] == "user-database" and str(path) in note["message"] for note in seen.json["notes"]), (what, seen.body)
        lost = ask(other, "/api/check", run=RUN, baseline="lost")  # which may stand where nobody can look
        assert lost.status == 404 and 'no run "lost"' in lost.json["detail"] and word in lost.json["detail"], (what, lost.body)
        done = place.jviewd("baseline", "set", "b", "step_500", *words)
        assert done.returncode == 4 and word in done.stderr, (what, done.returncode, done.stderr)
        assert other.stop() == 0
        if holder is not None:
            holder.close()
        assert path.read_bytes() == before and sorted(os.listdir(data)) == ["user.db"], (what, os.listdir(data))


if __name__ == "__main__":
    common.main([a_baseline_is_found_by_its_name, a_changed_baseline_changes_the_answer,
                 a_baseline_wins_over_a_run_only_where_one_is_asked_for, a_baseline_whose_run_is_elsewhere_says_so,
                 bad_requests_are_refused, other_sites_cannot_write, notes_hang_on_runs_and_windows,
                 the_program_tells_of_its_run, a_link_leads_to_its_view,
                 many_runs_stand_side_by_side, odd_comparisons_are_told, metrics_tell_runs_on_request, a_difference_tells_what_was_set_otherwise,
                 the_command_line_says_the_same, without_a_place_to_write_the_rest_works,
                 what_is_wrong_with_the_database_is_told_and_it_stays,
                 what_was_said_goes_along_when_a_run_grows])
