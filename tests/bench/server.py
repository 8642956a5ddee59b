# SPDX-License-Identifier: Apache-2.0
"""A jviewd of one's own: started on a free port with a cache of its own, asked over one connection, stopped."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("JVIEWD", ROOT / "build/release/jviewd"))


class Server:
    """jviewd on a profile directory; `with Server(dir, cache) as server`."""

    def __init__(self, profile_dir, cache_dir, flags=()):
        self.command = [str(BINARY), "--profile-dir", str(profile_dir), "--cache-dir", str(cache_dir), "--port", "0",
                        "--ui", "none", *flags]

    def __enter__(self):
        self.started = time.perf_counter()
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        while True:
            self.log.seek(0)
            match = re.search(r"http://(?:localhost|127\.0\.0\.1):(\d+)", self.log.read())
            if match:
                self.port = int(match.group(1))
                break
            if self.process.poll() is not None:
                self.log.seek(0)
                raise RuntimeError(f"jviewd ended with {self.process.returncode}: {self.log.read()}")
            time.sleep(0.002)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()

    def ask(self, method, path, query, body=None, headers=None):
        """(status, body bytes, seconds)."""
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        for attempt in (0, 1):
            begin = time.perf_counter()
            try:
                self.connection.request(method, target, body, headers or {})
                reply = self.connection.getresponse()
                return reply.status, reply.read(), time.perf_counter() - begin
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # The server closes an idle connection; the next request opens one.
                self.connection.close()
                if attempt:
                    raise

    def get(self, path, headers=None, **query):
        """(status, body bytes, seconds) of a GET."""
        return self.ask("GET", path, query, headers=headers)

    def post(self, path, body, **query):
        """The reply's bytes; RuntimeError unless 200."""
        status, data, _ = self.ask("POST", path, query, json.dumps(body), {"Content-Type": "application/json"})
        if status != 200:
            raise RuntimeError(f"{path} {query}: {status} {data[:300]!r}")
        return data

    def json(self, path, **query):
        status, body, _ = self.get(path, **query)
        if status != 200:
            raise RuntimeError(f"{path} {query}: {status} {body[:300]!r}")
        return json.loads(body)

    def ready(self, seconds=600):
        """Waits until every run is indexed; the list of runs."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            reply = self.json("/api/runs", limit=10000)
            states = {run["state"] for run in reply["runs"]}
            if reply["scan"]["state"] == "idle" and reply["runs"] and not states & {"queued", "indexing", "writing"}:
                return reply["runs"]
            time.sleep(0.02)
        raise RuntimeError(f"not ready after {seconds} s")

    def settle(self, seconds=120):
        """Waits until nothing is done unasked: what a server prepares once a run is indexed."""
        end, before = time.perf_counter() + seconds, -1
        while self.cpu_seconds() - before > 0.02 and time.perf_counter() < end:
            before = self.cpu_seconds()
            time.sleep(1)

    def cpu_seconds(self):
        """Of all threads, ended ones too: says on a busy machine what wall time does not."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def children(self):
        """Its living children, CPU seconds by pid."""
        ret = {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                for pid in (task / "children").read_text().split():
                    ret[int(pid)] = int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
            except (FileNotFoundError, ProcessLookupError):  # a thread or a child that has ended meanwhile
                pass
        return ret

    def family_cpu_seconds(self):
        """Of the server and all that it has started, once none of them does anything."""
        before, end = None, time.perf_counter() + 60
        while time.perf_counter() < end:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            living = self.children()
            if living == before:
                return self.cpu_seconds() + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK") + sum(living.values())
            before = living
            time.sleep(0.2)
        raise RuntimeError("a child does not rest")

    def anonymous_bytes(self):
        """RssAnon of the server: mapped files may be dropped by the kernel and are not counted."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s*(\d+) kB", text).group(1)) * 1024
