#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiles of $JVIEW_CORPUS, asked by `jviewd`, against plain sums over their JSON: count and time of every kernel,
time by kind of work, time in which each GPU was busy; and against the reports of TraceLens that lie beside some of them."""
import collections
import csv
import decimal
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import manifest

KERNELS = ("kernel", "Kernel")
COPIES = ("gpu_memcpy", "Memcpy", "gpu_memset", "Memset")


def ps(value):
    return int((decimal.Decimal(value) * 1000000).to_integral_value())


def on_gpus(path):
    """(pid, name, is a kernel, start, length) of what ran on a GPU."""
    loaded = json.loads(gzip.decompress(path.read_bytes()), parse_float=decimal.Decimal)
    for event in loaded["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in KERNELS + COPIES:
            yield event["pid"], event["name"], event["cat"] in KERNELS, ps(event["ts"]), ps(event["dur"])


def union(spans):
    total, reach = 0, None
    for start, end in sorted(spans):
        if reach is None or start > reach:
            total, reach = total + end - start, end
        elif end > reach:
            total, reach = total + end - reach, end
    return total


def ask(cache, *words):
    binary = os.environ.get("JVIEWD") or os.environ["JVIEWD_DEV"]
    done = subprocess.run([binary, *words, "--format", "json", "--cache-dir", cache], capture_output=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{words}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def check_tracelens(name, report, kernels):
    wanted = collections.defaultdict(lambda: [0, 0.0])
    with report.open() as file:
        for row in csv.DictReader(file):
            wanted[row["Kernel name"]][0] += int(row["Kernel duration (µs)_count"])
            wanted[row["Kernel name"]][1] += float(row["Kernel duration (µs)_sum"])
    for kernel, (count, us) in wanted.items():
        got = kernels.get(kernel, (0, 0))
        manifest.equal(name, f"TraceLens's count of {kernel[:60]}", got[0], count)
        if abs(got[1] / 1e6 - us) > 0.01:  # its sums are of doubles
            manifest.failures.append(f"{name}: TraceLens's time of {kernel[:60]}: {got[1] / 1e6}, not {us}")
    manifest.equal(name, "kernels that TraceLens does not name", set(kernels) - set(wanted), set())


def check(name, path, cache):
    wanted, spans = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list)
    kernels_ps, copies_ps, copies = 0, 0, set()
    for pid, kernel, is_kernel, start, length in on_gpus(path):
        spans[pid].append((start, start + length))
        if is_kernel:
            wanted[kernel][0] += 1
            wanted[kernel][1] += length
            kernels_ps += length
        else:
            copies_ps += length
            copies.add(kernel)
    ask(cache, "list", str(path))  # indexed by then
    rows = ask(cache, "top", str(path), "--by", "kernel", "--limit", "10000")["rows"]
    kernels = {row["name"]: (row["count"], row["total_ps"]) for row in rows}
    manifest.equal(name, "kernels", kernels, {kernel: tuple(sums) for kernel, sums in wanted.items()})
    names = {row["name"]: row["total_ps"] for row in ask(cache, "top", str(path), "--by", "name", "--limit", "10000")["rows"]}
    manifest.equal(name, "time of copies", sum(names.get(copy, 0) for copy in copies), copies_ps)
    manifest.equal(name, "time of kernels", sum(total for _, total in kernels.values()), kernels_ps)
    busy = {device["device"]: device["busy_ps"] for device in ask(cache, "overview", str(path))["devices"]}
    manifest.equal(name, "busy", busy, {pid: union(list_) for pid, list_ in spans.items()})
    report = path.parent / "golden" / "kernel_summary.csv"
    if report.is_file():
        check_tracelens(name, report, kernels)
    return len(wanted)


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    corpus, files, kernels = pathlib.Path(corpus), 0, 0
    with tempfile.TemporaryDirectory() as cache:
        for name, facts in manifest.files(corpus, "chrome-trace-json"):
            if "schemaVersion" in facts["other_keys"]:
                kernels += check(name, corpus / name, cache)
                files += 1
    for failure in manifest.failures:
        print(failure)
    print(f"{files} files, {kernels} kernels by name, {len(manifest.failures)} differences")
    return 1 if manifest.failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
