#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that send or read slowly, or not at all, hold nobody up: each kind has more connections than the server
has threads, and somebody else is answered all the while. A wrong token is answered later each time."""

import socket
import time

import common
import harness
from common import RUN, ask, talk

THREADS = 256
CONNECTIONS = 300  # of each kind
HEAD = b"Host: localhost\r\n"
POST = b"POST /api/notes HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
KINDS = {
    "silent": b"",
    "half a head": b"GET /healthz HTTP/1.1\r\nHost: loc",
    "half a body": POST + b"Content-Length: 100000\r\n\r\n{",
    "half a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n{",
    "a word awaited": POST + b"Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n",
    "half an upload": b"POST /api/upload?name=a.pb HTTP/1.1\r\n" + HEAD + b"Content-Type: application/octet-stream\r\n"
                      b"Content-Length: 1000000\r\n\r\nabc",
    "half an upload in chunks": b"POST /api/upload?name=a.pb HTTP/1.1\r\n" + HEAD +
                                b"Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc",
    "idle": b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n",
    "never reads": b"GET /api/trace?run=" + RUN.encode() + b"&format=chrome HTTP/1.1\r\n" + HEAD + b"\r\n",
}


def open_all(server, request, count=CONNECTIONS):
    wires = []
    for _ in range(count):
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        wire.settimeout(20)
        wire.connect(("127.0.0.1", server.port))
        wires.append(wire)
        if request:
            try:
                wire.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused already
    return wires


def others_are_answered(server):
    for kind, request in KINDS.items():
        wires = open_all(server, request)
        try:
            for _ in range(5):
                reply = ask(server, "/healthz")
                assert reply.status == 200, (kind, reply.status)
                reply = ask(server, "/api/top", run=RUN, limit=1)
                assert reply.status == 200, (kind, reply.status, reply.body[:200])
        finally:
            for wire in wires:
                wire.close()


def a_whole_request_is_answered_however_slowly_it_came(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        for byte in b"POST /api/sql HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\nConnection: close\r\n" \
                    b"Content-Length: 2\r\n\r\n{}":
            wire.sendall(bytes([byte]))
        got = b""
        while piece := wire.recv(65536):
            got += piece
    assert got.startswith(b"HTTP/1.1 400"), got[:200]
    assert b"the body must be" in got, got[-300:]  # the handler has seen it, and misses its query


def a_client_that_waits_for_a_word_gets_one(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        wire.sendall(POST + b"Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
        assert wire.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        wire.sendall(b"{}")
        got = b""
        while piece := wire.recv(65536):
            got += piece
    assert got.startswith(b"HTTP/1.1 4") and got.count(b"HTTP/1.1") == 1, got


def a_request_that_is_cut_off_is_told(server):
    for request in (b"GET /healthz HT", POST + b"Content-Length: 5\r\n\r\n{"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
            wire.sendall(request)
            wire.shutdown(socket.SHUT_WR)
            assert wire.recv(65536).startswith(b"HTTP/1.1 400"), request


def a_head_has_ten_seconds(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as wire:
        wire.sendall(b"GET /healthz HTTP/1.1\r\n")
        until, got = time.monotonic() + 60, b""
        while time.monotonic() < until and not got:  # a byte now and then buys no time
            try:
                wire.sendall(b"X")
                wire.settimeout(1)
                got = wire.recv(65536)
            except TimeoutError:
                pass
    assert got.startswith(b"HTTP/1.1 408"), got[:200]


def one_peer_keeps_no_more_than_512(server):
    wires = open_all(server, b"GET /", 700)
    try:
        assert ask(server, "/healthz").status == 200
        said = ask(server, "/metrics").text
        opened = int(next(line for line in said.splitlines() if line.startswith("jviewd_connections ")).split()[1])
        assert opened <= 512, opened
        cut = int(next(line for line in said.splitlines() if line.startswith("jviewd_cut_total ")).split()[1])
        assert cut >= 188, cut
    finally:
        for wire in wires:
            wire.close()


def pipes_keep_their_order(server):
    paths = [f"/api/runs?limit={limit}" for limit in range(1, 60)]
    got = talk(server, b"".join(b"GET " + path.encode() + b" HTTP/1.1\r\n" + HEAD + b"\r\n" for path in paths) +
               b"GET /nothing HTTP/1.1\r\n" + HEAD + b"Connection: close\r\n\r\n", 20)
    assert got.count(b"HTTP/1.1 200") == len(paths) and got.count(b"HTTP/1.1 404") == 1, got.count(b"HTTP/1.1")
    assert got.index(b"HTTP/1.1 404") > got.rindex(b"HTTP/1.1 200")


def half_closed_is_answered(server):
    """A client that says it has no more to say still hears."""
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
            wire.sendall(b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n")
            wire.shutdown(socket.SHUT_WR)
            assert wire.recv(65536).startswith(b"HTTP/1.1 200"), _


def event_streams_hold_nobody_up(server):
    wires = open_all(server, b"GET /api/events HTTP/1.1\r\n" + HEAD + b"\r\n", 100)
    try:
        begun = [wire.recv(4096)[:12] for wire in wires]
        assert set(begun) <= {b"HTTP/1.1 200", b"HTTP/1.1 503"} and b"HTTP/1.1 200" in begun, set(begun)
        assert ask(server, "/healthz").status == 200
        assert ask(server, "/api/top", run=RUN, limit=1).status == 200
    finally:
        for wire in wires:
            wire.close()


def wrong_tokens(server):
    """With a server of its own, for it asks for a token."""
    place = harness.Place()
    try:
        guarded = common.serve_samples(place, "--auth", "token")
        begin = time.monotonic()
        for _ in range(9):
            assert ask(guarded, "/api/runs", headers={"Authorization": "Bearer no"}).status == 401
        took = time.monotonic() - begin
        assert took >= 1.0, f"nine wrong tokens in {took:.2f} s"  # 100 + 200 + 300 + 400 ms
        assert guarded.stop() == 0
    finally:
        place.close()


if __name__ == "__main__":
    common.main([others_are_answered, a_whole_request_is_answered_however_slowly_it_came,
                 a_client_that_waits_for_a_word_gets_one, a_request_that_is_cut_off_is_told, a_head_has_ten_seconds,
                 one_peer_keeps_no_more_than_512, pipes_keep_their_order, half_closed_is_answered,
                 event_streams_hold_nobody_up, wrong_tokens])
