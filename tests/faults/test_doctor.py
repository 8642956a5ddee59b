#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`jviewd doctor`: what it finds in a directory, the line that mends it, and its exit code."""

import functools
import grp
import http.server
import json
import os
import pwd
import shutil
import socket
import socketserver
import subprocess
import threading

from harness import NOBODY, WAIT_S, Skip, age, main


def doctor(place, *arguments, directory=None, user=None):
    """(exit code, findings by kind)"""
    done = place.jviewd("doctor", directory or place.profiles, "--format", "json", "--cache-dir", place.cache,
                        *arguments, user=user, group=user, extra_groups=None if user is None else [], env={**os.environ, "HOME": "/nonexistent"})
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
    assert {"file-system", "version", "cache", "room", "port"} <= set(kinds) and (
        {"sandbox"} <= set(kinds) or {"no-landlock", "no-seccomp"} & set(kinds)), set(kinds)
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
    assert kinds["not-looked-at"][0]["remedy"] == f"sudo chmod o+rx '{closed}'", kinds
    assert kinds["write"][0]["remedy"].startswith("sudo chmod o+rwx"), kinds["write"]
    os.chown(place.profiles, NOBODY, NOBODY)
    place.profiles.chmod(0o555)
    _, kinds = doctor(place, user=NOBODY)
    assert kinds["write"][0]["remedy"] == f"chmod u+rwx '{place.profiles}'", kinds["write"]


def run_line(line):
    """The line as root would run it in a shell."""
    line = line.replace("sudo ", "")
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0, (line, done)


def lines_mend(place):
    """Each line is run as it is printed, and then the trouble is gone."""
    if os.getuid() != 0:
        raise Skip("needs root to become another user")
    closed = place.profiles / "it's closed"
    root = closed / "-p ro$files"
    root.mkdir(parents=True)
    shutil.move(place.sample().parents[3], root / "step")
    profile = next(root.rglob("*.xplane.pb"))
    place.cache = place.cache / "jviewd"
    place.cache.mkdir(mode=0o700, parents=True)
    profile.chmod(0o600)
    root.chmod(0o700)
    closed.chmod(0o700)

    code, kinds = doctor(place, directory=root, user=NOBODY)
    assert code == 3 and kinds["directory"][0]["remedy"].startswith("sudo chmod o+x '"), kinds
    run_line(kinds["directory"][0]["remedy"])
    code, kinds = doctor(place, directory=root, user=NOBODY)
    assert code == 4 and "runs" not in kinds and "not-looked-at" not in kinds, kinds
    assert not any(finding["subject"] is None for found in kinds.values() for finding in found), kinds
    run_line(kinds["read"][0]["remedy"])
    assert kinds["cache"][0]["subject"] == str(place.cache), kinds["cache"]
    assert kinds["cache"][0]["severity"] == "error", kinds["cache"]
    assert kinds["cache"][0]["remedy"].startswith("sudo chown -R "), kinds["cache"]
    run_line(kinds["cache"][0]["remedy"])
    code, kinds = doctor(place, directory=root, user=NOBODY)
    assert code == 4 and kinds["cache"][0]["severity"] == "ok" and "read" not in kinds, kinds
    assert kinds["unreadable"][0]["remedy"].startswith("sudo chmod o+r '"), kinds
    run_line(kinds["unreadable"][0]["remedy"])
    run_line(kinds["write"][0]["remedy"])
    code, kinds = doctor(place, directory=root, user=NOBODY)
    assert code == 0 and "write" not in kinds and "unreadable" not in kinds, kinds


def caches(place):
    """A cache that cannot be made, and one whose owner took its rights away."""
    if os.getuid() != 0:
        raise Skip("needs root to become another user")
    place.sample()
    wanted = place.cache
    wanted.mkdir(mode=0o755)
    code, kinds = doctor(place, user=NOBODY)
    assert code == 4 and kinds["cache"][0]["remedy"] == "another --cache-dir: this directory belongs to root", kinds
    place.cache = wanted / "not/there"
    code, kinds = doctor(place, user=NOBODY)
    line = kinds["cache"][0]["remedy"]
    assert code == 4 and line.startswith(f"sudo mkdir -p '{place.cache}' && sudo chown "), kinds
    run_line(line)
    code, kinds = doctor(place, user=NOBODY)
    assert code == 0 and kinds["cache"][0]["severity"] == "ok", kinds
    mend = f"chmod -R u+rwX '{place.cache}'"
    place.cache.chmod(0o500)
    _, kinds = doctor(place, user=NOBODY)
    assert "cannot be written" in kinds["catalog"][0]["message"] and kinds["catalog"][0]["remedy"] == mend, kinds
    (place.cache / "tmp").chmod(0o500)
    code, kinds = doctor(place, user=NOBODY)
    assert code == 4 and kinds["cache"][0]["remedy"] == mend, kinds
    run_line(mend)
    code, kinds = doctor(place, user=NOBODY)
    assert code == 0 and "catalog" not in kinds and kinds["cache"][0]["severity"] == "ok", kinds


def groups(place):
    """A group that may write is joined; group root is not."""
    if os.getuid() != 0:
        raise Skip("needs root to become another user")
    try:
        video = grp.getgrnam("video").gr_gid
        user = pwd.getpwuid(NOBODY).pw_name
    except KeyError as error:
        raise Skip(f"needs a group and a user: {error}") from error
    place.sample()
    os.chown(place.profiles, 0, video)
    for mode in (0o2775, 0o2770):
        place.profiles.chmod(mode)
        _, kinds = doctor(place, user=NOBODY)
        assert kinds["write"][0]["remedy"] == f"sudo usermod -aG video {user}   # then log in again", kinds
    os.chown(place.profiles, 0, 0)
    place.profiles.chmod(0o750)
    _, kinds = doctor(place, user=NOBODY)
    assert kinds["read"][0]["remedy"] == f"sudo chmod o+rx '{place.profiles}'", kinds


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
    assert pipe["subject"].endswith("hostA.xplane.pb") and "not a file" in pipe["message"] and not pipe["remedy"], pipe
    remedy = kinds["not-read"][0]["remedy"]
    ran = subprocess.run(["/bin/bash", "-c", remedy], capture_output=True, text=True, env={**os.environ, "PATH": str(fake_nsys(place))})
    assert ran.stdout == "export --type sqlite my report.nsys-rep there\n", (remedy, ran)


def a_file_that_is_asked_for_by_itself(place):
    """Its line goes to the directory where it lies."""
    path = place.profiles / "it's" / "wide.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(json.dumps({"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "name": "f", "pid": 1, "tid": 1}]}).encode("utf-16"))
    age(path)
    for asked in (path, path.parent):
        _, kinds = doctor(place, directory=asked)
        remedy = kinds["not-read"][0]["remedy"]
        ran = subprocess.run(["/bin/bash", "-c", remedy], capture_output=True, text=True)
        made = path.with_name("wide.json.utf8.json")
        assert ran.returncode == 0 and json.loads(made.read_text())["traceEvents"], (asked, remedy, ran)
        made.unlink()


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
        assert "continues" in kinds["waiting-jax"][0]["message"], kinds
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


main([all_is_well, no_directory, usage, files, only_json, odd_files, a_file_that_is_asked_for_by_itself, rights, lines_mend, caches, groups, waiting_program, nothing_is_changed])
