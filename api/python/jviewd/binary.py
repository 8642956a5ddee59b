# SPDX-License-Identifier: Apache-2.0
"""Where the programs are: $JVIEWD_BIN, those in this package, those on the PATH."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_BUNDLED = Path(__file__).parent / "program" / "bin"


class NotInstalled(RuntimeError):
    """The program is nowhere; the message says where was looked."""


def program(name: str = "jviewd") -> str:
    """The path of `jviewd` or `jview-collect`."""
    named = os.environ.get("JVIEWD_BIN")
    if named and name == "jviewd":
        path = shutil.which(named)
        if path is None or _is_script(path):
            raise NotInstalled(f"JVIEWD_BIN={named} is no program that can be run")
        return path
    bundled = shutil.which(_BUNDLED / name)
    if bundled is not None:
        return str(bundled)
    path = _on_path(name)
    if path is None:
        raise NotInstalled(f"{name} is neither in {_BUNDLED} nor on the PATH; install the wheel that carries it, or the package jviewd")
    return path


def _on_path(name: str) -> str | None:
    """The program on the PATH, past this package's own commands of the same name."""
    for folder in os.get_exec_path():
        path = shutil.which(name, path=folder)
        if path is not None and not _is_script(path):
            return path
    return None


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"
