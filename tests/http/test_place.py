#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A verb answers for the whole place that it was asked for: every rank of a job, each profile directory, the run that was captured last; and names what is
no run yet."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import harness  # noqa: E402

RANKS, STEPS = 8, 3
ZERO_NS = 1_795_253_400_000_000_000
SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

/* Every thread but the first is late at each lock. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);

    if (next == NULL)
        next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    if (gettid() != getpid())
        usleep(20000);
    return next(mutex);
}
"""


def keep(place, name="cache"):
    return ["--cache-dir", place.dir / name, "--data-dir", place.dir / "data"]


def write_rank(path, rank, rows=1):
    """Kineto's file of one rank: `rows` makes it take longer to read."""
    events = [{"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "python"}}]
    for step in range(STEPS):
        begin = 1000.0 + step * 10000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin, "dur": 9000.0})
        events += [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": begin + 10 + 8000 * i / rows, "dur": 7000 / rows,
                    "args": {"device": rank, "stream": 7}} for i in range(rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": ZERO_NS, "traceEvents": events,
                                "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS}}))
    harness.age(path)


def every_rank_is_waited_for(place):
    for rank in range(RANKS):
        write_rank(place.dir / "job" / f"worker{rank}.pt.trace.json", rank, rows=1 + 2000 * (rank % 2))
    hosts = {f"worker{rank}" for rank in range(RANKS)}
    for attempt in range(6):
        done = place.jviewd("steps", place.dir / "job", "--format", "json", *keep(place, f"cache{attempt}"))
        assert done.returncode == 0, done
        assert {row["host"] for row in json.loads(done.stdout)["rows"]} == hosts, (attempt, done.stdout[:300])


def a_rank_that_came_later_is_read_too(place):
    write_rank(place.dir / "job" / "worker0.pt.trace.json", 0)
    assert place.jviewd("steps", place.dir / "job", *keep(place)).returncode == 0
    write_rank(place.dir / "job" / "worker1.pt.trace.json", 1, rows=5000)
    done = place.jviewd("steps", place.dir / "job", "--format", "json", *keep(place))
    assert {row["host"] for row in json.loads(done.stdout)["rows"]} == {"worker0", "worker1"}, done


def the_latest_is_the_last_that_was_captured(place):
    """After a clone all files are of one minute, in any order: the captures' clocks decide, whatever was read before."""
    order = ["step_500", "step_1000", "step_1500"]
    at = {}
    for name in order:
        source = next((harness.SAMPLES / name).rglob("*.xplane.pb"))
        path = place.session(name)
        path.write_bytes(source.read_bytes())
        at[name] = path
    for turn, newest in enumerate(order):
        for name, path in at.items():
            harness.age(path)
            os.utime(path, (path.stat().st_mtime, path.stat().st_mtime + (5 if name == newest else 0)))
        options = [*keep(place, f"cache{turn}"), "--profile-dir", place.profiles]
        listed = json.loads(place.jviewd("list", "--format", "json", "--profile-dir", place.profiles, *keep(place, f"other{turn}")).stdout)["runs"]
        wanted = [run["name"] for run in sorted(listed, key=lambda run: run["started_at"], reverse=True)]
        for words, name in ((["latest"], wanted[0]), (["latest-1"], wanted[1]), (["latest"], wanted[0])):
            done = place.jviewd("overview", *words, "--format", "json", *options)
            assert done.returncode == 0 and json.loads(done.stdout)["run"]["name"] == name, (turn, words, wanted, done.stdout[:200], done.stderr)
        assert [run["name"] for run in listed] == wanted, listed


def a_list_reads_what_it_lists(place):
    place.sample("step_500"), place.sample("step_1000")
    done = place.jviewd("list", place.profiles, "--format", "json", *keep(place))
    assert {run["state"] for run in json.loads(done.stdout)["runs"]} == {"ready"}, done.stdout[:500]


def a_snapshot_of_memory_is_not_the_latest(place):
    """It is newer than every capture, and no timeline."""
    place.sample("step_500")
    path = place.profiles / "memory" / "memory.prof"
    path.parent.mkdir()
    path.write_bytes((pathlib.Path(__file__).resolve().parent.parent / "golden/cases/memory.prof").read_bytes())
    harness.age(path)
    os.utime(path, (path.stat().st_mtime + 60,) * 2)
    options = ["--profile-dir", place.profiles, *keep(place)]
    for words in (["latest", *options], [place.profiles, *keep(place)]):
        done = place.jviewd("overview", *words, "--format", "json")
        assert done.returncode == 0 and json.loads(done.stdout)["run"]["name"] == "step_500", (words, done.stdout[:200], done.stderr)
    assert place.jviewd("--extract", place.profiles, "-o", place.dir / "out", *keep(place)).returncode == 0
    assert [file.name for file in (place.dir / "out").iterdir()] == ["trainer-0.trace.json"]
    alone = place.jviewd("overview", "memory", *options)
    assert "30.5 MiB" in alone.stdout.splitlines()[0], alone.stdout


def all_profile_directories_are_used(place):
    place.sample("step_500")
    other = place.dir / "other" / "late.trace.json"
    other.parent.mkdir()
    other.write_text(json.dumps({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 1, "dur": 5}]}))
    harness.age(other)
    both = ["--profile-dir", place.profiles, "--profile-dir", other.parent]
    for words in (both, both[2:] + both[:2]):
        done = place.jviewd("list", *words, "--format", "json", *keep(place))
        assert {run["name"] for run in json.loads(done.stdout)["runs"]} == {"step_500", "late"}, done
        for name in ("step_500", "late"):
            assert place.jviewd("top", name, *words, *keep(place)).returncode == 0, name


def a_run_that_was_just_read_is_there(place):
    """What only its content tells to be a run is listed a moment after it was read: that moment is waited for."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise harness.Skip("no compiler")
    (place.dir / "slow.c").write_text(SLOW)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", place.dir / "slow.so", place.dir / "slow.c", "-ldl"], check=True)
    path = place.dir / "some.json"
    path.write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 1, "dur": 5}]))
    harness.age(path)
    done = place.jviewd("overview", path, *keep(place),
                        env={**os.environ, "LD_PRELOAD": str(place.dir / "slow.so"), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"})
    assert done.returncode == 0 and "no run at all" not in done.stderr, done


def a_killed_recording_is_named_with_its_line(place):
    out = place.dir / "a job"
    session = out / ".jview-spool" / "2026_11_21_22_04_05"
    session.mkdir(parents=True)
    (session / "control").write_bytes(b"x" * 64), (session / "466-3.jvs").write_bytes(b"x" * 64)
    line = f"jview-collect finalize '{out}'"
    for words in (["list", out], ["top", out], ["doctor", out]):
        done = place.jviewd(*words, *keep(place)[:2 if words[0] == "doctor" else None])
        assert line in done.stdout + done.stderr, (words, done)
    assert place.jviewd("top", out, *keep(place)).returncode == 3
    server = place.serve(out)
    told = harness.until("the scan", lambda: server.fetch("/api/runs")[2]["notes"])
    assert any(line in note["message"] for note in told), told
    server.stop()
    with open(session / "control", "rb") as held:
        import fcntl
        fcntl.flock(held, fcntl.LOCK_EX)
        assert line not in (lambda done: done.stdout + done.stderr)(place.jviewd("list", out, *keep(place))), "it still records"


if __name__ == "__main__":
    harness.main([every_rank_is_waited_for, a_rank_that_came_later_is_read_too, the_latest_is_the_last_that_was_captured, a_list_reads_what_it_lists, a_snapshot_of_memory_is_not_the_latest,
                  all_profile_directories_are_used, a_run_that_was_just_read_is_there, a_killed_recording_is_named_with_its_line])
