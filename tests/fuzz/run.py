#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SECONDS [NAME...]: every fuzz target for SECONDS, two at a time; what each found.
run.py --all HOURS [NAME...]: in pieces of five minutes, always the target that has run least. Minutes are kept in
build/fuzz-minutes.json and corpora where they are, so it goes on another day where it was.

New inputs are kept in build/fuzz-corpus/NAME, crashes in build/fuzz-findings/NAME. A line a target:
name, executions, executions per second, size of the corpus, findings.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARIES = ROOT / "build/fuzz/tests/fuzz"
MINUTES = ROOT / "build/fuzz-minutes.json"
PIECE_S, AT_ONCE = 300, 2


def run(target, seconds):
    name = target.name.removeprefix("fuzz_")
    corpus, findings = ROOT / "build/fuzz-corpus" / name, ROOT / "build/fuzz-findings" / name
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    seeds = ROOT / "tests/fuzz/seeds" / name
    command = [str(target), f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=20", "-print_final_stats=1",
               f"-artifact_prefix={findings}/", "-max_len=262144", str(corpus)] + ([str(seeds)] if seeds.is_dir() else [])
    log = ROOT / f"build/fuzz-{name}.log"
    with open(log, "w") as out:
        code = subprocess.run(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                              env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"}).returncode
    text = log.read_text(errors="replace")
    executions = re.search(r"number_of_executed_units:\s*(\d+)", text)
    rate = re.search(r"average_exec_per_sec:\s*(\d+)", text)
    found = sorted(findings.iterdir())
    print(f"{name:14} {executions.group(1) if executions else '?':>12} executions {rate.group(1) if rate else '?':>7}/s "
          f"{len(list(corpus.iterdir())):6} inputs {len(found):3} findings", flush=True)
    if code != 0:
        print(f"    exit {code}; see {log.relative_to(ROOT)}", flush=True)
    return code


class Ledger:
    """How many minutes each target has run in all."""

    def __init__(self, targets, until):
        self.lock, self.until, self.busy = threading.Lock(), until, set()
        known = json.loads(MINUTES.read_text()) if MINUTES.exists() else {}
        self.minutes = {**known, **{target.name: known.get(target.name, 0) for target in targets}}
        self.targets = {target.name: target for target in targets}

    def take(self):
        with self.lock:
            free = sorted(self.targets.keys() - self.busy, key=lambda name: (self.minutes[name], name))
            if not free or time.monotonic() >= self.until:
                return None
            self.busy.add(free[0])
            return self.targets[free[0]]

    def put(self, target, seconds):
        with self.lock:
            self.busy.remove(target.name)
            self.minutes[target.name] += seconds / 60
            MINUTES.write_text(json.dumps(self.minutes, indent=1, sort_keys=True))


def keep_running(ledger):
    """The worst exit code."""
    code = 0
    while (target := ledger.take()) is not None:
        began = time.monotonic()
        code = run(target, max(1, min(PIECE_S, int(ledger.until - began)))) or code
        ledger.put(target, time.monotonic() - began)
    return code


def run_all(targets, hours):
    ledger = Ledger(targets, time.monotonic() + hours * 3600)
    with concurrent.futures.ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        codes = [one.result() for one in [pool.submit(keep_running, ledger) for _ in range(AT_ONCE)]]
    for name in sorted(ledger.targets):
        print(f"{name.removeprefix('fuzz_'):14} {ledger.minutes[name]:8.1f} minutes in all", flush=True)
    return any(codes)


def main():
    goes_on = sys.argv[1] == "--all"
    amount, names = float(sys.argv[2 if goes_on else 1]), sys.argv[3 if goes_on else 2:]
    targets = sorted(path for path in BINARIES.glob("fuzz_*") if os.access(path, os.X_OK) and path.is_file())
    targets = [path for path in targets if not names or path.name.removeprefix("fuzz_") in names]
    if not targets:
        sys.exit(f"no fuzz targets in {BINARIES}")
    if goes_on:
        sys.exit(run_all(targets, amount))
    with concurrent.futures.ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        codes = list(pool.map(lambda target: run(target, int(amount)), targets))
    sys.exit(any(codes))


if __name__ == "__main__":
    main()
