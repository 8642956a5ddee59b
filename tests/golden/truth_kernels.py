#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of kernels against sources that know nothing of ours, where they lie beside $JVIEW_CORPUS:

  ../golden/gpu-*/tables.json   kernel_stats of XProf, row by row, to the nanosecond
  nsys/*.sqlite                 sums of kernels, of calls, of kernels in NVTX ranges, by SQL
  *.json.gz of PyTorch          calls by name, from the JSON itself
  */golden/*.csv                time of kernels as TraceLens reports it
"""
import collections
import csv
import decimal
import gzip
import json
import os
import pathlib
import re
import sqlite3
import statistics
import sys
import tempfile

import manifest
from test_kernels import ask

GOLDEN = {
    "gpu-mi300x-jax-conv": "gpu-mi300x-jax-conv",
    "gpu-mi300x-jax08-conv": "gpu-mi300x-jax08/plugins/profile/conv",
    "gpu-mi300x-jax08-gemm": "gpu-mi300x-jax08/plugins/profile/gemm",
    "gpu-t4-tf2-keras-181856": "gpu-t4-tf2-keras/logs/fit/20231107-181856",
    "gpu-t4-tf2-keras-184122": "gpu-t4-tf2-keras/logs/fit/20231107-184122",
}
indexed = set()
REGISTERS_MAX = 1024  # C23: more is what a recorder read from the wrong place


def rows_of(cache, path, *words):
    rows, cursor = [], []
    if path not in indexed:
        ask(cache, "list", str(path))
        indexed.add(path)
    while True:
        page = ask(cache, words[0], str(path), *words[1:], "--limit", "10000", *cursor)
        rows += page["rows"]
        if page["next"] is None:
            return page, rows
        cursor = ["--cursor", page["next"]]


def merged(rows):
    """{(name, grid, block): (count, total, least, most)}"""
    ret = {}
    for key, *values in rows:
        count, total, least, most = ret.get(key, (0, 0, None, 0))
        ret[key] = (count + values[0], total + values[1], values[2] if least is None else min(least, values[2]), max(most, values[3]))
    return ret


def check_xprof(name, path, tables, cache):
    told = json.loads(tables.read_text())["kernel_stats"]
    page, rows = rows_of(cache, path, "kernels", "--by", "variant")
    wanted = merged(((row["name"], row["grid"], row["block"]), int(row["occurrences"]), round(row["total_time_us"] * 1000),
                     round(row["min_time_us"] * 1000), round(row["max_time_us"] * 1000)) for row in told)
    got = merged(((row["name"], row["grid"], row["block"]), row["count"], row["total_ps"] // 1000, row["min_ps"] // 1000,
                  row["max_ps"] // 1000) for row in rows)
    for key in sorted(set(wanted) | set(got), key=str):
        manifest.equal(name, f"kernel {key}", got.get(key), wanted.get(key))
    manifest.equal(name, "time of all kernels", page["total_ps"], sum(total * 1000 for _, total, _, _ in wanted.values()))
    registers = {(row["name"], row["grid"], row["block"]): int(row["registers_per_thread"]) for row in told}
    for row in rows:
        recorded = registers.get((row["name"], row["grid"], row["block"]), 0)
        manifest.equal(name, f"registers of {row['name'][:60]}", row["registers"], recorded if 0 < recorded <= REGISTERS_MAX else None)
        if recorded > REGISTERS_MAX:  # C23
            for column in ("shared_bytes", "occupancy", "limited_by"):
                manifest.equal(name, f"C23: {column} of {row['name'][:60]}", row[column], None)
                manifest.equal(name, f"C23: a reason for {column}", column in row["reasons"], True)
    return len(rows)


def check_cases(corpus, cache):
    conv, late = corpus / GOLDEN["gpu-mi300x-jax-conv"], corpus / GOLDEN["gpu-mi300x-jax08-conv"]
    for path, op, events in ((conv, "cudnn-conv.1.0", 10), (late, "cudnn-conv.1", 79)):  # C1: two kernels an execution, one is cut
        ops = {row["name"]: row["count"] for row in rows_of(cache, path, "top", "--by", "op")[1]}
        manifest.equal("C1", f"events of {op}", ops.get(op), events)
    for day, kernels_ns in (("181856", 6035734), ("184122", 7640079)):  # C7
        page, _ = rows_of(cache, corpus / GOLDEN[f"gpu-t4-tf2-keras-{day}"], "kernels")
        manifest.equal("C7", f"kernels alone, {day}", page["total_ps"], kernels_ns * 1000)
    for path, events in ((conv, 6024), (corpus / "tpu-inference-4chip", 26723)):  # C26: none is left out
        _, rows = rows_of(cache, path, "top", "--by", "name")
        manifest.equal("C26", f"events of {path.name}", sum(row["count"] for row in rows), events)


def check_tracelens(corpus, cache):
    path = corpus / "gpu-mi300x-jax-conv"
    with (path / "golden" / "gpu_timeline.csv").open() as file:
        told = [row for row in csv.DictReader(file) if row["type"] == "computation_time"]
    page, _ = rows_of(cache, path, "kernels")
    for row in told:
        if row["gpu_pid"] == "8" or len(told) == 1:
            manifest.equal("TraceLens", "computation_time of the GPU that ran", page["total_ps"] // 1000, round(float(row["time ms"]) * 1e6))


def spread(values):
    ordered = sorted(values)
    return (len(ordered), sum(ordered) * 1000, ordered[0] * 1000, ordered[-1] * 1000, ordered[(len(ordered) + 1) // 2 - 1] * 1000,
            statistics.pstdev(ordered) * 1000)


def unversioned(name):
    """cudaLaunchKernel_v7000 is cudaLaunchKernel as of CUDA 7.0; we leave off what every release has."""
    return re.sub(r"_v\d+$", "", name)


def check_sums(name, what, wanted, rows):
    got = {unversioned(row["name"]) if what == "call" else row["name"]: row for row in rows}
    manifest.equal(name, f"names of {what}", set(got), set(wanted))
    for key in set(got) & set(wanted):
        row, (count, total, least, most, middle, deviation) = got[key], spread(wanted[key])
        manifest.equal(name, f"{what} {key[:60]}", tuple(row[column] for column in ("count", "total_ps", "min_ps", "max_ps", "p50_ps")),
                       (count, total, least, most, middle))
        if abs(row["stdev_ps"] - deviation) > 1:
            manifest.failures.append(f"{name}: deviation of {what} {key[:60]}: {row['stdev_ps']}, not {deviation}")


def check_nsys(name, path, cache):
    base = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    tables = {row[0] for row in base.execute("select name from sqlite_master where type = 'table'")}
    texts = dict(base.execute("select id, value from StringIds"))
    if "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
        calls = collections.defaultdict(list)
        for start, end, text in base.execute("select start, end, nameId from CUPTI_ACTIVITY_KIND_RUNTIME"):
            calls[unversioned(texts[text])].append(end - start)
        check_sums(name, "call", calls, rows_of(cache, path, "kernels", "--by", "api")[1])
    if "CUPTI_ACTIVITY_KIND_KERNEL" not in tables:
        return 0
    kernels = collections.defaultdict(list)
    for start, end, text in base.execute("select start, end, demangledName from CUPTI_ACTIVITY_KIND_KERNEL"):
        kernels[texts[text]].append(end - start)
    check_sums(name, "kernel", kernels, rows_of(cache, path, "kernels")[1])
    zero = check_trace(name, path, base, texts, tables, cache)
    if "NVTX_EVENTS" in tables:
        check_projection(name, path, base, texts, tables, zero, cache)
        check_pairs(name, path, base, texts, cache)
        check_ranges(name, path, base, texts, rows_of(cache, path, "kernels", "--by", "annotation")[1], cache)
    return len(kernels)


def check_ranges(name, path, base, texts, rows, cache):
    """Work of a device belongs to every range around its call, on the same thread."""
    ranges = collections.defaultdict(list)
    for start, end, text, text_id, thread in base.execute(
            "select start, end, text, textId, globalTid from NVTX_EVENTS where eventType = 59 and end is not null"):
        ranges[thread].append((start, end, text or texts[text_id]))
    calls = {(thread >> 24, correlation): (thread, start)
             for thread, correlation, start in base.execute("select globalTid, correlationId, start from CUPTI_ACTIVITY_KIND_RUNTIME")}
    wanted, wanted_count, rest = collections.Counter(), collections.Counter(), 0
    kernels = collections.defaultdict(list)  # of the range with most of them
    columns = {row[1] for row in base.execute("pragma table_info(CUPTI_ACTIVITY_KIND_KERNEL)")}
    work = []
    for table in ("KERNEL", "MEMCPY", "MEMSET"):
        try:
            process = "globalPid" if "globalPid" in columns else "null"
            name_id = "demangledName" if table == "KERNEL" else "null"
            work += base.execute(f"select start, end, correlationId, {process}, {name_id} from CUPTI_ACTIVITY_KIND_{table}").fetchall()
        except sqlite3.OperationalError:
            pass  # a table without rows is not there
    for start, end, correlation, process, kernel in work:
        thread, at = next((call for (pid, id_), call in calls.items() if id_ == correlation and pid == process >> 24), (None, None)) \
            if process is None else calls.get((process >> 24, correlation), (None, None))
        around = {text for begin, until, text in ranges.get(thread, ()) if at is not None and begin <= at < until}
        for text in around:
            wanted[text] += (end - start) * 1000
            wanted_count[text] += 1
            if kernel is not None:
                kernels[text].append((texts[kernel], (end - start) * 1000))
        if not around:
            rest += (end - start) * 1000
    got = {row["name"]: row for row in rows}
    manifest.equal(name, "time that no range launched", got.get("(no annotation)", {"device_ps": 0})["device_ps"], rest)
    for text, time in wanted.items():
        manifest.equal(name, f"launched inside of {text[:60]}", (got[text]["launch_count"], got[text]["device_ps"]) if text in got else None,
                       (wanted_count[text], time))
    for text in sorted(kernels, key=lambda one: -len(kernels[one]))[:3]:  # kernels in a range
        sums = collections.defaultdict(lambda: [0, 0])
        for kernel, length in kernels[text]:
            sums[kernel][0] += 1
            sums[kernel][1] += length
        got_inside = {row["name"]: [row["count"], row["total_ps"]] for row in rows_of(cache, path, "kernels", "--annotation", text)[1]}
        manifest.equal(name, f"kernels inside of {text[:60]}", got_inside, dict(sums))
    manifest.equal(name, "all that the device did", sum(row["device_self_ps"] for row in rows), sum((end - start) * 1000 for start, end, *_ in work))


def check_pairs(name, path, base, texts, cache):
    """nvtx_kern_sum: kernels by each range around their call, of one text the outermost alone."""
    ranges = collections.defaultdict(list)
    for start, end, text, text_id, thread in base.execute(
            "select start, end, text, textId, globalTid from NVTX_EVENTS where eventType = 59 and end is not null"):
        ranges[thread].append((start, end, text or texts[text_id]))
    calls = {}
    for thread, correlation, start in base.execute("select globalTid, correlationId, start from CUPTI_ACTIVITY_KIND_RUNTIME"):
        calls[thread >> 24, correlation] = calls[None, correlation] = (thread, start)
    columns = {row[1] for row in base.execute("pragma table_info(CUPTI_ACTIVITY_KIND_KERNEL)")}
    wanted, spans = collections.defaultdict(list), collections.defaultdict(set)
    for start, end, correlation, process, kernel in base.execute(
            f"select start, end, correlationId, {'globalPid' if 'globalPid' in columns else 'null'}, demangledName from CUPTI_ACTIVITY_KIND_KERNEL"):
        thread, at = calls.get((None if process is None else process >> 24, correlation), (None, 0))
        outermost = {}
        for begin, until, text in ranges.get(thread, ()):
            if begin <= at < until:
                outermost[text] = min(outermost.get(text, (begin, -until)), (begin, -until))
        for text in outermost or ("(no annotation)",):
            wanted[text, texts[kernel]].append(end - start)
            if text in outermost:
                spans[text, texts[kernel]].add((thread, outermost[text]))
    page, rows = rows_of(cache, path, "kernels", "--by", "range-kernel")
    got = {(row["range"], row["name"]): row for row in rows}
    manifest.equal(name, "pairs of range and kernel", set(got), set(wanted))
    manifest.equal(name, "innermost time of all pairs", sum(row["inner_ps"] for row in rows), page["total_ps"])
    for key in set(got) & set(wanted):
        count, total, least, most, middle, deviation = spread(wanted[key])
        row = got[key]
        manifest.equal(name, f"kernel in range {key}", tuple(row[column] for column in ("range_count", "count", "total_ps", "min_ps", "max_ps", "p50_ps")),
                       (len(spans[key]) or None, count, total, least, most, middle))
        if abs(row["stdev_ps"] - deviation) > 1:
            manifest.failures.append(f"{name}: deviation of {key}: {row['stdev_ps']}, not {deviation}")


def check_trace(name, path, base, texts, tables, cache):
    """cuda_gpu_trace: a row for each kernel, copy and set, by time."""
    wanted = []
    for start, end, text, correlation, gx, gy, gz, bx, by, bz, registers, static, dynamic in base.execute(
            "select start, end, demangledName, correlationId, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,"
            " staticSharedMemory, dynamicSharedMemory from CUPTI_ACTIVITY_KIND_KERNEL"):
        wanted.append((start, end - start, "kernel", texts[text], correlation, f"{gx},{gy},{gz}", f"{bx},{by},{bz}", registers, static, dynamic, None))
    for table, what in (("MEMCPY", "copy"), ("MEMSET", "set")):
        if f"CUPTI_ACTIVITY_KIND_{table}" in tables:
            for start, end, correlation, size in base.execute(f"select start, end, correlationId, bytes from CUPTI_ACTIVITY_KIND_{table}"):
                wanted.append((start, end - start, what, None, correlation, None, None, None, None, None, size if what == "copy" else None))
    _, rows = rows_of(cache, path, "kernels", "--by", "activity")
    zero = min(row[0] for row in wanted) * 1000 - min(row["start_ps"] for row in rows)
    got = [((row["start_ps"] + zero) // 1000, row["dur_ps"] // 1000, row["what"], row["name"] if row["what"] == "kernel" else None, row["correlation"],
            row["grid"], row["block"], row["registers"], row["static_shared_bytes"], row["dynamic_shared_bytes"], row["bytes"]) for row in rows]
    manifest.equal(name, "activities in order of time", [row[0] for row in got] == sorted(row[0] for row in got), True)
    key = lambda row: tuple((value is not None, value) for value in row)
    for ours, theirs in zip(sorted(got, key=key), sorted(wanted, key=key)):
        manifest.equal(name, "an activity", ours, theirs)
        if ours != theirs:
            break
    manifest.equal(name, "activities", len(got), len(wanted))
    return zero


def check_projection(name, path, base, texts, tables, zero, cache):
    """nvtx_gpu_proj_trace: from the first op whose call lies in the range, on its thread, to the end of the last."""
    calls = {(thread >> 24, correlation): (thread, start)
             for thread, correlation, start in base.execute("select globalTid, correlationId, start from CUPTI_ACTIVITY_KIND_RUNTIME")}
    of_any = {correlation: call for (_, correlation), call in calls.items()}
    by_thread = collections.defaultdict(list)
    for table in ("KERNEL", "MEMCPY", "MEMSET"):
        if f"CUPTI_ACTIVITY_KIND_{table}" not in tables:
            continue
        columns = {row[1] for row in base.execute(f"pragma table_info(CUPTI_ACTIVITY_KIND_{table})")}
        process_id = "globalPid" if "globalPid" in columns else "null"
        for start, end, correlation, process in base.execute(f"select start, end, correlationId, {process_id} from CUPTI_ACTIVITY_KIND_{table}"):
            call = of_any.get(correlation) if process is None else calls.get((process >> 24, correlation))
            if call is not None:
                by_thread[call[0]].append((call[1], start, end))
    wanted = collections.Counter()
    for begin, until, text, text_id, thread in base.execute(
            "select start, end, text, textId, globalTid from NVTX_EVENTS where eventType = 59 and end is not null"):
        inside = [(start, end) for at, start, end in by_thread.get(thread, ()) if begin <= at < until]
        if inside:
            first, last = min(start for start, _ in inside), max(end for _, end in inside)
            wanted[(text or texts[text_id], first, last - first, begin, until - begin, len(inside), sum(end - start for start, end in inside))] += 1
    lengths = collections.defaultdict(list)  # nvtx_gpu_proj_sum
    for (text, _, length, *_), count in wanted.items():
        lengths[text] += [length] * count
    for row in rows_of(cache, path, "kernels", "--by", "annotation")[1]:
        count, total, least, most, middle, deviation = spread(lengths[row["name"]]) if row["name"] in lengths else (0, 0, None, None, None, None)
        got = tuple(row[f"projected_{column}"] for column in ("count", "ps", "min_ps", "max_ps", "p50_ps"))
        if row["name"] == "(no annotation)":
            continue
        manifest.equal(name, f"projections of {row['name'][:60]}", got, (count, total, least, most, middle))
        if count and (abs(row["projected_stdev_ps"] - deviation) > 1 or abs(row["projected_mean_ps"] - total / count) > 1):
            manifest.failures.append(f"{name}: spread of projections of {row['name'][:60]}: {row['projected_stdev_ps']}, not {deviation}")
    _, rows = rows_of(cache, path, "kernels", "--by", "range")
    got = collections.Counter((row["name"], (row["start_ps"] + zero) // 1000, row["dur_ps"] // 1000, (row["range_start_ps"] + zero) // 1000,
                               row["range_ps"] // 1000, row["launch_count"], row["device_ps"] // 1000) for row in rows)
    for one in sorted(set(got) ^ set(wanted), key=str)[:3]:
        manifest.equal(name, f"projected range {one}", got.get(one), wanted.get(one))
    manifest.equal(name, "projected ranges", sum(got.values()), sum(wanted.values()))


def check_calls(name, path, cache):
    """A driver's calls of PyTorch's profiles, whose category says what they are."""
    loaded = json.loads(gzip.decompress(path.read_bytes()), parse_float=decimal.Decimal)
    calls = collections.Counter()
    for event in loaded["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in ("cuda_runtime", "cuda_driver", "Runtime"):
            calls[event["name"]] += 1
    got = {row["name"]: row["count"] for row in rows_of(cache, path, "kernels", "--by", "api")[1]}
    manifest.equal(name, "calls", got, dict(calls))


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    corpus, kernels = pathlib.Path(corpus), 0
    golden = corpus.parent / "golden"
    with tempfile.TemporaryDirectory() as cache:
        for name, path in GOLDEN.items():
            if (golden / name / "tables.json").is_file():
                kernels += check_xprof(name, corpus / path, golden / name / "tables.json", cache)
        check_cases(corpus, cache)
        check_tracelens(corpus, cache)
        for path in sorted(corpus.glob("nsys/*/*.sqlite")):
            kernels += check_nsys(path.parent.name, path, cache)
        for path in sorted(corpus.glob("pytorch-qwen*/*/*.json.gz")):
            check_calls(path.parent.name, path, cache)
    for failure in manifest.failures:
        print(failure)
    print(f"{kernels} kernels, {len(manifest.failures)} differences")
    return 1 if manifest.failures or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
