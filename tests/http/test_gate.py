#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may ask, on the wire and with the real program: shapes, prefixes, tokens, Perfetto."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

import common
import harness
import openapi
from common import RUN, Reply, ask, good, talk

HOST = b"Host: localhost\r\n"
LAST = b"Connection: close\r\n\r\n"
POST = b"POST /api/launch HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
HEADERS = {"Content-Security-Policy": "default-src 'none'; script-src 'self'",
           "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
           "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
           "Permissions-Policy": "camera=()"}


def status_lines(got):
    return [int(line) for line in re.findall(rb"HTTP/1\.1 (\d{3})", got)]


def shapes(server):
    for what, request, wanted in (
            ("plain", b"GET /healthz HTTP/1.1\r\n" + HOST + LAST, [200]),
            ("pipelined", SMUGGLED + b"GET /readyz HTTP/1.1\r\n" + HOST + LAST, [200, 200]),
            ("two hosts", b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + LAST, [403]),
            ("no host", b"GET /healthz HTTP/1.1\r\n" + LAST, [403]),
            ("rebound", b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n" + LAST, [403]),
            ("length and chunked", POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, [400]),
            ("chunked and length", POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + SMUGGLED, [400]),
            ("two lengths", POST + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + SMUGGLED, [400]),
            ("same length twice", POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n" + SMUGGLED, [400]),
            ("list of lengths", POST + b"Content-Length: 0, 44\r\n\r\n" + SMUGGLED, [400]),
            ("space before the colon", POST + b"Content-Length : 44\r\n\r\n" + SMUGGLED, [400]),
            ("tab before the colon", POST + b"Content-Length\t: 44\r\n\r\n" + SMUGGLED, [400]),
            ("strange coding", POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED, [400]),
            ("two codings", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + SMUGGLED, [400]),
            ("a body on GET", b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 44\r\n\r\n" + SMUGGLED, [400]),
            ("a chunked GET", b"GET /healthz HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, [400]),
            ("dots", b"GET /../../etc/passwd HTTP/1.1\r\n" + HOST + LAST, [400]),
            ("encoded dots", b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + HOST + LAST, [400]),
            ("backslash", b"GET /..\\..\\etc HTTP/1.1\r\n" + HOST + LAST, [400]),
            ("PUT", b"PUT /api/runs HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n" + LAST, [405]),
            ("DELETE", b"DELETE /api/runs HTTP/1.1\r\n" + HOST + LAST, [405]),
            ("PROPFIND", b"PROPFIND / HTTP/1.1\r\n" + HOST + LAST, [405]),
            ("TRACE", b"TRACE / HTTP/1.1\r\n" + HOST + LAST, [405]),
            ("a form", POST.replace(b"application/json", b"text/plain") + b"Content-Length: 2\r\n" + LAST + b"{}", [415]),
            ("upgrade", b"GET /healthz HTTP/1.1\r\n" + HOST + b"Upgrade: websocket\r\nConnection: Upgrade, close\r\n"
             b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n", [200]),
            ("100 headers", b"GET /healthz HTTP/1.1\r\n" + HOST + b"".join(b"X-%d: y\r\n" % i for i in range(100)) + LAST, [431]),
            ("a long address", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + LAST, [414]),
            ("a long head", b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 20000 + b"\r\n" + LAST, None)):
        got = talk(server, request, 1)
        if wanted is None:
            assert 200 not in status_lines(got), (what, got[:200])
        else:
            assert status_lines(got) == wanted, (what, status_lines(got), got[:300])


def every_reply_wears_the_headers(server):
    for path, method in (("/healthz", "GET"), ("/", "GET"), ("/api/runs", "GET"), ("/api/runs", "HEAD"), ("/nothing", "GET"),
                         ("/api/runs?x=1", "GET"), ("/api/runs", "PUT"), ("/metrics", "GET"), ("/api/openapi", "GET"),
                         (f"/api/trace?run={RUN}", "GET"), ("/..", "GET")):
        reply = ask(server, path, method=method)
        if method == "PUT":
            assert reply.status == 405 and reply.headers["Allow"] == "GET, HEAD", (path, reply.headers)
        for name, value in HEADERS.items():
            assert (reply.headers[name] or "").startswith(value), (path, method, reply.status, name, reply.headers[name])
        assert "unsafe" not in reply.headers["Content-Security-Policy"]
        assert reply.headers["Access-Control-Allow-Origin"] is None, path
        assert reply.headers["Server"] is None


def origins(server):
    mine = f"http://localhost:{server.port}"
    for headers, status in (({"Origin": mine}, 200), ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                            ({"Origin": "http://localhost:1"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200),
                            ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403),
                            ({"Origin": "https://ui.perfetto.dev"}, 403)):
        reply = ask(server, "/api/runs", headers={"Host": f"localhost:{server.port}", **headers})
        assert reply.status == status, (headers, reply.status)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert ask(server, "/", headers=link).status == 200
    assert ask(server, "/api/runs", headers=link).status == 403


def every_route():
    """(method, path) of all that the page of the API names, and what it does not: a wrong name is refused before anything is routed."""
    for path, methods in openapi.PAGE["paths"].items():
        for method in ("GET", "POST", "DELETE"):
            yield method, re.sub(r"\{[^}]*\}", "x", path), method.lower() in methods
    yield "GET", "/", True
    yield "GET", "/nothing", False


def wire(method, path, headers):
    body = b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" if method == "POST" else b"\r\n"
    return f"{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}".encode("latin-1") + body


def no_route_answers_to_another_name(server):
    """As a page that DNS has bound to this machine would ask; raw, for a client library writes Host itself."""
    names = ("", "Host: evil.example\r\n", "Host: localhost\r\nHost: localhost\r\n", "Host: a@localhost\r\n", "Host: localhost.evil.example\r\n",
             "Host: 127.0.0.1.nip.io\r\n", "Host: [::2]\r\n", "Host: localhost:x\r\n", "Host: \r\n", "Host: localhost, evil.example\r\n")
    count = 0
    for method, path, _ in every_route():
        for name in names:
            got = talk(server, wire(method, path, name), 5)
            assert status_lines(got) and status_lines(got)[0] in (400, 403), (method, path, name, got[:200])
            count += 1
    print(f"{count} requests, none answered")


def no_route_answers_another_page(server):
    """Whatever the method: only our own origin, or none, comes in. No reply allows another."""
    mine = f"Host: localhost:{server.port}\r\n"
    others = ("Origin: http://evil.example\r\n", "Origin: null\r\n", f"Origin: http://localhost.evil.example:{server.port}\r\n",
              f"Origin: https://localhost:{server.port}\r\n", "Origin: http://localhost:1\r\n", "Origin: https://ui.perfetto.dev\r\n",
              "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n", "Sec-Fetch-Site: same-site\r\n",
              "Origin: http://evil.example\r\nCookie: a=b\r\n")
    count = 0
    for method, path, known in every_route():
        for other in others:
            got = talk(server, wire(method, path, mine + other), 5)
            assert status_lines(got)[:1] == [403], (method, path, other, got[:200])
            assert b"access-control-allow" not in got.lower(), (method, path, other)
            count += 1
        if known and path not in ("/api/events", "/api/capture"):  # one does not end, one is off
            for own in ("", f"Origin: http://localhost:{server.port}\r\n"):
                got = talk(server, wire(method, path, mine + own), 30)
                assert status_lines(got)[:1] not in ([403], []), (method, path, own, got[:300])
                count += 1
    print(f"{count} requests, none of another page answered")


def pages_are_relative(server):
    page = good(server, "/").text
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert links and not [link for link in links if link.startswith(("/", "http:", "https:"))], links
    assert "<style" not in page and not re.search(r"\son\w+=", page) and not re.search(r"<script(?![^>]*src=)", page)
    for link in links:
        if not link.startswith("data:"):
            asset = good(server, "/" + link.removeprefix("./"))
            assert "immutable" in asset.headers["Cache-Control"] and asset.headers["ETag"], link
            packed = ask(server, "/" + link.removeprefix("./"), headers={"Accept-Encoding": "gzip"})
            if packed.headers["Content-Encoding"] == "gzip":
                assert gzip.decompress(packed.body) == asset.body


def with_place(test, *arguments, sample=True):
    place = harness.Place()
    try:
        if sample:
            place.sample(RUN)
        server = place.serve(*arguments)
        server.port = int(re.search(r"ssh -L (\d+)|:(\d+)", server.said)[0].split()[-1].lstrip(":"))
        test(server)
        assert server.stop() == 0
        words = harness.sanitizer_words(place)
        assert not words, words
    finally:
        place.close()


def below_a_prefix(_):
    def test(server):
        for prefix in ("/proxy/8080", ""):
            assert ask(server, prefix + "/healthz").status == 200
            assert ask(server, prefix + "/api/top", run=RUN).status == 200
            page = ask(server, prefix + "/")
            assert page.status == 200 and b"<html" in page.body.lower()
            for link in re.findall(r'(?:src|href)="\./([^"]*)"', page.text):
                assert ask(server, f"{prefix}/{link}").status == 200, link
        moved = ask(server, "/proxy/8080")
        assert moved.status == 308 and moved.headers["Location"] == "/proxy/8080/"
        assert ask(server, "/proxy/80801/healthz").status == 404
        assert ask(server, "/proxy/8080/../healthz").status == 400
        assert ask(server, "/proxy/8080/proxy/8080/healthz").status == 404

    with_place(test, "--base-path", "/proxy/8080")


def other_names(_):
    def test(server):
        for host, status in (("gpu-box", 200), ("gpu-box:9000", 200), ("profiles.example.org", 200), ("example.org", 403),
                             ("gpu-box.evil.example", 403)):
            assert ask(server, "/healthz", headers={"Host": host}).status == status, host
        public = {"Host": "profiles.example.org", "Origin": "https://profiles.example.org"}
        assert ask(server, "/api/runs", headers=public).status == 200
        assert ask(server, "/api/runs", headers={**public, "Origin": "http://evil.example"}).status == 403

    with_place(test, "--allowed-host", "gpu-box", "--public-url", "https://profiles.example.org/jview", sample=False)


def tokens(_):
    runtime = pathlib.Path(harness.tempfile.mkdtemp(prefix="jview-run-"))
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)

    def test(server):
        path = runtime / "jviewd" / f"token-{server.port}"
        assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
        token = path.read_text()
        assert re.fullmatch(r"[0-9a-f]{64}", token) and token not in server.said
        bearer, wrong = {"Authorization": f"Bearer {token}"}, {"Authorization": f"Bearer {token[:-1]}x"}
        code = re.search(r"launch/[0-9a-f]{64}", server.said)[0]
        first = ask(server, "/" + code)
        assert first.status == 303 and first.headers["Location"] == "../"
        cookie = first.headers["Set-Cookie"]
        assert re.fullmatch(rf"jviewd_{server.port}=[0-9a-f]{{64}}; HttpOnly; SameSite=Strict; Path=/", cookie), cookie
        cookie = {"Cookie": "a=b; " + cookie.split(";")[0]}
        assert ask(server, "/" + code).status == 403
        open_paths = ("/healthz", "/readyz")
        closed = ("/", "/api/runs", f"/api/top?run={RUN}", "/metrics", "/api/openapi", "/assets/nothing", "/nothing",
                  f"/api/trace?run={RUN}", "/api/jobs", "/perfetto/a.json.gz")
        for path_asked in open_paths + closed:
            for who, headers in (("nobody", {}), ("wrong", wrong), ("bearer", bearer), ("cookie", cookie),
                                 ("wrong cookie", {"Cookie": f"jviewd_{server.port}={token}"})):
                status = ask(server, path_asked, headers=headers).status
                may = path_asked in open_paths or who in ("bearer", "cookie")
                assert (status != 401) == may, (path_asked, who, status)
        assert ask(server, "/api/runs").headers["WWW-Authenticate"].startswith("Bearer")
        json_type = {"Content-Type": "application/json"}
        post = lambda headers: ask(server, "/api/launch", method="POST", body="{}", headers={**json_type, **headers})
        assert post({}).status == 401 and post(wrong).status == 401
        assert post(cookie).status == 403
        assert post({**cookie, "X-Jviewd-CSRF": "1"}).status == 200
        fresh = post(bearer)
        assert fresh.status == 200 and fresh.headers["Cache-Control"] == "no-store"
        assert ask(server, "/" + fresh.json["path"]).status == 303
        assert ask(server, "/api/runs?token=" + token).status == 401

    try:
        with_place(test, "--auth", "token", "--bind", "0.0.0.0")
        assert not list(runtime.rglob("token-*")), "the token outlives its server"
    finally:
        os.environ.pop("XDG_RUNTIME_DIR")
        harness.shutil.rmtree(runtime)


def beyond_loopback_needs_a_token(_):
    place = harness.Place()
    try:
        done = place.jviewd("--profile-dir", place.profiles, "--cache-dir", place.cache, "--bind", "0.0.0.0", "--port", "0")
        assert done.returncode == 2 and "--auth token" in done.stderr, (done.returncode, done.stderr)
    finally:
        place.close()


def perfetto(_):
    origin = {"Origin": "https://ui.perfetto.dev", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}

    def closed(server):
        assert ask(server, f"/perfetto/{RUN}.json.gz").status == 404
        assert ask(server, f"/perfetto/{RUN}.json.gz", headers=origin).status == 403

    def opened(server):
        reply = ask(server, f"/perfetto/{RUN}.json.gz", headers=origin)
        assert reply.status == 200 and reply.headers["Access-Control-Allow-Origin"] == "https://ui.perfetto.dev"
        assert reply.headers["Access-Control-Allow-Credentials"] is None
        assert json.loads(gzip.decompress(reply.body))["traceEvents"]
        before = ask(server, f"/perfetto/{RUN}.json.gz", method="OPTIONS", headers={
            **origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Private-Network": "true"})
        assert before.status == 204 and before.headers["Access-Control-Allow-Private-Network"] == "true"
        assert ask(server, "/perfetto/nothing.json.gz", headers=origin).status == 404
        assert ask(server, f"/perfetto/{RUN}.json.gz", headers={"Origin": "https://evil.example"}).status == 403
        assert ask(server, "/api/runs", headers=origin).status == 403

    with_place(closed)
    with_place(opened, "--perfetto-cors")


def a_second_server_says_who_has_the_port(server):
    def second(directory):
        command = [harness.program(), "--profile-dir", str(directory), "--cache-dir", str(server.place.cache), "--port", str(server.port)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    done = second(server.place.dir)
    assert done.returncode == 5 and f"pid {server.process.pid}" in done.stderr, (done.returncode, done.stderr)
    done = second(server.place.profiles)  # that one shows it already
    assert done.returncode == 0 and server.url in done.stdout, (done.returncode, done.stdout, done.stderr)


def drains(_):
    place = harness.Place()
    try:
        place.sample(RUN)
        server = place.serve()
        server.port = int(server.url.rsplit(":", 1)[1])
        server.until_settled()
        import socket
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
            wire.sendall(b"GET /api/events HTTP/1.1\r\n" + HOST + b"\r\n")
            wire.recv(4096)
            assert server.stop() == 0
            rest = b""
            while piece := wire.recv(65536):
                rest += piece
            assert rest.endswith(b"0\r\n\r\n"), rest[-100:]
    finally:
        place.close()


if __name__ == "__main__":
    common.main([shapes, every_reply_wears_the_headers, origins, no_route_answers_to_another_name, no_route_answers_another_page,
                 pages_are_relative, below_a_prefix, other_names, tokens, beyond_loopback_needs_a_token, perfetto, a_second_server_says_who_has_the_port, drains])
