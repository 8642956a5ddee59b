#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of source files: only below --source-root, whatever is asked for."""

import json
import os
import socket
import urllib.parse

import common
import harness
import openapi
from common import ask, good, talk

LINES = [f"line {number}" for number in range(1, 101)]


def make_sources(place):
    """root/model/layers.py and what stands around it, some of it to be kept from a reader."""
    root = place.dir / "sources"
    (root / "model").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "model/layers.py").write_text("\n".join(LINES) + "\n")
    (root / "dos.py").write_bytes(b"a\r\nb\r\n")
    (root / "long.py").write_text("x" * 10000 + "\nend")
    (root / "empty.py").write_text("")
    (root / "latin.py").write_bytes(b"caf\xe9 = 1\n")
    (root / "image.png").write_bytes(b"\x89PNG\r\n\0\0\0")
    (root / "huge.py").write_bytes(b"#\n" * (5 << 20))
    (root / ".env").write_text("TOKEN=secret\n")
    (root / ".git/config").write_text("secret\n")
    (place.dir / "outside.py").write_text("secret\n")
    os.symlink(place.dir / "outside.py", root / "link.py")
    os.symlink("/etc", root / "etc")
    os.symlink(place.dir, root / "model/up")
    os.mkfifo(root / "fifo.py")
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(root)  # addresses of sockets are short
        made.bind("socket.py")
        os.chdir(here)
    return root


def source(server, file, **query):
    return ask(server, "/api/source", file=file, **query)


def lines_are_those_of_the_file(server):
    for file in ("/home/me/project/model/layers.py", "model/layers.py", "layers/model/layers.py", "/model/layers.py"):
        for line, around, first, last in ((41, 2, 39, 43), (1, 3, 1, 4), (100, 3, 97, 100), (99, 200, 1, 100), (1000, 1, 999, 998)):
            reply = source(server, file, line=line, around=around)
            assert reply.status == 200, (file, reply.status, reply.body)
            openapi.check(reply.json, "/api/source")
            assert reply.json["root"] == str(server.place.dir / "sources"), reply.json
            assert reply.json["path"] == "model/layers.py" and reply.json["line_count"] == 100
            assert reply.json["first_line"] == first, (line, around, reply.json)
            assert reply.json["lines"] == LINES[first - 1:last], (line, around, reply.json)
            assert reply.headers["Cache-Control"] == "no-store" and reply.headers["Content-Type"].startswith("application/json")
    assert len(source(server, "model/layers.py", line=50).json["lines"]) == 41
    assert source(server, "dos.py").json["lines"] == ["a", "b"]
    assert source(server, "empty.py").json["lines"] == []
    assert [len(line) for line in source(server, "long.py").json["lines"]] == [2000, 3]
    assert source(server, "latin.py").json["lines"] == ["caf\ufffd = 1"]


def nothing_else_is_read(server):
    place = server.place
    for file in ("../outside.py", "model/../../outside.py", "/../outside.py", "..", ".", "", "/", "//", "a//b", "model/./layers.py",
                 ".env", "/x/.env", ".git/config", "model/layers.py/", "model\\layers.py", "..\\outside.py", "\\\\host\\share\\x.py",
                 "link.py", "etc/passwd", "/etc/passwd", "/etc/shadow", "model/up/outside.py", "/proc/self/environ", "/dev/zero",
                 "fifo.py", "socket.py", "model", "image.png", "huge.py", str(place.dir / "outside.py"), "outside.py",
                 "file:///etc/passwd", "http://localhost/", "~/x.py", "$HOME/x.py", "%2e%2e/outside.py", "..%2foutside.py",
                 "model/layers.py\n", "model/layers.py\x7f", "\u2025/outside.py", "a" * 4096, "a/" * 2000 + "layers.py", "model/" * 600 + "x"):
        reply = source(server, file)
        assert reply.status in (400, 404, 413, 415, 422), (file[:60], reply.status, reply.body[:200])
        assert b"secret" not in reply.body and b"root:" not in reply.body, file
        openapi.check(reply.json, "/api/source", reply.status)
    for query in ("file=a%00b", "file=..%2F..%2Fetc%2Fpasswd", "file=%252e%252e%252fetc/passwd", "file=a&file=b", "file=a&line=0", "file=a&line=-1",
                  "file=a&around=100000", "file=a&line=99999999999999999999", "line=1", "file=%ff%fe", "file=a&root=/etc", "file=a&line=1e3"):
        reply = ask(server, "/api/source?" + query)
        assert reply.status in (400, 404), (query, reply.status, reply.body[:200])


def payloads(place):
    """Some 500 ways to write a path that leads out, encoded as a query has it."""
    ups = ("..", "%2e%2e", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "..%00", "%uff0e%uff0e", "..;", "....//..", "\u2025")
    slashes = ("/", "%2f", "%252f", "\\", "%5c", "//", "/./", "%c0%af")
    for up in ups:
        for slash in slashes:
            for depth in (1, 3, 8):
                yield slash.join([urllib.parse.quote(up, safe="%/;.")] * depth + ["outside.py"])
            yield "model" + slash + slash.join([urllib.parse.quote(up, safe="%/;.")] * 2) + slash + "outside.py"
    for whole in (str(place.dir / "outside.py"), "/etc/passwd", "/proc/self/environ", "/proc/self/root/etc/passwd", "/dev/stdin", "link.py", "etc/passwd"):
        for before in ("", "/", "//", "file://", "file:", "model/", "./", "%2f", "%00", " ", "C:", "\\\\?\\", "~", "$HOME", "jar:file:", "model/up/"):
            for behind in ("", "%00", "%00.py", "/", "/.", "?", "%23", " "):
                yield urllib.parse.quote(before + whole, safe="%/:") + behind


def no_path_leads_out(server):
    """On every parameter that is, or names, a path."""
    asked = 0
    questions = ("/api/source?file=", "/api/run?run=", "/api/top?run=", "/api/runs?path=", "/api/trend?metric=step_p95&path=", f"/api/trace?run={common.RUN}&format=raw&host=",
                 "/api/diff?b=latest&a=")
    for number, payload in enumerate(payloads(server.place)):
        for question in questions if number % 8 == 0 else questions[:1]:
            got = talk(server, f"GET {question}{payload} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(), 20)
            assert b"secret" not in got and b"root:" not in got and b"PATH=" not in got, (question, payload, got[:300])
            assert got.startswith(b"HTTP/1.1 ") and got[9:10] in (b"2", b"4"), (question, payload, got[:300])
            asked += 1
    print(f"# {number + 1} ways to write a path, {asked} requests")


def a_page_elsewhere_reads_nothing(server):
    path = "/api/source?" + urllib.parse.urlencode({"file": "model/layers.py"})
    assert ask(server, path, headers={"Origin": "http://evil.example"}).status == 403
    assert ask(server, path, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert b" 403 " in talk(server, f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
    assert ask(server, path, method="POST").status in (405, 415)
    assert ask(server, path, headers={"Origin": "https://ui.perfetto.dev"}).status == 403


def without_a_root_there_is_nothing():
    place = harness.Place()
    try:
        server = common.serve_samples(place)
        reply = source(server, "model/layers.py")
        assert reply.status == 404 and "--source-root" in json.loads(reply.body)["detail"], reply.body
        assert server.stop() == 0
    finally:
        place.close()


def main():
    place = harness.Place()
    try:
        root = make_sources(place)
        server = common.serve_samples(place, "--source-root", str(root), "--source-root", str(place.dir / "gone"))
        server.until_settled()
        for test in (lines_are_those_of_the_file, nothing_else_is_read, no_path_leads_out, a_page_elsewhere_reads_nothing):
            test(server)
            print(f"ok {test.__name__}", flush=True)
        without_a_root_there_is_nothing()
        print("ok without_a_root_there_is_nothing", flush=True)
        assert server.stop() == 0
        words = harness.sanitizer_words(place)
        assert not words, words
    finally:
        place.close()


if __name__ == "__main__":
    main()
