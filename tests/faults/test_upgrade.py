#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What older versions left (tests/faults/old, made by make_old.py with their programs): their notes, tags and baselines are
kept, their indexes are made anew, and answers are those of a new cache. What a newer version left is left as it is: its notes
are read, nothing is written to them, and both is said."""

import json
import pathlib
import shutil
import tarfile

import harness
from make_old import PLACE, RUN

OLD = sorted((pathlib.Path(__file__).resolve().parent / "old").glob("*.tar.xz"))


def told(place, *words):
    done = place.jviewd(*words, "--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data", "--format", "json")
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout)


def answers(place):
    top, overview = told(place, "top", RUN), told(place, "overview", RUN)
    return {"rows": top["rows"], "total": top["total_self_ps"], "step": overview["step"], "breakdown": overview["breakdown"]}


def unpack(place, packed):
    for part in ("cache", "data"):
        shutil.rmtree(place.dir / part, ignore_errors=True)
    with tarfile.open(packed) as archive:
        archive.extractall(place.dir, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(place.dir)


def of_each_older_version(place):
    place.sample(RUN)
    sound = answers(place)
    now = {path.name for path in place.cache.glob("segments-*")}
    for packed in OLD:
        unpack(place, packed)
        older = {path.name for path in place.cache.glob("segments-*")}
        assert older == {f"segments-{packed.name.removesuffix('.tar.xz')}"} and older.isdisjoint(now), (packed.name, older, now)
        assert answers(place) == sound, packed.name
        assert [row["text"] for row in told(place, "note", "show", RUN)["rows"]] == ["written before"], packed.name
        assert "pinned" in json.dumps(told(place, "list")) or "pinned" in json.dumps(told(place, "note", "show", RUN)), packed.name
        baselines = place.jviewd("baseline", "list", "--data-dir", place.dir / "data", "--cache-dir", place.cache, "--profile-dir", place.profiles)
        assert baselines.returncode == 0 and "main" in baselines.stdout, (packed.name, baselines)
        server = place.serve()
        assert [run["state"] for run in server.until_settled().values()] == ["ready"], packed.name
        assert server.top(RUN)[2]["rows"] == sound["rows"], packed.name
        assert server.stop() == 0


def at_the_place_where_it_was_read(place):
    """The catalog names the very directory: what it says of files that are others now is not believed."""
    for packed in OLD:
        shutil.rmtree(PLACE, ignore_errors=True)
        shutil.copytree(harness.SAMPLES / RUN, PLACE / "profiles" / RUN)
        place.undo.append(lambda: shutil.rmtree(PLACE, ignore_errors=True))
        place.profiles = PLACE / "profiles"
        for part in ("cache", "data"):
            shutil.rmtree(place.dir / part, ignore_errors=True)
        sound = answers(place)
        unpack(place, packed)
        assert answers(place) == sound, packed.name


def note(place, text):
    return place.jviewd("note", "add", RUN, text, "--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data")


def raise_version(path):
    """In the database's own head, where every version looks: https://sqlite.org/fileformat.html#user_version."""
    with open(path, "r+b") as file:
        file.seek(60)
        file.write((99).to_bytes(4, "big"))


def of_a_newer_version(place):
    place.sample(RUN)
    sound = answers(place)
    assert note(place, "of a newer version").returncode == 0
    notes, catalog = place.dir / "data" / "user.db", place.cache / "catalog.sqlite"
    raise_version(notes)
    raise_version(catalog)
    newer = place.cache / "segments-99.1.1" / "ab"
    newer.mkdir(parents=True)
    (newer / "a.seg").write_bytes(b"of a newer version")
    before = notes.read_bytes()
    assert answers(place) == sound
    assert [row["text"] for row in told(place, "note", "show", RUN)["rows"]] == ["of a newer version"]
    done = note(place, "written")
    assert done.returncode != 0 and "a newer jviewd" in done.stderr, done
    assert notes.read_bytes() == before
    assert (newer / "a.seg").read_bytes() == b"of a newer version"
    raise_version(catalog)
    server = place.serve()
    assert [run["state"] for run in server.until_settled().values()] == ["ready"]
    notes_told = json.dumps(server.fetch("/api/runs")[2]["notes"])
    assert "another version" in notes_told, notes_told
    assert server.stop() == 0


if __name__ == "__main__":
    assert len(OLD) >= 3, OLD
    harness.main([of_each_older_version, at_the_place_where_it_was_read, of_a_newer_version])
