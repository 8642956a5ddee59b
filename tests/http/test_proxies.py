#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one reader takes for a header and another skips, and bodies that two readers may end in two places: sent straight,
through nginx and through HAProxy, nothing hidden in it is ever answered. A proxy that is not installed is left out, by name."""

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
CHUNKS = b"0\r\n\r\n"
# What frames a body in two ways, and the body: HIDDEN lies in it by one of them. Straight, each is refused.
FRAMES = {
    "both": (b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", CHUNKS),
    "both, the other way": (b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n", CHUNKS),
    "two lengths": (b"Content-Length: 0\r\nContent-Length: %d\r\n", b""),
    "two lengths, the other way": (b"Content-Length: %d\r\nContent-Length: 0\r\n", b""),
    "a list of lengths": (b"Content-Length: %d, %d\r\n", b""),
    "a signed length": (b"Content-Length: +%d\r\n", b""),
    "a length in hex": (b"Content-Length: 0x%x\r\n", b""),
    "a length of blanks": (b"Content-Length: %d 0\r\n", b""),
    "no length": (b"Content-Length:\r\nX: %d\r\n", b""),
    "a length beyond 64 bits": (b"Content-Length: 18446744073709551616\r\nX: %d\r\n", b""),
    "another coding": (b"Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n", CHUNKS),
    "identity": (b"Content-Length: %d\r\nTransfer-Encoding: identity\r\n", b""),
    "chunked, and more": (b"Content-Length: %d\r\nTransfer-Encoding: chunked, identity\r\n", CHUNKS),
    "twice chunked": (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nX: %d\r\n", CHUNKS),
    "quoted": (b'Content-Length: %d\r\nTransfer-Encoding: "chunked"\r\n', CHUNKS),
    "a vertical tab": (b"Content-Length: %d\r\nTransfer-Encoding: \x0bchunked\r\n", CHUNKS),
    "a coding behind a blank": (b"Content-Length: %d\r\nTransfer-Encoding : chunked\r\n", CHUNKS),
    "a coding on the next line": (b"Content-Length: %d\r\nTransfer-Encoding:\r\n chunked\r\n", CHUNKS),
    "an extension": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"0;a=b\r\n\r\n"),
    "an extension with a line": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"0;a=\nb\r\n\r\n"),
    "a trailer": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"0\r\nContent-Length: 9\r\n\r\n"),
    "a size behind a blank": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b" 0\r\n\r\n"),
    "a size beyond 64 bits": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"10000000000000000\r\n\r\n"),
    "a chunk that ends in LF": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"1\r\na\n0\r\n\r\n"),
    "sizes that end in LF": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"0\n\n"),
    "a longer chunk": (b"Transfer-Encoding: chunked\r\nX: %d\r\n", b"1\r\nab\r\n0\r\n\r\n"),
}
# Heads that are no heads of HTTP/1.1, each before HIDDEN.
HEADS = {
    "old and chunked": b"POST /api/notes HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "two hosts": b"GET /healthz HTTP/1.1\r\n" + HOST + b"Host: evil.test\r\n\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "a version of one digit": b"GET /healthz HTTP/1\r\n" + HOST + b"\r\n",
    "a version beyond": b"GET /healthz HTTP/1.10\r\n" + HOST + b"\r\n",
    "a tab in the line": b"GET\t/healthz\tHTTP/1.1\r\n" + HOST + b"\r\n",
    "two blanks in the line": b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "an address with a line": b"GET /healthz\rX: HTTP/1.1\r\n" + HOST + b"\r\n",
    "another server's address": b"GET http://evil.test/healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a high byte": b"GET /healthz\x85 HTTP/1.1\r\n" + HOST + b"\r\n",
    "an upgrade": b"GET /metrics HTTP/1.1\r\n" + HOST + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n"
                  b"Content-Length: 1\r\nContent-Length: 0\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
NGINX = """daemon off; pid {dir}/nginx.pid; error_log {dir}/nginx.log; events {{}}
http {{ access_log off; client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d;
scgi_temp_path {dir}/e;
upstream jviewd {{ server 127.0.0.1:{to}; keepalive 8; }}
server {{ listen 127.0.0.1:{port}; location /metrics {{ return 403; }} location / {{ proxy_pass http://jviewd; proxy_http_version 1.1; proxy_set_header Host localhost;
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
  http-request deny if {{ path /metrics }}
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


def framed():
    for what, (headers, body) in FRAMES.items():
        count = len(body) + len(HIDDEN)
        sizes = (count,) * len(re.findall(rb"%[dx]", headers))
        yield what, b"POST /api/notes HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" + headers % sizes + b"\r\n" + body + HIDDEN
    for what, head in HEADS.items():
        yield what, head + HIDDEN


def ends_in_one_place(where, strict):
    """Straight, what stands behind is never read. A proxy may end a body in its own way and take the rest for the next request: it
    passes on none to /metrics, so one that is answered was hidden from it; and who asks next is told what it asked."""
    for what, request in framed():
        got = talk(where, request, 3)
        answers = re.findall(rb"HTTP/1\.[01] (\d+)", got)
        assert b"jviewd_replies_total" not in got, (what, request, got[:300])
        if strict:
            assert len(answers) == 1 and answers[0] in (b"400", b"403", b"501", b"505"), (what, request, got[:300])
        else:
            next_one = talk(where, b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", 3)
            assert b" 200 OK" in next_one and b"jviewd_replies_total" not in next_one, (what, request, next_one[:300])


def straight(server):
    nothing_hidden_is_answered(server, True)
    ends_in_one_place(server, True)


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
        ends_in_one_place(Through(port), False)
    finally:
        proxy.terminate()
        proxy.wait(20)


def behind_nginx(server):
    behind(server, "nginx", NGINX, ["-c"])


def behind_haproxy(server):
    behind(server, "haproxy", HAPROXY, ["-f"])


if __name__ == "__main__":
    common.main([straight, behind_nginx, behind_haproxy])
