# SPDX-License-Identifier: Apache-2.0
"""The first answer beside xprof-rs: from exec to an overview and to a timeline, of a file that neither has seen.

xprof-rs, XProf's page over a backend in Rust, is a package of PyPI; it is put into a virtual environment outside of the project
($JVIEWD_BENCH_HOME, else ~/.cache/jviewd-bench). JVIEWD_XPROF_RS names a program instead. Without it a word says that nothing was
compared.

Each turn asks both, one after the other, in fresh processes; jviewd with a fresh cache. xprof-rs keeps no file. A figure is the
ratio of the bests of five turns:

  overview    exec to the overview's answer      /api/overview          overview_page
  tiles       exec to the first screen           /api/tracks, /tiles    trace_viewer@
  .cpu        user and system of all processes   of the same
  .memory     peak of what cannot be dropped (RssAnon) of all of a tool's processes at once
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import venv

from server import BINARY
from xprof import Peak

TURNS, WAIT_S = 5, 600
HOME = pathlib.Path(os.environ.get("JVIEWD_BENCH_HOME", pathlib.Path.home() / ".cache/jviewd-bench"))


def rival():
    """The program, or None with a word on stderr."""
    named = os.environ.get("JVIEWD_XPROF_RS")
    if named:
        return named
    program = HOME / "venv/bin/xprof-rs"
    if not program.exists():
        try:
            venv.create(HOME / "venv", with_pip=True)
            subprocess.run([HOME / "venv/bin/pip", "install", "--quiet", "xprof-rs"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"first: xprof-rs cannot be had ({error}), nothing was compared", file=sys.stderr)
            return None
    return program


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Tool:
    """A server from its exec on: answers, then (wall seconds, CPU seconds, peak of RssAnon) at its end."""

    def __init__(self, command, env=None):
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        self.peak = Peak(self.process.pid)

    def get(self, port, path, **query):
        """The body, asked until the server listens."""
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
                connection.request("GET", path + ("?" + urllib.parse.urlencode(query, safe="@,:") if query else ""))
                reply = connection.getresponse()
                body = reply.read()
                if reply.status == 503 and time.perf_counter() - self.begin < WAIT_S:  # still being read
                    continue
                if reply.status != 200 or not body:
                    raise RuntimeError(f"{path} {query}: {reply.status} {body[:200]!r}")
                return body
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.perf_counter() - self.begin > WAIT_S:
                    raise
                time.sleep(0.001)

    def end(self):
        """Ends it at once: what it would do unasked is no part of the answer."""
        wall, peak = time.perf_counter() - self.begin, self.peak.end()
        self.process.terminate()
        _, _, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        return wall, usage.ru_utime + usage.ru_stime, peak


def ask_jviewd(directory, what, place=None, env=None):
    """Of the directory's logs, or of another place such as a bucket."""
    port, cache = free_port(), tempfile.mkdtemp(prefix="jviewd-first-", dir=directory)
    tool = Tool([BINARY, "--profile-dir", place or directory / "logs", "--cache-dir", f"{cache}/c", "--data-dir", f"{cache}/d", "--port", str(port),
                 "--ui", "none"], env)
    try:
        if what == "overview":
            tool.get(port, "/api/overview", run="latest")
        else:
            tracks = json.loads(tool.get(port, "/api/tracks", run="latest"))["tracks"]  # waits until it is indexed
            detail = json.loads(tool.get(port, "/api/run", run="latest"))
            rows = [f"{track['id']}:{depth}" for track in sorted(tracks, key=lambda track: -track["slice_count"])
                    for depth in range(track["depth_count"])][:60]
            long, offset = int(detail["duration_ps"]), int(detail["hosts"][0]["offset_ps"])
            level = max(0, (long // 1600).bit_length() - 1)
            width = 1024 << level
            tool.get(port, "/api/tiles", run="latest", level=level, rows=",".join(rows),
                     **{"from": -offset // width, "to": (long - offset - 1) // width + 1})
        return tool.end()
    finally:
        if tool.process.returncode is None:
            tool.process.kill()
            tool.process.wait()
            tool.peak.end()
        shutil.rmtree(cache)


def ask_rival(program, directory, what, place=None, env=None):
    port = free_port()
    tool = Tool([program, "--logdir", place or directory / "logs", "--port", str(port)], env)
    try:
        host = json.loads(tool.get(port, "/data/plugin/profile/hosts", run="one", tag="overview_page"))[0]["hostname"]
        query = {"tag": "overview_page"} if what == "overview" else {"tag": "trace_viewer@", "resolution": 4040}
        tool.get(port, "/data/plugin/profile/data", run="one", host=host, **query)
        return tool.end()
    finally:
        if tool.process.returncode is None:
            tool.process.kill()
            tool.process.wait()
            tool.peak.end()


def compare(profile, program, work):
    """{(what, measure): (ours, theirs)}, the bests of all turns."""
    directory = work / "first"
    shutil.rmtree(directory, ignore_errors=True)
    logs = directory / "logs/plugins/profile/one"
    logs.mkdir(parents=True)
    os.link(profile, logs / "host.xplane.pb")
    best = {}
    try:
        for what in ("overview", "tiles"):
            for _ in range(TURNS):
                ours, theirs = ask_jviewd(directory, what), ask_rival(program, directory, what)
                for at, measure in enumerate(("wall", "cpu", "memory")):
                    before = best.get((what, measure), (float("inf"), float("inf")))
                    best[what, measure] = min(before[0], ours[at]), min(before[1], theirs[at])
    finally:
        shutil.rmtree(directory)
    return best


def name_of(profile):
    return re.sub(r"[^A-Za-z0-9]+", "_", profile.name.removesuffix(".xplane.pb")).strip("_")
