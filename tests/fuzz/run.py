#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SECONDS [NAME...]: every fuzz target for SECONDS, two at a time; what each found.

New inputs are kept in build/fuzz-corpus/NAME, crashes in build/fuzz-findings/NAME. A line a target:
name, executions, executions per second, size of the corpus, findings.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARIES = ROOT / "build/fuzz/tests/fuzz"


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


def main():
    seconds, names = int(sys.argv[1]), sys.argv[2:]
    targets = sorted(path for path in BINARIES.glob("fuzz_*") if os.access(path, os.X_OK) and path.is_file())
    targets = [path for path in targets if not names or path.name.removeprefix("fuzz_") in names]
    if not targets:
        sys.exit(f"no fuzz targets in {BINARIES}")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        codes = list(pool.map(lambda target: run(target, seconds), targets))
    sys.exit(any(codes))


if __name__ == "__main__":
    main()
