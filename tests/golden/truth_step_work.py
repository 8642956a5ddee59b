#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--step N` against the raw events of JAX programs that do not block in their steps: what tables by name and by track and the
flame of tracks show of step N are the ops of its run id, wherever they ran, and what its own thread did inside of its mark.
The programs are the cases beside $JVIEW_CORPUS that call one jitted function a step."""
import os
import pathlib
import sys
import tempfile

import manifest
import profiles
import xplane_reader
from test_kernels import ask
from truth_steps import stat

CASES = ("async/n_512.xplane.pb", "async/n_1536.xplane.pb", "real-async/plugins/profile/2026_11_26_13_33_01/vm.xplane.pb")


POOL = "tf_XLAEigen"


class Raw:
    """Marks by number, ops by step: one run id a call, counted up."""

    def __init__(self, path):
        self.marks, self.lines, runs = {}, [], {}
        for plane in xplane_reader.read(path)["planes"]:
            for line in plane["lines"]:
                self.lines.append((line["name"], line["events"]))
                for event in line["events"]:
                    if stat(event, "_r") == 1:
                        self.marks[stat(event, "step_num")] = (line["name"], event["begin_ps"], event["begin_ps"] + event["dur_ps"])
                    elif stat(event, "hlo_op") is not None:
                        runs.setdefault(stat(event, "run_id"), []).append((line["name"], event))
        self.ops = dict(zip(sorted(self.marks), (runs[run] for run in sorted(runs)), strict=True))

    def on_thread(self, number):
        """{name: time inside the mark} on its own thread."""
        thread, begin, end = self.marks[number]
        found = {}
        for name, events in self.lines:
            for event in events if name == thread else ():
                inside = min(end, event["begin_ps"] + event["dur_ps"]) - max(begin, event["begin_ps"])
                if inside > 0:
                    found[event["name"]] = found.get(event["name"], 0) + inside
        return found


def sums(events):
    found = {}
    for event in events:
        found[event["name"]] = found.get(event["name"], 0) + event["dur_ps"]
    return found


def check_step(name, cache, path, raw, number):
    def rows(verb, *words):
        return ask(cache, verb, str(path), "--step", str(number), *words, "--limit", "10000")

    ops = sums(event for _, event in raw.ops[number])
    thread = raw.on_thread(number)
    table = {row["name"]: row for row in rows("top", "--by", "name")["rows"]}
    everywhere = {op for events in raw.ops.values() for op in sums(event for _, event in events)}
    manifest.equal(name, f"ops of step {number} by name", {op: table[op]["total_ps"] for op in everywhere if op in table}, ops)
    manifest.equal(name, f"own thread of step {number} by name", {one: table[one]["total_ps"] for one in thread if one in table}, thread)
    # Of XLA's pool that helps with an op no event says whose it was: time tells.
    tracks = {row["name"]: row["self_ps"] for row in rows("top", "--by", "track")["rows"] if row["self_ps"] > 0}
    own = {line for line, _ in raw.ops[number]} | {raw.marks[number][0]}
    manifest.equal(name, f"tracks of step {number}", {track for track in tracks if not track.startswith(POOL)} | own, own)
    root = rows("flame", "--by", "track", "--depth", "64")["root"]
    flame = {child["name"]: child["total_ps"] for child in root["children"] if child["total_ps"] > 0}
    manifest.equal(name, f"tracks in the flame of step {number}", flame, tracks)
    mark, _, _ = raw.marks[number]
    cut = sum(inside for one, inside in thread.items() if one.startswith("$"))  # Python calls go over a mark's begin
    if not thread["train"] <= flame.get(mark, 0) <= thread["train"] + cut:
        manifest.failures.append(f"{name}: step {number}: the flame has {flame.get(mark)} of a mark of {thread['train']}")


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    place = pathlib.Path(corpus).parent / "cases" / "steps" if corpus else None
    paths = [place / case for case in CASES if place and (place / case).is_file()]
    if not paths:
        print("skipped: no programs that do not block lie beside JVIEW_CORPUS")
        sys.exit(profiles.SKIPPED)
    checked = 0
    with tempfile.TemporaryDirectory() as cache:
        for path in paths:
            raw = Raw(path)
            ask(cache, "list", str(path))
            for number in sorted(raw.marks):
                check_step(path.name, cache, path, raw, number)
                checked += 1
    print("\n".join(manifest.failures))
    print(f"{checked} steps of {len(paths)} programs, {len(manifest.failures)} differ")
    sys.exit(1 if manifest.failures or checked == 0 else 0)


if __name__ == "__main__":
    main()
