#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jviewd says of steps against the clocks of real JAX programs (step_programs/), all made and recorded here.

    test_step_truth.py [--keep DIR] [--use DIR] [NAME...]    keep the recordings; judge those of an earlier --keep
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import packages

if __name__ == "__main__":
    packages.need("jax")

from step_judge import judge  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("JVIEWD") or os.environ.get("JVIEWD_DEV") or str(HERE.parents[1] / "build/release/jviewd")
FILES = sorted(path.stem for path in (HERE / "step_programs").glob("*.py") if path.stem != "kit")
MORE_DEVICES = {"devices": "--xla_force_host_platform_device_count=8", "odd": "--xla_force_host_platform_device_count=4"}

# What jviewd says otherwise, and why: printed, never passed over in silence. FILE/NAME: {check: reason}
KNOWN = {}


def make(file, home, names):
    """Runs the programs of a file, or those named, each below home/FILE/NAME."""
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": MORE_DEVICES.get(file, "")}
    done = subprocess.run([sys.executable, str(HERE / "step_programs" / f"{file}.py"), str(home / file), *names],
                          env=env, check=False, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"{file} ended with {done.returncode}:\n{done.stderr[-4000:]}")


class Asked:
    """jviewd, asked about one recording."""

    def __init__(self, folder, places):
        self.folder, self.places = folder, places

    def __call__(self, verb, *words):
        command = [PROGRAM, verb, str(self.folder), *words, "--format", "json", *self.places]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return {"rows": [], "refused": done.stderr}
        return json.loads(done.stdout)


def judged(folder, places):
    """(name, rows of judge) of one recording."""
    truth = json.loads((folder / "truth.json").read_text())
    name = f"{folder.parent.name}/{folder.name}"
    try:
        return name, judge(Asked(folder, places), truth)
    except (KeyError, TypeError, ValueError, subprocess.TimeoutExpired) as fault:
        return name, [("answers", False, repr(fault))]


def unknown(name, verdicts):
    return [what for what, right, _ in verdicts if not right and what not in KNOWN.get(name, {})]


def tell(name, verdicts, quiet):
    """Prints what is wrong; how many faults are not known."""
    known = KNOWN.get(name, {})
    for what, right, evidence in verdicts:
        if right and what in known:
            print(f"right here  {name}: {what}: {evidence}; listed as known: {known[what]}")
        elif not right and what in known:
            print(f"known       {name}: {what}: {evidence}: {known[what]}")
        elif not right:
            print(f"WRONG       {name}: {what}: {evidence}")
        elif not quiet:
            print(f"right       {name}: {what}: {evidence}")
    return len(unknown(name, verdicts))


def judge_all(home, places, chosen=()):
    folders = [path.parent for path in sorted(home.glob("*/*/truth.json"))]
    if chosen:
        folders = [path for path in folders if any(file == path.parent.name and name in ("", path.name) for file, _, name in chosen)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(pool.map(lambda folder: judged(folder, places), folders))


TAKES_MORE = 3
STRANGE = 6  # programs: so few may have met a machine that was busy in every take; a rule that is wrong is wrong in tens


def once_more(answers, home, places):
    """What went wrong is recorded again: other programs on the machine may have come between a step and its clock. What is wrong in
    each of so many takes is a fault."""
    wrong = {}
    for name, verdicts in answers.items():
        faults = unknown(name, verdicts)
        if faults:
            print(*(f"once more   {name}: {what}: {evidence}" for what, _, evidence in verdicts if what in faults), sep="\n")
            wrong.setdefault(name.split("/")[0], []).append(name.split("/")[1])
    for file, names in wrong.items():
        make(file, home, names)
    return answers | judge_all(home, places)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--keep", type=pathlib.Path)
    words.add_argument("--use", type=pathlib.Path)
    words.add_argument("--all", action="store_true", help="print what is right, too")
    words.add_argument("names", nargs="*", help="FILE or FILE/NAME")
    asked = words.parse_args()
    chosen = [name.partition("/") for name in asked.names]
    with tempfile.TemporaryDirectory() as scratch:
        home = asked.use or asked.keep or pathlib.Path(scratch) / "recordings"
        places = ["--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"]
        for file in [] if asked.use else FILES:
            if not chosen or any(first == file for first, _, _ in chosen):
                make(file, home, [last for first, _, last in chosen if first == file and last])
        answers = judge_all(home, places, chosen)
        for take in range(0 if asked.use else TAKES_MORE):
            answers = once_more(answers, pathlib.Path(scratch) / f"again_{take}", places)
    faults = sum(tell(name, verdicts, not asked.all) for name, verdicts in answers.items())
    checks = sum(len(verdicts) for verdicts in answers.values())
    programs = sum(bool(unknown(name, verdicts)) for name, verdicts in answers.items())
    print(f"{len(answers)} programs, {checks} checks, {faults} wrong, in {programs} programs")
    sys.exit(programs > STRANGE)


if __name__ == "__main__":
    main()
