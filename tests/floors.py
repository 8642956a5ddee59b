#!/usr/bin/env python3
"""Includes point down: every #include of server/ against tests/floors.txt; private headers stay in their folder."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
FILES_MAX = 45  # of one folder: more cannot be looked over
HOUSE = ("api", "collector", "docker", "docs", "server", "tests", "web")
HEAPS = ("tests/fuzz/seeds", "tests/samples", "tests/golden", "node_modules", "dist", "build")  # data, not sources


class Floors:
    """The lines of floors.txt: rooms with all that they may include, foreign headers, registries."""

    def __init__(self, text):
        self.direct, self.doors, self.registries = {}, {}, set()
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["room"]:
                self.direct[words[1]] = {room for word in words[2:] for room in self.named(word)}
            elif words[:1] == ["registry"]:
                self.registries.add(words[1])
            elif words[:1] == ["door"]:
                self.doors[words[1]] = words[2:]
        self.below = {}
        for room, direct in self.direct.items():  # from the ground up: what is named stands above already
            self.below[room] = direct | {low for other in direct for low in self.below[other]}

    def named(self, word):
        """The rooms of a word: one, or with "/*" a room and those in it."""
        if word.endswith("/*"):
            return {room for room in self.direct if room == word[:-2] or room.startswith(word[:-1])}
        if word not in self.direct:
            sys.exit(f"tests/floors.txt: {word} is named above its own line")
        return {word}

    def room_of(self, path):
        """The room of a path below server/: the nearest folder that has a line; None where there is none."""
        folder = path.parent
        while str(folder) not in self.direct and folder != pathlib.Path("."):
            folder = folder.parent
        return str(folder) if str(folder) in self.direct and (str(folder) != "." or len(path.parts) == 1) else None


def faults_of(path, text, floors):
    """The sentences that an included header breaks."""
    room = floors.room_of(path)
    if room is None:
        yield f"{path}: its folder has no line in tests/floors.txt"
        return
    for quote, header in INCLUDE.findall(text):
        doors = floors.doors.get(header)
        if doors and not any(fnmatch.fnmatch(str(path), door) for door in doors):
            yield f"{path} may not include {header}: only {', '.join(doors)} may"
        if quote == "<" or "/" not in header:
            continue
        target = floors.room_of(pathlib.Path(header))
        lists_it = str(path) in floors.registries and target is not None and target.startswith(room)
        if target not in (None, room) and target not in floors.below[room] and not lists_it:
            yield f"{path} may not include {header}"
        if header.endswith("_parts.h") and pathlib.Path(header).parent != path.parent:
            yield f"{path} may not include {header}: it is private to its folder"


def crowded():
    """Folders that hold more files than a reader can look over."""
    for top in HOUSE:
        for folder in [ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]:
            name = str(folder.relative_to(ROOT))
            if any(name.startswith(heap) or f"/{heap}" in f"/{name}" for heap in HEAPS):
                continue
            count = sum(path.is_file() for path in folder.iterdir())
            if count > FILES_MAX:
                yield f"{name} holds {count} files, more than {FILES_MAX}"


def self_test(floors):
    """The rules catch what they are for."""
    bad = [("analyse/ops/top.c", '#include "store/cache.h"\n'), ("analyse/steps/idle.c", '#include "analyse/ops/top.h"\n'),
           ("serve/runs.c", "#include <civetweb.h>\n"), ("base/file.c", '#include "trace/trace.h"\n'),
           ("analyse/findings/rules.c", '#include "analyse/ops/top_parts.h"\n'), ("utils/x.c", "")]
    return all(list(faults_of(pathlib.Path(path), text, floors)) for path, text in bad)


def main():
    floors = Floors((ROOT / "tests/floors.txt").read_text())
    if not self_test(floors):
        sys.exit("tests/floors.txt lets an arrow climb that it must stop")
    server = ROOT / "server"
    files = sorted(path for path in server.rglob("*") if path.suffix in (".c", ".h"))
    faults = [fault for path in files
              for fault in faults_of(path.relative_to(server), path.read_text(), floors)]
    faults += crowded()
    print("\n".join(faults) or f"{len(files)} files keep to their floors")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
