#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What make_profile knows by construction is what the decoders read.

  made_profiles.py TRACE_DUMP MAKE_PROFILE

Each shape is made as XPlane, as JSON and as gzipped JSON. Of every line the count, the sum, the hull,
the self time, and count and sum of every name are compared; nothing may be noted.
"""

import json
import os
import subprocess
import sys
import tempfile

EVENTS = (1, 7, 20000)


def compare(facts, got):
    wrong = []
    tracks = {(track["plane"], track["line"]): track for track in got["tracks"]}
    for line in facts["lines"]:
        if line["count"] == 0:
            continue
        track = tracks.get((line["plane"], line["line"]))
        if track is None:
            wrong.append(f"{line['line']} is missing")
            continue
        names = {name: (count, total) for name, count, total, _ in track["names"]}
        pairs = (
            ("count", track["count"], line["count"]),
            ("sum", track["sum_ps"], line["sum_ps"]),
            ("hull", track["end_ps"] - track["start_ps"], line["end_ps"] - line["start_ps"]),
            ("names", names, {name: (count, total) for name, count, total in line["names"]}),
        )
        wrong += [f"{line['line']}: {what} {seen}, not {want}"
                  for what, seen, want in pairs if seen != want]
        self_ps = sum(name[3] for name in track["names"])
        if self_ps != line["self_ps"]:
            wrong.append(f"{line['line']}: self {self_ps}, not {line['self_ps']}")
    wrong += [f"note {note}" for note in got["notes"]]
    return wrong


def main():
    dump, make = sys.argv[1:3]
    failed = checked = 0
    with tempfile.TemporaryDirectory() as directory:
        for shape in ("gpu", "tpu", "cpu"):
            for suffix in (".xplane.pb", ".trace.json", ".trace.json.gz"):
                for events in EVENTS:
                    path = os.path.join(directory, shape + suffix)
                    facts = json.loads(subprocess.check_output(
                        [make, shape, "--events", str(events), "--seed", "5", "-o", path]))
                    got = json.loads(subprocess.check_output([dump, path]))
                    wrong = compare(facts, got)
                    checked += 1
                    failed += bool(wrong)
                    for line in wrong:
                        print(f"{shape}{suffix} of {events}: {line}")
    print(f"{checked} profiles, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
