# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: the real program, with directories and a port of its own.

A test is a function that takes a Place; it fails by an assertion. `main` runs all of a script and
prints "ok NAME" or "not ok NAME: why".
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = TESTS / "samples"
NOBODY = 65534
WAIT_S = 240


class Skip(Exception):
    """This machine cannot show it."""


def program():
    for name in ("JVIEWD", "JVIEWD_DEV"):
        if os.environ.get(name):
            return os.environ[name]
    return str(TESTS.parent / "build/release/jviewd")


def make_profile(path, shape="gpu", events=300000, seed=1):
    """A large profile; its facts."""
    tool = pathlib.Path(os.environ.get("JVIEWD_TESTS_BIN", TESTS.parent / "build/release/tests")) / "make_profile"
    if not tool.exists():
        raise Skip("make_profile was not built")
    path.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(tool), shape, "--events", str(events), "--seed", str(seed), "-o", str(path)],
                          check=True, capture_output=True, text=True)
    age(path)
    return json.loads(done.stdout)


def age(path, seconds=60):
    """As if it had been written a minute ago: nobody writes it any more."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def until(what, look, seconds=WAIT_S):
    """The first true value of look(); fails with what was waited for."""
    end = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


class Server:
    def __init__(self, place, *arguments, root=None, cache=None, data=None, user=None, argv0=None, env=None, cwd=None):
        self.place = place
        root = place.profiles if root is None else root
        arguments = list(arguments)
        if root:
            arguments = ["--profile-dir", str(root)] + arguments
        command = [argv0 or program(), *arguments, "--port", "0", "--cache-dir", str(cache or place.cache),
                   "--data-dir", str(data or place.dir / "data"), "--verbose"]
        self.log = open(place.dir / f"server-{len(place.servers)}.log", "w+")
        if user is not None:
            os.chown(self.log.fileno(), user, user)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True, user=user,
                                        group=user, env={**os.environ, **(env or {})}, cwd=cwd)
        place.servers.append(self)
        self.said = ""
        self.url = None
        for line in self.process.stdout:
            self.said += line
            if line.strip().startswith("open "):
                self.url = line.split()[1].rstrip("/")
            if line.strip().startswith("cache "):
                break
        assert self.url, f"the server did not start: {self.said} {self.words()}"

    def words(self):
        """All it said on stderr."""
        self.log.flush()
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def fetch(self, path, **query):
        """(status, headers, JSON or bytes)"""
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        try:
            with urllib.request.urlopen(url, timeout=WAIT_S) as reply:
                status, headers, body = reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as error:
            status, headers, body = error.code, error.headers, error.read()
        if "json" in headers.get("Content-Type", ""):
            body = json.loads(body)
        return status, headers, body

    def runs(self):
        status, _, body = self.fetch("/api/runs", limit=10000)
        assert status == 200, body
        return {run["name"]: run for run in body["runs"]}

    def run(self, name):
        status, _, body = self.fetch("/api/run", run=name)
        assert status == 200, body
        return body.get("run", body)

    def until_state(self, name, *states, seconds=WAIT_S):
        return until(f"run {name} to be {' or '.join(states)}: {self.runs().get(name)}",
                     lambda: (run := self.runs().get(name)) and run["state"] in states and run, seconds)

    def until_scanned(self):
        until("the first scan", lambda: self.fetch("/readyz")[0] == 200)

    def until_settled(self):
        """All runs, once nothing is left to do."""
        self.until_scanned()
        until("all runs to settle", lambda: all(
            run["state"] not in ("queued", "indexing", "writing") for run in self.runs().values()))
        until("all jobs to end", lambda: not self.fetch("/api/jobs")[2]["jobs"])
        return self.runs()

    def top(self, name, **query):
        return self.fetch("/api/top", run=name, **query)

    def answers(self, name="step_1000"):
        """Another run is served as if nothing had happened."""
        status, _, body = self.top(name, wait_ms=30000)
        assert status == 200 and body["rows"], (status, body)

    def children(self):
        """Pids of its indexing processes."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                if parent[1] == str(self.process.pid) and parent[0] != "Z":
                    found.append(int(entry.name))
        return found

    def child(self):
        return until("an indexing process", self.children)[0]

    def stop(self, number=signal.SIGTERM):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(WAIT_S)
        self.process.stdout.close()
        return code


class Place:
    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="jview-fault-"))
        os.chmod(self.dir, 0o755)
        self.profiles = self.dir / "profiles"
        self.cache = self.dir / "cache"
        self.servers = []
        self.undo = []
        self.profiles.mkdir()

    def sample(self, name="step_1000", to=None):
        """One of the project's samples; the path of its xplane."""
        target = self.profiles / (to or name)
        shutil.copytree(SAMPLES / name, target)
        for path in target.rglob("*"):
            age(path)
        return next(target.rglob("*.xplane.pb"))

    def session(self, name, host="hostA"):
        """Where a host's file of a run of this name belongs."""
        path = self.profiles / name / "plugins/profile/2026_11_21_09_30_00" / f"{host}.xplane.pb"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def file(self, name, content, host="hostA"):
        path = self.session(name, host)
        path.write_bytes(content)
        age(path)
        return path

    def serve(self, *arguments, **options):
        return Server(self, *arguments, **options)

    def jviewd(self, *arguments, seconds=WAIT_S * 2, **options):
        return subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, timeout=seconds,
                              **options)

    def segments(self):
        return sorted(self.cache.glob("segments-*/*/*.seg"))

    def leftovers(self):
        """What stands in tmp/ besides the directories of living processes."""
        for path in self.cache.glob("servers/*.tmp"):
            age(path)  # the next server removes what is old
        def is_left(path):
            if path.parent.name == "servers":
                return False
            if path.parent.parent.name == "tmp":
                return not path.is_dir() or any(path.iterdir())
            return path.suffix == ".tmp"
        return [path for path in self.cache.rglob("*") if is_left(path)]

    def close(self):
        for server in self.servers:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
            server.log.close()
        for undo in reversed(self.undo):
            undo()
        shutil.rmtree(self.dir, ignore_errors=True)


def sanitizer_words(place):
    """A server or one of its children was stopped by a sanitizer."""
    for server in place.servers:
        for line in server.words().splitlines():
            if "ERROR: AddressSanitizer" in line or "WARNING: ThreadSanitizer" in line or "runtime error:" in line or "LeakSanitizer" in line:
                return line
    return None


def main(tests):
    wanted, failed = sys.argv[1:], 0
    for test in tests:
        name = test.__name__
        if wanted and not any(word in name for word in wanted):
            continue
        place = Place()
        try:
            test(place)
            words = sanitizer_words(place)
            assert not words, words
            print(f"ok {name}", flush=True)
        except Skip as why:
            print(f"ok {name} # skipped: {why}", flush=True)
        except Exception as error:
            failed += 1
            lines = str(error).strip().splitlines() or [type(error).__name__]
            where = traceback.extract_tb(error.__traceback__)[-1]
            print(f"not ok {name}: {lines[-1][:1000]} ({pathlib.Path(where.filename).name}:{where.lineno} {where.line})",
                  flush=True)
            for server in place.servers:
                print("".join(f"    {line}\n" for line in server.words().splitlines()[-15:]), end="", flush=True)
        finally:
            place.close()
    sys.exit(1 if failed else 0)
