#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what threads share, with threads that lose their turn at random moments (tests/shims/sleep.c), another way in each
round. $JVIEWD_SCHEDULES is how many rounds (2); in a build with ThreadSanitizer (`./dev threads`) its reports fail the test, too."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SHIM = pathlib.Path(__file__).resolve().parent.parent / "shims/sleep.c"
TESTS = ("base_queue", "base_lost", "base_memory", "trace_sink", "trace_sink_thread", "store_cache", "serve_shared", "serve_prepare",
         "ingest_ingest")
LIMIT_S = 300


def build(folder):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        print("skipped: no compiler for tests/shims/sleep.c")
        sys.exit(77)
    library = pathlib.Path(folder) / "sleep.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-std=gnu17", "-fno-builtin", "-o", library, SHIM, "-ldl"], check=True)
    return library


def run(program, library, seed):
    env = {**os.environ, "LD_PRELOAD": str(library), "SHIM_SEED": str(seed), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0",
           "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"}
    return subprocess.run([program], env=env, capture_output=True, text=True, errors="replace", timeout=LIMIT_S)


def main():
    folder = pathlib.Path(os.environ["JVIEWD_TESTS_BIN"])
    programs = {name: folder / f"test_{name}" for name in TESTS}
    missing = [name for name, program in programs.items() if not program.exists()]
    assert not missing, f"not built in {folder}: {missing}"
    rounds, bad = int(os.environ.get("JVIEWD_SCHEDULES", "2")), 0
    with tempfile.TemporaryDirectory() as place:
        library = build(place)
        for seed in range(1, rounds + 1):
            for name, program in programs.items():
                try:
                    done = run(program, library, seed)
                except subprocess.TimeoutExpired as late:
                    done = subprocess.CompletedProcess(program, "none", "", f"still running after {LIMIT_S} s: {late.output}")
                if done.returncode != 0:
                    bad += 1
                    print(f"not ok {name}, round {seed}: exit {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}", flush=True)
    print(f"{rounds} rounds of {len(programs)} programs, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
