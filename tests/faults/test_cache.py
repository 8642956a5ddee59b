#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cache that is full, read-only, deleted, damaged, foreign or too small."""

import os
import shutil
import signal
import sqlite3
import subprocess
import time

from harness import NOBODY, Skip, main, make_profile, until


def cannot_be_written(place):
    place.sample()
    place.cache.mkdir()
    place.cache.chmod(0o555)
    user = NOBODY if os.getuid() == 0 else None
    server = place.serve(user=user, env={"HOME": "/nonexistent"})
    assert str(place.cache) in server.words() and "/tmp/jviewd-" in server.words(), server.words()
    server.until_settled()
    server.answers()
    private = next(line.split()[1] for line in server.said.splitlines() if line.strip().startswith("cache "))
    assert os.path.isdir(private)
    assert server.stop() == 0
    assert not os.path.exists(private)
    assert not list(place.cache.iterdir())


def became_read_only(place):
    """What is indexed stays served; what is new says why it cannot be."""
    if os.getuid() != 0:
        raise Skip("another user's rights are needed")
    place.sample()
    place.cache.mkdir()
    os.chown(place.cache, NOBODY, NOBODY)
    server = place.serve(user=NOBODY, env={"HOME": "/nonexistent"})
    server.until_settled()
    tree = [place.cache, *[path for path in place.cache.rglob("*") if path.is_dir()]]
    for path in tree:
        path.chmod(0o555)
    place.undo.append(lambda: [path.chmod(0o755) for path in tree if path.exists()])
    place.sample("step_500")
    run = server.until_state("step_500", "failed")
    assert "permission" in run["error"].lower(), run
    server.answers()
    for path in tree:
        path.chmod(0o755)
    server.until_state("step_500", "ready")
    server.answers("step_500")


def disk_full(place):
    if os.getuid() != 0 or not shutil.which("mount"):
        raise Skip("mounting a small disk needs root")
    place.cache.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place.cache)], capture_output=True)
    if mounted.returncode != 0:
        raise Skip("a small disk cannot be mounted here")
    place.undo.append(lambda: subprocess.run(["umount", "-l", str(place.cache)]))
    place.sample()
    make_profile(place.session("large"), events=200000)
    server = place.serve()
    run = server.until_state("large", "failed")
    assert "disk is full" in run["error"] or "No space" in run["error"], run
    server.answers()
    assert not [path for path in place.leftovers() if path.is_file()], place.leftovers()
    subprocess.run(["mount", "-o", "remount,size=200m", str(place.cache)], check=True)
    server.until_state("large", "ready")
    server.answers("large")


def disk_full_at_the_start(place):
    if os.getuid() != 0 or not shutil.which("mount"):
        raise Skip("mounting a small disk needs root")
    place.cache.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place.cache)], capture_output=True)
    if mounted.returncode != 0:
        raise Skip("a small disk cannot be mounted here")
    place.undo.append(lambda: subprocess.run(["umount", "-l", str(place.cache)]))
    (place.cache / "filler").write_bytes(b"x" * (40 << 10))
    place.sample()
    server = place.serve()
    run = server.until_state("step_1000", "failed")
    assert "full" in run["error"] or "space" in run["error"], run
    assert server.fetch("/healthz")[0] == 200


def deleted_while_serving(place):
    place.sample()
    server = place.serve()
    server.until_settled()
    shutil.rmtree(place.cache)
    server.answers()
    place.sample("step_500")
    server.until_state("step_500", "ready")
    server.answers("step_500")
    server.stop()
    server = place.serve()
    server.until_settled()
    server.answers()


def lost_segment_is_made_again(place):
    place.sample()
    server = place.serve()
    before = server.until_settled()["step_1000"]
    server.stop()
    for path in place.segments():
        path.unlink()
    server = place.serve()
    server.until_settled()
    server.answers()
    assert server.runs()["step_1000"]["content_id"] == before["content_id"]


def damaged_segment_is_made_again(place):
    place.sample()
    server = place.serve()
    server.until_settled()
    whole = server.top("step_1000")[2]
    server.stop()
    original = place.segments()[0].read_bytes()
    attribution = place.segments()[0].with_suffix(".attr").read_bytes()
    for at in [0, 8, 40, len(original) // 2, len(original) - 100, len(original) - 1, None, "attr", "gone"]:
        path = place.segments()[0]
        if at is None:
            os.truncate(path, len(original) // 2)
        elif at == "attr":
            changed = bytearray(attribution)
            changed[len(changed) // 2] ^= 64
            path.with_suffix(".attr").write_bytes(changed)
        elif at == "gone":
            path.with_suffix(".attr").write_bytes(b"")
        else:
            changed = bytearray(original)
            changed[at] ^= 64
            path.write_bytes(changed)
        server = place.serve()
        server.until_settled()
        status, _, body = server.top("step_1000", wait_ms=30000)
        assert status == 200 and body["rows"] == whole["rows"], (at, status, str(body)[:300])
        assert server.stop() == 0
        assert server.words().count("Sanitizer") == 0


def damaged_catalog(place):
    place.sample()
    server = place.serve()
    server.until_settled()
    server.stop()
    file = place.cache / "catalog.sqlite"
    for content in (b"", b"no database at all" * 100, None):
        if content is None:
            data = bytearray(file.read_bytes())
            data[4096:4096 + 2000] = b"\x5a" * 2000
            content = bytes(data)
        file.write_bytes(content)
        server = place.serve()
        runs = server.until_settled()
        assert runs["step_1000"]["state"] == "ready", runs
        server.answers()
        server.stop()
        check = sqlite3.connect(file).execute("PRAGMA integrity_check").fetchone()
        assert check == ("ok",), check


def foreign_catalog(place):
    place.sample()
    place.cache.mkdir()
    other = sqlite3.connect(place.cache / "catalog.sqlite")
    other.execute("CREATE TABLE songs(name)")
    other.commit()
    other.close()
    server = place.serve()
    assert "belonged to another program, and was rebuilt" in server.words(), server.words()
    server.until_settled()
    assert any("rebuilt" in note["message"] for note in server.fetch("/api/runs")[2]["notes"])
    server.answers()


def catalog_of_another_version(place):
    """An upgrade is no damage."""
    place.sample()
    assert place.jviewd("list", place.profiles, "--cache-dir", place.cache).returncode == 0
    with open(place.cache / "catalog.sqlite", "r+b") as file:
        file.seek(60)  # user_version, https://sqlite.org/fileformat.html
        file.write((1).to_bytes(4, "big"))
    done = place.jviewd("list", place.profiles, "--cache-dir", place.cache)
    assert done.returncode == 0 and "came from another version of jviewd and was rebuilt" in done.stderr, done.stderr


def too_small_for_all(place):
    """The least recently used goes; a question brings it back."""
    for name in ("step_500", "step_1000", "step_1500"):
        place.sample(name)
    server = place.serve("--cache-size", "100K")
    server.until_settled()
    for _ in range(2):
        for name in ("step_500", "step_1000", "step_1500"):
            server.answers(name)
    server.stop()
    assert 1 <= len(place.segments()) <= 3


def old_versions_are_left_alone(place):
    place.sample()
    other = place.cache / "segments-0.0.0/ab"
    other.mkdir(parents=True)
    (other / ("ab" * 16 + ".seg")).write_bytes(b"of another version")
    server = place.serve()
    server.until_settled()
    server.answers()
    assert list(other.iterdir())


def temporary_directory_of_the_dead(place):
    place.sample()
    left = place.cache / "tmp/1-abcdef"
    left.mkdir(parents=True)
    (left / "1.seg.0011.tmp").write_bytes(b"half")
    server = place.serve()
    assert not left.exists()
    server.until_settled()
    server.answers()


if __name__ == "__main__":
    main([cannot_be_written, became_read_only, disk_full, disk_full_at_the_start, deleted_while_serving,
          lost_segment_is_made_again, damaged_segment_is_made_again, damaged_catalog, foreign_catalog, catalog_of_another_version,
          too_small_for_all, old_versions_are_left_alone, temporary_directory_of_the_dead])
