#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each allocation and each call on files of a command fails once, in turn: the answer is the sound one, or none and the reason
is said; what was acknowledged stays, and the next command finds all as it should be.

JVIEWD_TORTURES is how many passes each session has (5), spread over its calls; 0: every call, until a pass has none left to
fail. SQLite and the other libraries are failed from below, by their calls of libc.
"""

import json
import os
import shutil
import signal
import subprocess
import time

import harness
import shim

RUN = "step_1000"
PASSES = int(os.environ.get("JVIEWD_TORTURES", "5"))
WAIT_S = 60
HEALS_S = 12
TOLD = {"index-remade", "catalog"}  # notes of what was mended
KINDS = shim.FILES | shim.STAT | shim.START | shim.ALLOC


def answer(text):
    """What was asked, without what only says how it came to be."""
    told = json.loads(text)
    if "notes" in told:
        told["notes"] = [note for note in told["notes"] if note["kind"] not in TOLD]
    return told


def is_right(done, sound):
    """The answer, or one that says of what it lacks, or none."""
    if done.returncode != 0:
        return True
    told = answer(done.stdout)
    return told == sound or any(note["kind"] == "partial" for note in told["notes"])


class Session:
    """A place of which each pass has its own copy."""

    def __init__(self, place):
        self.place, self.state = place, place.dir / "state"
        program = harness.program()
        library = shim.build(place.dir, shim.is_sanitized(program))
        if library is None:
            raise harness.Skip("no compiler")
        self.kinds = KINDS & ~shim.ALLOC if shim.is_sanitized(program) else KINDS
        self.shim = shim.Shim(place.dir, library)

    def command(self, *words, env=None):
        place = self.place
        return subprocess.run([harness.program(), *words, "--profile-dir", place.profiles, "--cache-dir", place.cache,
                               "--data-dir", place.dir / "data"], capture_output=True, text=True, timeout=WAIT_S,
                              env={**os.environ, **(env or {})})

    def keep(self):
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir()
        for path in (self.place.cache, self.place.dir / "data"):
            if path.exists():
                shutil.copytree(path, self.state / path.name)

    def restore(self):
        for path in (self.place.cache, self.place.dir / "data"):
            shutil.rmtree(path, ignore_errors=True)
            if (self.state / path.name).exists():
                shutil.copytree(self.state / path.name, path)

    def kinds_alone(self):
        """What can fail from one moment on: no memory, no file that opens, a disk that takes nothing."""
        return [kinds & self.kinds for kinds in (shim.ALLOC, shim.OPEN | shim.READ | shim.MAP, shim.WRITE | shim.SYNC | shim.NAME | shim.SIZE)
                if kinds & self.kinds]

    def torture(self, words, judge, way=shim.FAILS, kinds=None):
        """`judge(done, what)` after each pass; a pass that hangs, or is ended by a signal, is wrong."""
        kinds = kinds or self.kinds
        self.keep()
        self.shim.arm(0, kinds, way)
        done = self.command(*words, env=self.shim.env)
        assert done.returncode == 0, done.stderr
        judge(done, "nothing")
        count, at, tried, wrong = self.shim.count(), 1, 0, []
        stride = max(1, count // PASSES) if PASSES else 1
        while True:
            self.restore()
            self.shim.arm(at, kinds, way)
            try:
                done = self.command(*words, env=self.shim.env)
            except subprocess.TimeoutExpired:
                wrong.append(f"{at}: {self.shim.fired()}: hangs")
                at += stride
                continue
            what = self.shim.fired()
            if what is None:
                break
            try:
                without_memory = way == shim.FAILS_ON and done.returncode == -signal.SIGABRT and "out of memory" in done.stderr
                assert done.returncode >= 0 or without_memory, f"ended by signal {-done.returncode}: {done.stderr.strip()}"
                assert done.returncode == 0 or done.stderr.strip(), f"exit {done.returncode} without a word"
                judge(done, what)
            except (AssertionError, ValueError) as error:
                wrong.append(f"{at}: {what}: {str(error)[:300]}")
            at, tried = at + stride, tried + 1
        print(f"{words[0]}: {count} calls, {tried} failed in turn")
        assert not wrong, " | ".join(wrong)
        self.restore()


def index_and_answer(place):
    """From nothing: found, indexed in a child, answered."""
    place.sample(RUN)
    session = Session(place)
    words = ("top", RUN, "--format", "json")
    sound = answer(session.command(*words).stdout)
    shutil.rmtree(place.cache)

    def judge(done, what):
        assert is_right(done, sound), "another answer"
        again, until = session.command(*words), time.monotonic() + HEALS_S
        while again.returncode == 0 and answer(again.stdout) != sound and is_right(again, sound) and time.monotonic() < until:
            time.sleep(0.3)  # a file whose reading was refused is read again after some seconds
            again = session.command(*words)
        assert again.returncode == 0, f"afterwards: {again.stderr}"
        assert answer(again.stdout) == sound, "another answer afterwards"
        assert not place.leftovers(), place.leftovers()

    session.torture(words, judge)
    session.torture(words, judge, shim.IS_SHORT, shim.READ | shim.WRITE)
    session.torture(words, judge, shim.IS_INTERRUPTED, shim.READ | shim.WRITE | shim.OPEN)
    for kinds in session.kinds_alone():
        session.torture(words, judge, shim.FAILS_ON, kinds)


def answer_from_the_index(place):
    place.sample(RUN)
    session = Session(place)
    for verb in ("overview", "list"):
        words = (verb, *([RUN] if verb != "list" else []), "--format", "json")
        sound = answer(session.command(*words).stdout)

        def judge(done, what):
            assert is_right(done, sound), "another answer"
            again = session.command(*words)
            assert again.returncode == 0 and answer(again.stdout) == sound, f"another answer afterwards: {again.stderr}"

        session.torture(words, judge)


def notes_are_kept(place):
    """A note that was acknowledged is there, the one before it always; none is there half."""
    place.sample(RUN)
    session = Session(place)
    assert session.command("note", "add", RUN, "first").returncode == 0

    def texts():
        told = session.command("note", "show", RUN, "--format", "json")
        assert told.returncode == 0, told.stderr
        return [row["text"] for row in json.loads(told.stdout)["rows"]]

    assert texts() == ["first"]

    def judge(done, what):
        wanted = (["first", "second"],) if done.returncode == 0 else (["first"], ["first", "second"])
        assert texts() in wanted, f"exit {done.returncode}, then {texts()}"

    session.torture(("note", "add", RUN, "second"), judge)


if __name__ == "__main__":
    harness.main([index_and_answer, answer_from_the_index, notes_are_kept])
