#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well a step is replayed when nothing is changed, and how much of its critical path no edge explains: a line a family of profiles.

    replay.py [--json FILE] [DIR...]      of $JVIEW_CORPUS, captures/ and cases/ beside it, and tests/samples/, or of the directories named

    error         |replayed - recorded| of a step, as a share of what was recorded: median, 95th percentile, worst
    unexplained   what of all paths is "unexplained", as a share of all steps
    sums          pieces of a step that do not add up to it, to the picosecond: how many of the steps that were looked at
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))

import profiles  # noqa: E402

GOALS = {"median": 0.01, "p95": 0.03, "unexplained": 0.10}
STEPS_LOOKED_AT = 6  # of a run, for their pieces


def family(server, run):
    """What recorded it: the format, and for XPlane what its devices are."""
    if "xplane" not in run["formats"]:
        return ", ".join(sorted(run["formats"])) or "unknown"
    names = " ".join(track["name"] for track in server.get("api/tracks", run=run["id"])[1]["tracks"])
    return "XPlane, " + next((kind for kind in ("TPU", "GPU") if f"/device:{kind}" in names), "CPU")


def whatif(server, run):
    request = urllib.request.Request(f"{server.url}api/whatif", json.dumps({"run": run["id"]}).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=300) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as failure:
        return {"refused": failure.read().decode()[:200]}


class Family:
    def __init__(self):
        self.runs, self.errors, self.total_ps, self.unexplained_ps, self.looked, self.wrong_sums = 0, [], 0, 0, 0, 0
        self.worst, self.refused = (0, ""), []

    def hear(self, server, run, name):
        answer = whatif(server, run)
        if "refused" in answer:
            self.refused.append(f"{name}: {answer['refused']}")
            return
        self.runs += 1
        for row in answer["steps"]:
            if row["recorded_ps"]:
                self.errors.append(abs(row["replayed_ps"] - row["recorded_ps"]) / row["recorded_ps"])
                self.worst = max(self.worst, (self.errors[-1], f"{name}, step {row['step']}"))
        every = max(1, len(answer["steps"]) // STEPS_LOOKED_AT)
        for row in answer["steps"][::every][:STEPS_LOOKED_AT]:
            self.look(server, run, name, row["step"])

    def look(self, server, run, name, number):
        asked = {"run": run["id"], "limit": 10000} | ({} if number is None else {"step": number})
        status, answer = server.get("api/critical", **asked)
        pieces, cursor = answer.get("pieces", []), answer.get("next")
        while status == 200 and cursor:
            status, more = server.get("api/critical", **asked, cursor=cursor)
            pieces, cursor = pieces + more.get("pieces", []), more.get("next")
        if status != 200:
            self.refused.append(f"{name}, step {number}: {answer}"[:300])
            return
        self.looked += 1
        self.total_ps += answer["step"]["dur_ps"]
        self.unexplained_ps += sum(piece["dur_ps"] for piece in pieces if piece["kind"] == "unexplained")
        self.wrong_sums += sum(piece["dur_ps"] for piece in pieces) != answer["step"]["dur_ps"]

    def told(self):
        errors = sorted(self.errors)
        if not errors:
            return {"runs": self.runs, "steps": 0, "refused": len(self.refused)}
        return {"runs": self.runs, "steps": len(errors), "median": statistics.median(errors), "p95": errors[min(len(errors) - 1, len(errors) * 95 // 100)],
                "worst": self.worst[0], "worst_at": self.worst[1], "unexplained": self.unexplained_ps / self.total_ps if self.total_ps else None,
                "wrong_sums": self.wrong_sums, "looked": self.looked, "refused": len(self.refused)}


def line(name, told):
    if not told["steps"]:
        return f"{name:28} {told['runs']:5} runs, no steps, {told['refused']} refused"
    share = "-" if told["unexplained"] is None else f"{told['unexplained']:.1%}"
    good = all(told[key] is None or told[key] <= goal for key, goal in GOALS.items()) and not told["wrong_sums"]
    return (f"{name:28} {told['runs']:5} {told['steps']:6} {told['median']:8.2%} {told['p95']:8.2%} {told['worst']:8.2%} {share:>11} "
            f"{told['wrong_sums']:3} of {told['looked']:4} {told['refused']:7}  {'ok' if good else 'short'}   {told['worst_at']}")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--json", type=pathlib.Path)
    words.add_argument("--refused", action="store_true", help="print what gave no answer, too")
    words.add_argument("directories", nargs="*", type=pathlib.Path)
    asked = words.parse_args()
    roots = {path.name: path for path in asked.directories} or {**profiles.roots(cases=True), "samples": HERE.parent / "samples"}
    families, everything = collections.defaultdict(Family), Family()
    for root, path in roots.items():
        with profiles.served(path) as server:
            for run in server.runs():
                one = families[family(server, run)]
                known = len(one.errors)
                one.hear(server, run, f"{root}/{run['dir']}")
                everything.errors += one.errors[known:]
    print(f"{'family':28} {'runs':>5} {'steps':>6} {'median':>8} {'p95':>8} {'worst':>8} {'unexplained':>11} {'wrong sums':>11} {'refused':>7}")
    table = {name: one.told() for name, one in sorted(families.items())}
    print("\n".join(line(name, told) for name, told in table.items()))
    if asked.refused:
        print(*(text for one in families.values() for text in one.refused), sep="\n")
    print(json.dumps({"all": everything.told()}))
    if asked.json:
        asked.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
