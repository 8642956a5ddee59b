#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oracle: compares what the XSpace decoder yields with an independent reader, to the picosecond.

  oracle.py TRACE_DUMP FILE...     prints a line a file; exit code 1 when any number differs

Compared for every plane and line: events, instants, sum of durations, first start, last end, and
for every name of event count, total and self time; for the file flows, memory events, and for
every key and type of arg count and sum.
"""

import json
import subprocess
import sys

import xplane_reader


class Unread(RuntimeError):
    """Our decoder refuses the file; the text says why."""


def ours(tool, path):
    run = subprocess.run([tool, path], capture_output=True, check=False)
    if run.returncode != 0:
        raise Unread(run.stderr.decode("utf-8", "replace").strip()[-300:])
    report = json.loads(run.stdout)
    found = {}
    for track in report["tracks"]:
        if track["count"] == 0 and track["plane"] == "":
            continue  # a plane
        if "samples" in track:
            continue  # a counter
        key = (track["plane"], track["id"], track["line"])
        assert key not in found, key
        found[key] = {name: track[name] for name in
                      ("count", "instants", "sum_ps", "start_ps", "end_ps")}
        found[key]["names"] = {name: sums for name, *sums in track["names"]}
    return report, found


def differences(theirs, found):
    for key in sorted(set(theirs) | set(found), key=str):
        want, got = theirs.get(key), found.get(key)
        if want is None or got is None:
            yield "%s: %s" % (key, "not expected" if want is None else "missing")
            continue
        for field in want:
            if field != "names" and want[field] != got[field]:
                yield "%s %s: %s, expected %s" % (key, field, got[field], want[field])
        for name in sorted(set(want["names"]) | set(got["names"])):
            if want["names"].get(name) != got["names"].get(name):
                yield "%s %r count, total, self: %s, expected %s" % (
                    key, name, got["names"].get(name), want["names"].get(name))


def other_differences(space, report):
    """Of arrows, memory events, and of args where the report has them."""
    flows, memory = xplane_reader.arrows(space)
    if report["flows"] != flows:
        yield "flows: %d, expected %d" % (report["flows"], flows)
    if report["memory_events"] != memory:
        yield "memory events: %d, expected %d" % (report["memory_events"], memory)
    if report["args"]:
        want = xplane_reader.args(space)
        got = {(key, kind): sums for key, kind, *sums in report["args"]}
        for key in sorted(set(want) | set(got)):
            if want.get(key) != got.get(key):
                yield "arg %s: %s, expected %s" % (key, got.get(key), want.get(key))


def compare(tool, path):
    """(number of values compared, list of differences, our report)"""
    space = xplane_reader.read(path)
    theirs = xplane_reader.tracks(space)
    report, found = ours(tool, path)
    values = sum(5 + 3 * len(track["names"]) for track in theirs.values())
    values += 2 + 2 * len(report["args"])
    return values, [*differences(theirs, found), *other_differences(space, report)], report


def main(argv):
    if len(argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    bad = 0
    for path in argv[1:]:
        values, wrong, report = compare(argv[0], path)
        print("%s: %d slices, %d values compared, %d differ" % (
            path, report["slices"], values, len(wrong)))
        for line in wrong[:5]:
            print("   ", line)
        bad += bool(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
