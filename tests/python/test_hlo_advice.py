#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which faults of JAX programs the findings tell (hlo_programs.py): of each family one program here, all with --all.

    test_hlo_advice.py [--all] [--keep DIR] [--use DIR] [NAME...]    keep the recordings; judge those of an earlier --keep

A faulty program must have the finding of its rule, and its clean twin none of any rule about faults. Prints which
part of the steps each finding says that it wins, and by how much the twin's fastest step is shorter.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import packages

if __name__ == "__main__":
    packages.need("jax")

import hlo_programs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("JVIEWD") or os.environ.get("JVIEWD_DEV") or str(HERE.parents[1] / "build/release/jviewd")
RULES = {rule for _, rule, _, _ in hlo_programs.FAMILIES.values()}
RECALL = 0.9


def make(home, names):
    for devices in (1, 4):
        chosen = [name for name in hlo_programs.names(devices) if name in names]
        env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}" if devices > 1 else ""}
        if chosen:
            done = subprocess.run([sys.executable, HERE / "hlo_programs.py", home, str(devices), *chosen], env=env, check=False,
                                  capture_output=True, text=True, timeout=800)
            if done.returncode:
                sys.exit(f"the programs on {devices} devices ended with {done.returncode}:\n{done.stderr[-4000:]}")


def findings(folder, places):
    command = [PROGRAM, "findings", str(folder), "--format", "json", "--limit", "100", *places]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return {row["rule"]: row for row in reversed(json.loads(done.stdout)["rows"]) if row["rule"] in RULES}


def judge(folder, places):
    """(told, what the twin was told in vain)"""
    truth = {twin: json.loads((folder / twin / "truth.json").read_text()) for twin in ("faulty", "clean")}
    told, clean = findings(folder / "faulty", places), findings(folder / "clean", places)
    rule = truth["faulty"]["rule"]
    row, fastest = told.get(rule), truth["faulty"]["fastest_s"]
    shorter = 1 - truth["clean"]["fastest_s"] / fastest
    says = "NOT TOLD" if row is None else "wins unknown" if row["win_share"] is None else f"wins up to {row['win_share']:.0%}"
    print(f"{folder.name:<14}{rule:<20}{fastest * 1e3:>9.3f} ms{says:>20}{shorter:>+8.0%} measured")
    for other, of in clean.items():
        print(f"  IN VAIN {other}: {of['text']}")
    return row is not None, list(clean)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--all", action="store_true")
    words.add_argument("--keep", type=pathlib.Path)
    words.add_argument("--use", type=pathlib.Path)
    words.add_argument("names", nargs="*")
    asked = words.parse_args()
    every = hlo_programs.names(1) + hlo_programs.names(4)
    chosen = asked.names or (every if asked.all else [name for name in every if name.endswith("_0")])
    with tempfile.TemporaryDirectory() as scratch:
        home = asked.use or asked.keep or pathlib.Path(scratch) / "recordings"
        places = ["--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"]
        if not asked.use:
            make(home, chosen)
        verdicts = {name: judge(home / name, places) for name in chosen if (home / name).exists()}
    told, vain = sum(one for one, _ in verdicts.values()), sum(bool(other) for _, other in verdicts.values())
    print(f"{len(verdicts)} programs: {told} faults told, {vain} clean twins with findings")
    sys.exit(not verdicts or told < RECALL * len(verdicts) or vain > 0)


if __name__ == "__main__":
    main()
