#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sample that waits for no step, against tests/samples/truth.json: what JAX's own reader finds in the file, and the program's
own clock. Its annotations last a hundredth of a step, so whoever takes them for steps is wrong by that much."""
import json
import pathlib
import subprocess
import sys
import tempfile

import manifest
import profiles

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "samples"
CLOCK_TOLERANCE = 0.03  # the clock also holds what came before the first dispatch and after the last result


def ask(cache, verb, *name):
    done = subprocess.run([profiles.program(), verb, *name, "--profile-dir", str(SAMPLES), "--format", "json", "--cache-dir", cache],
                          capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{verb} {name}: {done.stderr}")
    return json.loads(done.stdout)


def check(cache, name, facts):
    equal = lambda what, got, wanted: manifest.equal(name, what, got, wanted)  # noqa: E731
    table = ask(cache, "steps", name)
    rows, steps = table["rows"], facts["steps"]
    equal("steps", [row["step"] for row in rows], [step["step"] for step in steps])
    equal("spans", [row["span_ps"] for row in rows], [step["span_ns"] * 1000 for step in steps])
    mean_ms = table["total_ps"] / len(steps) / 1e9
    if abs(mean_ms - facts["step_ms_by_clock"]) > CLOCK_TOLERANCE * facts["step_ms_by_clock"]:
        equal("a step in ms", mean_ms, facts["step_ms_by_clock"])
    equal("the host is ahead", rows[-1]["ahead"], len(steps))
    equal("events", {run["name"]: run["slice_count"] for run in ask(cache, "list")["runs"]}[name], facts["events"])
    idle = {part["kind"]: part for part in ask(cache, "overview", name)["breakdown"]}["idle"]["share"]
    if idle > 0.1:
        equal("idle", idle, "less than a tenth: the device had its next step at every time")


def main():
    with tempfile.TemporaryDirectory() as cache:
        for name, facts in json.loads((SAMPLES / "truth.json").read_text()).items():
            check(cache, name, facts)
    for failure in manifest.failures:
        print(failure)
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
