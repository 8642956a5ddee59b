#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What somebody reads on a terminal who has no profile yet, or named the wrong path: one screen that says what to type next."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import common  # noqa: F401  (finds the harness)
import harness

SECONDS, ROWS, COLUMNS = 60, 24, 80
RECIPE = "  JAX      with jax.profiler.trace("


def screen(place, *words, until=None, within=None):
    """What a command prints on a terminal; one that serves is ended once it has printed `until`."""
    pid, wire = pty.fork()
    if pid == 0:
        os.chdir(within or place.dir)
        bare = {"HOME": str(place.dir), "PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        os.execve(harness.program(), ["jviewd", *map(str, words), "--cache-dir", str(place.cache)], bare)
    fcntl.ioctl(wire, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    seen, end = b"", time.monotonic() + SECONDS
    while until is None or until.encode() not in seen:
        assert time.monotonic() < end, (words, until, seen)
        if not select.select([wire], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(wire, 65536)
        except OSError:  # the other side is closed
            break
        seen += piece
        if not piece:
            break
    if until is not None:
        os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    os.close(wire)
    text = seen.decode().replace("\r\n", "\n").replace("\x1b[K", "").replace("\r", "")
    lines = text.splitlines()
    assert len(lines) <= ROWS, lines
    return text


def a_server_tells_what_is_missing(place):
    empty, wrong, text = place.dir / "empty", place.dir / "nowhere", place.dir / "readme.txt"
    empty.mkdir()
    text.write_text("words\n")
    harness.age(text)
    last = "a profile that is there is not shown.\r\n"
    said = screen(place, empty, "--port", "auto", until=last)
    assert "  open     http://" in said and f"jviewd: no profile was found below {empty}" in said, said
    assert f'{RECIPE}"{empty}")' in said and "tensorboard_trace_handler(" in said and "nsys export" in said, said
    said = screen(place, wrong, "--port", "auto", until=f"{wrong}/run.nsys-rep\r\n")
    assert f"jviewd: {wrong} does not exist yet" in said and RECIPE in said, said
    said = screen(place, text, "--port", "auto", until="memory that ran out.\r\n")
    assert "jviewd: readme.txt: Text, not a profile." in said and RECIPE not in said, said


def commands_tell_it_too(place):
    other = place.dir / "other"
    other.mkdir()
    for words in (("list", other), ("overview", other), ("top", "latest", "--profile-dir", other)):
        said = screen(place, *words)
        assert f"no profile was found below {other}" in said and RECIPE in said and "jviewd doctor" in said, said
    assert "run  state" not in screen(place, "list", other), "a head without rows"
    assert "./profiles does not exist" in screen(place, "list", within=other)
    said = screen(place, "top", "runs/nope", within=other)
    assert '"runs/nope": no such file or directory' in said and "--profile-dir DIR" in said, said


def what_is_there_is_not_asked_for(place):
    place.sample(common.RUN)
    said = screen(place, "list", place.profiles)
    assert common.RUN in said and RECIPE not in said, said


if __name__ == "__main__":
    harness.main([a_server_tells_what_is_missing, commands_tell_it_too, what_is_there_is_not_asked_for])
