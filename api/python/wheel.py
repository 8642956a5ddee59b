#!/usr/bin/env python3
"""wheel.py BUILD OUT: the wheel of a built tree: programs, the libraries that few machines have, the Python module.

    BUILD/jviewd, jview-collect, libjview-collector.so   ->   OUT/jviewd-0.1.0-py3-none-manylinux_2_34_x86_64.whl

Libraries beyond the platform's own lie beside the programs and are found there ($ORIGIN). The platform's number is the newest version of glibc
that any of the files asks for, so that pip refuses what could not start. Needs patchelf, objdump and hatchling, as Debian has them.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("jviewd", "jview-collect", "libjview-collector.so")
# What the platform promises beside its glibc (PEP 600's list, as far as it concerns us).
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|util|z|gcc_s|stdc\+\+))\.so")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(path):
    """{name: file} of what a program loads, beside what is everywhere."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", str(path)), re.MULTILINE))
    return {name: file for name, file in found.items() if not SYSTEM.match(name)}


def stage_programs(build, bins):
    for name in PROGRAMS:
        shutil.copy(build / name, bins / name)
        for library, file in libraries(build / name).items():
            shutil.copy(file, bins / library)
    for file in bins.iterdir():
        subprocess.run(["strip", "--strip-unneeded", str(file)], check=True)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", str(file)], check=True)
        file.chmod(0o755)


def glibc_wanted(bins):
    symbols = "".join(output("objdump", "-T", str(file)) for file in bins.iterdir())
    return max(tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_(2\.[0-9]+)", symbols))


def main(build, out):
    source = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder)
        (stage / "bin").mkdir()
        stage_programs(pathlib.Path(build), stage / "bin")
        major, minor = glibc_wanted(stage / "bin")
        (stage / "platform").write_text(f"manylinux_{major}_{minor}_{platform.machine()}\n")
        environment = {"SOURCE_DATE_EPOCH": output("git", "-C", str(source), "log", "-1", "--format=%ct").strip(), **os.environ, "JVIEWD_STAGE": folder}
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(pathlib.Path(out).resolve())]
        subprocess.run(command, cwd=source, env=environment, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
