#!/usr/bin/env python3
"""Every Chrome JSON that the corpus counts gives the same counts.

  chrome_counts.py DUMP     DUMP is the program tests/tools/trace_dump

Two sources are compared with what the decoder yields: the corpus's own MANIFEST.json (events by
phase) and Python's json with exact decimals (slices, sums and hulls of every thread on which only
X events and instants lie). Reads $JVIEW_CORPUS; skipped (77) without it.
"""

import collections
import decimal
import gzip
import json
import os
import subprocess
import sys

PS = decimal.Decimal(1000000)
decimal.getcontext().prec = 60


def load(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text, parse_float=decimal.Decimal)
    except ValueError:
        return json.loads(text.rstrip().rstrip(",") + "]", parse_float=decimal.Decimal)


def ps(value):
    exact = decimal.Decimal(value) * PS
    return int(exact.quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def threads_of(events):
    """(pid, tid) -> (slices, sum, hull) where no slice is made of two events."""
    found = collections.defaultdict(lambda: [0, 0, None, None])
    mixed = set()
    for event in events:
        key = (event.get("pid", 0), event.get("tid", 0))
        phase = event.get("ph")
        if phase in ("B", "E"):
            mixed.add(key)
        if phase not in ("X", "i", "I", "R"):
            continue
        start = ps(event["ts"])
        length = ps(event.get("dur", 0)) if phase == "X" else 0
        entry = found[key]
        entry[0] += 1
        entry[1] += length
        entry[2] = start if entry[2] is None else min(entry[2], start)
        entry[3] = start + length if entry[3] is None else max(entry[3], start + length)
    sums = [(n, total, end - start) for key, (n, total, start, end) in found.items()
            if key not in mixed]
    return sorted(sums), {key for key in found if key in mixed}


def check(dump, path, facts):
    got = json.loads(subprocess.run([dump, path], check=True, capture_output=True).stdout)
    wrong = []
    counts = {key: value for key, value in got["counts"].items() if key.startswith("events")}
    want = {"events": facts["events"]}
    for phase, count in facts["phases"].items():
        want["events without phase" if phase == "None" else "events of phase " + phase] = count
    if counts != want:
        wrong.append(f"phases {counts}, not {want}")
    loaded = load(path)
    events = loaded["traceEvents"] if isinstance(loaded, dict) else loaded
    sums, mixed = threads_of(events)
    seen = collections.Counter((t["count"], t["sum_ps"], t["end_ps"] - t["start_ps"])
                               for t in got["tracks"] if t["kind"] not in (4, 5) or t["role"] == 4)
    missing = collections.Counter(sums) - seen
    if missing:
        wrong.append(f"threads missing: {missing}")
    return wrong, len(sums), len(mixed)


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("JVIEW_CORPUS is not set: skipped")
        return 77
    manifest = json.load(open(os.path.join(corpus, "MANIFEST.json"), encoding="utf-8"))
    failed = checked = threads = 0
    for entry in manifest["files"]:
        if entry["facts"].get("format") != "chrome-trace-json":
            continue
        wrong, alone, _ = check(sys.argv[1], os.path.join(corpus, entry["path"]), entry["facts"])
        checked += 1
        threads += alone
        failed += bool(wrong)
        for line in wrong:
            print(f"{entry['path']}: {line}")
    print(f"{checked} files, {threads} threads compared, {failed} files differ")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
