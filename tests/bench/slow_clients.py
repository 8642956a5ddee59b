#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long somebody waits for an answer while 2,000 connections of each slow kind hang: half heads, half bodies, idle
ones, clients that read nothing. Prints a line a kind; `--bar MS` fails where a 99th percentile is above it.

    python3 tests/bench/slow_clients.py [--connections 2000] [--seconds 10] [--settle 0] [--bar 100]
"""

import argparse
import http.client
import pathlib
import resource
import socket
import sys
import tempfile
import threading
import time

from server import ROOT, Server

HEAD = b"Host: localhost\r\n"
KINDS = {
    "slow head": (b"GET /healthz HTTP/1.1\r\n", b"X"),
    "slow body": (b"POST /api/notes HTTP/1.1\r\n" + HEAD +
                  b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n", b" "),
    "idle": (b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n", b""),
    "never reads": (b"GET /api/trace?run=step_1000&format=chrome HTTP/1.1\r\n" + HEAD + b"\r\n", b""),
}


def connect(port, request):
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    wire.settimeout(10)
    wire.connect(("127.0.0.1", port))
    wire.sendall(request)
    wire.setblocking(False)
    return wire


def hold(port, count, request, drip, ends):
    """Connections that hang, a byte each five seconds; those that were cut are opened again."""
    wires = [None] * count
    while not ends.is_set():
        for index, wire in enumerate(wires):
            if ends.is_set():
                break
            try:
                if wire is None:
                    wires[index] = connect(port, request)
                elif drip:
                    wire.send(drip)
            except OSError:
                if wire is not None:
                    wire.close()
                wires[index] = None
        ends.wait(5)
    for wire in wires:
        if wire is not None:
            wire.close()


def ask(port):
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/api/top?run=step_1000&limit=5")
        reply = connection.getresponse()
        reply.read()
        good = reply.status == 200
    except OSError:
        good = False
    connection.close()
    return (time.perf_counter() - begin) * 1000, good


def measure(port, seconds):
    until, took, failed = time.monotonic() + seconds, [], 0
    while time.monotonic() < until:
        ms, good = ask(port)
        took.append(ms)
        failed += not good
        time.sleep(0.005)
    took.sort()
    return took[len(took) // 2], took[int(len(took) * 0.99)], took[-1], len(took), failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--settle", type=float, default=0, help="seconds before it is measured: 0 is the burst itself")
    parser.add_argument("--bar", type=float)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    worst = 0.0
    with tempfile.TemporaryDirectory() as place, \
            Server(ROOT / "tests/samples", pathlib.Path(place) / "cache",
                   ("--data-dir", str(pathlib.Path(place) / "data"))) as server:
        while not ask(server.port)[1]:
            time.sleep(0.1)
        kinds = {"nobody": None, **KINDS, "all together": None}
        print(f"{'kind':14}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}{'asked':>8}{'failed':>8}")
        for kind, what in kinds.items():
            ends = threading.Event()
            held = [] if kind == "nobody" else [what] if what else list(KINDS.values())
            threads = [threading.Thread(target=hold, args=(server.port, options.connections, *one, ends)) for one in held]
            for thread in threads:
                thread.start()
            time.sleep(options.settle)
            p50, p99, most, asked, failed = measure(server.port, options.seconds)
            ends.set()
            for thread in threads:
                thread.join()
            print(f"{kind:14}{p50:10.1f}{p99:10.1f}{most:10.1f}{asked:8}{failed:8}", flush=True)
            worst = max(worst, p99 if not failed else float("inf"))
    if options.bar and worst > options.bar:
        sys.exit(f"somebody waited {worst:.1f} ms")


if __name__ == "__main__":
    main()
