#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_zip.py TRACE_DUMP: every ZIP archive of $JVIEW_CORPUS is read whole.

An archive of one file is that file: as many slices as Python counts in it. An archive of nsys-jax has the manifest's members, and
on its threads the ranges of its report, by thread: how many, and how long together. What its members hold is what the manifest counts in
the same files of the directory beside it: lines, rows, instructions. Both combined, as nsys-jax-combine does it, are the sum of both."""
import collections
import csv
import io
import json
import lzma
import os
import pathlib
import sys
import tempfile
import zipfile

import manifest

CORPUS = pathlib.Path(os.environ.get("JVIEW_CORPUS", ""))


def check_jax(path, facts, got, archive):
    counts = got["counts"]
    manifest.equal(path, "members", counts.get("archive_entries"), facts["members"])
    name, = (name for name in archive.namelist() if name.endswith(".csv.xz"))
    report = list(csv.DictReader(io.StringIO(lzma.decompress(archive.read(name)).decode())))
    manifest.equal(path, "rows of the report", counts.get("report_rows"), len(report))
    wanted = collections.defaultdict(lambda: [0, 0])
    for row in report:
        wanted[int(row["TID"])][0] += 1
        wanted[int(row["TID"])][1] += int(row["Duration (ns)"]) * 1000
    threads = {track["id"]: [track["count"], track["sum_ps"]] for track in got["tracks"] if track["count"] and track["device"] < 0}
    manifest.equal(path, "ranges by thread", threads, dict(wanted))
    modules = sum(name.endswith((".hlo.pb.xz", ".hlo.pb")) for name in archive.namelist())
    manifest.equal(path, "modules", len(got["programs"]), modules)


STEMS = ("proc0", "proc1")


def combine(directory, archive, path):
    """As nsys-jax-combine does it: what differs becomes a directory with one of each."""
    of = [{str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()},
          {name: archive.read(name) for name in archive.namelist()}]
    with zipfile.ZipFile(path, "w") as made:
        for turn, files in enumerate(of):
            for name, content in sorted(files.items()):
                other = of[1 - turn].get(name)
                if other is not None and other != content:
                    made.writestr(f"{name}/{STEMS[turn]}", content)
                elif turn == 0 or other is None:
                    made.writestr(name, content)


def sums(got, kind):
    """[(count, time)] of the tracks of devices, or of threads."""
    return sorted((track["count"], track["sum_ps"]) for track in got["tracks"] if track["count"] and (track["device"] >= 0) == (kind == "device"))


def pack(directory, path):
    with zipfile.ZipFile(path, "w") as made:
        for file in sorted(directory.rglob("*")):
            if file.is_file():
                made.write(file, file.relative_to(directory))


def check_combined(path, archive, got):
    """Two processes in one archive: the tracks of both, and the programs of one, for both ran the same."""
    directory = CORPUS / pathlib.Path(path).parent / "pax_fsdp4_4proc_proc0"
    with tempfile.TemporaryDirectory() as temporary:
        pack(directory, f"{temporary}/first.zip")
        combine(directory, archive, f"{temporary}/both.zip")
        first = manifest.dump(sys.argv[1], f"{temporary}/first.zip")
        both = manifest.dump(sys.argv[1], f"{temporary}/both.zip")
    for kind in ("device", "thread"):
        manifest.equal(path, f"{kind} tracks of both processes", sums(both, kind), sorted(sums(got, kind) + sums(first, kind)))
    manifest.equal(path, "programs of both processes", len(both["programs"]), len(got["programs"]))
    manifest.equal(path, "devices of both processes", len({track["device"] for track in both["tracks"]} - {-1}), 2)


def main():
    def check(path, facts, got):
        archive = zipfile.ZipFile(CORPUS / path)
        if facts["members"] > 1:
            check_jax(path, facts, got, archive)
            check_combined(path, archive, got)
            return
        trace = json.loads(archive.read(archive.namelist()[0]))
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        begun = sum(event["ph"] in "BXiIR" for event in events)
        manifest.equal(path, "slices", got["slices"], begun)

    return manifest.run(sys.argv[1], "zip", check)


if __name__ == "__main__":
    sys.exit(main())
