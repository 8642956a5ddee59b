#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`jviewd why` and `jviewd whatif` on profiles whose dependency graph is known by construction (made_cases.py): the critical path of each
step, slice by slice, and the step's time after a change, to the nanosecond, against plain longest paths (made_graph.py)."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import profiles
from made_cases import CASES

# What else a node of ours may be called: a transfer is seen at its two ends, too.
ALIASES = {"async-copy": {"copy-start.1", "copy-done.1"}, "step": {"PjitFunction(step)"}}
SLACK = "select name, start_ps, slack_ps from slack where step = {}"
# What jviewd says otherwise, and why: printed, never passed over in silence. Case: (words of the failure, reason)
KNOWN = {
    "cpu_input_thread": ("load_batch", "a wait for input in an annotation is not led to the thread that loads"),
}
failures = []


def check(what, right, evidence):
    if not right:
        failures.append(f"{what}: {evidence}")
    return right


class Asked:
    def __init__(self, folder, places):
        self.folder, self.places = folder, places

    def __call__(self, verb, *words):
        done = subprocess.run([profiles.program(), verb, str(self.folder), *words, "--format", "json", *self.places], check=False, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise ValueError(f"{verb} {' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout)


def whole(what, answer, zero, graph, end):
    """The pieces follow each other without a gap from the step's begin to its end."""
    pieces, step = answer["pieces"], answer["step"]
    wanted = ((graph.begin - zero) * 1000, (end - graph.begin) * 1000)
    check(f"{what}: step", step["dur_ps"] == wanted[1], f"{step['dur_ps']}, not {wanted[1]}")
    now = wanted[0]
    for piece in pieces:
        if not check(f"{what}: pieces", piece["start_ps"] == now and piece["dur_ps"] > 0, f"{piece['name']} begins at {piece['start_ps']}, not {now}"):
            return
        now += piece["dur_ps"]
    check(f"{what}: pieces", now == sum(wanted), f"end at {now}, not {sum(wanted)}")


def named(pieces, start, end, names):
    """How much of this stretch has one of these names."""
    return sum(max(0, min(end, one["start_ps"] + one["dur_ps"]) - max(start, one["start_ps"])) for one in pieces if one["name"] in names)


def same_path(what, pieces, zero, graph):
    """Each node of the path is on theirs for as long; a delay is nobody's work."""
    for start, end, node in graph.path():
        start, end = (start - zero) * 1000, (end - zero) * 1000
        if node:
            got = named(pieces, start, end, {node.name} | ALIASES.get(node.name, set()))
            check(f"{what}: {node.name}", got == end - start, f"on the path for {got} ps of {end - start} from {start} on")
        else:
            work = {one.name for one in graph.nodes if one.facts.get("category") not in ("cuda_runtime", None) or one.dur > 20_000}
            got = named(pieces, start, end, work)
            check(f"{what}: the delay at {start}", got == 0, f"{got} ps of it are called work")


def same_slack(what, rows, zero, graph):
    """How much later each node might end. Waits and delays have none of their own."""
    told, wanted = collections.defaultdict(list), collections.defaultdict(list)
    for row in rows:
        told[row["name"], row["start_ps"]].append(row["slack_ps"])
    for node, slack in graph.slack().items():
        if node.dur:
            name = next((name for name in (node.name, *ALIASES.get(node.name, ())) if (name, (node.start - zero) * 1000) in told), node.name)
            wanted[name, (node.start - zero) * 1000].append(slack * 1000)
    for key, slacks in wanted.items():
        check(f"{what}: slack of {key[0]} at {key[1]}", sorted(told[key]) == sorted(slacks), f"{sorted(told[key])}, not {sorted(slacks)}")


def check_case(name, make, home, places, verbs):
    graphs, write, questions = make()
    folder = home / name
    folder.mkdir()
    write(folder)
    ask, zero = Asked(folder, places), graphs[0].begin
    for number, graph in enumerate(graphs if "why" in verbs else []):
        answer = ask("why", "--step", str(number), "--limit", "10000")
        whole(f"{name}, step {number}", answer, zero, graph, graph.run())
        same_path(f"{name}, step {number}", answer["pieces"], zero, graph)
        same_slack(f"{name}, step {number}", ask("sql", SLACK.format(number))["rows"], zero, graph)
    for words, scale in [([], lambda node: 1), *questions] if "whatif" in verbs else []:
        answer = ask("whatif", *words)
        check_steps(f"{name}: whatif {' '.join(words)}", answer, graphs, scale)


def check_steps(what, answer, graphs, scale):
    wanted = {number: (graph.run(scale) - graph.begin) * 1000 for number, graph in enumerate(graphs)}
    got = {row["step"]: row["predicted_ps"] for row in answer["steps"]}
    check(what, got == wanted, f"{got}, not {wanted}")
    for graph in graphs:
        graph.run()


def known(text):
    """The reason of a failure that is known, else None."""
    words, reason = KNOWN.get(text.split(",")[0].split(":")[0], ("\n", None))
    return reason if words in text else None


def main():
    verbs = [verb for verb in ("why", "whatif") if not subprocess.run([profiles.program(), "help", verb], check=False, capture_output=True).returncode]
    if missing := {"why", "whatif"} - set(verbs):
        print(f"skipped: jviewd has no verb {' nor '.join(sorted(missing))}")
    if not verbs:
        return profiles.SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        places = ["--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"]
        for name, make in CASES.items():
            try:
                check_case(name, make, pathlib.Path(scratch), places, verbs)
            except (KeyError, TypeError, ValueError) as fault:
                failures.append(f"{name}: {fault!r}")
    unknown = [text for text in failures if not known(text)]
    print("\n".join([*(f"known: {text}: {known(text)}" for text in failures if known(text)), *unknown]))
    print(f"{len(CASES)} made profiles, {len(failures)} differences, {len(failures) - len(unknown)} of them known")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
