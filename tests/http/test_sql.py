#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQL: the endpoints' numbers, every column, formats, places of errors; attacks end and the server lives on."""

import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import common
import harness
import openapi
from common import RUN, ask, good

JSON = {"Content-Type": "application/json"}


def sql(server, query, **params):
    return ask(server, "/api/sql", method="POST", headers=JSON, body=json.dumps({"query": query}), **params)


def rows(server, query, run=RUN, **params):
    reply = sql(server, query, **({"run": run} if run else {}), **params)
    assert reply.status == 200, (query, reply.body[:500])
    return reply.json["rows"]


def every_row(server, path, **query):
    page = good(server, path, run=RUN, limit=10000, **query).json
    assert page["next"] is None
    return page["rows"]


def flat(row):
    """A row of an endpoint as a view holds it."""
    ret = {name: int(value) if isinstance(value, bool) else value for name, value in row.items() if name != "reasons"}
    for kind in ret.pop("breakdown", []):
        ret[kind["kind"] + "_ps"] = kind["self_ps"]
    return ret


VIEWS = {"ops": ("/api/top", {"by": "op"}), "names": ("/api/top", {"by": "name"}), "scopes": ("/api/top", {"by": "scope"}),
         "modules": ("/api/top", {"by": "module"}), "steps": ("/api/steps", {}), "gaps": ("/api/steps", {"view": "gaps"}),
         "hosts": ("/api/hosts", {}), "kernels": ("/api/kernels", {}), "roofline": ("/api/roofline", {}),
         "collectives": ("/api/collectives", {}), "compiles": ("/api/compiles", {"by": "compile"}),
         "transfers": ("/api/transfers", {"by": "transfer"}), "threads": ("/api/threads", {})}


def views_are_the_endpoints(server):
    for run in ("step_1000", "step_1500"):
        for view, (path, query) in VIEWS.items():
            want = [flat(row) for row in good(server, path, run=run, limit=10000, **query).json["rows"]]
            got = rows(server, f"select * from {view}", run=run)
            for row in got:
                assert row.pop("run") == run
            assert len(got) == len(want), (view, len(got), len(want))
            for one, other in zip(got, want):
                assert set(one) == set(other), (view, set(one) ^ set(other))
                assert one == other, (view, {name: (one[name], other[name]) for name in one if one[name] != other[name]})


def slices_are_the_endpoint(server):
    for track in good(server, "/api/tracks", run=RUN).json["tracks"]:
        if track["slice_count"] == 0:
            continue
        table = "derived_slices" if track["derived"] else "slices"
        want = every_row(server, "/api/slices", track=track["id"])
        got = rows(server, f"select id, track, depth, start_ps, dur_ps, self_ps, name, kind, flags from {table} "
                           f"where track = '{track['id']}' order by start_ps, id")
        for row in got:
            row["flags"] = row["flags"].split()
        key = lambda row: (row["start_ps"], row["id"])
        assert sorted(got, key=key) == sorted(want, key=key), track["name"]


def names_sum_to_the_slices(server):
    want = {row["name"]: (row["count"], row["total_ps"], row["self_ps"]) for row in every_row(server, "/api/top", by="name")}
    by_index = rows(server, "select name, count(*) c, sum(dur_ps) t, sum(self_ps) s from slices group by name")
    assert {row["name"]: (row["c"], row["t"], row["s"]) for row in by_index} == want
    assert [row["name"] for row in by_index] == sorted(want, key=lambda name: name.encode())
    by_scan = rows(server, "select +name as name, count(*) c, sum(dur_ps) t, sum(self_ps) s from slices group by +name")
    assert {row["name"]: (row["c"], row["t"], row["s"]) for row in by_scan} == want


def bounds_change_no_answer(server):
    """What is handed down and what is not: the same rows."""
    spans = rows(server, "select min(start_ps) a, max(end_ps) b from slices")[0]
    middle, name = (spans["a"] + spans["b"]) // 2, every_row(server, "/api/top", by="name")[3]["name"]
    one = rows(server, "select id, track from slices where depth = 1 limit 1")[0]
    for bound in (f"start_ps >= {middle}", f"start_ps < {middle}", f"end_ps > {middle}", f"end_ps <= {middle}.5",
                  f"start_ps between {middle} and {middle + 10**10}", "depth = 1", f"name = '{name}'", "name like '%fusion%'",
                  "name like '%FUSION%'", "name glob '*Execute*'", "name in ('train', 'data_loading')", f"track = '{one['track']}'",
                  f"id = '{one['id']}'", "id = 'nothing'", f"name = '{name}' and start_ps > {middle}", "host = 'trainer-0'",
                  "host = 'nobody'", f"run = '{RUN}'", "run = 5", f"start_ps = (select max(start_ps) from slices)",
                  "start_ps > 1e300", "start_ps < -1e300", "name like '%fusion%' and depth = 0", "start_ps is null"):
        plain = bound
        for column in ("start_ps", "end_ps", "depth", "name", "track", "id", "host", "run"):
            plain = plain.replace(column, "+" + column) if bound.startswith(column) or f"and {column}" in bound else plain
        what = "select count(*) c, sum(dur_ps) d, min(id) i from slices where "
        assert rows(server, what + bound) == rows(server, what + plain), (bound, plain)
    few = sql(server, f"select * from slices where id = '{one['id']}'", run=RUN).json
    assert few["scan_count"] == 1 and few["row_count"] == 1
    window = sql(server, f"select count(*) from slices where start_ps < {spans['a'] + 10**6}", run=RUN).json
    assert window["scan_count"] < 200, window["scan_count"]


def runs_and_tracks(server):
    listed = good(server, "/api/runs").json["runs"]
    got = rows(server, "select * from runs", run=None)
    assert [(row["id"], row["name"], row["slice_count"], row["step_median_ps"]) for row in got] == [
        (run["id"], run["name"], run["slice_count"], run["step_median_ps"]) for run in listed]
    want = good(server, "/api/tracks", run=RUN).json["tracks"]
    got = rows(server, "select * from tracks")
    assert [{name: row[name] for name in row if name not in ("run", "derived")} for row in got] == [
        {name: track[name] for name in got[0] if name not in ("run", "derived")} for track in want]
    all_runs = rows(server, "select run, count(*) c from slices group by run order by run", run=None)
    assert all_runs == [{"run": run["name"], "c": good(server, "/api/slices", run=run["id"], limit=1).json["row_count"]}
                        for run in sorted(listed, key=lambda run: run["name"])]
    medians = {row["run"]: row["value"] for row in rows(server, "select * from metrics where metric = 'step_time'", run=None)}
    assert medians == {run["name"]: run["step_median_ps"] for run in listed}


def the_page_and_columns(server):
    reply = sql(server, "select name, name, sum(dur_ps), 1.5 as x, null from slices", run=RUN).json
    openapi.check(reply, "/api/sql")
    assert [column["name"] for column in reply["columns"]] == ["name", "name_2", "sum(dur_ps)", "x", "null"]
    assert [column["unit"] for column in reply["columns"]][2] == "ps"
    listed = rows(server, "select distinct table_name t from columns")
    for table in listed:
        openapi.check(sql(server, f"select * from {table['t']} limit 2", run=RUN).json, "/api/sql")
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/sql.md").read_text()
    for row in rows(server, "select table_name t, name n from columns"):
        assert f"`{row['t']}`" in page and f"`{row['n']}`" in page, row


def formats_agree(server):
    query = "select name, count(*) as count, sum(dur_ps) as dur_ps from slices group by name order by name limit 7"
    want = rows(server, query)
    table = list(csv.DictReader(io.StringIO(sql(server, query, run=RUN, format="csv").text)))
    assert [(row["name"].lstrip("'"), int(row["count"]), int(row["dur_ps"])) for row in table] == [
        (row["name"], row["count"], row["dur_ps"]) for row in want]
    assert len(sql(server, query, run=RUN, format="md").text.strip().splitlines()) == 9
    told = subprocess.run([harness.program(), "sql", RUN, query, "--profile-dir", str(server.place.profiles), "--cache-dir",
                           str(server.place.cache), "--format", "json"], capture_output=True, text=True)
    assert json.loads(told.stdout)["rows"] == want, told.stderr
    told = subprocess.run([harness.program(), "sql", "--all", "select count(*) c from runs", "--profile-dir", str(server.place.profiles),
                           "--cache-dir", str(server.place.cache), "--format", "csv"], capture_output=True, text=True)
    assert told.stdout.split() == ["c", "3"], told
    told = subprocess.run([harness.program(), "sql", RUN, "select nme from slices", "--profile-dir", str(server.place.profiles),
                           "--cache-dir", str(server.place.cache)], capture_output=True, text=True)
    assert told.returncode == 2 and "column 8" in told.stderr, told


def errors_say_where(server):
    for query, place, word in (("select nme from slices", (1, 8), "nearest is name"), ("select *\nfrom slcies", (2, 6), "nearest is slices"),
                               ("select 'é', nme from slices", (1, 13), "no such column"), ("select 1; select 2", (1, 10), "one statement")):
        reply = sql(server, query, run=RUN)
        assert reply.status == 400 and reply.headers["Content-Type"] == "application/problem+json", reply.body
        openapi.check(reply.json, "/api/sql", 400)
        assert (reply.json["at"]["line"], reply.json["at"]["column"]) == place, reply.json
        assert word in reply.json["detail"], reply.json
    for body in ("", "[]", "{", "{}", '{"query": 7}', '{"query": "select 1", "x": 1}', '"select 1"'):
        assert ask(server, "/api/sql", method="POST", headers=JSON, body=body).status == 400, body
    assert sql(server, "select 1", run="nothing").status == 404
    assert sql(server, "select 1", limit=100001).status == 400
    assert sql(server, "select 1 --" + "x" * 70000, run=RUN).status == 422
    assert ask(server, "/api/sql").status == 405
    cut = sql(server, "select id from slices", run=RUN, limit=5).json
    assert cut["row_count"] is None and len(cut["rows"]) == 5 and cut["notes"][0]["kind"] == "cut-off" and cut["reasons"]["row_count"]


def attacks_end(server):
    """Each eighth of the list that tests/unit/store/test_sql.c runs whole; here through the process."""
    lines = (pathlib.Path(__file__).parent / "sql_attacks.txt").read_text().splitlines()
    attacks = [line for line in lines if line[:2] in ("- ", "+ ")][::8]
    for line in attacks:
        begin = time.monotonic()
        reply = sql(server, line[2:].replace("numbers", "slices"), run=RUN, timeout_ms=300, limit=10)
        assert reply.status in ((400, 422) if line[0] == "-" else (200, 400, 422)), (line, reply.status, reply.body[:300])
        assert time.monotonic() - begin < 15, line
    assert good(server, "/healthz").status == 200


def many_at_once_are_refused_or_answered(server):
    slow = "with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r"
    got = []
    threads = [threading.Thread(target=lambda: got.append(sql(server, slow, run=RUN, timeout_ms=500).status)) for _ in range(14)]
    for thread in threads:
        thread.start()
    assert good(server, "/api/runs").status == 200
    for thread in threads:
        thread.join()
    assert set(got) <= {422, 429} and got.count(422) >= 8 and 429 in got, got
    assert rows(server, "select 1 as one") == [{"one": 1}]


def text_of(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:  # it has ended meanwhile
        return ""


def workers(server):
    """Who waits: one that has answered, and one that stands ready."""
    def two():
        mine = {pid for pid in server.children() if "sql-worker" in text_of(pid, "cmdline")}
        assert len(mine) <= 2, mine
        return len(mine) == 2 and mine
    return harness.until("two workers", two)


def who_has_answered_answers_again(server):
    assert rows(server, "select count(*) c from steps") == [{"c": 5}]
    first = workers(server)
    for format in ("json", "csv", "md"):
        assert sql(server, "select name, count from ops", run=RUN, format=format, limit=7).status == 200
    assert workers(server) == first
    for pid in first:
        harness.until("its limits", lambda: re.search(r"Max file size +0 +0 ", text_of(pid, "limits")))
        assert re.search(r"Max cpu time +\d+ +\d+ ", text_of(pid, "limits"))
    # A note of a table is told by each answer that stands on it, and by no other.
    lost = "select * from compiles"
    assert sql(server, lost, run=RUN).json["notes"] == sql(server, lost + " ", run=RUN).json["notes"]
    assert sql(server, "select 1", run=RUN).json["notes"] == []
    assert workers(server) == first


def who_has_refused_ends(server):
    assert rows(server, "select 1 as one") == [{"one": 1}]
    before = workers(server)
    assert sql(server, "select nme from ops", run=RUN).status == 400
    assert rows(server, "select 2 as two") == [{"two": 2}]
    after = workers(server)
    assert len(before & after) == 1, (before, after)  # the one that stood ready
    slow = "with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r"
    assert sql(server, slow, run=RUN, timeout_ms=200).status == 422
    assert rows(server, "select 3 as three") == [{"three": 3}]
    assert len(after & workers(server)) == 1


def another_run_is_told_to_another(server):
    assert rows(server, "select run from steps limit 1") == [{"run": RUN}]
    before = workers(server)
    assert rows(server, "select run from steps limit 1", run="step_500") == [{"run": "step_500"}]
    assert len(before & workers(server)) == 1
    assert rows(server, "select count(*) c from runs", run=None) == [{"c": 3}]
    server.place.sample("step_500", "step_501")
    server.until_state("step_501", "ready")
    assert rows(server, "select count(*) c from runs", run=None) == [{"c": 4}]


def one_that_dies_is_not_missed(server):
    assert rows(server, "select 1 as one") == [{"one": 1}]
    for pid in workers(server):
        os.kill(pid, signal.SIGKILL)
        harness.until("it to be gone", lambda: "State:\tZ" in text_of(pid, "status"))
    assert rows(server, "select 2 as two") == [{"two": 2}]
    assert rows(server, "select 3 as three") == [{"three": 3}]


if __name__ == "__main__":
    common.main([views_are_the_endpoints, slices_are_the_endpoint, names_sum_to_the_slices, bounds_change_no_answer, runs_and_tracks,
                 the_page_and_columns, formats_agree, errors_say_where, attacks_end, many_at_once_are_refused_or_answered,
                 who_has_answered_answers_again, who_has_refused_ends, another_run_is_told_to_another, one_that_dies_is_not_missed])
