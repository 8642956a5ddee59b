#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory over many questions: none of them was asked before, over every route, and the server stays as large as it was.

JVIEWD_QUESTIONS is how many are asked while memory is watched (1200; 20000 in the long form). Every worker has
answered before that: what a thread holds from then on, its stack and a page of its arena, is there to stay.
"""

import http.client
import itertools
import os
import pathlib
import re
import statistics
import threading
import urllib.parse

import common
import harness
from common import RUN
from questions import questions

QUESTIONS = int(os.environ.get("JVIEWD_QUESTIONS", "1200"))
WORKERS = 256
GROWTH_BYTES_MAX = 2 << 20
BYTES_MAX = 64 << 20  # of a server whose workers have all answered: 512 kept replies, 256 stacks
CLIENTS = 4
A_CONNECTION = 8  # questions: the next connection is another worker's
WINDOWED = {"/api/slices", "/api/top", "/api/kernels", "/api/roofline", "/api/steps", "/api/hosts", "/api/collectives", "/api/compiles",
            "/api/transfers", "/api/overview", "/api/findings", "/api/flame", "/api/search"}
NO_RUN = {"/api/runs", "/api/trend", "/api/jobs", "/api/upload", "/api/capture", "/api/tables"}

numbers = itertools.count(1)


def asked_never(path, query, number):
    query = dict(query)
    if path in WINDOWED:
        query |= {"start_ps": number, "end_ps": 10**15 - number}
    elif path in NO_RUN:
        query |= {"x": number} if path != "/api/runs" else {"q": f"q{number}"}
    else:
        query["wait_ms"] = number % 60000
    return path + "?" + urllib.parse.urlencode(query)


class Client(threading.Thread):
    def __init__(self, server, routes, count):
        super().__init__()
        self.server, self.routes, self.count, self.failures = server, routes, count, []

    def run(self):
        for at in range(0, self.count, A_CONNECTION):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
            for _ in range(min(A_CONNECTION, self.count - at)):
                number = next(numbers)
                path, query = self.routes[number % len(self.routes)]
                target = asked_never(path, query, number)
                connection.request("GET", target)
                reply = connection.getresponse()
                body = reply.read()
                if reply.status >= 500 or (reply.status >= 400 and path not in NO_RUN):
                    self.failures.append((target, reply.status, body[:200]))
            connection.close()


def ask_all(server, routes, count):
    clients = [Client(server, routes, count // CLIENTS) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    failures = [failure for client in clients for failure in client.failures]
    assert not failures, failures[:5]


def anonymous_bytes(server):
    """What is held while nothing is computed: the median, each time behind an answer whose memory was just given back."""
    values = []
    for _ in range(5):
        common.good(server, "/api/overview", run=RUN, start_ps=next(numbers))
        text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        values.append(int(re.search(r"RssAnon:\s*(\d+) kB", text).group(1)) * 1024)
    return statistics.median(values)


def stays_flat(server):
    if b"__asan_init" in pathlib.Path(harness.program()).read_bytes():
        raise harness.Skip("freed memory stays with the address sanitizer")
    routes = list(questions(server).items())
    heavy = [route for route in routes if route[0] in ("/api/overview", "/api/findings")]
    ask_all(server, heavy, 2 * WORKERS * A_CONNECTION // 4)
    ask_all(server, routes, 2 * WORKERS * A_CONNECTION // 4 + QUESTIONS // 2)
    before = anonymous_bytes(server)
    assert before <= BYTES_MAX, f"{before} bytes once every worker has answered"
    ask_all(server, routes, QUESTIONS)
    after = anonymous_bytes(server)
    print(f"{QUESTIONS} questions: {before >> 10} -> {after >> 10} KiB", flush=True)
    assert after - before <= GROWTH_BYTES_MAX, (before, after)


if __name__ == "__main__":
    common.main([stays_flat])
