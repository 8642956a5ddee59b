#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems with a program `nsys` on the PATH: ours, which does what the real one would."""

import os
import subprocess

import harness

REPORT = b"NVIDIA Tegra Profiler Report 2026@1@1@204" + bytes(200)
EXPORT = harness.TESTS / "fuzz/seeds/nsys/cuda"


def write(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def fake_nsys(place, script):
    write(place.dir / "bin/nsys", b"#!/bin/sh\n" + script.encode(), 0o755)
    return {**os.environ, "PATH": f"{place.dir / 'bin'}:/usr/bin:/bin"}


def index(place, environment, *flags):
    report = write(place.dir / "runs/report1.nsys-rep", REPORT)
    return subprocess.run([harness.program(), "index", str(report), "--out", str(place.dir / "out/own.seg"), *flags],
                          env=environment, capture_output=True, text=True, timeout=60)


def prepare(place):
    (place.dir / "out").mkdir(parents=True, exist_ok=True)


def converted_where_allowed(place):
    prepare(place)
    # export --type sqlite --force-overwrite true -o OUT IN: IN is the report, under a name that ends as it does.
    done = index(place, fake_nsys(place, f'[ "$1 $2 $3" = "export --type sqlite" ] && cmp -s "$8" "{place.dir}/runs/report1.nsys-rep" '
                                         f'&& case "$8" in *.nsys-rep) cp "{EXPORT}" "$7";; *) exit 9;; esac\n'), "--convert")
    assert done.returncode == 0, done.stderr
    assert '"format":"nsys-sqlite"' in done.stdout, done.stdout
    assert sorted(file.name for file in (place.dir / "out").iterdir()) == ["own.attr", "own.seg"]


def told_otherwise(place):
    prepare(place)
    done = index(place, fake_nsys(place, "exit 0\n"))
    assert done.returncode == 3, done
    assert "nsys export --type sqlite" in done.stderr, done.stderr


def a_program_that_fails(place):
    prepare(place)
    done = index(place, fake_nsys(place, "exit 7\n"), "--convert")
    assert done.returncode == 6 and "exit 7" in done.stderr, done
    assert list((place.dir / "out").iterdir()) == []


def a_program_that_writes_nothing_readable(place):
    prepare(place)
    done = index(place, fake_nsys(place, 'echo no profile > "$7"\n'), "--convert")
    assert done.returncode == 6 and "not a readable file" in done.stderr, done


if __name__ == "__main__":
    harness.main([converted_where_allowed, told_otherwise, a_program_that_fails, a_program_that_writes_nothing_readable])
