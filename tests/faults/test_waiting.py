#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions that wait for a run to be indexed: so many have a thread each, the next is told to ask again, and others are answered."""

import http.client
import os
import signal
import socket
import threading
import time

import harness

WAITING_MAX = 32
ASKING = 300  # more than the server has threads


def waiting_holds_nobody_up(place):
    place.sample("step_1000")
    server = place.serve()
    server.until_settled()
    assert server.stop() == 0
    path = place.session("large")
    harness.make_profile(path, events=300000)
    server = place.serve()
    child = server.child()
    harness.until("the file to be mapped", lambda: str(path) in open(f"/proc/{child}/maps").read())
    os.kill(child, signal.SIGSTOP)
    server.fetch("/api/top", run="step_1000", limit=1)
    told, port = [], int(server.url.rsplit(":", 1)[1])

    def client():
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            connection.request("GET", "/api/top?run=large&limit=1&wait_ms=20000")
            reply = connection.getresponse()
            told.append((time.monotonic() - began, reply.status, reply.getheader("Retry-After"), reply.read()))
        except OSError as error:
            told.append((time.monotonic() - began, 0, None, str(error)))

    began = time.monotonic()
    clients = [threading.Thread(target=client) for _ in range(ASKING)]
    for one in clients:
        one.start()
    time.sleep(2)
    took = []
    for number in range(20):
        then = time.monotonic()
        status = server.fetch("/api/top", run="step_1000", limit=1, start_ps=number)[0]
        took.append(time.monotonic() - then)
        assert status == 200, status
    assert max(took) < 1, f"somebody else waited {max(took):.1f} s"
    at_once = [answer for answer in told if answer[0] < 10]
    assert len(at_once) == ASKING - WAITING_MAX, len(at_once)
    assert all(status == 503 and retry for _, status, retry, _ in at_once), at_once[:2]
    os.kill(child, signal.SIGCONT)
    for one in clients:
        one.join()
    assert sum(status == 200 for _, status, _, _ in told) == WAITING_MAX, [answer[:2] for answer in told if answer[0] > 10]
    assert server.stop() == 0


def exports_hold_nobody_up(place):
    """Each takes a second of work, and nobody takes anything of it."""
    place.sample("step_1000")
    harness.make_profile(place.session("large"), events=300000)
    server = place.serve()
    server.until_settled()
    wires, took, port = [], [], int(server.url.rsplit(":", 1)[1])
    for _ in range(ASKING):
        wire = socket.create_connection(("127.0.0.1", port))
        wire.sendall(b"GET /api/trace?run=large&format=chrome HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wires.append(wire)
    for number in range(10):
        then = time.monotonic()
        status = server.fetch("/api/tracks", run="step_1000", wait_ms=number)[0]
        took.append(time.monotonic() - then)
        assert status == 200, status
    assert max(took) < 2, f"somebody else waited {max(took):.1f} s"
    for wire in wires:
        wire.close()
    assert server.stop() == 0


if __name__ == "__main__":
    harness.main([waiting_holds_nobody_up, exports_hold_nobody_up])
