# SPDX-License-Identifier: Apache-2.0
"""What stands around a cell: the notebook's server, as its own files tell it.

A kernel knows its server's process id; the server leaves its address in a file of that number. Through jupyter-server-proxy a page of ours
is of the same origin as the notebook, and reaches wherever the notebook does; without it, a browser must reach our port. Whether there is
that proxy the notebook's server itself is asked: what is installed beside the kernel need not be what the server has.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Notebook:
    origins: tuple[str, ...]  # whose pages frame ours
    hosts: tuple[str, ...] = ()  # by which a browser may call us, through the proxy
    url: str = ""  # its own address, which ends in its base path; "" unknown
    base: str = "/"
    token: str = ""

    def address(self, url: str) -> str:
        """`url` of our server as the cell's page reaches it."""
        parts = urlsplit(url)
        if parts.port is None or not self.url or not self._has_proxy(parts.port):
            return url
        rest = parts.path.lstrip("/") + (f"?{parts.query}" if parts.query else "")
        return f"{self.base}proxy/{parts.port}/{rest}"

    def _has_proxy(self, port: int) -> bool:
        request = urllib.request.Request(f"{self.url}proxy/{port}/healthz", headers={"Authorization": f"token {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=5) as reply:
                if reply.read(64) == b"ok\n":
                    return True
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
        except (OSError, ValueError):
            return False
        # It wants a password, which a program has not: what is installed here must do.
        return importlib.util.find_spec("jupyter_server_proxy") is not None


def is_cell() -> bool:
    """Whether the code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def notebook() -> Notebook:
    """The notebook around this kernel; with nothing known, one on this machine's usual port."""
    for pid in (os.environ.get("JPY_PARENT_PID"), str(os.getppid())):
        for folder in _runtime_folders():
            found = _read(folder / f"jpserver-{pid}.json")
            if found is not None:
                return found
    return Notebook(("http://localhost:8888", "http://127.0.0.1:8888"))


def _runtime_folders() -> list[Path]:
    data = os.environ.get("JUPYTER_DATA_DIR") or os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "jupyter")
    named = os.environ.get("JUPYTER_RUNTIME_DIR")
    return [Path(folder) for folder in (named, os.path.join(data, "runtime")) if folder]


def _read(path: Path) -> Notebook | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        url, base = urlsplit(str(told["url"])), str(told.get("base_url") or "/")
        port, name = url.port, url.hostname
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not name or url.scheme not in ("http", "https"):
        return None
    names = ("localhost", "127.0.0.1") if name in ("localhost", "127.0.0.1", "0.0.0.0", "::", "::1") else (name,)
    origins = tuple(f"{url.scheme}://{one}{f':{port}' if port else ''}" for one in names)
    return Notebook(origins, () if names[0] == "localhost" else names, told["url"], base, str(told.get("token") or ""))
