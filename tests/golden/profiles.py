# SPDX-License-Identifier: Apache-2.0
"""Every profile of $JVIEW_CORPUS and of captures/ beside it, behind one server that has indexed them."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SKIPPED = 77
INDEX_SECONDS = 600
QUIET_LOOKS = 10


def roots(cases=False):
    """{name: directory}; with `cases` also the made ones that lie there. Empty where the environment names none."""
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        return {}
    corpus = pathlib.Path(corpus)
    beside = corpus.parent
    found = {"captures": beside / "captures", "corpus": corpus}
    if cases:
        found |= {f"cases/{name}": beside / "cases" / name for name in ("derived", "numbers", "steps", "traces")}
    return {name: path for name, path in found.items() if path.is_dir()}


def program():
    for place in (os.environ.get("JVIEWD"), os.environ.get("JVIEWD_DEV")):
        if place and os.access(place, os.X_OK):
            return place
    raise SystemExit("skipped: $JVIEWD names no program") from None


class Server:
    def __init__(self, url):
        self.url = url

    def get(self, path, **query):
        """(status, reply); numbers stay exact."""
        address = f"{self.url}{path.lstrip('/')}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=120) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as failure:
            return failure.code, json.load(failure)

    def runs(self):
        """Those that are ready, by name; what a scan found shows up a little later than its end."""
        began, quiet = time.monotonic(), 0
        while True:
            _, reply = self.get("api/runs", limit=1000)
            _, jobs = self.get("api/jobs")
            busy = [run for run in reply["runs"] if run["state"] in ("queued", "indexing", "writing")]
            quiet = 0 if busy or jobs["jobs"] or reply["scan"]["state"] != "idle" else quiet + 1
            if quiet > QUIET_LOOKS:
                return sorted((run for run in reply["runs"] if run["state"] in ("ready", "partial")), key=lambda run: run["dir"])
            if time.monotonic() - began > INDEX_SECONDS:
                raise SystemExit(f"still busy after {INDEX_SECONDS} s: {[run['name'] for run in busy]}")
            time.sleep(0.2)


@contextlib.contextmanager
def served(root):
    with tempfile.TemporaryDirectory() as cache:
        child = subprocess.Popen([program(), "serve", str(root), "--port", "auto", "--ui", "none", "--cache-dir", cache],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for line in child.stdout:
                found = re.search(r"http://[^\s\"]+:\d+/", line)
                if found:
                    break
            else:
                raise SystemExit("the server did not start")
            os.set_blocking(child.stdout.fileno(), False)
            yield Server(found[0])
        finally:
            child.send_signal(signal.SIGTERM)
            child.stdout.close()
            child.wait(timeout=30)
