#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes point down: every #include of server/ and collector/ against tests/floors.txt; private headers stay in their
folder."""

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

    def __init__(self, text, top="server"):
        self.direct, self.doors, self.registries = {}, {}, set()
        self.others = Floors(text) if top != "server" else None  # what a room of collector/ may take from server/
        keyword = "room" if top == "server" else top
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if words[:1] == [keyword]:
                self.direct[words[1]] = {room for word in words[2:] for room in self.named(word)}
            elif words[:1] == ["registry"]:
                self.registries.add(words[1])
            elif words[:1] == ["door"]:
                self.doors[words[1]] = words[2:]
        self.below = {}
        for room, direct in self.direct.items():  # from the ground up: what is named stands above already
            self.below[room] = direct | {low for other in direct for low in self.below_of(other)}

    def below_of(self, room):
        return self.below[room] if room in self.below else self.others.below[room]

    def named(self, word):
        """The rooms of a word: one, or with "/*" a room and those in it."""
        if word.endswith("/*"):
            return {room for room in self.direct if room == word[:-2] or room.startswith(word[:-1])}
        if word not in self.direct and not (self.others and word in self.others.direct):
            sys.exit(f"tests/floors.txt: {word} is named above its own line")
        return {word}

    def room_of(self, path):
        """The room of a path below server/: the nearest folder that has a line; None where there is none."""
        folder = path.parent
        while str(folder) not in self.direct and folder != pathlib.Path("."):
            folder = folder.parent
        return str(folder) if str(folder) in self.direct and (str(folder) != "." or len(path.parts) == 1) else None

    def target_of(self, header):
        """The room of a header as it is included: here, or in server/."""
        path = pathlib.Path(header)
        if self.others is None:
            return self.room_of(path)
        if path.parts[0] == "collector":
            path = path.relative_to("collector")
        return self.room_of(path) or self.others.room_of(path)


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
        target = floors.target_of(header)
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


def files_of(top):
    return sorted(path for path in (ROOT / top).rglob("*") if path.suffix in (".c", ".h"))


def self_test(floors, collector):
    """The rules catch what they are for."""
    bad = [("analyse/ops/top.c", '#include "store/cache.h"\n'), ("analyse/steps/idle.c", '#include "analyse/ops/top.h"\n'),
           ("serve/runs.c", "#include <civetweb.h>\n"), ("base/file.c", '#include "trace/trace.h"\n'),
           ("analyse/findings/rules.c", '#include "analyse/ops/top_parts.h"\n'), ("utils/x.c", "")]
    climbs = [("inject/process/threads.c", '#include "inject/writer/writer.h"\n'),
              ("launch/sample/py_sample.c", '#include "launch/child/session.h"\n'),
              ("launch/spool/stage.c", '#include "serve/http/http.h"\n'),
              ("inject/nvtx/nvtx.c", '#include "base/arena.h"\n')]
    return (all(list(faults_of(pathlib.Path(path), text, floors)) for path, text in bad) and
            all(list(faults_of(pathlib.Path(path), text, collector)) for path, text in climbs))


def main():
    text = (ROOT / "tests/floors.txt").read_text()
    floors = {top: Floors(text, top) for top in ("server", "collector")}
    if not self_test(*floors.values()):
        sys.exit("tests/floors.txt lets an arrow climb that it must stop")
    files = [(top, path) for top in floors for path in files_of(top)]
    faults = [fault for top, path in files
              for fault in faults_of(path.relative_to(ROOT / top), path.read_text(), floors[top])]
    faults += crowded()
    print("\n".join(faults) or f"{len(files)} files keep to their floors")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
