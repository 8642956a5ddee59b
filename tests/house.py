#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds for every tracked file: formatting, lock file, words that must not stand here."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = {".c", ".h", ".py", ".ts", ".tsx", ".css", ".html", ".md", ".yaml", ".json", ".txt", ".sh", ".mjs", ""}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SCRIPTS = {".ts", ".tsx", ".js", ".mjs", ".css"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".c", ".h", ".ts", ".tsx", ".css", ".mjs", ".py", ".sh", ".cmake", ".yaml", ".conf"}
COLUMNS = 120
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b|not implemented|unimplemented")
WALL_WAIT = re.compile(r"\b\w+_timed(wait|lock|join_np|receive)\s*\(|_clock(wait|lock|join_np)\s*\([^;]*CLOCK_REALTIME")
RAW_SUM = re.compile(r"_ps(\[[^=;]*\])*\)? [+-]= ")
HALF_WAY = re.compile(r"^(?!.*\bdouble\b).*\b\w+ = (?:(\w+) \+ \((\w+) - \1(?: \+ 1)?\)|\(\w+ \+ \w+\)) / 2;")
WIDE_SUMS = {"server/analyse/steps/breakdown.c"}  # of 128 bits
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.])/(root|work|farm)/[a-z.]")


def tracked():
    if not (ROOT / ".git").exists():
        print("skipped: unpacked sources, nothing tells which files are the project's")
        sys.exit(77)
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return [pathlib.Path(name.decode()) for name in out.split(b"\0") if name]


def formatting(files):
    clang_format = shutil.which("clang-format")
    if clang_format is None:
        return ["clang-format is missing: ./dev setup"]
    sources = [str(path) for path in files if path.suffix in (".c", ".h") and (ROOT / path).exists()]
    run = subprocess.run([clang_format, "--dry-run", "-Werror", *sources], cwd=ROOT,
                         capture_output=True, text=True)
    lines = [line for line in run.stderr.splitlines() if "error:" in line]
    return sorted({line.split(":")[0] + " is not formatted: ./dev format" for line in lines})


def words(files):
    faults = []
    for path in files:
        if path.suffix not in TEXT or path.name == "package-lock.json" or path == pathlib.Path("tests/house.py"):
            continue
        if not (ROOT / path).is_file():
            continue
        for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1):
            if UNFINISHED.search(line):
                faults.append(f"{path}:{number}: unfinished: {line.strip()[:80]}")
            if MACHINE_PATH.search(line) and path.parts[0] != ".ci":
                faults.append(f"{path}:{number}: a machine's path: {line.strip()[:80]}")
    return faults


def long_lines(files):
    """Prettier breaks code, but no text: what is longer than its 120 columns is broken by hand."""
    scripts = [path for path in files if path.suffix in SCRIPTS and (ROOT / path).is_file()]
    return [f"{path}:{number}: {len(line)} columns, at most {COLUMNS}" for path in scripts
            for number, line in enumerate((ROOT / path).read_text().splitlines(), 1) if len(line) > COLUMNS]


def licences(files):
    """Each source says its licence in its first line, or in its second behind the line that names its interpreter."""
    return [f"{path} does not begin with: {LICENCE}" for path in files
            if (path.suffix in LICENSED or path.name in ("CMakeLists.txt", "dev", "Dockerfile")) and (ROOT / path).is_file()
            and (ROOT / path).stat().st_size and LICENCE not in "".join((ROOT / path).read_text().splitlines()[:2])]


def head_comments(files):
    """Each .c says behind its licence what it is."""
    return [f"{path} does not begin with a comment that says what it is" for path in files
            if path.suffix == ".c" and (ROOT / path).is_file()
            and not (ROOT / path).read_text().partition("\n")[2].startswith("/*")]


def broken_comments(files):
    """What clang-format makes of comments that are too wide: a sign that closes alone behind a full line, a line of a
    picture that goes on at the left."""
    for path in files:
        if path.suffix not in (".c", ".h") or not (ROOT / path).is_file():
            continue
        text = (ROOT / path).read_text()
        for found in COMMENT.finditer(text):
            lines = [line.strip() for line in found[0].split("\n")]
            number = text.count("\n", 0, found.start()) + 1
            is_prose = not any(line == "*" or re.search(r"\S {2,}\S", line) for line in lines)
            if len(lines) > 1 and lines[-1] == "*/" and is_prose:
                yield f"{path}:{number}: the comment's end stands alone: make a line shorter"
            if any(re.match(r"\* {3,}\S", line) and re.match(r"\* \S", after) for line, after in zip(lines, lines[1:])):
                yield f"{path}:{number}: a picture is broken: make its lines shorter"


def waits(files):
    """A wait that ends at a time of the wall clock ends early or late when somebody sets it: base/clock.h has others."""
    return [f"{path}:{number}: waits by the wall clock: {line.strip()[:80]}"
            for path in files if path.suffix in (".c", ".h") and path.parts[0] in ("server", "collector") and (ROOT / path).is_file()
            for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1) if WALL_WAIT.search(line)]


def raw_sums(files):
    """Sums of many rows' times may not fit 64 bits: ps_add (trace/ps.h) stops them where others come out below zero."""
    return [f"{path}:{number}: a sum that may wrap: {line.strip()[:80]}" for path in files
            if path.suffix in (".c", ".h") and path.parts[:2] in (("server", "analyse"), ("server", "serve"), ("server", "cli"))
            and str(path) not in WIDE_SUMS and (ROOT / path).is_file()
            for number, line in enumerate((ROOT / path).read_text().splitlines(), 1) if RAW_SUM.search(line)]


def searches(files):
    """Who looks for a place in what is in order asks BISECT (base/bisect.h)."""
    return [f"{path}:{number}: a search by hand: BISECT finds it: {line.strip()[:80]}" for path in files
            if path.suffix in (".c", ".h") and path.parts[0] in ("server", "collector") and path.name != "bisect.h"
            and (ROOT / path).is_file()
            for number, line in enumerate((ROOT / path).read_text().splitlines(), 1) if HALF_WAY.search(line)]


def lock_file():
    lock = ROOT / "web/package-lock.json"
    if lock.exists() and '"resolved"' in lock.read_text():
        return ["web/package-lock.json names a registry: npm install with web/.npmrc in force"]
    return []


def top_level(files):
    allowed = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "dev", "api", "server", "collector", "web",
               "tests", "docker", "docs", ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore",
               ".dockerignore", ".prettierrc.json"}
    return [f"{top} does not belong on the top level" for top in sorted({path.parts[0] for path in files} - allowed)]


def main():
    files = tracked()
    faults = [*formatting(files), *words(files), *long_lines(files), *licences(files), *head_comments(files), *broken_comments(files),
              *waits(files), *raw_sums(files), *searches(files), *lock_file(), *top_level(files)]
    print("\n".join(faults) or f"{len(files)} files are in order")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
