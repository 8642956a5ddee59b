#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `jviewd whatif` predicts of real JAX programs against what a change of the program did: pairs before and after (whatif_table.py).

    whatif_pairs.py [--keep DIR | --use DIR] [--json FILE] [PAIR...]     records the pairs (all), or judges those of an earlier --keep

Each pair is a process of its own on 1, 4 or 8 CPU devices (whatif_programs.py). It is profiled before the change, three times; what the
change does is measured by the program's own clock, before and after by turns. The machine is not equally fast in all of it, so a change of
work is compared as a share of the step, a change of waiting as time.

    recorded   the step's time in the profile, median of three      noise    of the measured change: the error of its median, as a share of it
    measured   recorded, and the change that was measured           error    predicted less measured, as a share of the measured change
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import packages  # noqa: E402
from whatif_table import PAIRS  # noqa: E402

PROGRAM = os.environ.get("JVIEWD") or os.environ.get("JVIEWD_DEV") or str(HERE.parents[1] / "build/release/jviewd")
GOAL = 0.10  # of the change
CLEAR = 3  # a change that is so many times its noise is there


def record(name, devices, folder):
    """Runs a pair's program; false where it failed, which is told."""
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    done = subprocess.run([sys.executable, str(HERE / "whatif_programs.py"), name, str(folder)], env=env, check=False, capture_output=True, text=True, timeout=600)
    if not (folder / "truth.json").is_file():
        print(f"FAILED     {name}: its program ended with {done.returncode}: {done.stderr[-1500:]}")
        return False
    return True


def middle(truth, side):
    """Of each round what a step took: of a loop that runs ahead the mean, for its single steps take turns."""
    return [(statistics.median if truth["blocks"] else statistics.fmean)(times) for times in truth["rounds"][side]]


def measured(truth):
    """(the change, its noise): a share of the step, or seconds."""
    before, after = middle(truth, "before"), middle(truth, "after")
    changes = [late / first - 1 if truth["by"] == "share" else late - first for first, late in zip(before, after)]
    low, _, high = statistics.quantiles(changes, n=4)
    return statistics.median(changes), 1.25 * (high - low) / 1.35 / len(changes) ** 0.5


def question(truth):
    """The words of the question, as the table has them now. What the changed part takes is known by measuring it alone."""
    words = next(one["ask"] for one in PAIRS if one["name"] == truth["name"])
    ratio = statistics.median(truth["part_shares"]) if "part_shares" in truth else None
    return [word.replace("{ratio}", f"{ratio:.4f}") if ratio else word for word in words]


def asked_of(profile, words, places):
    done = subprocess.run([PROGRAM, "whatif", str(profile), *words, "--format", "json", *places], check=False, capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout) if done.returncode == 0 else {"refused": done.stderr.strip()}


class Verdict:
    """One pair: what was measured, and what jviewd says."""

    def __init__(self, folder, places):
        truth = json.loads((folder / "truth.json").read_text())
        self.name, self.change, self.noise = truth["name"], *measured(truth)
        self.words = question(truth)
        answers = [asked_of(folder / name, self.words, places) for name in truth["profiles"]]
        self.refused = next((one["refused"] for one in answers if "refused" in one), None)
        clock = [(statistics.median if truth["blocks"] else statistics.fmean)(times) for times in truth["profiles"].values()]
        self.recorded = statistics.median(clock)
        if self.refused is None:
            self.hear(answers, clock)
        if truth["by"] == "time":
            self.change, self.noise = self.change / self.recorded, self.noise / self.recorded

    def hear(self, answers, clock):
        said = [one["recorded_ps"] / 1e12 for one in answers]
        self.recorded = statistics.median(said)
        self.predicted = statistics.median(one["predicted_ps"] / 1e12 / step - 1 for one, step in zip(answers, said))
        self.replayed = statistics.median(abs(one["replayed_ps"] / one["recorded_ps"] - 1) for one in answers)
        self.clock = statistics.median(step / own - 1 for step, own in zip(said, clock))
        self.bound = answers[0].get("bound_by")

    @property
    def clear(self):
        return abs(self.change) >= CLEAR * self.noise

    @property
    def error(self):
        return (self.predicted - self.change) / abs(self.change)

    @property
    def right_sign(self):
        return self.predicted * self.change > 0

    def row(self):
        start = f"{self.name:32} {self.recorded * 1e3:8.2f} {self.recorded * (1 + self.change) * 1e3:8.2f}"
        noise = f"{self.noise / abs(self.change):6.1%}" if self.change else "     -"
        if self.refused is not None:
            return f"{start} {'-':>8} {'-':>8} {noise}  no answer: {self.refused.splitlines()[-1] if self.refused else ''}"
        verdict = "below its noise" if not self.clear else "WRONG SIGN" if not self.right_sign else "ok" if abs(self.error) <= GOAL else "short"
        return f"{start} {self.recorded * (1 + self.predicted) * 1e3:8.2f} {self.error:+8.1%} {noise}  {verdict:15} {' '.join(self.words)}"


def has_verb():
    return subprocess.run([PROGRAM, "help", "whatif"], check=False, capture_output=True).returncode == 0


def judge(folders, places):
    """Prints a line a pair, then what they are together; the verdicts."""
    print(f"{'pair':32} {'recorded':>8} {'measured':>8} {'predicted':>8}   error  noise  (ms)")
    verdicts = []
    for folder in folders:
        verdicts.append(Verdict(folder, places))
        print(verdicts[-1].row(), flush=True)
    return verdicts


def summary(verdicts):
    heard = [one for one in verdicts if one.refused is None and one.clear]
    told = {"pairs": len(verdicts), "clear": len(heard), "below_noise": sum(not one.clear for one in verdicts),
            "no_answer": sum(one.refused is not None for one in verdicts), "wrong_sign": sum(not one.right_sign for one in heard)}
    if heard:
        errors = sorted(abs(one.error) for one in heard)
        worst = max(heard, key=lambda one: abs(one.error))
        told |= {"median_error": statistics.median(errors), "worst_error": errors[-1], "worst": worst.name,
                 "within_goal": sum(error <= GOAL for error in errors), "replayed_without_change": statistics.median(one.replayed for one in heard),
                 "recorded_against_clock": statistics.median(abs(one.clock) for one in heard)}
    return told


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--keep", type=pathlib.Path)
    words.add_argument("--use", type=pathlib.Path)
    words.add_argument("--json", type=pathlib.Path)
    words.add_argument("pairs", nargs="*")
    asked = words.parse_args()
    chosen = [one for one in PAIRS if not asked.pairs or one["name"] in asked.pairs]
    with tempfile.TemporaryDirectory() as scratch:
        home = asked.use or asked.keep or pathlib.Path(scratch) / "recordings"
        if not asked.use:
            packages.need("jax")
            chosen = [one for one in chosen if record(one["name"], one["devices"], home / one["name"])]
        folders = [home / one["name"] for one in chosen if (home / one["name"] / "truth.json").is_file()]
        if not has_verb():
            print(f"{PROGRAM} has no verb whatif: what was measured stands alone")
        verdicts = judge(folders, ["--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"])
    told = summary(verdicts)
    print(json.dumps(told))
    if asked.json:
        rows = [{key: value for key, value in vars(one).items()} | ({"error": one.error} if one.refused is None else {}) for one in verdicts]
        asked.json.write_text(json.dumps({"summary": told, "pairs": rows}, indent=1) + "\n")
    sys.exit(bool(told["wrong_sign"]) or told.get("median_error", 0) > GOAL)


if __name__ == "__main__":
    main()
