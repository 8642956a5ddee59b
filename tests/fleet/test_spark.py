#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jviewd.spark against a real Spark: a master and two workers of one core each, of which one is killed while it works."""

import os
import pathlib
import shutil
import signal
import sys
import threading
import time

from common import TOP, harness, need

need("pyarrow", "duckdb", "pyspark")

if shutil.which("java") is None:
    print("skipped: there is no Java here; ./dev test fleet gets it from Debian")
    sys.exit(77)

os.environ["JVIEWD_BIN"] = harness.program()
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

import duckdb  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import jviewd.spark  # noqa: E402
import jviewd.tables  # noqa: E402


def start(place, **more):
    """Real processes: a master, and two workers that start executors."""
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("fleet")
    settings = {"spark.executorEnv.PYTHONPATH": str(TOP / "api/python"), "spark.executorEnv.JVIEWD_BIN": os.environ["JVIEWD_BIN"],
                "spark.pyspark.python": sys.executable, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.executor.memory": "512m",
                "spark.sql.python.filterPushdown.enabled": "true", "spark.local.dir": str(place.dir / "spark"),
                "spark.sql.warehouse.dir": str(place.dir / "spark-warehouse"), "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1", "spark.task.maxFailures": "8", **more}
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(jviewd.spark.Profiles)
    place.undo.append(spark.stop)
    return spark


def made(place, count, events=20000):
    for number in range(count):
        harness.make_profile(place.session(f"run_{number:04}", f"host-{number % 3}"), shape="gpu", events=events, seed=number + 1)


def load(spark, place, table, **options):
    return spark.read.format("jviewd").option("table", table).options(**options).load(str(place.profiles))


def exported(place, table, what):
    done = place.jviewd("export", place.profiles, "--to", place.dir / "warehouse", "--tables", table, "--cache-dir", place.cache)
    assert done.returncode == 0, done.stderr
    return duckdb.execute(f"select {what} from read_parquet(?, hive_partitioning = true)", [str(place.dir / "warehouse" / table / "**/*.parquet")]).fetchall()


def test_spark(place):
    made(place, 12)
    good = next(place.profiles.rglob("*.xplane.pb"))
    place.file("broken", good.read_bytes()[:3000])
    spark = start(place)
    the_same_sums(spark, place)
    filters_and_columns(spark, place)
    a_corrupt_profile_is_a_row(spark, place)
    indexes_are_made_by_all_workers(spark, place)
    a_killed_worker_loses_and_doubles_nothing(spark, place)


def the_same_sums(spark, place):
    ops = load(spark, place, "ops", parts=6)
    assert ops.rdd.getNumPartitions() == 6
    what = "count(*), sum(self_ps), count(distinct run), sum(count), count(distinct name)"
    got = tuple(ops.selectExpr("count(*)", "sum(self_ps)", "count(distinct run)", "sum(count)", "count(distinct name)").collect()[0])
    assert [got] == exported(place, "ops", what), (got, exported(place, "ops", what))
    rows = ops.where("kind = 'communication'").groupBy("device_kind", "scope").sum("self_ps").collect()
    assert rows
    steps = {tuple(row) for row in load(spark, place, "steps", parts=3).select("run", "step", "host", "dur_ps", "start_ps").collect()}
    assert steps == set(exported(place, "steps", "run, step, host, dur_ps, start_ps"))
    print(f"# {got[0]} rows of ops, {len(steps)} steps: the same as Parquet's")


def filters_and_columns(spark, place):
    ops = load(spark, place, "ops", parts=4)
    count = ops.count()
    one = load(spark, place, "ops", run="run_0003")
    assert one.rdd.getNumPartitions() == 1, one.rdd.getNumPartitions()
    assert {row.run for row in one.select("run").distinct().collect()} == {"run_0003"}
    assert ops.where("run = 'run_0003'").count() == one.count() < ops.count() == count
    assert load(spark, place, "ops", day="1999-01-01", parts=2).count() == 0
    some = load(spark, place, "ops", parts=3, host='["host-1", "host-2"]').select("run").distinct().count()
    assert some == 8, some
    narrow = spark.read.format("jviewd").schema("name string, self_ps long").option("table", "ops").option("parts", 4).load(str(place.profiles))
    assert narrow.columns == ["name", "self_ps"] and narrow.count() == count
    try:
        load(spark, place, "opps").count()
    except Exception as error:  # noqa: BLE001 - Spark wraps it
        assert 'there is no table "opps"' in str(error), error
    else:
        raise AssertionError("a table that is none was read")


def a_corrupt_profile_is_a_row(spark, place):
    bad = load(spark, place, "files").where("state not in ('ready', 'covered')").select("run", "state", "error").collect()
    assert [(row.run, row.state) for row in bad] == [("broken", "failed")] and bad[0].error, bad


def indexes_are_made_by_all_workers(spark, place):
    store = place.dir / "store"
    assert jviewd.spark.index(spark, str(place.profiles), str(store), parts=4) == 13
    assert len(list(store.rglob("*.known"))) == 12
    assert load(spark, place, "ops", store=str(store), parts=4).count() == load(spark, place, "ops", parts=4).count()


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def is_ours(pid):
    while pid > 1 and pid != os.getpid():
        pid = parent(pid)
    return pid == os.getpid()


def executors():
    """Pids of this test's executors."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and b"java" in words[0] and is_ours(int(entry.name)):
                found.append(int(entry.name))
    return found


def a_killed_worker_loses_and_doubles_nothing(spark, place):
    killed = []

    def kill():
        time.sleep(1.5)
        for pid in executors()[:1]:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    what = ("count(*)", "sum(self_ps)", "count(distinct run)")
    thread = threading.Thread(target=kill)
    thread.start()
    got = tuple(load(spark, place, "ops", parts=12).selectExpr(*what).collect()[0])
    thread.join()
    assert [got] == exported(place, "ops", ", ".join(what)), got
    print(f"# executors killed while they worked: {len(killed)}")
    assert killed, "no executor was found to kill"


harness.main([test_spark])
