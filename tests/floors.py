#!/usr/bin/env python3
"""Includes point down: every #include of server/ against tests/floors.txt."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def rules():
    rooms, doors = {}, {}
    for line in (ROOT / "tests/floors.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["room"]:
            rooms[words[1]] = set(words[2:])
        elif words[:1] == ["door"]:
            doors[words[1]] = words[2:]
    return rooms, doors


def room_of(path):
    """The room of a path below server/: its folder, or "." for the top."""
    return path.parts[0] if len(path.parts) > 1 else "."


def faults_of(path, text, rooms, doors):
    """The sentences that an included header breaks."""
    room = room_of(path)
    if room not in rooms:
        yield f"{path}: room {room} has no line in tests/floors.txt"
        return
    for quote, header in INCLUDE.findall(text):
        if header in doors and not any(fnmatch.fnmatch(str(path), door) for door in doors[header]):
            yield f"{path} may not include {header}: only {', '.join(doors[header])} may"
        if quote == '"' and "/" in header:
            target = header.split("/")[0]
            if target in rooms and target != room and target not in rooms[room]:
                yield f"{path} may not include {header}"


def self_test(rooms, doors):
    """The rules catch what they are for."""
    bad = [("analyse/ops.c", '#include "store/cache.h"\n'), ("serve/runs.c", "#include <civetweb.h>\n"),
           ("base/file.c", '#include "trace/trace.h"\n'), ("utils/x.c", "")]
    return all(list(faults_of(pathlib.Path(path), text, rooms, doors)) for path, text in bad)


def main():
    rooms, doors = rules()
    if not self_test(rooms, doors):
        sys.exit("tests/floors.txt lets an arrow climb that it must stop")
    server = ROOT / "server"
    files = sorted(path for path in server.rglob("*") if path.suffix in (".c", ".h"))
    faults = [fault for path in files
              for fault in faults_of(path.relative_to(server), path.read_text(), rooms, doors)]
    print("\n".join(faults) or f"{len(files)} files keep to their floors")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
