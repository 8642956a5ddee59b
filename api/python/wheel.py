#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py TREE OUT: the wheel of an installed tree: the Python module, and the programs with the libraries beside them.

    TREE/bin/jviewd, jview-collect, TREE/lib/jviewd/*.so*   ->   OUT/jviewd-0.1.0-py3-none-manylinux_2_34_x86_64.whl
    TREE/share/doc/jviewd/licences, sbom.cdx.json

The programs stand to their libraries in the wheel as in the tree. The platform's number is the newest version of glibc that any of them
asks for, so that pip refuses what could not start. Needs objdump and hatchling.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys

FOLDERS = ("bin", "lib/jviewd")


def glibc_wanted(files):
    symbols = subprocess.run(["objdump", "-T", *files], check=True, capture_output=True, text=True).stdout
    return max(tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_(2\.[0-9]+)", symbols))


def main(tree, out):
    tree, source = pathlib.Path(tree).resolve(), pathlib.Path(__file__).resolve().parent
    files = [str(path) for folder in FOLDERS for path in sorted((tree / folder).iterdir())]
    major, minor = glibc_wanted(files)
    told = {"JVIEWD_TREE": str(tree), "JVIEWD_PLATFORM": f"manylinux_{major}_{minor}_{platform.machine()}"}
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(pathlib.Path(out).resolve())]
    subprocess.run(command, cwd=source, env={**os.environ, **told}, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
