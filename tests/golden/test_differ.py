#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XSpaces and Chrome JSON that nobody would write, read twice: by the decoder (trace_dump) and by a plain reader (xplane_reader,
json_trees), with every number compared, as oracle.py does for profiles. Each fourth round is of JSON.

  test_differ.py                  JVIEWD_DIFFERS rounds (400), from round JVIEWD_DIFFERS_FROM (0)
  test_differ.py TRACE_DUMP FILE  one file, and what differs

What the reader says of times is kept within what a trace holds (decode/xspace/xspace_time.c): that is told by a note, and
the number of such events is compared, too. A line's time stands before its events: a far one behind them is not looked for.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import json_trees
import made_trees
import oracle
import xplane_reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIME_MAX, SUM_MAX = (1 << 62) - 1, (1 << 63) - 1
FAR_NS = TIME_MAX // 2 // 1000
SEEDS = sorted((ROOT / "tests/fuzz/seeds/xspace").glob("*.pb"))


def kept(time):
    return max(-TIME_MAX, min(TIME_MAX, time))


def zero_of(space):
    """The earliest far line with events; 0: none is far."""
    far = [line["timestamp_ns"] for plane in space["planes"] for line in plane["lines"]
           if line["events"] and line["timestamp_ns"] > FAR_NS]
    return min(far, default=0)


def within(space):
    """Times as a trace holds them; returns how many events had to be cut."""
    zero, cut = zero_of(space), 0
    for plane in space["planes"]:
        for line in plane["lines"]:
            begin = line["timestamp_ns"] * 1000
            if zero and line["timestamp_ns"] > FAR_NS:
                begin -= zero * 1000
            is_odd = not -(1 << 63) <= begin < 1 << 63
            begin = kept(begin) if is_odd else begin
            for event in line["events"]:
                if event["aggregated"]:
                    continue
                start = begin + event["offset_ps"]
                dur = max(0, event["dur_ps"])
                end = kept(kept(start) + dur)
                cut += is_odd or kept(start) != start or event["dur_ps"] < 0 or kept(start) + dur != end
                event["begin_ps"], event["dur_ps"] = kept(start), end - kept(start)
    return cut


def joined(space):
    """Lines of one id in planes of one name are one track, unless both have names that differ. It is shown as the last
    display name says, else as its first line is called. False: two would be called the same."""
    known = {}
    for plane in space["planes"]:
        for line in plane["lines"]:
            if line["own_name"] == "_counters_":
                line["name"] = "_counters_"
                continue
            tracks = known.setdefault((plane["name"], line["id"]), [])
            same = [track for track in tracks if track["name"] == line["own_name"] or not track["name"] or not line["own_name"]]
            if not same:
                same = [{"name": line["own_name"], "shown": line["own_name"], "lines": []}]
                tracks += same
            if line["shown_as"]:
                same[0]["shown"] = line["shown_as"]
            same[0]["lines"].append(line)
    for tracks in known.values():
        for track in tracks:
            for line in track["lines"]:
                line["name"] = track["shown"]
    return all(len({track["shown"] for track in tracks}) == len(tracks) for tracks in known.values())


def differences(tool, path):
    space = xplane_reader.read(path)
    cut = within(space)
    if not joined(space):
        return [], None
    theirs = xplane_reader.tracks(space)
    try:
        report, found = oracle.ours(tool, path)
    except oracle.Unread as why:  # what does not look like a profile is refused by name
        return [] if "unsupported" in str(why) else [f"unread: {why}"], None
    theirs = {key: track for key, track in theirs.items() if track["count"] or key in found}
    for track in theirs.values():  # a sum that does not fit stops there, with a note
        track["sum_ps"] = min(track["sum_ps"], SUM_MAX)
        track["names"] = {name: [count, min(total, SUM_MAX), min(self_ps, SUM_MAX)] for name, (count, total, self_ps) in track["names"].items()}
    notes = {kind: count for kind, count, _ in report["notes"]}
    wrong = [*oracle.differences(theirs, found), *oracle.other_differences(space, report)]
    if notes.get("clamped-times", 0) != cut:
        wrong.append(f"clamped-times: {notes.get('clamped-times', 0)}, expected {cut}")
    return wrong, report


def json_differences(tool, path):
    with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
        theirs = json_trees.read(file.read())
    run = subprocess.run([tool, path], capture_output=True)
    if run.returncode != 0:
        return [f"unread: {run.stderr[-300:]}"], None
    report = json.loads(run.stdout)
    found = {(int(track["plane"].removeprefix("process ")), track["id"]): track for track in report["tracks"] if track["count"]}
    for track in found.values():
        track["names"] = {name: sums for name, *sums in track["names"]}
    return list(oracle.differences(theirs, found)), report


def case(number):
    rng = random.Random(number)
    if rng.random() < 0.3:
        tree = made_trees.read(rng.choice(SEEDS_READ))
        made_trees.change(rng, tree)
    else:
        tree = made_trees.made(rng)
        if rng.random() < 0.5:
            made_trees.change(rng, tree)
    for line in made_trees.trees_of(tree).get(made_trees.LINE, ()):
        line.sort(key=lambda field: field[0] != 3)
    return made_trees.written(tree)


def seeds_that_can_be_read():
    out = []
    for path in SEEDS:
        try:
            data = path.read_bytes()
            made_trees.read(data)
            out.append(data)
        except (IndexError, AssertionError, ValueError):
            pass
    return out


SEEDS_READ = seeds_that_can_be_read()


def tried(tool, number, directory):
    is_json = number % 4 == 3
    path = os.path.join(directory, f"{number}.trace.json" if is_json else f"{number}.xplane.pb")
    with open(path, "wb") as out:
        out.write(json_trees.made(random.Random(number)).encode("utf-8", "surrogatepass") if is_json else case(number))
    wrong, report = (json_differences if is_json else differences)(tool, path)
    if wrong and os.environ.get("JVIEWD_DIFFERS_KEEP"):
        os.rename(path, os.path.join(os.environ["JVIEWD_DIFFERS_KEEP"], os.path.basename(path)))
    else:
        os.unlink(path)
    return number, wrong, report["slices"] if report else 0


def main():
    if len(sys.argv) == 3:
        wrong, report = (json_differences if sys.argv[2].endswith(".json") else differences)(*sys.argv[1:])
        print("\n".join(wrong) or f"equal: {report['slices']} slices")
        return 1 if wrong else 0
    tool = os.path.join(os.environ["JVIEWD_TESTS_BIN"], "trace_dump")
    first, count = int(os.environ.get("JVIEWD_DIFFERS_FROM", "0")), int(os.environ.get("JVIEWD_DIFFERS", "400"))
    bad = slices = unread = 0
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, wrong, found in pool.map(lambda number: tried(tool, number, directory), range(first, first + count)):
            slices += found
            unread += found == 0
            bad += bool(wrong)
            for line in wrong[:4]:
                print(f"round {number}: {line}")
    print(f"{count} files, {slices} slices, {unread} of them without any, {bad} differ")
    return 1 if bad or unread > count / 4 else 0


if __name__ == "__main__":
    sys.exit(main())
