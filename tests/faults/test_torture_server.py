#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each allocation and each call on files of a server fails once, in turn, while it scans, indexes, answers, takes a note, an upload and a
capture; and of `prune`. It lives on, or says why it does not start; what it answers is right, or says what it lacks; what was acknowledged
stays; a moment later all is as it should be, and no descriptor more is open than without the failure. Where all calls of a kind fail from
one on it does the same when they no longer do; only a server that gets no memory at all ends, with a sentence, and the next one is sound.

JVIEWD_TORTURES is how many passes each session has (5), spread over its calls; JVIEWD_TORTURES_SEED another series; 0: every call.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

import harness
import shim
from test_torture import PASSES, RUN, Session, answer

SEED = int(os.environ.get("JVIEWD_TORTURES_SEED", "1"))
JSON = {"Content-Type": "application/json"}
BYTES = {"Content-Type": "application/octet-stream"}
DESCRIPTORS_SLACK = 2  # a directory that is being read, a connection that is being closed
START_S, OPENS_S, ASK_S = 30, 20, 60
HEALS_S = 60  # a second try comes 5 s after the first, and a busy machine takes its time


class Profiler:
    """A profiler server, which answers with a sample."""

    def __init__(self, place):
        script = harness.TESTS / "http/profiler_server.mjs"
        if shutil.which("node") is None:
            raise harness.Skip("no node")
        self.process = subprocess.Popen(["node", script, "good", next((harness.SAMPLES / RUN).rglob("*.xplane.pb"))], stdout=subprocess.PIPE, text=True)
        self.address = f"127.0.0.1:{self.process.stdout.readline().strip()}"
        place.undo.append(self.end)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Served:
    """A server under the shim. `url` is None where it ended before it listened."""

    def __init__(self, place, address, env):
        self.log = open(place.dir / "served.log", "w+")
        command = [harness.program(), "--profile-dir", place.profiles, "--port", "0", "--cache-dir", place.cache,
                   "--data-dir", place.dir / "data", f"--allow-capture={address}", "--workers", "1"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, **env})
        self.url = None
        late = threading.Timer(OPENS_S, self.process.terminate)  # one that may not write tells nobody where it listens
        late.start()
        for line in self.process.stdout:
            if line.strip().startswith("open "):
                self.url = line.split()[1].rstrip("/")
                break
        late.cancel()

    def words(self):
        return pathlib.Path(self.log.name).read_text(errors="replace").strip()

    def ask(self, target, method="GET", body=None, headers=None):
        """(status, JSON or text); status 0: nothing came back."""
        request = urllib.request.Request(self.url + target, body, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=ASK_S) as reply:
                status, content = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        except TimeoutError:
            raise AssertionError(f"{method} {target} has no answer after {ASK_S} s")
        except OSError:
            return 0, ""
        try:
            return status, json.loads(content)
        except ValueError:
            return status, content.decode(errors="replace")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def ended_without_memory(self):
        """It waits some seconds for memory, says that there is none, and ends."""
        return self.process.poll() == -signal.SIGABRT and "out of memory" in self.words()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = "no end within 30 s"
        self.process.stdout.close()
        self.log.close()
        return code


class ServerSession(Session):
    def __init__(self, place):
        super().__init__(place)
        self.profiler = Profiler(place)
        self.profiles = place.dir / "profiles-kept"
        shutil.copytree(place.profiles, self.profiles)
        self.sound = answer(self.command("top", RUN, "--format", "json").stdout)
        assert self.command("note", "add", RUN, "first").returncode == 0
        shutil.rmtree(place.cache)
        self.keep()
        self.rows, self.open = None, 0

    def restore(self):
        super().restore()
        shutil.rmtree(self.place.profiles)
        shutil.copytree(self.profiles, self.place.profiles)

    def is_sound(self, told):
        return told["rows"] == self.rows

    def asked(self, server, wrong):
        """The session; which texts of notes are certain, which may be there."""
        sure, perhaps = ["first"], []
        status, told = server.ask(f"/api/top?run={RUN}&wait_ms=8000")
        if status == 200 and self.rows is not None and not self.is_sound(told) and not any(note["kind"] == "partial" for note in told["notes"]):
            wrong.append("another answer")
        status, _ = server.ask("/api/notes", "POST", json.dumps({"run": RUN, "text": "second"}).encode(), JSON)
        (sure if status in (200, 201) else perhaps).append("second")
        sample = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
        status, told = server.ask("/api/upload?name=brought.xplane.pb", "POST", sample, BYTES)
        if status == 201:
            server.ask(f"/api/top?run={told['run']}&wait_ms=4000")
            server.ask(f"/api/upload?run={told['run']}", "DELETE")
        body = json.dumps({"targets": self.profiler.address, "ms": 50}).encode()
        if server.ask("/api/capture", "POST", body, JSON)[0] == 202:
            until = time.monotonic() + 10
            while time.monotonic() < until:
                status, told = server.ask("/api/capture")
                if status != 200 or not told.get("capture") or told["capture"].get("state") not in ("running", "starting", "waiting"):
                    break
                time.sleep(0.05)
        return sure, perhaps

    def is_healed(self, server, sure, perhaps):
        status, told = server.ask(f"/api/top?run={RUN}&wait_ms=4000")
        if status != 200 or not self.is_sound(told):
            return f"top answers {status}"
        status, told = server.ask(f"/api/notes")
        texts = [row["text"] for row in told["rows"]] if status == 200 else None
        return "" if texts is not None and set(sure) <= set(texts) <= set(sure + perhaps) else f"notes {status}: {texts}, not {sure}"

    def passes(self, at, way, kinds):
        """What is wrong of one pass; None: no call was left to fail."""
        self.restore()
        self.shim.arm(at, kinds, way)
        server, wrong, sure, perhaps = Served(self.place, self.profiler.address, self.shim.env), [], ["first"], ["second"]
        if server.url is None:
            code = server.process.wait(START_S)
            without_words = way == shim.FAILS_ON and (kinds & shim.WRITE and code == 0 or server.ended_without_memory())
            if not without_words and (code <= 0 or not server.words()):
                wrong.append(f"it did not start: exit {code}, {server.words()[-200:]!r}")
        else:
            sure, perhaps = self.asked(server, wrong)
        what = self.shim.fired()
        self.shim.page[8:16] = bytes(8)  # nothing fails any more
        if server.url is not None:
            until = time.monotonic() + HEALS_S
            while (lacks := self.is_healed(server, sure, perhaps)) and time.monotonic() < until:
                time.sleep(0.2)
                if way == shim.FAILS_ON and server.ended_without_memory():
                    server.end()
                    server = Served(self.place, self.profiler.address, {})
                elif server.process.poll() is not None:
                    break
            if server.process.poll() is not None:
                wrong.append(f"the server ended with {server.process.returncode}: {server.words()[-300:]!r}")
            elif lacks:
                wrong.append(f"afterwards {lacks}")
            else:
                while self.open and server.descriptors() > self.open + DESCRIPTORS_SLACK and time.monotonic() < until:
                    time.sleep(0.1)
                opened = server.descriptors()
                if self.open and opened > self.open + DESCRIPTORS_SLACK:
                    wrong.append(f"{opened} descriptors are open, not {self.open}")
                self.open = self.open or opened
                if self.rows is None:
                    self.rows = server.ask(f"/api/top?run={RUN}")[1]["rows"]
        code = server.end()
        if server.url is not None and code != 0 and not wrong:
            wrong.append(f"its end: {code}: {server.words()[-300:]!r}")
        database = sqlite3.connect(self.place.dir / "data/user.db")
        texts = [row[0] for row in database.execute("SELECT text FROM notes")]
        database.close()
        if not set(sure) <= set(texts) <= set(sure + perhaps):
            wrong.append(f"notes afterwards: {texts}, not {sure}")
        if what is None and at > 0:
            return None
        return [f"{at}: {what}: {one}" for one in wrong]


def chosen(count, dice):
    """Some calls of so many, one of each part."""
    if not PASSES:
        return range(1, count + 1)
    part = max(1, count // PASSES)
    return [1 + min(count - 1, number * part + dice.randrange(part)) for number in range(min(PASSES, count))]


def torture(session, way, kinds, dice):
    session.shim.arm(0, kinds, way)
    session.restore()
    server = Served(session.place, session.profiler.address, session.shim.env)
    session.asked(server, [])
    assert server.end() == 0
    count, tried, wrong = session.shim.count(), 0, []
    places = chosen(count, dice)
    if way == shim.FAILS_ON:
        places = places[1::2]  # each takes half a minute: what is refused is tried again after a pause
    for at in places:
        found = session.passes(at, way, kinds)
        tried += found is not None
        wrong += found or []
    print(f"serve, way {way}: {count} calls, {tried} failed in turn", flush=True)
    assert not wrong, " | ".join(wrong)


def a_server_lives_on(place):
    place.sample(RUN)
    session, dice = ServerSession(place), random.Random(SEED)
    server = Served(place, session.profiler.address, {})
    harness.until("the run to be found", lambda: server.ask(f"/api/run?run={RUN}")[0] == 200)
    status, told = server.ask(f"/api/top?run={RUN}&wait_ms=20000")
    assert status == 200, (status, told)
    session.rows = told["rows"]
    assert server.end() == 0
    found = session.passes(0, shim.FAILS, session.kinds)
    assert not found, found
    torture(session, shim.FAILS, session.kinds, dice)
    torture(session, shim.IS_SHORT, shim.READ | shim.WRITE, dice)
    torture(session, shim.IS_INTERRUPTED, shim.READ | shim.WRITE | shim.OPEN, dice)
    torture(session, shim.IS_STALE, shim.READ | shim.OPEN | shim.STAT, dice)
    for kinds in session.kinds_alone():
        torture(session, shim.FAILS_ON, kinds, dice)


def prune_removes_what_it_says(place):
    """A run that is old goes, or stays; the other one, and the note on it, always stay."""
    place.sample(RUN)
    place.sample("step_500")
    for path in (place.profiles / "step_500").rglob("*"):
        harness.age(path, 90 * 86400)
    session = Session(place)
    kept = place.dir / "profiles-kept"
    sound = answer(session.command("top", RUN, "--format", "json").stdout)
    assert session.command("top", "step_500").returncode == 0
    assert session.command("note", "add", RUN, "first").returncode == 0
    shutil.copytree(place.profiles, kept)
    plain = session.command

    def command(*words, env=None):
        if words[0] != "prune":
            return plain(*words, env=env)
        shutil.rmtree(place.profiles)
        shutil.copytree(kept, place.profiles)
        return subprocess.run([harness.program(), "prune", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data", "--older-than",
                               "30d", "--delete"], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})

    session.command = command

    def judge(done, what):
        left = [path for path in (place.profiles / "step_500").rglob("*") if path.is_file()]
        if done.returncode == 0 and "1 run deleted" in done.stdout:
            assert not left, f"said to be deleted: {left}"
        told = plain("top", RUN, "--format", "json")
        assert told.returncode == 0 and answer(told.stdout) == sound, f"another answer of the run that stays: {told.stderr}"
        notes = plain("note", "show", RUN, "--format", "json")
        assert notes.returncode == 0 and [row["text"] for row in json.loads(notes.stdout)["rows"]] == ["first"], notes.stdout + notes.stderr

    session.torture(("prune",), judge)


if __name__ == "__main__":
    harness.main([a_server_lives_on, prune_removes_what_it_says])
