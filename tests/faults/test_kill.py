#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments of indexing, notes, prune, an upgrade and a server's work: what was acknowledged stays, nothing wrong
is answered, and the next command finds all as it should be.

JVIEWD_KILLS is how many (20), JVIEWD_KILLS_SEED another series. A kill takes the command and all that it started. What is killed,
how long after its start, and what came of it is printed where something is wrong.
"""

import collections
import http.client
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import threading
import time
import urllib.request

import harness

KILLS = int(os.environ.get("JVIEWD_KILLS", "20"))
SEED = int(os.environ.get("JVIEWD_KILLS_SEED", "1"))
RUNS = ("step_500", "step_1000", "step_1500")
TOLD = {"index-remade", "catalog"}  # notes of what was mended
VERSION_AT = 60  # of an SQLite file: what PRAGMA user_version says


def answer(text):
    told = json.loads(text)
    told["notes"] = [note for note in told.get("notes", []) if note["kind"] not in TOLD]
    return told


class Work:
    """A place with runs, what is right of them, and which notes were acknowledged."""

    def __init__(self, place):
        self.place, self.data = place, place.dir / "data"
        for name in RUNS:
            place.sample(name)
        self.sound = {name: answer(self.told("top", name)) for name in RUNS}
        self.notes, self.tried = set(), 0
        self.usual_s = {}

    def words(self, *words):
        return [harness.program(), *words, "--profile-dir", self.place.profiles, "--cache-dir", self.place.cache, "--data-dir", self.data]

    def told(self, *words):
        done = subprocess.run(self.words(*words, "--format", "json"), capture_output=True, text=True, timeout=harness.WAIT_S)
        assert done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr}"
        return done.stdout

    def killed(self, kind, command, share):
        """Its exit code, negative where it was killed, at this share of the time that it usually takes."""
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        usual = self.usual_s.get(kind)
        try:
            code = process.wait(harness.WAIT_S if usual is None else share * usual)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait()
        self.usual_s[kind] = max(self.usual_s.get(kind, 0), time.monotonic() - begin)
        return code

    def forget_index(self):
        shutil.rmtree(self.place.cache, ignore_errors=True)

    def index(self, share):
        self.forget_index()
        return self.killed("index", self.words("top", RUNS[self.tried % len(RUNS)], "--format", "json"), share)

    def answer_with_a_cold_cache(self, share):
        for path in self.place.segments():
            path.unlink()
        return self.killed("answer", self.words("overview", RUNS[self.tried % len(RUNS)], "--format", "json"), share)

    def note(self, share):
        text = f"note {self.tried}"
        code = self.killed("note", self.words("note", "add", RUNS[0], text), share)
        if code == 0:
            self.notes.add(text)
        return code

    def prune(self, share):
        """A run that is old goes, with what was computed of it; the others stay."""
        old = self.place.profiles / "old"
        if not old.exists():
            self.place.sample(RUNS[0], "old")
        (old / "mark").write_text(str(self.tried))  # another run than last time
        for path in old.rglob("*"):
            harness.age(path, 90 * 86400)
        code = self.killed("prune", [harness.program(), "prune", self.place.profiles, "--cache-dir", self.place.cache, "--data-dir", self.data,
                                     "--older-than", "30d", "--delete"], share)
        shutil.rmtree(old, ignore_errors=True)
        return code

    def upgrade(self, share):
        """The cache is of the version before: its catalog is made anew, and what it holds is read again."""
        catalog = self.place.cache / "catalog.sqlite"
        if catalog.exists():
            with open(catalog, "r+b") as file:
                file.seek(VERSION_AT)
                version = struct.unpack(">I", file.read(4))[0]
                file.seek(VERSION_AT)
                file.write(struct.pack(">I", version - 1))
        for folder in self.place.cache.glob("segments-*"):
            numbers = re.fullmatch(r"segments-(\d+)\.(.*)", folder.name)
            older = folder.with_name(f"segments-{int(numbers[1]) - 1}.{numbers[2]}")
            shutil.rmtree(older, ignore_errors=True)
            folder.rename(older)
        return self.killed("upgrade", self.words("top", RUNS[1], "--format", "json"), share)

    def serve(self, share):
        """A server that indexes, and takes a note meanwhile."""
        self.forget_index()
        server = subprocess.Popen([harness.program(), "--profile-dir", self.place.profiles, "--cache-dir", self.place.cache, "--data-dir", self.data,
                                   "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        url = next(line for line in server.stdout if line.strip().startswith("open ")).split()[1].rstrip("/")
        text = f"note {self.tried}"
        asking = threading.Thread(target=self.post, args=(url, text), daemon=True)
        asking.start()
        time.sleep(share * self.usual_s.get("index", 1))
        os.killpg(server.pid, signal.SIGKILL)
        asking.join(harness.WAIT_S)
        server.stdout.close()
        return server.wait()

    def post(self, url, text):
        body = json.dumps({"run": RUNS[0], "text": text}).encode()
        request = urllib.request.Request(url + "/api/notes", body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=harness.WAIT_S) as reply:
                if reply.status in (200, 201):
                    self.notes.add(text)
        except (OSError, http.client.HTTPException):
            pass  # not acknowledged

    def check(self):
        for name in RUNS:
            assert answer(self.told("top", name)) == self.sound[name], f"another answer of {name}"
        kept = [row["text"] for row in json.loads(self.told("note", "show", RUNS[0]))["rows"]] if self.tried else []
        assert len(kept) == len(set(kept)) and self.notes <= set(kept), f"notes are lost: {self.notes - set(kept)}"
        assert all(re.fullmatch(r"note \d+", text) for text in kept), kept
        for path in (self.place.cache / "catalog.sqlite", self.data / "user.db"):
            if path.exists():
                database = sqlite3.connect(path)
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), path
                database.close()


def killed_at_any_moment(place):
    dice, work, ends = random.Random(SEED), Work(place), collections.Counter()
    kinds = (work.index, work.answer_with_a_cold_cache, work.note, work.prune, work.upgrade, work.serve)
    for kind in kinds[:-1]:
        work.tried += 1
        kind(1.0)  # undisturbed: how long it takes
    wrong = []
    for number in range(KILLS):
        kind, share = kinds[number % len(kinds)], dice.uniform(0, 1.1)
        work.tried += 1
        code = kind(share)
        ends[kind.__name__, "killed" if code < 0 else "ended"] += 1
        try:
            work.check()
        except (AssertionError, ValueError, sqlite3.Error) as error:
            wrong.append(f"{number} {kind.__name__} at {share:.2f}: {str(error)[:300]}")
    server = place.serve()  # removes what a killed one left
    server.until_settled()
    assert server.stop() == 0
    assert not place.leftovers(), place.leftovers()
    print(f"{KILLS} kills:", ", ".join(f"{kind} {end} {count}" for (kind, end), count in sorted(ends.items())))
    assert not wrong, " | ".join(wrong)


if __name__ == "__main__":
    harness.main([killed_at_any_moment])
