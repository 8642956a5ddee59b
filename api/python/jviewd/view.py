# SPDX-License-Identifier: Apache-2.0
"""Looking: a directory of profiles, or one of its runs, in a browser, in a cell, or on the terminal."""

from __future__ import annotations

import html
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
import webbrowser

from .binary import program
from .notebook import is_cell, notebook
from .server import Server, serve

_USER_INTERFACES = ("builtin", "perfetto", "tensorboard", "both", "none")
_DEFAULTS = ("./profiles", "./runs/profiles")


class View:
    """What a server shows. As the last value of a cell it stands there as a frame.

    `run` is a name, an id, `latest` or a step number; None is the list of runs. `view` is a page: `timeline`, `ops`, `flame`, `memory`...
    """

    def __init__(self, server: Server, run: str | None = None, view: str | None = None, height: int = 640) -> None:
        self.server = server
        self.run = run
        self.view = view
        self.height = height

    @property
    def url(self) -> str:
        """The address in a browser on this machine."""
        return self._address(embed=False)

    def open(self) -> bool:
        """Opens the system's browser; False where there is none."""
        return webbrowser.open(self.url)

    def wait(self) -> None:
        """Until the server ends, or an interrupt; then the server is stopped, if it is ours."""
        try:
            while self.server.process is not None and self.server.process.poll() is None:
                time.sleep(0.2)
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """Ends the server, if it was started from here."""
        self.server.stop()

    def _address(self, embed: bool) -> str:
        asked = {"run": self.run, "view": self.view, "embed": "1" if embed else None}
        query = urlencode({key: value for key, value in asked.items() if value is not None})
        return self.server.url + (f"?{query}" if query else "")

    def _repr_html_(self) -> str:
        around = notebook()
        frame = html.escape(around.address(self._address(embed=True)))
        whole = html.escape(around.address(self.url))
        return (
            f'<iframe src="{frame}" title="jviewd" width="100%" height="{int(self.height)}" style="border: 0" allow="clipboard-write"></iframe>'
            f'<div><a href="{whole}" target="_blank" rel="noopener">Open in a tab</a></div>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<jviewd {self.url}>"


def view_profile(
    profile_dir: str | os.PathLike[str] | None = None,
    ui: str = "builtin",
    extract: bool | str | os.PathLike[str] = False,
    list_only: bool = False,
    *,
    run: str | None = None,
    view: str | None = None,
    height: int = 640,
    wait: bool | None = None,
) -> View | Path | None:
    """Shows the profiles below a directory, or one file.

    Without `profile_dir`: $XAX_PROFILE_DIR, $PROFILE_DIR, ./profiles, ./runs/profiles. `ui`: `builtin`, `perfetto`, `tensorboard`, `both`, or
    `none`, which opens nothing. `list_only` prints the runs and their files. `extract` writes each host's trace as plain JSON, to that
    directory or to a new temporary one, whose path is the result. In a cell the result is shown in place and no browser opens. `wait`: whether
    to stay until interrupted; by default a script on a terminal does, for its server ends with it.
    """
    if ui not in _USER_INTERFACES:
        raise ValueError(f"ui is one of {', '.join(_USER_INTERFACES)}, not {ui!r}")
    directory = _directory(profile_dir)
    if list_only:
        _run_program(str(directory), "--list-only")
        return None
    if extract is not False:
        return _extract(directory, extract)
    if ui in ("tensorboard", "both"):
        _start_tensorboard(directory)
    around = notebook() if is_cell() else None
    server = serve(directory, around.origins, around.hosts) if around else serve(directory)
    shown = View(server, run=run or ("latest" if ui == "perfetto" else None), view="perfetto" if ui == "perfetto" else view, height=height)
    if ui in ("builtin", "both", "perfetto") and around is None:
        _show(shown, wait)
    return shown


def open_latest_profile(profile_dir: str | os.PathLike[str] | None = None, **options: Any) -> View:
    """The newest run below a directory; options as of `view_profile`."""
    shown = view_profile(profile_dir, run="latest", **options)
    assert isinstance(shown, View)
    return shown


def _directory(named: str | os.PathLike[str] | None) -> Path:
    if named is not None:
        return Path(named)
    for name in ("XAX_PROFILE_DIR", "PROFILE_DIR"):
        if os.environ.get(name):
            return Path(os.environ[name])
    for default in map(Path, _DEFAULTS):
        if default.is_dir():
            return default
    raise FileNotFoundError(f"no directory of profiles: give one, set XAX_PROFILE_DIR or PROFILE_DIR, or make {_DEFAULTS[0]}")


def _run_program(*arguments: str) -> None:
    done = subprocess.run([program(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(done.stdout)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())


def _extract(directory: Path, into: bool | str | os.PathLike[str]) -> Path:
    out = Path(tempfile.mkdtemp(prefix="jviewd-")) if isinstance(into, bool) else Path(into)
    _run_program(str(directory), "--extract", "-o", str(out))
    return out


def _start_tensorboard(directory: Path) -> None:
    for name in ("xprof", "tensorboard"):
        try:
            subprocess.Popen([name, "--logdir", str(directory)], stdin=subprocess.DEVNULL)
            return
        except FileNotFoundError:
            continue
    raise FileNotFoundError("neither xprof nor tensorboard is on the PATH: pip install xprof")


def _show(shown: View, wait: bool | None) -> None:
    if not shown.open():
        print(f"jviewd: no browser is at hand; the address is {shown.url}")
    is_script = not hasattr(sys, "ps1") and sys.stdout.isatty()
    if (is_script if wait is None else wait) and shown.server.process is not None:
        print(f"jviewd shows it at {shown.url} (ctrl C ends)")
        shown.wait()
