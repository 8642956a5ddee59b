#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Indexing processes that are killed, and a server that is killed with them."""

import os
import pathlib
import random
import resource
import signal
import sqlite3
import time

from harness import Skip, main, make_profile, program, until


def killed_child(place):
    place.sample()
    make_profile(place.session("large"))
    server = place.serve()
    os.kill(server.child(), signal.SIGKILL)
    run = server.until_state("large", "failed")
    assert "the indexer was killed (signal 9)" in run["error"], run
    server.answers()
    assert not [path for path in place.leftovers() if path.is_file()]
    server.stop()
    server = place.serve()
    server.until_state("large", "ready")


def child_that_crashes(place):
    place.sample()
    make_profile(place.session("large"))
    server = place.serve()
    os.kill(server.child(), signal.SIGSEGV)
    run = server.until_state("large", "failed")
    assert "killed" in run["error"] or "ended with" in run["error"], run
    server.answers()


def child_that_is_refused_memory(place):
    """Addresses run out: that passes, and the file is read again by itself."""
    if b"libasan" in pathlib.Path(program()).read_bytes():
        raise Skip("a sanitizer's build reserves its addresses")
    place.sample()
    make_profile(place.session("large"), events=600000)
    server = place.serve()
    child = server.child()
    until("the child to be confined", lambda: status_of(child).get("Seccomp") == "2")
    used = int(status_of(child)["VmSize"].split()[0]) << 10
    resource.prlimit(child, resource.RLIMIT_AS, (used, used))
    run = server.until_state("large", "failed", "ready")
    if run["state"] == "ready":
        raise Skip("it had all its memory already")
    assert "memory" in run["error"] and "crashes" not in run["error"], run
    server.answers()
    server.until_state("large", "ready")


def child_that_needs_too_long(place):
    place.sample()
    make_profile(place.session("large"))
    server = place.serve()
    os.kill(server.child(), signal.SIGXCPU)
    run = server.until_state("large", "failed")
    assert "too long" in run["error"], run
    server.answers()


def confined_child(place):
    """What the kernel says of a process that decodes, and what a call that it may not make comes to."""
    if b"libasan" in pathlib.Path(program()).read_bytes():
        raise Skip("a sanitizer's build keeps its system calls")
    place.sample()
    make_profile(place.session("large"))
    server = place.serve()
    child = server.child()
    said = until("the child to be confined", lambda: (text := status_of(child)) and text.get("Seccomp") == "2" and text)
    assert said["NoNewPrivs"] == "1", said
    kept = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: root's, over files
    assert int(said["CapEff"], 16) & ~kept == 0, said
    os.kill(child, signal.SIGSYS)
    run = server.until_state("large", "failed")
    assert "tried" in run["error"] and "report it" in run["error"], run
    server.answers()


def status_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def stopped_child_does_not_stop_others(place):
    make_profile(place.session("large"))
    server = place.serve("--workers", "2")
    child = server.child()
    os.kill(child, signal.SIGSTOP)
    place.sample()
    server.until_state("step_1000", "ready")
    server.answers()
    status, _, body = server.top("large", wait_ms=100)
    assert status == 503, body
    os.kill(child, signal.SIGCONT)
    server.until_state("large", "ready")


def check_whole(place, names):
    """Each run once, ready, numbers as of an undisturbed index, nothing left over."""
    server = place.serve()
    runs = server.until_settled()
    assert sorted(runs) == sorted(names), runs
    assert all(run["state"] == "ready" for run in runs.values()), runs
    ids = [run["id"] for run in server.fetch("/api/runs", limit=1000)[2]["runs"]]
    assert len(ids) == len(set(ids)) == len(names)
    assert len(place.segments()) == len(names), place.segments()
    for name in names:
        server.answers(name)
    assert server.stop() == 0
    assert not list((place.cache / "tmp").iterdir())
    assert not place.leftovers(), place.leftovers()
    place.serve().stop()
    assert not list((place.cache / "servers").iterdir())
    database = sqlite3.connect(place.cache / "catalog.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    return {name: run["content_id"] for name, run in runs.items()}


def server_killed_while_indexing(place):
    names = [f"run_{i}" for i in range(4)]
    for i, name in enumerate(names):
        make_profile(place.session(name), events=60000, seed=i + 1)
    seen = set()
    for round in range(6):
        server = place.serve("--workers", "2")
        child = until("an indexing process", lambda: server.children() or
                      all(run["state"] == "ready" for run in server.runs().values()))
        time.sleep(random.Random(round).uniform(0, 0.4))
        children = server.children()
        server.process.kill()
        server.process.wait()
        for pid in children:
            until("its children to end", lambda: not pathlib.Path(f"/proc/{pid}").exists() or
                  pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z", 10)
        seen.add(child if isinstance(child, bool) else "children")
    contents = check_whole(place, names)
    assert len(set(contents.values())) == len(names)
    before = {path: path.read_bytes() for path in place.segments()}
    for path in before:
        path.unlink()
    (place.cache / "catalog.sqlite").unlink()
    assert check_whole(place, names) == contents
    assert {path: path.read_bytes() for path in place.segments()} == before


def stopped_server_tells_no_failure(place):
    """Children are killed by the server that stops; nothing failed."""
    make_profile(place.session("large"))
    server = place.serve()
    server.child()
    assert server.stop() == 0
    assert "killed" not in server.words(), server.words()


def catalog_survives(place):
    """What was ready stays ready over a kill; nothing is read twice."""
    place.sample()
    make_profile(place.session("large"))
    server = place.serve()
    server.until_state("step_1000", "ready")
    server.process.kill()
    server.process.wait()
    server = place.serve()
    server.until_settled()
    assert sum("trainer-0.xplane.pb: xplane" in line for line in server.words().splitlines()) == 0, server.words()


if __name__ == "__main__":
    main([killed_child, confined_child, child_that_crashes, child_that_is_refused_memory, child_that_needs_too_long, stopped_child_does_not_stop_others,
          server_killed_while_indexing, stopped_server_tells_no_failure, catalog_survives])
