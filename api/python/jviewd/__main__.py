# SPDX-License-Identifier: Apache-2.0
"""`python -m jviewd`, and the commands `jviewd` and `jview-collect` that the wheel installs: the programs themselves."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from .binary import NotInstalled, program


def become(name: str) -> NoReturn:
    try:
        path = program(name)
    except NotInstalled as error:
        sys.exit(f"{name}: {error}")
    os.environ.setdefault("JVIEWD_PYTHON", sys.executable)  # the one that has what the extras brought
    os.execv(path, [name, *sys.argv[1:]])


def main() -> NoReturn:
    become("jviewd")


def collect() -> NoReturn:
    become("jview-collect")


if __name__ == "__main__":
    main()
