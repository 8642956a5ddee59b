#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one reader takes for a header and another skips: sent straight, through nginx and through HAProxy, nothing
hidden in it is ever answered. A proxy that is not installed is left out, by name."""

import re
import shutil
import socket
import subprocess
import time

import common
from common import talk

HOST = b"Host: localhost\r\n"
HIDDEN = b"GET /metrics HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
LINES = {"folded": b"X: a\r\n b", "folded with a tab": b"X: a\r\n\tb", "no name": b": x", "a high byte": b"\x80: x", "a blank": b" : x",
         "a control character": b"\x01: x", "a tab": b"\tfoo", "DEL": b"\x7f: x", "no colon": b"foo", "bare LF": b"X: a\nY: b",
         "bare CR": b"X: a\rY: b", "a blank before the colon": b"X : a", "plain": b"X: y"}
NGINX = """daemon off; pid {dir}/nginx.pid; error_log {dir}/nginx.log; events {{}}
http {{ access_log off; client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d;
scgi_temp_path {dir}/e;
upstream jviewd {{ server 127.0.0.1:{to}; keepalive 8; }}
server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://jviewd; proxy_http_version 1.1; proxy_set_header Host localhost;
proxy_set_header Connection ""; }} }} }}
"""
HAPROXY = """defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
  http-reuse always
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s 127.0.0.1:{to}
"""


class Through:
    def __init__(self, port):
        self.port = port


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def requests(line, strict):
    """HIDDEN lies in a body as long as each header is read; straight it may also lie behind one."""
    length, chunked = b"Content-Length: %d\r\n" % len(HIDDEN), b"Transfer-Encoding: chunked\r\n"
    get, post = b"GET /healthz HTTP/1.1\r\n" + HOST, b"POST /api/notes HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    yield get + line + b"\r\n" + length + b"\r\n" + HIDDEN
    yield post + length + line + b"\r\n" + chunked + b"\r\n" + HIDDEN
    if strict:
        yield get + line + b"\r\n" + chunked + b"\r\n0\r\n\r\n" + HIDDEN
        yield post + chunked + line + b"\r\n" + length + b"\r\n0\r\n\r\n" + HIDDEN


def nothing_hidden_is_answered(where, strict):
    for what, line in LINES.items():
        for request in requests(line, strict):
            got = talk(where, request, 3)
            assert b"jviewd_replies_total" not in got, (what, request, got[:300])
            if strict:
                assert re.findall(rb"HTTP/1\.1 (\d+)", got) == [b"400"], (what, request, got[:300])
    got = talk(where, b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", 3)
    assert b" 200 OK" in got, got[:300]  # and others are served on the connections that the proxy keeps


def straight(server):
    nothing_hidden_is_answered(server, True)


def behind(server, name, config, command):
    if not shutil.which(name):
        print(f"left out: {name} is not installed")
        return
    port = free_port()
    path = server.place.dir / f"{name}.conf"
    path.write_text(config.format(dir=server.place.dir, port=port, to=server.port))
    with open(server.place.dir / f"{name}.said", "w") as said:
        proxy = subprocess.Popen([name, *command, str(path)], stdout=said, stderr=said)
    try:
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until and proxy.poll() is None, (server.place.dir / f"{name}.said").read_text()
                time.sleep(0.05)
        nothing_hidden_is_answered(Through(port), False)
    finally:
        proxy.terminate()
        proxy.wait(20)


def behind_nginx(server):
    behind(server, "nginx", NGINX, ["-c"])


def behind_haproxy(server):
    behind(server, "haproxy", HAPROXY, ["-f"])


if __name__ == "__main__":
    common.main([straight, behind_nginx, behind_haproxy])
