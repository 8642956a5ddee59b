#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where notes are kept: a directory that vanishes while it is in use, a disk that is full."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

from harness import Skip, main


def note(server, text):
    """(status, what it says)"""
    request = urllib.request.Request(server.url + "/api/notes", json.dumps({"run": "step_1000", "text": text}).encode(),
                                     {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def notes(server):
    return server.fetch("/api/notes", run="step_1000")[2]


def texts(server):
    return [row["text"] for row in notes(server)["rows"]]


def directory_vanishes(place):
    """It is said, and no other is begun; put back, all is there."""
    place.sample()
    server = place.serve()
    server.until_settled()
    assert note(server, "first")[0] in (200, 201)
    data = place.dir / "data"
    for how in ("moved", "empty in its place"):
        data.rename(place.dir / "away")
        if how != "moved":
            data.mkdir()
        assert "disappeared" in json.dumps(notes(server)), notes(server)
        status, said = note(server, "lost?")
        assert status >= 400 and "disappeared" in said, (how, status, said)
        assert not (data / "user.db").exists(), how
        if data.exists():
            data.rmdir()
        (place.dir / "away").rename(data)
        assert texts(server) == ["first"], texts(server)
    status, said = note(server, "second")
    assert status in (200, 201), said
    assert texts(server) == ["first", "second"]


def of_a_run_that_was_not_read(place):
    """A new cache knows no run's content: the command reads the run before it says that there is no note."""
    place.sample()
    common = ("--profile-dir", place.profiles, "--data-dir", place.dir / "data")
    assert place.jviewd("note", "add", "step_1000", "first", *common, "--cache-dir", place.cache).returncode == 0
    told = place.jviewd("note", "show", "step_1000", *common, "--cache-dir", place.dir / "new", "--format", "json")
    assert told.returncode == 0 and [row["text"] for row in json.loads(told.stdout)["rows"]] == ["first"], told


def disk_full(place):
    if os.getuid() != 0 or not shutil.which("mount"):
        raise Skip("mounting a small disk needs root")
    data = place.dir / "data"
    data.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(data)], capture_output=True).returncode != 0:
        raise Skip("a small disk cannot be mounted here")
    place.undo.append(lambda: subprocess.run(["umount", "-l", str(data)]))
    place.sample()
    server = place.serve()
    server.until_settled()
    assert note(server, "first")[0] in (200, 201)
    with open(data / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError:
            pass
    status, said = note(server, "y" * 3000)
    for _ in range(10):
        if status >= 400:
            break
        status, said = note(server, "y" * 3000)
    assert status >= 400 and "the disk is full" in said, (status, said)
    assert "first" in texts(server)
    (data / "filler").unlink()
    status, said = note(server, "last")
    assert status in (200, 201), said
    assert "last" in texts(server)


if __name__ == "__main__":
    main([directory_vanishes, of_a_run_that_was_not_read, disk_full])
