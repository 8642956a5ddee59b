#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A day in a profile directory, played before one server.

It starts on an empty directory. After every step (files are copied in, grow, are cut, replaced,
renamed, deleted; rights are taken and given back; hundreds of runs come at once; hosts of one
capture come one after another) its list and its numbers equal those of a server that has just begun
on what is there. JVIEW_DAY=long plays more of it.
"""

import os
import pathlib
import shutil

import harness
from harness import NOBODY, age, main

LONG = os.environ.get("JVIEW_DAY") == "long"
# A process that a sanitizer watches takes ten times as long to start, and each run takes one.
SANITIZED = b"__asan_init" in pathlib.Path(harness.program()).read_bytes()
CROWD = 2000 if LONG else 100 if SANITIZED else 500
TOPS = 3
START_NS = 1795253400 * 10**9


def varint(value):
    out = bytearray()
    while True:
        out.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def xspace(start_s=0, events=10, name="op"):
    """A small profile that began that many seconds after the day."""
    names = b"".join(field(4, field(1, i) + field(2, field(1, i) + field(2, f"{name}.{i}"))) for i in range(1, 4))
    slices = b"".join(field(4, field(1, i % 3 + 1) + field(2, i * 10**9) + field(3, 5 * 10**8 + i)) for i in range(events))
    host = field(2, "/host:CPU") + field(3, field(1, 7) + field(2, "python") + slices) + names
    clock = field(2, "Task Environment") + field(5, field(1, 1) + field(2, field(1, 1) + field(2, "profile_start_time")))
    clock += field(6, field(1, 1) + field(3, START_NS + start_s * 10**9))
    return field(1, host) + field(1, clock)


class Day:
    def __init__(self, place):
        self.place = place
        self.user = NOBODY if os.getuid() == 0 else None
        self.fresh_count = 0
        self.server = self.serve(place.dir / "cache")

    def serve(self, cache):
        cache.mkdir()
        if self.user is not None:
            os.chown(cache, self.user, self.user)
        return harness.Server(self.place, cache=cache, user=self.user, env={"HOME": "/nonexistent"})

    def write(self, run, host="hostA", session="2026_11_21_09_30_00", log="plugins/profile", **shape):
        path = self.place.profiles / run / log / session / f"{host}.xplane.pb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(xspace(**shape))
        age(path)
        return path

    def told(self, server):
        """All that a server says: every run that is there, and the top table of some."""
        status, _, body = server.fetch("/api/runs", limit=10000)
        assert status == 200, body
        runs = {}
        for run in body["runs"]:
            if run["state"] == "gone":
                continue
            assert run["name"] not in runs, f"two runs {run['name']}"
            runs[run["name"]] = run
        for name in sorted(runs)[:TOPS] + sorted(runs)[-TOPS:]:
            _, _, whole = server.fetch("/api/run", run=name)
            runs[name]["files"] = sorted((file["path"], file["state"], file["error"]) for file in whole["files"])
            if runs[name]["state"] in ("ready", "partial"):
                status, _, top = server.fetch("/api/top", run=name, by="name", wait_ms=30000)
                assert status == 200, top
                runs[name]["top"] = [(row["name"], row["count"], row["total_ps"], row["self_ps"]) for row in top["rows"]]
        notes = sorted(note["message"] for note in body["notes"])
        return runs, notes

    def difference(self, ours, fresh):
        for name in sorted(set(ours[0]) | set(fresh[0])):
            mine, new = ours[0].get(name), fresh[0].get(name)
            if mine is None or new is None:
                return f"run {name}: {'not there' if mine is None else mine['state']}, " \
                       f"fresh: {'not there' if new is None else new['state']}"
            for key in new:
                # A run that was joined or parted keeps the id under which it was known.
                if key not in ("id", "dir") and mine.get(key) != new[key]:
                    return f"run {name}: {key} is {mine.get(key)!r}, fresh {new[key]!r}"
        return None if ours[1] == fresh[1] else f"notes {ours[1]}, fresh {fresh[1]}"

    def check(self, what, runs):
        """The day's server comes to say what a fresh one says, and that is `runs` in these states."""
        cache = self.place.dir / f"fresh-{self.fresh_count}"
        self.fresh_count += 1
        fresh = self.serve(cache)
        try:
            fresh.until_settled()
            want = self.told(fresh)
        finally:
            fresh.stop()
            shutil.rmtree(cache)
        seen = []

        def agrees():
            self.server.until_settled()
            try:
                seen[:] = [self.difference(self.told(self.server), want)]
            except AssertionError as error:  # a run became another between the list and its table
                seen[:] = [f"asked while it changed: {error}"]
            return seen[0] is None

        try:
            harness.until(what, agrees, 60)
        except AssertionError as error:
            raise AssertionError(f"{what}: {seen[0] if seen else error}") from error
        states = {name: run["state"] for name, run in want[0].items()}
        if isinstance(runs, dict):
            assert states == runs, f"{what}: {states}, not {runs}"
        else:
            assert len(states) == runs, f"{what}: {len(states)} runs, not {runs}"
        return want[0]


def morning(day):
    day.check("an empty directory", {})
    day.write("a")
    day.write("b", events=40)
    two = day.write("c", host="hostA").parent
    (two / "hostB.xplane.pb").write_bytes(xspace(start_s=1))
    age(two / "hostB.xplane.pb")
    runs = day.check("copied in", {"a": "ready", "b": "ready", "c": "ready"})
    assert runs["b"]["slice_count"] == 40 and len(runs["c"]["hosts"]) == 2, runs


def growth(day):
    path = day.place.profiles / "a/plugins/profile/2026_11_21_09_30_00/hostA.xplane.pb"
    whole = xspace(events=900)
    with open(path, "wb") as out:
        for piece in range(4):
            out.write(whole[len(whole) * piece // 4:len(whole) * (piece + 1) // 4])
            out.flush()
            day.server.runs()
    age(path)
    runs = day.check("grown", {"a": "ready", "b": "ready", "c": "ready"})
    assert runs["a"]["slice_count"] == 900, runs["a"]


def damage(day):
    path = day.place.profiles / "b/plugins/profile/2026_11_21_09_30_00/hostA.xplane.pb"
    os.truncate(path, path.stat().st_size // 2)
    age(path, 50)
    day.check("cut", 3)
    os.truncate(path, 0)
    age(path, 40)
    day.check("cut to nothing", {"a": "ready", "b": "failed", "c": "ready"})
    other = path.with_name("new")
    other.write_bytes(xspace(events=77, name="replaced"))
    age(other)
    os.replace(other, path)
    runs = day.check("replaced", {"a": "ready", "b": "ready", "c": "ready"})
    assert runs["b"]["slice_count"] == 77, runs["b"]


def moves(day):
    os.rename(day.place.profiles / "a", day.place.profiles / "d")
    day.check("a run renamed", {"b": "ready", "c": "ready", "d": "ready"})
    session = day.place.profiles / "c/plugins/profile/2026_11_21_09_30_00"
    os.rename(session / "hostB.xplane.pb", session / "hostC.xplane.pb")
    runs = day.check("a host renamed", 3)
    assert runs["c"]["hosts"] == ["hostA", "hostC"], runs["c"]["hosts"]
    (session / "hostA.xplane.pb").unlink()
    runs = day.check("a host deleted", 3)
    assert runs["c"]["hosts"] == ["hostC"], runs["c"]["hosts"]
    shutil.rmtree(day.place.profiles / "c")
    day.check("a run deleted", {"b": "ready", "d": "ready"})
    gone = [run["name"] for run in day.server.fetch("/api/runs", limit=100)[2]["runs"] if run["state"] == "gone"]
    assert sorted(gone) == ["a", "c"], gone


def rights(day):
    closed = day.place.profiles / "d"
    path = day.place.profiles / "b/plugins/profile/2026_11_21_09_30_00/hostA.xplane.pb"
    path.write_bytes(xspace(events=12))
    age(path, 30)
    path.chmod(0)
    day.check("a file closed", {"b": "failed", "d": "ready"})
    path.chmod(0o644)
    day.check("... and opened again", {"b": "ready", "d": "ready"})
    closed.chmod(0)
    day.place.undo.append(lambda: closed.exists() and closed.chmod(0o755))
    day.check("a directory closed", {"b": "ready"})
    closed.chmod(0o755)
    day.check("... and opened again", {"b": "ready", "d": "ready"})


def captures(day):
    """Two hosts of one capture come one after another; two more only seem to be one."""
    day.write("e", host="late", session="2026_11_21_10_00_49", start_s=100)
    day.write("f", host="one", session="2026_11_21_10_00_00", start_s=0)
    day.check("the first hosts", 4)
    day.write("e", host="early", session="2026_11_21_10_00_47", start_s=100)
    day.write("f", host="two", session="2026_11_21_10_01_00", start_s=500)
    runs = day.check("their partners", 5)
    assert runs["e"]["hosts"] == ["early", "late"], runs["e"]
    assert runs["f/2026_11_21_10_01_00"]["hosts"] == ["two"], runs
    shutil.rmtree(day.place.profiles / "e")
    shutil.rmtree(day.place.profiles / "f")


def crowd(day):
    for i in range(CROWD):
        day.write(f"crowd/run_{i:04}", events=5 + i % 7, start_s=i)
    runs = day.check("hundreds at once", CROWD + 2)
    assert all(run["state"] == "ready" for run in runs.values())
    shutil.rmtree(day.place.profiles / "crowd")
    day.check("... and gone", {"b": "ready", "d": "ready"})


def a_day(place):
    day = Day(place)
    for part in (morning, growth, damage, moves, rights, captures, crowd):
        part(day)
    if LONG:
        for _ in range(5):
            for part in (rights, captures, crowd):
                part(day)


main([a_day])
