#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Symbols point down: what each room's objects need against tests/floors.txt.

A static archive hides an arrow that climbs, for the program links all of them; `nm` shows it. usage: symbols.py BUILD"""

import pathlib
import subprocess
import sys

from floors import ROOT, Floors


def symbols(nm_text):
    """(defined, needed) of one object, as `nm -P` prints them: name, type, ..."""
    defined, needed = set(), set()
    for line in nm_text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1] in "TDBRC":
            defined.add(words[0])
        elif len(words) >= 2 and words[1] == "U":
            needed.add(words[0])
    return defined, needed


def objects(build, top):
    """Objects of the rooms of server/ or collector/ -> their source below it."""
    made = build / top / "CMakeFiles"
    for path in sorted(made.glob("jview[-_]*.dir/**/*.o")):
        source = pathlib.Path(*path.relative_to(made).parts[1:]).with_suffix("")
        if (ROOT / top / source).exists():
            yield path, source


def faults_of(tables, floors):
    """tables: {source: (defined, needed)}; yields each symbol that is needed from a room above."""
    home = {name: source for source, (defined, _) in tables.items() for name in defined}
    for source, (_, needed) in sorted(tables.items()):
        room = floors.room_of(source)
        for name in sorted(needed & home.keys()):
            target = floors.room_of(home[name])
            lists_it = str(source) in floors.registries and target.startswith(room)
            if target != room and target not in floors.below[room] and not lists_it:
                yield f"{source} needs {name} of {home[name]}"


def self_test(floors):
    """An arrow that climbs is seen, one that points down is not."""
    low, high = pathlib.Path("analyse/stats/tally.c"), pathlib.Path("analyse/ops/top.c")
    climbs = {low: ({"tally"}, {"top"}), high: ({"top"}, set())}
    points_down = {low: ({"tally"}, set()), high: ({"top"}, {"tally"})}
    return list(faults_of(climbs, floors)) and not list(faults_of(points_down, floors))


def tables_of(build, top):
    """{source: (defined, needed)} of what was built."""
    return {source: symbols(subprocess.run(["nm", "-P", path], check=True, capture_output=True, text=True).stdout)
            for path, source in objects(build, top)}


def main():
    text = (ROOT / "tests/floors.txt").read_text()
    if not self_test(Floors(text)):
        sys.exit("an arrow that climbs is not seen")
    tables = {top: tables_of(pathlib.Path(sys.argv[1]), top) for top in ("server", "collector")}
    if not tables["server"]:
        print("skipped: no objects of the rooms lie below", sys.argv[1])
        sys.exit(77)
    if not any(defined for defined, _ in tables["server"].values()):
        sys.exit("no symbols: these objects were made for link-time optimisation")
    faults = [fault for top, found in tables.items() for fault in faults_of(found, Floors(text, top))]
    print("\n".join(faults) or f"{sum(map(len, tables.values()))} objects need nothing from above")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
