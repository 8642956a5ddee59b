#!/usr/bin/env python3
"""`jviewd doctor`: what it finds in a directory, the line that mends it, and its exit code."""

import functools
import http.server
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading

from harness import NOBODY, WAIT_S, Skip, age, main


def doctor(place, *arguments, directory=None, user=None):
    """(exit code, findings by kind)"""
    done = place.jviewd("doctor", directory or place.profiles, "--format", "json", "--cache-dir", place.cache,
                        *arguments, user=user, group=user, env={**os.environ, "HOME": "/nonexistent"})
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    kinds = {}
    for finding in told["findings"]:
        kinds.setdefault(finding["kind"], []).append(finding)
    return done.returncode, kinds


def all_is_well(place):
    place.sample()
    code, kinds = doctor(place)
    assert code == 0, (code, kinds)
    assert kinds["runs"][0]["message"] == "1 run", kinds["runs"]
    assert {"file-system", "version", "cache", "room", "port"} <= set(kinds), set(kinds)
    words = place.jviewd("doctor", place.profiles, "--cache-dir", place.cache)
    assert words.returncode == 0 and "1 run" in words.stdout, words


def no_directory(place):
    code, kinds = doctor(place, directory=place.profiles / "not/there")
    assert code == 3, code
    assert kinds["directory"][0]["remedy"] == f"mkdir -p '{place.profiles}/not/there'", kinds


def usage(place):
    assert place.jviewd("doctor", "--frobnicate").returncode == 2
    assert place.jviewd("doctor", "--help").returncode == 0


def files(place):
    whole = place.sample()
    cut = place.file("cut", whole.read_bytes()[:-40000])
    place.file("empty", b"")
    code, kinds = doctor(place)
    assert code == 4, code
    assert any(str(cut.relative_to(place.profiles)) == finding["subject"] for finding in kinds["cut-off"]), kinds
    assert any("empty" in finding["message"] for finding in kinds["broken"]), kinds


def only_json(place):
    path = place.sample()
    copies = list(path.parent.glob("*.trace.json.gz"))
    path.unlink()
    if not copies:
        copy = path.with_name("hostA.trace.json")
        copy.write_text('{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "name": "a"}]}')
        age(copy)
    _, kinds = doctor(place)
    assert "1,000,000" in kinds["json-only"][0]["message"], kinds


def rights(place):
    if os.getuid() != 0:
        raise Skip("needs root to become another user")
    place.sample()
    closed = place.profiles / "closed"
    closed.mkdir(mode=0o700)
    place.cache.mkdir()
    os.chown(place.cache, NOBODY, NOBODY)
    code, kinds = doctor(place, user=NOBODY)
    assert code == 4, code
    assert kinds["not-looked-at"][0]["subject"] == "closed", kinds
    assert kinds["not-looked-at"][0]["remedy"] == f"chmod a+rx '{closed}'", kinds
    assert kinds["write"][0]["remedy"].startswith("sudo chmod o+rwx"), kinds["write"]
    os.chown(place.profiles, NOBODY, NOBODY)
    place.profiles.chmod(0o555)
    _, kinds = doctor(place, user=NOBODY)
    assert kinds["write"][0]["remedy"] == f"chmod u+rwx '{place.profiles}'", kinds["write"]


class Waiting(http.server.SimpleHTTPRequestHandler):
    """JAX's _PerfettoServer (jax/_src/profiler.py), header by header."""

    origin = "*"

    def end_headers(self):
        if self.origin:
            self.send_header("Access-Control-Allow-Origin", self.origin)
        return super().end_headers()

    def do_GET(self):
        self.server.last_request = self.path
        return super().do_GET()

    def log_message(self, *_):
        pass


class NoOrigin(Waiting):
    """Python's http.server: some directory, and nobody waits."""

    origin = ""


class OneOrigin(Waiting):
    """Perfetto's open_trace_in_ui."""

    origin = "https://ui.perfetto.dev"


def odd_files(place):
    """What a name promises and no file is; reports that another program reads: the line works from anywhere."""
    place.sample()
    os.mkfifo(place.session("pipe"))
    report = place.profiles / "it's" / "my report.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(b"NVIDIA Tegra Profiler Report 2025@5" + bytes(100))
    age(report)
    _, kinds = doctor(place)
    pipe = kinds["not-looked-at"][0]
    assert pipe["subject"].endswith("hostA.xplane.pb") and "no file" in pipe["message"] and not pipe["remedy"], pipe
    remedy = kinds["not-read"][0]["remedy"]
    ran = subprocess.run(["/bin/bash", "-c", remedy], capture_output=True, text=True, env={**os.environ, "PATH": str(fake_nsys(place))})
    assert ran.stdout == "export --type sqlite my report.nsys-rep there\n", (remedy, ran)


def fake_nsys(place):
    tools = place.dir / "tools"
    tools.mkdir()
    (tools / "nsys").write_text('#!/bin/sh\n[ -f "$4" ] && echo "$@" there\n')
    (tools / "nsys").chmod(0o755)
    return tools


def serve_9001(place, handler, while_it_waits):
    """JAX's own loop: it ends when the file has been asked for. Whether it has ended afterwards."""
    socketserver.TCPServer.allow_reuse_address = True
    try:
        server = socketserver.TCPServer(("127.0.0.1", 9001), functools.partial(handler, directory=place.dir))
    except OSError as error:
        raise Skip(f"port 9001: {error}") from error
    server.last_request = ""
    stop = threading.Event()

    def loop():
        while server.last_request != "/perfetto_trace.json.gz" and not stop.is_set():
            server.handle_request()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        while_it_waits(thread)
        return not thread.is_alive()
    finally:
        stop.set()
        if thread.is_alive():
            socket.create_connection(("127.0.0.1", 9001)).close()
        thread.join()
        server.server_close()


def waiting_program(place):
    place.sample()
    (place.dir / "perfetto_trace.json.gz").write_bytes(b"x" * 300000)

    def jax(thread):
        _, kinds = doctor(place)
        assert kinds["waiting-jax"][0]["remedy"] == "jviewd doctor --release", kinds
        assert thread.is_alive()
        _, kinds = doctor(place, "--release")
        assert "goes on" in kinds["waiting-jax"][0]["message"], kinds
        thread.join(WAIT_S)

    def another(thread):
        _, kinds = doctor(place, "--release")
        assert "waiting-jax" not in kinds and thread.is_alive(), kinds

    assert serve_9001(place, Waiting, jax)
    assert not serve_9001(place, NoOrigin, another)
    assert not serve_9001(place, OneOrigin, another)
    _, kinds = doctor(place)
    assert "waiting-jax" not in kinds, kinds


def nothing_is_changed(place):
    place.sample()
    before = sorted((path, path.stat().st_mtime_ns) for path in place.profiles.rglob("*"))
    doctor(place)
    assert before == sorted((path, path.stat().st_mtime_ns) for path in place.profiles.rglob("*"))
    shutil.rmtree(place.profiles / "step_1000")
    code, kinds = doctor(place)
    assert code == 0 and kinds["runs"][0]["severity"] == "info", kinds


main([all_is_well, no_directory, usage, files, only_json, odd_files, rights, waiting_program, nothing_is_changed])
