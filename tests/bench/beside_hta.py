#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The critical path of PyTorch's traces as jviewd and as HolisticTraceAnalysis tell it, side by side.

    beside_hta.py --python VENV/bin/python [--steps 2] FILE...      VENV: python3 -m venv VENV; VENV/bin/pip install HolisticTraceAnalysis 'pandas<3'
    beside_hta.py --facts FILE                                       run by VENV/bin/python: what HTA says, as JSON

Both cut a step by its ProfilerStep; where there is none the whole trace is one. HTA joins starts and ends of operators and kernels, and
takes the longest way through them; what lies between two operators on a thread is no time of its path. So its path may be shorter than the
step, while jviewd's is as long as the step. Of each step three figures: how much of it HTA's path holds by kind, jviewd's by kind, and of
the time that both say is work how much both give to the same side (the host or the device) and to a slice of the same name.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

PROGRAM = os.environ.get("JVIEWD") or os.environ.get("JVIEWD_DEV") or str(pathlib.Path(__file__).resolve().parents[2] / "build/release/jviewd")
KINDS = {"critical_path_kernel_launch_delay": "launch delay", "critical_path_kernel_kernel_delay": "between kernels"}


def facts(path, steps):
    """HTA's path of the first steps of a file: [{step: its number or null, path: [[kind, start_us, end_us, name]]}], or why there is none."""
    from hta.analyzers.critical_path_analysis import CriticalPathAnalysis
    from hta.common.trace import Trace
    marks = sorted((event["ts"], int(event["name"].partition("#")[2])) for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
                   if event.get("ph") == "X" and str(event.get("name")).startswith("ProfilerStep#") and event.get("cat") != "gpu_user_annotation")
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "trace.json.gz"  # HTA writes beside what it reads
        copy.write_bytes(path.read_bytes())
        trace = Trace(trace_files={0: str(copy)}, trace_dir=scratch)
        trace.parse_traces()
        for number in range(min(steps, len(marks)) if marks else 1):
            try:
                graph, found = CriticalPathAnalysis.critical_path_analysis(trace, 0, "ProfilerStep" if marks else "", number)
                told = walked(graph, trace) if found else {"refused": "no path"}
            except (AssertionError, IndexError, KeyError, TypeError, ValueError) as fault:
                told = {"refused": f"{type(fault).__name__}: {str(fault)[:160]}"}
            out.append({"step": marks[number][1] if marks else None, **told})
    return out


def walked(graph, trace):
    events, names, path = trace.get_trace(0), trace.symbol_table.get_sym_table(), []
    for source, target in zip(graph.critical_path_nodes, graph.critical_path_nodes[1:]):
        edge, first, last = graph.edges[source, target]["object"], graph.node_list[source], graph.node_list[target]
        owner = graph.edge_to_event_map.get((source, target))
        if not edge.weight:
            continue
        event = events.loc[owner] if owner is not None and owner in events.index else None
        side = "host" if event is not None and event["stream"] < 0 else "device"
        path.append([KINDS.get(edge.type.value, side), float(first.ts), float(last.ts), names[int(event["name"])] if event is not None else None])
    return {"path": path}


def ask(path, number, places):
    words = [] if number is None else ["--step", str(number)]
    done = subprocess.run([PROGRAM, "why", str(path), *words, "--limit", "10000", "--format", "json", *places], capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else {"refused": done.stderr.strip()}


def streams_of(path, places):
    words = "select id from tracks where kind = 'stream'"
    done = subprocess.run([PROGRAM, "sql", str(path), words, "--format", "json", *places], capture_output=True, text=True, timeout=300, check=True)
    return {row["id"] for row in json.loads(done.stdout)["rows"]}


def zero_us(path):
    return min(event["ts"] for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"] if event.get("ph") in ("X", "i", "B") and "ts" in event)


def sums(pieces):
    told = collections.Counter()
    for kind, start, end, _ in pieces:
        told[kind] += end - start
    return {kind: round(value) for kind, value in told.most_common()}


def common(one, other):
    """(time of both, of the same side, of the same name): both in order of time."""
    both = side = name = at = 0
    for kind, start, end, text in one:
        while at < len(other) and other[at][2] <= start:
            at += 1
        for there in other[at:]:
            if there[1] >= end:
                break
            length = max(0, min(end, there[2]) - max(start, there[1]))
            if {kind, there[0]} <= {"host", "device"}:
                both, side, name = both + length, side + length * (kind == there[0]), name + length * (text == there[3])
    return both, side, name


def compare(path, theirs, places):
    number = theirs["step"]
    ours = ask(path, number, places)
    for who, answer in (("HTA", theirs), ("jviewd", ours)):
        if "refused" in answer:
            print(f"  step {number}: {who}: {answer['refused']}")
    if "refused" in theirs or "refused" in ours:
        return
    zero, streams = zero_us(path), streams_of(path, places)
    pieces = [[piece["kind"] if piece["kind"] in ("wait", "unexplained", "launch", "scheduling") else "device" if piece["track"] in streams else "host",
               zero + piece["start_ps"] / 1e6, zero + (piece["start_ps"] + piece["dur_ps"]) / 1e6, piece["name"]] for piece in ours["pieces"]]
    both, side, name = common(theirs["path"], pieces)
    share = f"{both:.0f} us are work in both, {side / both:.1%} on the same side, {name / both:.1%} of the same name" if both else "nothing in common"
    print(f"  step {number}: HTA {sums(theirs['path'])} us; jviewd {sums(pieces)} us; {share}")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--python")
    words.add_argument("--steps", type=int, default=2)
    words.add_argument("--facts", action="store_true", help=argparse.SUPPRESS)
    words.add_argument("files", nargs="+", type=pathlib.Path)
    asked = words.parse_args()
    if asked.facts:
        warnings.simplefilter("ignore")
        print(json.dumps(facts(asked.files[0], asked.steps)))
        return
    with tempfile.TemporaryDirectory() as cache:
        for path in asked.files:
            done = subprocess.run([asked.python, __file__, "--facts", "--steps", str(asked.steps), str(path)], capture_output=True, text=True, timeout=900)
            print(f"{path}:" + (f" HTA ends with {done.returncode}: {done.stderr.strip()[-200:]}" if done.returncode else ""), flush=True)
            told = json.loads(done.stdout) if done.returncode == 0 else []
            for theirs in told:
                compare(path, theirs, ["--cache-dir", cache])


if __name__ == "__main__":
    sys.exit(main())
