#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The power fails: what a session did to files is logged (tests/shims/log.c) and replayed into states that a disk may be in afterwards.
Each is opened: an acknowledged note is there, none is there half, an index is whole, absent, or seen to be damaged.

    promised   data that was synced before the moment; names in a directory that was synced after they changed
    open       everything else: any part of it may be there, a write also in whole pieces of 512 bytes; a rename is there or not

JVIEWD_POWERS is how many states (60), JVIEWD_POWERS_SEED another series. The moment is random, or just behind an acknowledgement; of what is
open all, nothing, or a random part is there.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess

import harness
import shim

STATES = int(os.environ.get("JVIEWD_POWERS", "60"))
SEED = int(os.environ.get("JVIEWD_POWERS_SEED", "1"))
ASKED_EVERY = 10  # states that the program is asked of, too: it costs more than to look
RUN, NOTES, SECTOR = "step_1000", 6, 512
WRITE, SIZE, ENTRY, GONE, RENAME, SYNC, DIRECTORY, ACKNOWLEDGED, NEW = range(1, 10)
SOURCE = pathlib.Path(__file__).resolve().parent.parent / "shims/log.c"
TOLD = {"index-remade", "catalog"}

Op = collections.namedtuple("Op", "kind file directory other offset first second data")


def build(folder):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise harness.Skip("no compiler")
    library = folder / "log.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-std=gnu17", "-fno-builtin", "-o", library, SOURCE, "-ldl"], check=True)
    return library


def read_log(path):
    ops, content, at = [], path.read_bytes(), 0
    while at < len(content):
        kind, file, directory, other, offset, length, names, _ = struct.unpack_from("<8Q", content, at)
        at += 64
        first, second = names & 0xFFFFFFFF, names >> 32
        parts = []
        for size in (first, second, length):
            parts.append(content[at:at + size])
            at += size
        ops.append(Op(kind, file, directory, other, offset, parts[0].decode(), parts[1].decode(), parts[2]))
    return ops


def acknowledge(log, text):
    name = text.encode()
    with open(log, "ab") as file:
        file.write(struct.pack("<8Q", ACKNOWLEDGED, 0, 0, 0, 0, 0, len(name), 0) + name)


class Disk:
    """Files by inode, and directories as names of inodes; the roots are directories of the place."""

    def __init__(self, roots):
        self.data, self.names, self.roots = {}, {}, {}
        for root in roots:
            self.roots[root.name] = root.stat().st_ino
            self.names[root.stat().st_ino] = {}

    def apply(self, op, data=None):
        names = self.names
        if op.kind == WRITE:
            content = self.data.setdefault(op.file, bytearray())
            for offset, piece in data if data is not None else [(op.offset, op.data)]:
                content.extend(bytes(max(0, offset + len(piece) - len(content))))
                content[offset:offset + len(piece)] = piece
        elif op.kind == SIZE:
            content = self.data.setdefault(op.file, bytearray())
            del content[op.offset:]
            content.extend(bytes(op.offset - len(content)))
        elif op.kind == NEW:
            names.pop(op.file, None)
            self.data[op.file] = bytearray()
        elif op.kind in (ENTRY, DIRECTORY):
            names.setdefault(op.directory, {})[op.first] = op.file
            if op.kind == DIRECTORY:
                names[op.file] = {}
        elif op.kind == GONE:
            names.setdefault(op.directory, {}).pop(op.first, None)
        elif op.kind == RENAME:
            names.setdefault(op.directory, {}).pop(op.first, None)
            names.setdefault(op.other, {})[op.second] = op.file

    def write(self, to):
        def fill(folder, inode):
            folder.mkdir(exist_ok=True)
            for name, file in self.names.get(inode, {}).items():
                if file in self.names:
                    fill(folder / name, file)
                else:
                    (folder / name).write_bytes(self.data.get(file, b""))
        for name, inode in self.roots.items():
            fill(to / name, inode)


def promised(ops, moment):
    """Which of the first so many no disk may lose."""
    synced, sure = set(), set()
    for number in range(moment - 1, -1, -1):
        op = ops[number]
        if op.kind == SYNC:
            synced.add(op.file)
        elif op.kind in (WRITE, SIZE) and op.file in synced:
            sure.add(number)
        elif op.kind in (ENTRY, DIRECTORY, GONE) and op.directory in synced:
            sure.add(number)
        elif op.kind == RENAME and (op.other in synced or op.directory in synced):
            sure.add(number)
    return sure


def torn(op, dice):
    """Some of its sectors."""
    pieces, at = [], op.offset
    while at < op.offset + len(op.data):
        end = min(op.offset + len(op.data), (at // SECTOR + 1) * SECTOR)
        if dice.random() < 0.5:
            pieces.append((at, op.data[at - op.offset:end - op.offset]))
        at = end
    return pieces


def state(ops, moment, roots, share, dice):
    """A disk after the first `moment`, with this share of what is open."""
    disk, sure = Disk(roots), promised(ops, moment)
    for number, op in enumerate(ops[:moment]):
        if number in sure or op.kind == NEW:
            disk.apply(op)
        elif share == 1 or (share > 0 and dice.random() < share):
            disk.apply(op, torn(op, dice) if op.kind == WRITE and share < 1 and dice.random() < 0.5 else None)
    return disk


class Session:
    def __init__(self, place):
        self.place, self.log = place, place.dir / "log"
        program = harness.program()
        self.env = {**os.environ, "LD_PRELOAD": str(build(place.dir)), "SHIM_LOG": str(self.log), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        if shim.is_sanitized(program):
            self.env["LD_PRELOAD"] = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip() + ":" + self.env["LD_PRELOAD"]

    def command(self, root, *words, env=None):
        return subprocess.run([harness.program(), *words, "--profile-dir", self.place.profiles, "--cache-dir", root / "cache", "--data-dir", root / "data"],
                              capture_output=True, text=True, timeout=harness.WAIT_S, env=env)

    def run(self):
        """The log of a session: an index, then notes; the sound answer and segment."""
        root = self.place.dir / "session"
        for name in ("cache", "data"):
            (root / name).mkdir(parents=True)
        self.log.touch()
        done = self.command(root, "top", RUN, "--format", "json", env=self.env)
        assert done.returncode == 0, done.stderr
        acknowledge(self.log, "")
        for number in range(NOTES):
            text = f"note {number} " + "x" * (700 * number)  # of several pages
            done = self.command(root, "note", "add", RUN, text, env=self.env)
            assert done.returncode == 0, done.stderr
            acknowledge(self.log, text)
        files = {path.name: path.read_bytes() for path in (root / "cache").glob("segments-*/*/*")}
        assert files and all(path.suffix in (".seg", ".attr") for path in map(pathlib.Path, files)), files.keys()
        return read_log(self.log), [root / "cache", root / "data"], answer(self.command(root, "top", RUN, "--format", "json")), files


def answer(done):
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    told["notes"] = [note for note in told.get("notes", []) if note["kind"] not in TOLD]
    return told


def check_notes(path, acknowledged, every):
    kept = []
    if path.exists() and path.stat().st_size > 0:
        database = sqlite3.connect(path)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), "user.db is damaged"
        if database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'notes'").fetchone()[0]:
            kept = [row[0] for row in database.execute("SELECT text FROM notes ORDER BY id")]
        database.close()
    assert kept == every[:len(kept)], "other notes than were written"
    assert len(kept) >= len(acknowledged), f"{len(acknowledged)} notes were acknowledged, {len(kept)} are there"


def check_index(root, files):
    """How the files of the index are: a torn one must have a name that is not final."""
    whole = collections.Counter()
    for path in (root / "cache").glob("segments-*/*/*"):
        if path.name in files:
            whole["whole" if path.read_bytes() == files[path.name] else "damaged"] += 1
    return whole


def every_state_opens(place):
    place.sample(RUN)
    session = Session(place)
    ops, roots, sound, files = session.run()
    every = [op.first for op in ops if op.kind == ACKNOWLEDGED and op.first]
    behind = [number + 1 for number, op in enumerate(ops) if op.kind == ACKNOWLEDGED]
    dice, seen, wrong = random.Random(SEED), collections.Counter(), []
    for number in range(STATES):
        moment = dice.choice(behind) if number % 3 == 0 else dice.randrange(len(ops) + 1)
        share = dice.choice((0, 0, 1, dice.random()))
        root = place.dir / "state"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        state(ops, moment, roots, share, dice).write(root)
        acknowledged = [op.first for op in ops[:moment] if op.kind == ACKNOWLEDGED and op.first]
        try:
            index = check_index(root, files)
            seen.update(index)
            if number % ASKED_EVERY == 0 or index["damaged"]:
                seen["asked"] += 1
                assert answer(session.command(root, "top", RUN, "--format", "json")) == sound, "another answer"
                told = session.command(root, "note", "show", RUN, "--format", "json")
                assert told.returncode == 0, told.stderr
                kept = [row["text"] for row in json.loads(told.stdout)["rows"]]
                assert set(acknowledged) <= set(kept) <= set(every), "notes are lost"
            check_notes(root / "data/user.db", acknowledged, every)
        except (AssertionError, sqlite3.Error) as error:
            wrong.append(f"after {moment} of {len(ops)}, {share:.2f} of what is open: {str(error)[:200]}")
    print(f"{len(ops)} calls, {STATES} states, {len(wrong)} wrong: {dict(seen)}")
    assert not wrong, " | ".join(wrong[:5])


if __name__ == "__main__":
    harness.main([every_state_opens])
