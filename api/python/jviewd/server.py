# SPDX-License-Identifier: Apache-2.0
"""A server that shows a directory: the one that runs already, else one that ends with this process."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from .binary import program

_START_SECONDS = 20
_ADDRESS = re.compile(r"^ {2}open +(http\S+)$")


class ServerFailed(RuntimeError):
    """The server did not start; the message is its own."""


class Server:
    """`url` ends in a slash. `process` is None where the server is somebody else's, which `stop` leaves alone."""

    def __init__(self, url: str, process: subprocess.Popen[str] | None = None) -> None:
        self.url = url
        self.process = process

    def stop(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def lets_frame(self, origins: Sequence[str]) -> bool:
        """Whether a page of each of these origins may show this server's pages in a frame."""
        try:
            with urllib.request.urlopen(self.url + "?embed=1", timeout=5) as reply:
                policy = reply.headers.get("Content-Security-Policy", "")
        except (urllib.error.URLError, OSError, ValueError):
            return False
        none: list[str] = []
        ancestors = next((part.split()[1:] for part in policy.split(";") if part.split()[:1] == ["frame-ancestors"]), none)
        return all(origin in ancestors for origin in origins)


_own: dict[tuple[str, tuple[str, ...]], Server] = {}
_lock = threading.Lock()


def serve(directory: str | os.PathLike[str], origins: Sequence[str] = (), hosts: Sequence[str] = ()) -> Server:
    """A server of `directory` whose pages these origins may frame, reached by these host names as well."""
    root = str(Path(directory).absolute())
    key = root, (*origins, *hosts)
    with _lock:
        own = _own.get(key)
        if own is not None and own.process is not None and own.process.poll() is None:
            return own
        found = None if hosts else _find(root)
        if found is not None and found.lets_frame(origins):
            return found
        _own[key] = _start(root, origins, hosts)
        return _own[key]


def _find(root: str) -> Server | None:
    asked = subprocess.run([program(), "open", "--url", root], capture_output=True, text=True, check=False)
    return Server(asked.stdout.strip()) if asked.returncode == 0 else None


def _start(root: str, origins: Sequence[str], hosts: Sequence[str]) -> Server:
    command = [program(), "serve", root, "--port", "auto", "--ui", "none"]
    command += [word for origin in origins for word in ("--embed-origin", origin)]
    command += [word for host in hosts for word in ("--allowed-host", host)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    told = _Told(process.stderr)
    url = _address(process, process.stdout)
    if url is None:
        process.kill()
        process.wait()
        process.stdout.close()
        raise ServerFailed(told.text() or f"{command[0]} did not say where it listens within {_START_SECONDS} s")
    server = Server(url, process)
    atexit.register(server.stop)
    return server


def _address(process: subprocess.Popen[str], out: IO[str]) -> str | None:
    """The address that the start prints; the rest of what it prints goes nowhere."""
    patience = threading.Timer(_START_SECONDS, process.kill)
    patience.start()
    url = next((match[1] for match in map(_ADDRESS.match, out) if match), None)
    patience.cancel()
    if url is not None:
        threading.Thread(target=_drain, args=(out,), daemon=True).start()
    return url


def _drain(out: IO[str]) -> None:
    with out:
        for _ in out:
            pass


class _Told:
    """What a process says on a pipe: its first lines; the rest is read and let go, so that it never waits for a reader."""

    _LINES = 50

    def __init__(self, pipe: IO[str]) -> None:
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe: IO[str]) -> None:
        with pipe:
            for line in pipe:
                if len(self._lines) < self._LINES:
                    self._lines.append(line)

    def text(self) -> str:
        self._thread.join(timeout=5)
        return "".join(self._lines).strip()
