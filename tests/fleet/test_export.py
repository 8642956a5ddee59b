#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`jviewd export`: what DuckDB and pyarrow read of it is what REST and SQL answer, to the last picosecond; and what happens where an export
is killed, done again, or meets odd names, full places and tables of another version."""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from common import KINDS, REST, TOP, ask_sql, as_table, equal, harness, need, rest_rows, sql_rows

need("pyarrow", "duckdb")

import duckdb  # noqa: E402
import pyarrow  # noqa: E402

LEAD = ("run", "content_id", "run_step", "captured_at", "device_kind", "host", "device", "step")
BY_SQL = ("critical_path", "slack", "slices", "derived_slices", "metrics")


def schema():
    done = subprocess.run([harness.program(), "export", "--schema"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def profiles(place):
    """Profiles of every shape; where there is a corpus, its directories, too."""
    for name in ("step_250", "step_500", "step_1000", "step_1500"):
        place.sample(name)
    for number, shape in enumerate(("gpu", "tpu", "cpu")):
        harness.make_profile(place.session(f"made_{shape}", f"host-{number}"), shape=shape, events=20000, seed=number + 1)
    for host in ("a", "b"):
        harness.make_profile(place.session("two_hosts", f"worker-{host}"), shape="gpu", events=5000, seed=7)
    corpus = os.environ.get("JVIEW_CORPUS")
    if corpus:
        for path in sorted(pathlib.Path(corpus).iterdir()):
            if path.is_dir():
                shutil.copytree(path, place.profiles / path.name, symlinks=True)


def export(place, *arguments, to="warehouse", code=0, root=None):
    done = place.jviewd("export", root or place.profiles, "--to", place.dir / to, "--cache-dir", place.cache, *arguments)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def files_of(place, to="warehouse", suffix="parquet"):
    return sorted(str(path.relative_to(place.dir / to)) for path in (place.dir / to).rglob(f"*.{suffix}"))


def read(place, table, run_name, suffix="parquet", to="warehouse"):
    """(columns, rows) of a run, by DuckDB."""
    if not list((place.dir / to / table).rglob(f"*.{suffix}")):
        return [], []
    glob = str(place.dir / to / table / "**" / f"*.{suffix}")
    found = duckdb.execute("select * exclude (day) from read_parquet(?, hive_partitioning = true) where run = ?", [glob, run_name])
    return [column[0] for column in found.description], found.fetchall()


def compare_rest(table, columns, rows, told):
    """Columns that REST's rows have, and those of kinds; the others tell whose row it is."""
    known = set().union(*(row.keys() for row in told)) if told else set()
    names = [name for name in columns if name in known or (name[:-3] in KINDS and "breakdown" in known)]
    names = [name for name in names if name != "reasons"]
    missing = [name for name in columns if name not in names and name not in LEAD and name != "reasons"]
    assert not told or not missing, (table, "has columns that REST has not", missing)
    at = [columns.index(name) for name in names]
    got = [tuple(row[i] for i in at) for row in rows]
    wanted = [as_table(row, names) for row in told]
    assert equal(got, wanted), (table, [pair for pair in zip(sorted(got, key=str), sorted(wanted, key=str)) if pair[0] != pair[1]][:2],
                                len(got), len(wanted))
    reasons = columns.index("reasons")
    whose = columns[: next(i for i, name in enumerate(columns) if name not in LEAD)]
    got = sorted(json.dumps(json.loads(row[reasons] or "{}"), sort_keys=True) for row in rows)
    wanted = sorted(json.dumps({name: why for name, why in (row.get("reasons") or {}).items() if name in names and name not in whose}, sort_keys=True)
                    for row in told)
    assert got == wanted, (table, "reasons differ", [pair for pair in zip(got, wanted) if pair[0] != pair[1]][:2])


def compare_sums(server, place, run, table):
    """Of more rows than SQL answers with: how many, and sums over each column."""
    own = next(each for each in schema()["tables"] if each["name"] == table)["columns"]
    known = {row["name"] for row in ask_sql(server, run, f"select name from columns where table_name = '{table}'")["rows"]}
    parts = ["count(*)"]
    for column in own:
        name = f'"{column["name"]}"'
        if column["name"] in known:
            parts += [f"count({name})", f"count(distinct {name})",
                      f"sum(length({name}))" if column["type"] == "text" else f"sum({name} % 1000003)"]
    told = [value for value in ask_sql(server, run, f"select {', '.join(parts)} from {table}")["rows"][0].values()]
    glob = str(place.dir / "warehouse" / table / "**" / "*.parquet")
    got = duckdb.execute(f"select {', '.join(parts)} from read_parquet(?) where run = ?", [glob, run]).fetchone()
    assert list(got) == told, (run, table, [three for three in zip(parts, got, told) if three[1] != three[2]])


def compare_run(server, place, run, tables, counted):
    for table in tables:
        columns, rows = read(place, table, run)
        counted[table] = counted.get(table, 0) + len(rows)
        if table == "runs":
            told = [server.runs()[run]]
            names = [name for name in columns if name in told[0] and name != "reasons"]
            assert rows and [tuple(row[columns.index(name)] for name in names) for row in rows] == [as_table(told[0], names)], (run, rows, told)
        elif table == "files":
            told = server.run(run)["files"]
            names = [name for name in columns if name in told[0]]
            assert equal([tuple(row[columns.index(name)] for name in names) for row in rows], [as_table(row, names) for row in told]), run
        elif table in BY_SQL:
            told = sql_rows(server, run, table)
            if told is None:
                compare_sums(server, place, run, table)
                continue
            names = [name for name in columns if told and name in told[0]]
            assert len(names) >= len(told[0]) if told else not rows, (table, columns)
            assert equal([tuple(row[columns.index(name)] for name in names) for row in rows],
                         [tuple(row[name] for name in names) for row in told]), (run, table, rows[:1], told[:1])
        else:
            told = rest_rows(server, run, table)
            if told is None:
                assert not rows, (run, table, "REST has no such table")
            elif rows or told:
                compare_rest(table, columns, rows, told)


def test_parquet_equals_rest(place):
    profiles(place)
    export(place, "--tables", "all")
    server = place.serve()
    runs = server.until_settled()
    tables = [table["name"] for table in schema()["tables"]]
    assert set(REST) <= set(tables), set(REST) - set(tables)
    counted, seen = {}, set()
    written = {name for name, in duckdb.execute("select run from read_parquet(?)", [str(place.dir / "warehouse/runs/**/*.parquet")]).fetchall()}
    for run in runs.values():
        if run["state"] in ("ready", "partial") and run["hosts"]:
            if run["name"] not in written:  # a copy: its content is there under another name
                assert sum(other["content_id"] == run["content_id"] for other in runs.values()) > 1, run
                continue
            seen.add(run["content_id"])
            compare_run(server, place, run["name"], tables, counted)
    assert seen == {run["content_id"] for run in runs.values() if run["hosts"] and run["state"] in ("ready", "partial")}
    few = sorted(table for table in tables if not counted.get(table))
    print("# rows compared:", counted, "; none of:", few)
    assert set(few) <= {"derived_slices", "memory"}, few


def test_every_format_holds_the_same(place):
    place.sample("step_1000")
    harness.make_profile(place.session("gpu"), shape="gpu", events=3000)
    for suffix in ("parquet", "arrow", "csv", "jsonl"):
        export(place, "--format", suffix, "--tables", "all", to=suffix)
    for name in files_of(place, to="parquet"):
        with pyarrow.OSFile(str(place.dir / "arrow" / name.replace(".parquet", ".arrow"))) as file:
            table = pyarrow.ipc.open_file(file).read_all()
        table.validate(full=True)
        assert table.schema.metadata[b"jviewd.version"] == str(schema()["version"]).encode()
        wanted = [tuple(row.values()) for row in table.to_pylist()]
        parquet = duckdb.execute("select * from read_parquet(?, hive_partitioning = false)", [str(place.dir / "parquet" / name)])
        assert [column[0] for column in parquet.description] == table.column_names
        assert parquet.fetchall() == wanted, name
        with open(place.dir / "jsonl" / name.replace(".parquet", ".jsonl")) as file:
            assert [tuple(json.loads(line).values()) for line in file] == wanted, name
        with open(place.dir / "csv" / name.replace(".parquet", ".csv"), newline="") as file:
            names, *rows = csv.reader(file)
        assert names == table.column_names and len(rows) == len(wanted)
        for row, told in zip(rows, wanted):
            assert all(says(unguarded(cell), value) for cell, value in zip(row, told)), (name, row, told)


def unguarded(cell):
    """What a spreadsheet would take for a formula begins with an apostrophe."""
    return cell[1:] if cell.startswith(("'=", "'+", "'-", "'@", "'\t", "'\r")) else cell


def says(cell, value):
    if value is None:
        return cell == ""
    return float(cell) == value if isinstance(value, float) else cell == str(value)


def test_the_schema_is_the_one_that_is_documented(place):
    written = json.loads((TOP / "api/tables.json").read_text())
    assert written == schema(), "api/tables.json is not what `jviewd export --schema` prints: raise TABLES_VERSION where a column changed"
    types = {"text": "string", "integer": "int64", "real": "double"}
    place.sample("step_1000")
    export(place, "--tables", "all", "--format", "arrow")
    for table in written["tables"]:
        for path in (place.dir / "warehouse" / table["name"]).rglob("*.arrow"):
            with pyarrow.OSFile(str(path)) as file:
                found = pyarrow.ipc.open_file(file).schema
            assert [(column["name"], types[column["type"]]) for column in table["columns"]] == [(field.name, str(field.type)) for field in found]
    sql = {}
    done = place.jviewd("sql", "step_1000", "select * from columns", "--format", "json", "--limit", "10000", "--profile-dir", place.profiles,
                        "--cache-dir", place.cache)
    for row in json.loads(done.stdout)["rows"]:
        sql.setdefault(row["table_name"], {})[row["name"]] = row["type"]
    for table in written["tables"]:
        own = {column["name"]: column["type"] for column in table["columns"]}
        for name, kind in sql.get(table["name"], {}).items():
            assert own[name] == kind, (table["name"], name, own.get(name), kind)


def test_a_second_export_writes_what_is_new(place):
    place.sample("step_500")
    export(place)
    before = {name: os.stat(place.dir / "warehouse" / name).st_mtime_ns for name in files_of(place)}
    done = export(place)
    assert "0 files of 0 runs" in done.stderr and "1 run was there already" in done.stderr, done.stderr
    place.sample("step_1000")
    export(place)
    after = files_of(place)
    assert set(before) < set(after)
    assert all(os.stat(place.dir / "warehouse" / name).st_mtime_ns == then for name, then in before.items())
    export(place, "--replace")
    assert files_of(place) == after
    assert all(os.stat(place.dir / "warehouse" / name).st_mtime_ns != then for name, then in before.items())


def test_killed_and_done_again_doubles_nothing(place):
    for number in range(8):
        harness.make_profile(place.session(f"run_{number}"), shape="gpu", events=20000, seed=number + 1)
    export(place, to="whole")
    kills = 0
    for pause in (0.05, 0.2, 0.4, 0.8, 1.2, 1.7):
        process = subprocess.Popen([harness.program(), "export", str(place.profiles), "--to", str(place.dir / "warehouse"), "--cache-dir",
                                    str(place.cache)], stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(pause)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        for path in (place.dir / "warehouse").rglob("*"):
            if path.suffix == ".parquet":
                duckdb.execute("select count(*) from read_parquet(?)", [str(path)]).fetchall()  # whole
            assert path.is_dir() or path.suffix == ".parquet" or "_jviewd" in str(path), f"{path} is left"
    assert kills > 0
    export(place)
    assert files_of(place) == files_of(place, to="whole")
    for table in ("ops", "steps", "names", "runs"):
        count = [duckdb.execute("select count(*) from read_parquet(?)", [str(place.dir / to / table / "**/*.parquet")]).fetchone()
                 for to in ("warehouse", "whole")]
        assert count[0] == count[1] and count[0][0] > 0, (table, count)


def test_two_at_once_harm_nobody(place):
    for number in range(4):
        harness.make_profile(place.session(f"run_{number}"), shape="gpu", events=5000, seed=number + 1)
    both = [subprocess.Popen([harness.program(), "export", str(place.profiles), "--to", str(place.dir / "warehouse"), "--cache-dir",
                              str(place.dir / f"cache-{number}")], stderr=subprocess.PIPE) for number in range(2)]
    assert [process.wait() for process in both] == [0, 0], [process.stderr.read() for process in both]
    for process in both:
        process.stderr.close()
    export(place, to="whole")
    assert files_of(place) == files_of(place, to="whole")


def test_parts_together_are_the_whole(place):
    for number in range(7):
        harness.make_profile(place.session(f"run_{number}"), shape="gpu", events=1000 * (number + 1), seed=number + 1)
    plan = place.jviewd("plan", place.profiles, "--parts", "3", "--cache-dir", place.cache).stdout.splitlines()
    told = [line.split("\t") for line in plan]
    assert len(told) == 7 and {part for part, *_ in told} == {"1", "2", "3"}, plan
    sums = [sum(int(size) for part, _, size, _ in told if part == str(i)) for i in (1, 2, 3)]
    assert max(sums) < 2 * min(sums), sums
    for part in (3, 1, 2):
        done = export(place, "--part", f"{part}/3")
        assert f"of {sum(row[0] == str(part) for row in told)} run" in done.stderr, (done.stderr, plan)
    export(place, to="whole")
    assert files_of(place) == files_of(place, to="whole")
    one = told[0]
    export(place, "--runs", one[1], to="one")
    names = duckdb.execute("select distinct run from read_parquet(?)", [str(place.dir / "one/ops/**/*.parquet")]).fetchall()
    assert names == [(one[3],)], (names, one)


def test_odd_names(place):
    odd = ["a=b", "day=2026-01-01", "line\nbreak", "tab\there", "quote\"'", "ünï", "%2e%2e", "comma, dot.", "-dash", "$HOME"]
    for number, name in enumerate(odd):
        harness.make_profile(place.session(name, f"host={number}"), shape="gpu", events=1000, seed=number + 1)
    export(place)
    for table in ("ops", "runs", "steps"):
        for path in (place.dir / "warehouse" / table).rglob("*.parquet"):
            assert path.parent.name.startswith("day=20") and path.parent.parent.name == table, path
    found = duckdb.execute("select distinct run from read_parquet(?, hive_partitioning = true)",
                           [str(place.dir / "warehouse/ops/**/*.parquet")]).fetchall()
    assert sorted(name for name, in found) == sorted(odd), found
    days = duckdb.execute("select distinct day from read_parquet(?, hive_partitioning = true)",
                          [str(place.dir / "warehouse/ops/**/*.parquet")]).fetchall()
    assert all(str(day).startswith("20") for day, in days), days


def test_a_corrupt_profile_is_a_row(place):
    good = place.sample("step_1000")
    place.file("broken", good.read_bytes()[:5000])
    export(place)
    rows = duckdb.execute("select run, path, state, error from read_parquet(?) where state not in ('ready', 'covered')",
                          [str(place.dir / "warehouse/files/**/*.parquet")]).fetchall()
    assert len(rows) == 1 and rows[0][0] == "broken" and rows[0][2] in ("failed", "partial") and rows[0][3], rows
    place.file("broken", good.read_bytes())  # mended: what was told of it is gone
    export(place)
    rows = duckdb.execute("select run, state from read_parquet(?)", [str(place.dir / "warehouse/runs/**/*.parquet")]).fetchall()
    assert ("broken", "failed") not in rows, rows


def test_other_versions_are_refused(place):
    place.sample("step_1000")
    (place.dir / "warehouse").mkdir()
    (place.dir / "warehouse/_jviewd.json").write_text('{"version": 7}\n')
    done = export(place, code=2)
    assert "version 7" in done.stderr and f"version {schema()['version']}" in done.stderr, done.stderr
    assert not files_of(place)


def test_what_is_refused(place):
    place.sample("step_1000")
    for arguments, words in ((["--tables", "opps"], "there is no table \"opps\""), (["--format", "xml"], "a format is"),
                             (["--part", "4/3"], "a part is one"), (["--parts", "0x"], "the number of parts is"), (["--what"], "does not understand")):
        assert words in export(place, *arguments, code=2).stderr, arguments
    done = place.jviewd("export", place.profiles, "--to", "ftp://bucket/x", "--format", "csv", "--cache-dir", place.cache)
    assert done.returncode == 2 and "ftp://bucket/x" in done.stderr, done.stderr
    assert "does not exist" in export(place, root=place.dir / "nowhere", code=3).stderr
    bare = place.dir / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without packages
    bare.chmod(0o755)
    for python in ("/nowhere/python", str(bare)):
        done = place.jviewd("export", place.profiles, "--to", place.dir / "x", "--cache-dir", place.cache, env={**os.environ, "JVIEWD_PYTHON": python})
        assert done.returncode == 6 and "pip install 'jviewd[arrow]'" in done.stderr and "--format arrow" in done.stderr, done.stderr
        assert "No module" not in done.stderr, done.stderr


def test_a_place_that_takes_nothing(place):
    place.sample("step_1000")
    (place.dir / "file").write_text("")
    done = export(place, to="file", code=4)
    assert "file" in done.stderr, done.stderr
    if os.path.exists("/dev/full") and os.geteuid() == 0:
        small = place.dir / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True).returncode != 0:
            raise harness.Skip("no small file system can be mounted")
        place.undo.append(lambda: subprocess.run(["umount", str(small)]))
        done = export(place, "--format", "jsonl", to="small", code=4)
        assert "full" in done.stderr or "No space" in done.stderr, done.stderr
        for path in small.rglob("*.jsonl"):
            assert all(json.loads(line) for line in path.read_text().splitlines())


harness.main([test for name, test in list(globals().items()) if name.startswith("test_")])
