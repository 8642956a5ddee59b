#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_xplane.py TRACE_DUMP: every XPlane of $JVIEW_CORPUS holds what its manifest counts: planes with events, their lines and
events, what their metadata describe, the hosts' names, and the range of time. Lines are counted once more from the bytes: those of one id in one plane are one."""
import collections
import os
import pathlib
import sys

import manifest
import manifest_hlo

CORPUS = pathlib.Path(os.environ.get("JVIEW_CORPUS", ""))


def lines_of(path):
    """plane's name: (lines, lines with events), each id once; lines without an id by what they are."""
    found = {}
    for number, plane in manifest_hlo.fields((CORPUS / path).read_bytes()):
        if number != 1:
            continue
        name, lines = "", {}
        for inner, value in manifest_hlo.fields(plane):
            if inner == 2:
                name = value.decode()
            elif inner == 3:
                members = list(manifest_hlo.fields(value))
                key = next((item for field, item in members if field == 1), 0)
                lines[key] = lines.get(key, False) or any(field == 4 for field, _ in members)
        found[name] = len(lines), sum(lines.values())
    return found


def check(path, facts, got):
    events, lines = collections.Counter(), collections.Counter()
    for track in got["tracks"]:
        if track["count"]:
            events[track["plane"]] += track["count"]
            lines[track["plane"]] += 1
    manifest.equal(path, "events", sum(events.values()), facts["events"])
    described = {track["line"]: track["counts"] for track in got["tracks"] if "event metadata" in track["counts"]}
    wired = lines_of(path)
    manifest.equal(path, "planes", len(wired), facts["planes"])
    for plane in facts["plane"]:
        name = plane["name"]
        manifest.equal(path, f"{name}: events", events[name], plane["events"])
        manifest.equal(path, f"{name}: lines on the wire", wired[name][0], plane["lines"])
        manifest.equal(path, f"{name}: lines with events", lines[name], wired[name][1])
        for kind in ("event", "stat") if name in described else ():
            manifest.equal(path, f"{name}: {kind} metadata", described[name][f"{kind} metadata"], plane[f"{kind}_metadata"])
        if name not in described:
            manifest.equal(path, f"{name}: events of a plane that is no track", plane["events"], 0)
    hosts = facts["hostnames"]
    manifest.equal(path, "host", got["hostname"] or None, hosts[0] if hosts else None)
    starts = [track["start_ps"] for track in got["tracks"] if track["count"]]
    ends = [track["end_ps"] for track in got["tracks"] if track["count"]]
    manifest.equal(path, "span", round((max(ends) - min(starts)) / 1e9, 3), facts["span_ms"])


if __name__ == "__main__":
    sys.exit(manifest.run(sys.argv[1], "xplane", check))
