#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`jviewd fleet`: its three tables are what DuckDB sums over the exported ones."""

import json

from common import harness, need

need("pyarrow", "duckdb")

import duckdb  # noqa: E402

OPS = """
with mean as (select key, any_value(name) as name, sum(self_ps) as self_ps, sum(count) as count, min(self_ps / count) as best, count(*) as runs
              from read_parquet('{}/ops/**/*.parquet') where count > 0 group by key)
select key, name, self_ps, count, runs, self_ps - best * count as lost from mean order by lost desc
"""
HOSTS = """
select name, sum(compared_count), sum(last_count), max(lag_ps) from read_parquet('{}/hosts/**/*.parquet') where compared_count > 0 group by name
"""
JOBS = """
select regexp_replace(run, '[-_/.]*[0-9]+$', '') as job, count(*), sum(dur_ps), sum(dur_ps - compute_ps) from read_parquet('{}/steps/**/*.parquet')
where warmup = 0 and cut = 0 and dur_ps > 0 group by job
"""


def fleet(place, *arguments):
    done = place.jviewd("fleet", place.profiles, "--cache-dir", place.cache, "--format", "json", "--limit", "10000", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_tables_are_sums_of_the_exported_ones(place):
    for name in ("step_250", "step_500", "step_1000", "step_1500"):
        place.sample(name)
    for number in range(3):
        for host in ("a", "b", "c"):
            harness.make_profile(place.session(f"exp/run_{number}", f"worker-{host}"), shape="gpu", events=4000 + 100 * number, seed=5 + 3 * number + ord(host))
    done = place.jviewd("export", place.profiles, "--to", place.dir / "warehouse", "--cache-dir", place.cache)
    assert done.returncode == 0, done.stderr
    compare(place, fleet(place))


def compare(place, told):
    ops = duckdb.execute(OPS.format(place.dir / "warehouse")).fetchall()
    got = told["ops"]["rows"]
    assert len(got) == len(ops) == told["ops"]["row_count"], (len(got), len(ops))
    assert sorted((row["name"], row["self_ps"], row["count"], row["run_count"]) for row in got) == sorted(
        (name, self_ps, count, runs) for _, name, self_ps, count, runs, _ in ops)
    assert max(abs(row["lost_ps"] - lost) for row, (*_, lost) in zip(got, ops)) < 2, "lost time"
    assert any(row["run_count"] > 1 and row["lost_ps"] > 0 for row in got)
    hosts = {(name, count, late, lag) for name, count, late, lag in duckdb.execute(HOSTS.format(place.dir / "warehouse")).fetchall()}
    assert {(row["name"], row["compared_count"], row["last_count"], row["worst_lag_ps"]) for row in told["hosts"]["rows"]} == hosts, hosts
    assert hosts and any(late for _, _, late, _ in hosts), hosts
    shares = [row["last_share"] for row in told["hosts"]["rows"]]
    assert shares == sorted(shares, reverse=True)
    jobs = {tuple(row) for row in duckdb.execute(JOBS.format(place.dir / "warehouse")).fetchall()}
    assert {(row["name"], row["step_count"], row["total_ps"], row["not_computing_ps"]) for row in told["jobs"]["rows"]} == jobs, jobs
    assert {"step", "exp/run"} == {job for job, *_ in jobs}


def test_what_cannot_be_read_is_told(place):
    good = place.sample("step_1000")
    place.file("broken", good.read_bytes()[:2000])
    done = place.jviewd("fleet", place.profiles, "--cache-dir", place.cache)
    assert done.returncode == 0 and "1 of 2 runs" in done.stderr, done.stderr
    assert "Ops by the time" in done.stdout and "Hosts by" in done.stdout and "Jobs by" in done.stdout
    empty = place.dir / "empty"
    empty.mkdir()
    assert place.jviewd("fleet", empty, "--cache-dir", place.cache).returncode == 3
    assert place.jviewd("fleet", place.profiles, "--limit", "0", "--cache-dir", place.cache).returncode == 2


harness.main([test for name, test in list(globals().items()) if name.startswith("test_")])
