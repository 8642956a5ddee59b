#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One server for hours: runs come, change and go, files are uploaded and deleted, events are followed, SQL and every
route are asked without end. A line a minute; it fails where the server ends, an answer is a 5xx that nobody asked for,
or memory, descriptors or threads have grown at the end beyond what the first tenth of the time saw, which begins when each thread
has answered: until then each needs a stack. Each kind of question must have been answered.

    python3 tests/http/soak.py HOURS
"""

import collections
import os
import pathlib
import random
import shutil
import socket
import sys
import threading
import time

import common
import harness
from common import RUN, ask
from questions import questions
from test_flat import A_CONNECTION, WORKERS, ask_all, asked_never, numbers

GROWTH_KB_MAX, GROWTH_COUNT_MAX = 4 << 10, 16
SQL = ["select name, count(*), sum(self_ps) from ops group by name order by 3 desc limit {}", "select count(*) from slices where dur_ps > {}",
       "select * from steps limit {}"]
seen, over = collections.Counter(), threading.Event()


def told(what, reply):
    seen[what, reply.status] += 1
    if reply.status >= 500 and reply.status != 503:
        print(what, reply.status, reply.body[:300], flush=True)


def until_over(work):
    """Again and again; what is refused at the socket counts, too."""
    def run():
        while not over.is_set():
            try:
                work()
            except OSError as error:
                seen[work.__name__, type(error).__name__] += 1
                over.wait(0.2)
    return threading.Thread(target=run, daemon=True)


def works(server, place, dice):
    routes = list(questions(server).items())

    def asking():
        number = next(numbers)
        path, query = routes[number % len(routes)]
        connection = ask_path(server, asked_never(path, query, number))
        told("asked", connection)

    def sql():
        told("sql", ask(server, "/api/sql", method="POST", headers={"Content-Type": "application/json"}, run=RUN,
                        body='{"query": "%s"}' % dice.choice(SQL).format(dice.randrange(1, 1000))))

    def uploading():
        sample = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
        reply = ask(server, "/api/upload", method="POST", body=sample, headers={"Content-Type": "application/octet-stream"}, name="soak.xplane.pb")
        told("upload", reply)
        if reply.status < 300:
            ask(server, "/api/top", run=reply.json["run"], wait_ms=10000)
            told("delete", ask(server, "/api/upload", method="DELETE", run=reply.json["run"]))
        over.wait(2)

    def indexing():
        name = f"coming{dice.randrange(4)}"
        path = place.profiles / name
        if path.exists():
            shutil.rmtree(path)
        else:
            place.sample(dice.choice(("step_500", "step_1500")), to=name)
        over.wait(1)

    def events():
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as wire:
            wire.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in range(10):
                if over.is_set() or not wire.recv(65536):
                    break
        seen["events", 200] += 1

    return [asking, asking, sql, uploading, indexing, events]


def ask_path(server, target):
    path, _, query = target.partition("?")
    return ask(server, path + ("?" + query if query else ""))


def anonymous(process):
    """What the process has of its own, in KB: the stacks of its threads, each beside the page that guards it, and all else. A stack
    keeps the pages of the deepest question its thread has answered; their sum is bounded by threads times the stack's size."""
    stacks = other = 0
    guarded = is_stack = False
    for line in (process / "smaps").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if not word.endswith(":"):
            is_stack, guarded = guarded and len(rest.split()) == 4, rest.startswith("---p")
        elif word == "Anonymous:":
            kb = int(rest.split()[0])
            stacks, other = (stacks + kb, other) if is_stack else (stacks, other + kb)
    return stacks, other


def figures(server):
    process = pathlib.Path(f"/proc/{server.process.pid}")
    stacks, other = anonymous(process)
    return {"stacks KB": stacks, "all else KB": other, "descriptors": len(os.listdir(process / "fd")),
            "threads": len(os.listdir(process / "task"))}


def main():
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 24
    place, dice = harness.Place(), random.Random(1)
    server, early, late = common.serve_samples(place), {}, {}
    server.until_settled()
    routes = list(questions(server).items())
    ask_all(server, [route for route in routes if route[0] in ("/api/overview", "/api/findings")], 2 * WORKERS * A_CONNECTION // 4)
    ask_all(server, routes, 2 * WORKERS * A_CONNECTION // 4)
    threads = [until_over(work) for work in works(server, place, dice)]
    began, ends = time.monotonic(), time.monotonic() + hours * 3600
    for one in threads:
        one.start()
    minute = max(2.0, min(60.0, hours * 3600 / 30))
    while time.monotonic() < ends and server.process.poll() is None:
        time.sleep(minute)
        now = figures(server)
        first = time.monotonic() - began < hours * 360 + minute
        for name, value in now.items():
            (early if first else late).setdefault(name, []).append(value)
        print(f"{time.monotonic() - began:8.0f} s", now, dict(seen), flush=True)
    over.set()
    for one in threads:
        one.join(30)
    failed = [f"the server ended with {server.process.returncode}"] if server.process.poll() is not None else []
    failed += [f"{count} times {what} {status}" for (what, status), count in seen.items()
               if isinstance(status, int) and status >= 500 and status != 503]
    failed += [f"no {what} was answered" for what in sorted({what for what, _ in seen})
               if not any(count for (kind, status), count in seen.items() if kind == what and isinstance(status, int) and status < 300)]
    late.pop("stacks KB", None)
    for name, values in late.items():
        room = GROWTH_KB_MAX if name.endswith("KB") else GROWTH_COUNT_MAX
        tail = sorted(values[-max(1, len(values) // 4):])
        if tail[len(tail) // 2] > max(early[name]) + room:
            failed.append(f"{name} grew from {max(early[name])} to {tail[len(tail) // 2]}")
    if not failed and server.stop() != 0:
        failed.append("it did not end by itself")
    place.close()
    print("failed: " + "; ".join(failed) if failed else f"ok {sum(seen.values())} questions in {hours} h", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
