#!/usr/bin/env python3
"""manifest_zip.py TRACE_DUMP: every ZIP archive of $JVIEW_CORPUS is read whole.

An archive of one file is that file: as many slices as Python counts in it. An archive of nsys-jax has the manifest's members, and
on its threads the ranges of its report, by thread: how many, and how long together."""
import collections
import csv
import io
import json
import lzma
import os
import pathlib
import sys
import zipfile

import manifest


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


def main():
    corpus = pathlib.Path(os.environ.get("JVIEW_CORPUS", ""))

    def check(path, facts, got):
        archive = zipfile.ZipFile(corpus / path)
        if facts["members"] > 1:
            check_jax(path, facts, got, archive)
            return
        trace = json.loads(archive.read(archive.namelist()[0]))
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        begun = sum(event["ph"] in "BXiIR" for event in events)
        manifest.equal(path, "slices", got["slices"], begun)

    return manifest.run(sys.argv[1], "zip", check)


if __name__ == "__main__":
    sys.exit(main())
