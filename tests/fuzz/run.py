#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SECONDS [NAME...]: every fuzz target for SECONDS, two at a time; what each found.
run.py --all HOURS [NAME...]: in pieces of five minutes, always the target that has run least; goes on another day where it was.
run.py --hours: how long each has run so far.
run.py --minimize [NAME...]: of all inputs that were found, the few and short ones that reach what the seeds do not become seeds.
run.py --afl SECONDS [NAME...]: the same targets by AFL++; xspace, trace_json and request unless others are named.

Inputs, findings, logs and hours are kept outside of the sources: in $JVIEWD_FUZZ_DIR, else in jviewd-fuzz below $XDG_STATE_HOME or
~/.local/state. Hours are of CPU. A line a target: name, executions, their rate, inputs, findings, hours so far.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STATE = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
PLACE = pathlib.Path(os.environ.get("JVIEWD_FUZZ_DIR") or os.path.join(STATE, "jviewd-fuzz"))
SEEDS, WORDS = ROOT / "tests/fuzz/seeds", ROOT / "tests/fuzz/words"
PIECE_S, AT_ONCE = 300, 2
INPUT_BYTES_MAX, SEED_BYTES_MAX, SEEDS_MAX = 262144, 1024, 60
AFL_TARGETS = ("xspace", "trace_json", "request")
UBSAN = {"UBSAN_OPTIONS": "print_stacktrace=1"}


def binaries(preset, names):
    folder = ROOT / "build" / preset / "tests/fuzz"
    found = {path.name.removeprefix("fuzz_"): path for path in sorted(folder.glob("fuzz_*")) if path.is_file() and os.access(path, os.X_OK)}
    found = {name: path for name, path in found.items() if not names or name in names}
    if not found:
        sys.exit(f"no fuzz targets in {folder}")
    return found


class Ledger:
    """CPU seconds of each target in all, and whose turn it is."""

    def __init__(self, names):
        self.lock, self.busy, self.path = threading.Lock(), set(), PLACE / "seconds.json"
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.names, self.seconds = names, {**dict.fromkeys(names, 0), **known}

    def add(self, name, seconds):
        with self.lock:
            self.busy.discard(name)
            self.seconds[name] += seconds
            PLACE.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.seconds, indent=1, sort_keys=True))

    def take(self):
        with self.lock:
            free = sorted((name for name in self.names if name not in self.busy), key=lambda name: (self.seconds[name], name))
            if not free:
                return None
            self.busy.add(free[0])
            return free[0]

    def hours(self, name):
        return self.seconds[name] / 3600


def cpu_of(command, log, env):
    """(exit code, CPU seconds of it and its children)"""
    with open(log, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env={**os.environ, **env})
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def run(name, target, seconds, ledger):
    corpus, findings = PLACE / "corpus" / name, PLACE / "findings" / name
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    words = WORDS / f"{name}.dict"
    command = [str(target), f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=20", "-print_final_stats=1",
               f"-artifact_prefix={findings}/", f"-max_len={INPUT_BYTES_MAX}", *([f"-dict={words}"] if words.exists() else []),
               str(corpus), *([str(SEEDS / name)] if (SEEDS / name).is_dir() else [])]
    log = PLACE / f"{name}.log"
    code, used = cpu_of(command, log, UBSAN)
    ledger.add(name, used)
    text = log.read_text(errors="replace")
    executions = re.search(r"number_of_executed_units:\s*(\d+)", text)
    rate = re.search(r"average_exec_per_sec:\s*(\d+)", text)
    print(f"{name:14} {executions.group(1) if executions else '?':>12} executions {rate.group(1) if rate else '?':>7}/s "
          f"{len(list(corpus.iterdir())):6} inputs {len(list(findings.iterdir())):3} findings {ledger.hours(name):7.3f} CPU hours in all", flush=True)
    if code != 0:
        print(f"    exit {code}; see {log}", flush=True)
    return code


def keep_running(targets, ledger, until):
    """The worst exit code."""
    code = 0
    while time.monotonic() < until and (name := ledger.take()) is not None:
        code = run(name, targets[name], max(1, min(PIECE_S, int(until - time.monotonic()))), ledger) or code
    return code


def run_all(targets, hours):
    ledger, until = Ledger(list(targets)), time.monotonic() + hours * 3600
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        codes = [one.result() for one in [pool.submit(keep_running, targets, ledger, until) for _ in range(AT_ONCE)]]
    say_hours(ledger)
    return any(codes)


def say_hours(ledger):
    for name in sorted(ledger.seconds):
        print(f"{name:14} {ledger.hours(name):8.3f} CPU hours in all", flush=True)


def minimize(targets):
    for name, target in targets.items():
        corpus, seeds = PLACE / "corpus" / name, SEEDS / name
        if not corpus.is_dir():
            continue
        with tempfile.TemporaryDirectory() as merged:
            for path in seeds.iterdir() if seeds.is_dir() else ():
                shutil.copy(path, merged)
            before = set(os.listdir(merged))
            log = PLACE / f"{name}.merge.log"
            cpu_of([str(target), "-merge=1", "-rss_limit_mb=2048", "-timeout=20", merged, str(corpus)], log, UBSAN)
            new = sorted((pathlib.Path(merged, file) for file in set(os.listdir(merged)) - before), key=lambda path: (path.stat().st_size, path.name))
            kept = [path for path in new if path.stat().st_size <= SEED_BYTES_MAX][:SEEDS_MAX]
            for path in kept:
                shutil.copy(path, seeds / f"found_{hashlib.sha1(path.read_bytes()).hexdigest()[:10]}")
        print(f"{name:14} {len(new)} reach what the seeds do not, {len(kept)} of them kept", flush=True)


def run_afl(name, target, seconds):
    place = PLACE / "afl" / name
    place.mkdir(parents=True, exist_ok=True)
    again = (place / "out/default/queue").is_dir()
    env = {"AFL_SKIP_CPUFREQ": "1", "AFL_NO_UI": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_AFFINITY": "1", "AFL_IGNORE_PROBLEMS": "1"}
    words = WORDS / f"{name}.dict"
    command = ["afl-fuzz", "-V", str(seconds), "-m", "none", "-t", "5000+", "-i", "-" if again else str(SEEDS / name), "-o", str(place / "out"),
               *(["-x", str(words)] if words.exists() else []), "--", str(target)]
    log = place / "log"
    code, used = cpu_of(command, log, env)
    stats = place / "out/default/fuzzer_stats"
    told = dict(line.split(":", 1) for line in stats.read_text().splitlines()) if stats.exists() else {}
    told = {key.strip(): value.strip() for key, value in told.items()}
    ledger = Ledger([f"{name} by AFL++"])
    ledger.add(f"{name} by AFL++", used)
    print(f"{name:14} {told.get('execs_done', '?'):>12} executions {told.get('execs_per_sec', '?'):>9}/s {told.get('corpus_count', '?'):>6} inputs "
          f"{told.get('saved_crashes', '?'):>3} crashes {told.get('saved_hangs', '?'):>3} hangs {ledger.hours(f'{name} by AFL++'):7.3f} CPU hours in all", flush=True)
    if code != 0:
        print(f"    exit {code}; see {log}", flush=True)
    return code != 0 or told.get("saved_crashes") != "0"


def main():
    words = sys.argv[1:]
    if words[0] == "--hours":
        return say_hours(Ledger([]))
    if words[0] == "--minimize":
        return minimize(binaries("fuzz", words[1:]))
    if words[0] == "--afl":
        targets = binaries("afl", words[2:] or AFL_TARGETS)
        return any([run_afl(name, target, int(words[1])) for name, target in targets.items()])
    if words[0] == "--all":
        return run_all(binaries("fuzz", words[2:]), float(words[1]))
    targets = binaries("fuzz", words[1:])
    ledger = Ledger(list(targets))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return any(list(pool.map(lambda name: run(name, targets[name], int(words[0]), ledger), targets)))


if __name__ == "__main__":
    sys.exit(main())
