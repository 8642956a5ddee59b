#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XProf's other tables, row by row, where ../golden lies beside $JVIEW_CORPUS: framework ops of devices and hosts, op profile by
category, input pipeline, pod, what a device can do, idle time. truth_steps.py, truth_costs.py, truth_kernels.py, truth_flame.py
and truth_memory.py have the rest. A row that is not ours stands in KNOWN, with why in docs/xprof-differences.md."""
import collections
import json
import os
import pathlib
import re
import sys
import tempfile

import manifest
import xplane_reader
from test_kernels import ask
from truth_steps import XPROF

DEVICES = {
    "gpu-mi300x-jax-conv": "gpu-mi300x-jax-conv",
    "gpu-mi300x-jax08-conv": "gpu-mi300x-jax08/plugins/profile/conv",
    "gpu-mi300x-jax08-gemm": "gpu-mi300x-jax08/plugins/profile/gemm",
    "gpu-t4-tf2-keras-181856": "gpu-t4-tf2-keras/logs/fit/20231107-181856",
    "gpu-t4-tf2-keras-184122": "gpu-t4-tf2-keras/logs/fit/20231107-184122",
    "tpu-inference-4chip": "tpu-inference-4chip",
}
CONV = ("gpu-mi300x-jax-conv", "gpu-mi300x-jax08-conv")
# (profile, table, row) -> fields that are not XProf's.
KNOWN = {("gpu-mi300x-jax08-gemm", "category", "custom-call"): {"flops"}}  # C10
KNOWN.update({(name, "category", "custom-call"): {"flops"} for name in CONV})  # C1
ALLOCATOR = ("MemoryAllocation", "MemoryDeallocation")
PARAMETERS = {"x", "kernel"}  # C25: what XProf takes for the names of ops
IDLE_US = {"gpu-mi300x-jax-conv": 39153.5, "gpu-mi300x-jax08-conv": 804017.0, "gpu-mi300x-jax08-gemm": 5980.7}  # C5
GIB = 1 << 30
equal = manifest.equal


def rows_of(cache, path, verb, *words):
    return ask(cache, verb, str(path), "--limit", "10000", *words)["rows"]


def near(what, name, got, wanted, absolute, relative=1e-9):
    if got is None or abs(got - wanted) > absolute + relative * abs(wanted):
        manifest.failures.append(f"{name}: {what}: {got}, XProf says {wanted}")


def grouped(rows, key):
    ret = collections.defaultdict(list)
    for row in rows:
        ret[row[key]].append(row)
    return ret


def check_device_ops(name, path, told, cache):
    """By the path of the framework, or by the instruction where it has none."""
    ops = rows_of(cache, path, "top", "--by", "op")
    scopes, names = (grouped([row for row in ops if row[key]], key) for key in ("scope", "name"))
    equal(name, "C25: ops called by a parameter or by nothing", [row["name"] for row in ops if row["name"] in PARAMETERS | {"(null)", ""}], [])
    told = [row for row in told if row["where"] == "Device" and row["type"] != "IDLE"]
    for row in told:
        ours = scopes.get(row["name"]) or names.get(row["name"])
        if row["name"] in PARAMETERS:  # the root of the fusion that takes it: its time is there, by its own name
            ours = [one for one in ops if abs(one["total_ps"] - row["total_time_us"] * 1e6) < 2]
        if not ours:
            manifest.failures.append(f"{name}: no framework op {row['name']}")
            continue
        near(f"time of {row['name']}", name, sum(one["total_ps"] for one in ours), row["total_time_us"] * 1e6, 1000)
        equal(name, f"events of {row['name']}", max(one["event_count"] for one in ours), row["occurrences"])  # C9: its count is no sum
    return len(told)


def name_on_screen(row):
    """XProf calls an event by its whole name; the file has one to show beside it, which is ours."""
    if row["name"] == "Iterator::Model":
        return row["name"]
    if row["type"] == "Dataset":
        return "Iterator::" + re.sub(r"\[\d+\]$", "", row["name"].rsplit("::", 1)[1])
    return row["type"] if row["type"] else row["name"]


def without_calls(name, path, wanted, ours):
    """XProf gives the launches of a module one name; here each call has its own, and the calls sum to its figure."""
    total_us = wanted.pop("XlaModule", None)
    if total_us is None:
        return
    (file,) = sorted(path.rglob("*.xplane.pb"))
    calls = collections.Counter()
    for plane, event in xplane_reader.slices_of(xplane_reader.read(file)):
        if ("tf_op", "XlaModule:") in {(key, value) for key, _, value in event["stats"]} and plane["name"].startswith("/host:"):
            calls[event["name"]] += event["dur_ps"]
    near("time of launches", name, sum(calls.values()), total_us * 1e6, 1000)
    equal(name, "calls that launch", [call for call in calls if call not in ours or ours[call]["total_ps"] < calls[call]], [])


def check_host_ops(name, path, told, cache):
    """Those that take time. The others are allocations of memory that name an op (C25)."""
    ours = {row["name"]: row for row in rows_of(cache, path, "top", "--by", "name")}
    equal(name, "C25: a name that says nothing", "(null)" in ours, False)
    wanted, count = collections.Counter(), 0
    for row in told:
        if row["where"] == "Host" and row["type"] != "IDLE" and row["total_time_us"] > 0:
            wanted[name_on_screen(row)] += row["total_time_us"]
            count += 1
    without_calls(name, path, wanted, ours)
    for op, total_us in wanted.items():
        near(f"time of {op} on the host", name, ours[op]["total_ps"] if op in ours else None, total_us * 1e6, 1000)
    return count


def check_allocations(name, path, cache):
    """C25, C26: the occurrences of "(null)" are events of the allocator, of which XProf draws none and we all."""
    if name != "gpu-mi300x-jax-conv":
        return
    (file,) = sorted(path.rglob("*.xplane.pb"))
    raw = collections.Counter(event["name"] for _, event in xplane_reader.slices_of(xplane_reader.read(file)) if event["name"] in ALLOCATOR)
    ours = {row["name"]: row["count"] for row in rows_of(cache, path, "top", "--by", "name") if row["name"] in ALLOCATOR}
    equal(name, "C25: events of the allocator", (ours, sum(raw.values())), (dict(raw), 460))


def check_categories(name, path, told, cache):
    """Ours say of a custom call whom it calls."""
    rows = rows_of(cache, path, "top", "--by", "category")
    count = 0
    for row in told:
        if row["depth"] != 1 or row["path"][1] == "IDLE":
            continue
        category = row["path"][1]
        mine = [one for one in rows if one["name"] == category or one["name"].startswith(category + " ")]
        near(f"time of category {category}", name, sum(one["total_ps"] for one in mine), row["time_ps"], 1000)
        if "flops" not in KNOWN.get((name, "category", category), ()):
            near(f"FLOPs of category {category}", name, sum(one["flops"] or 0 for one in mine), row["flops"], 1, 1e-3)
        count += 1
    return count


def check_idle(name, path, tables, cache):
    """XProf's idle time, or that of the streams where XProf takes work for idleness (C5, C6)."""
    (told,) = [row["total_time_us"] for row in tables["framework_op_stats"] if row["where"] == "Device" and row["type"] == "IDLE"] or [None]
    idle = sum(device["idle_ps"] for device in ask(cache, "overview", str(path))["devices"]) / 1e6
    if name in IDLE_US:
        near("C5: idle time in us", name, idle, IDLE_US[name], 0.06)
    elif "t4" not in name:
        near("idle time in us", name, idle, told, 0.001)


def check_events(name, path, cache):
    """C26: every event of the hosts and of what devices ran; of lines that a tool derived only on TPUs, whose ops stand there."""
    (file,) = sorted(path.rglob("*.xplane.pb"))
    space = xplane_reader.read(file)
    raw = sum(not event["aggregated"] for plane in space["planes"] for line in plane["lines"] for event in line["events"]
              if not plane["name"].startswith("/device:GPU") or line["name"].startswith("Stream"))
    equal("C26", f"events of {name}", sum(row["count"] for row in rows_of(cache, path, "top", "--by", "name")), raw)


def check_processor(captures, cache):
    """C18: each event with an op is one of ours, and no op is shorter than its events; what it hands to a pool is added."""
    path = captures / "train-steps"
    (file,) = sorted(path.rglob("*.xplane.pb"))
    raw = collections.defaultdict(list)
    for _, event in xplane_reader.slices_of(xplane_reader.read(file)):
        stats = {key: value for key, _, value in event["stats"]}
        if "hlo_op" in stats:
            raw[stats["program_id"], stats["hlo_op"]].append(event["dur_ps"])
    ops = rows_of(cache, path, "top", "--by", "op")
    equal("C18", "ops, events", (len(ops), sum(row["event_count"] for row in ops)), (len(raw), sum(map(len, raw.values()))))
    equal("C18", "as measured", (len(raw), sum(map(len, raw.values()))), (337, 3131))
    near("C18: time of the events in ms", "train-steps", sum(map(sum, raw.values())) / 1e9, 168.3, 0.05)
    equal("C18", "time of ops, not less", sum(row["total_ps"] for row in ops) >= sum(map(sum, raw.values())), True)


def check_clock(path, cache):
    """C14: ops by the clock of the device, slices by that of their events; the time line shows the second."""
    (file,) = sorted(path.rglob("*.xplane.pb"))
    device, event = collections.Counter(), collections.Counter()
    for plane, one in xplane_reader.slices_of(xplane_reader.read(file)):
        stats = {key: value for key, _, value in one["stats"]}
        if plane["name"].startswith("/device:TPU") and "device_duration_ps" in stats and one["name"].startswith("copy-done"):
            device[one["name"]] += stats["device_duration_ps"]
            event[one["name"]] += one["dur_ps"]
    ops = {row["name"]: row["total_ps"] for row in rows_of(cache, path, "top", "--by", "op") if row["name"] in device}
    slices = {row["name"]: row["total_ps"] for row in rows_of(cache, path, "top", "--by", "name") if row["name"] in device}
    equal("C14", "ops, by the device's clock", ops, dict(device))
    equal("C14", "slices, by their events", slices, dict(event))
    equal("C14", "copy-done.2 in s", (round(ops["copy-done.2"] / 1e12, 3), round(slices["copy-done.2"] / 1e12, 3)), (77.643, 87.958))


def check_peaks(name, path, told, cache):
    """What the file says of its device, in the same words; a peak that an op of the file passes is not believed (C3)."""
    devices = ask(cache, "roofline", str(path))["devices"]
    roofs = {roof["name"]: roof["per_s"] for device in devices for roof in device["roofs"]}
    peak = float(told["peak_flop_rate"]) * 1e9
    if peak == 0:  # unknown: XProf's 0 is no figure
        return
    near("FLOPs a second in 16 bit", name, roofs.get("bf16"), peak, 0, 1e-4)
    memory = float(told["peak_hbm_bw"]) * GIB
    if all(device["doubt"] for device in devices):
        equal(name, "C3: a memory that is faster than the file says", roofs["memory"] > memory, True)
    else:
        near("bytes a second of memory", name, roofs.get("memory"), memory, 0, 1e-4)
        near("bytes a second on the chip", name, roofs.get("on chip"), float(told["peak_vmem_read_bw"]) * GIB, 0, 1e-4)


def check_input(name, path, told, cache):
    ours = {row["name"]: row for row in rows_of(cache, path, "top", "--by", "name")}
    for row in told["host_ops"]:
        one = ours.get(name_on_screen({"type": "Dataset", "name": row["opName"]}))
        near(f"time of {row['opName']}", name, one and one["total_ps"], row["timeInMs"] * 1e9, 1000)
        equal(name, f"{row['opName']} is input", one and one["kind"], "input")
    return len(told["host_ops"])


def check_pod(name, path, file, cache):
    """Every step of the first host, also those that XProf's overview leaves out (C17)."""
    told = [step for one in json.loads(file.read_text())["podStatsSequence"]["podStatsMap"] for step in one["podStatsPerCore"].values()]
    steps = rows_of(cache, path, "steps")
    for family in ("no step_num", "text step") if name == "jaxcpu-odd-names" else ():  # marks of any name are one series there
        steps += rows_of(cache, path, "steps", "--family", family)
    steps = sorted(steps, key=lambda row: row["start_ps"])
    equal(name, "lengths of steps as the pod has them", sorted(row["dur_ps"] for row in steps), sorted(round(row["totalDurationUs"] * 1e6) for row in told))
    return len(told)


def check_device_profile(name, path, tables, cache):
    ask(cache, "list", str(path))
    count = check_device_ops(name, path, tables["framework_op_stats"], cache)
    count += check_host_ops(name, path, tables["framework_op_stats"], cache)
    count += check_categories(name, path, tables["op_profile_by_category"], cache)
    count += check_input(name, path, tables["input_pipeline"], cache)
    check_idle(name, path, tables, cache)
    check_allocations(name, path, cache)
    check_events(name, path, cache)
    check_peaks(name, path, tables["device"], cache)
    if name.startswith("tpu"):
        check_clock(path, cache)
    return count


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return manifest.SKIPPED
    corpus, compared = pathlib.Path(corpus), 0
    golden, captures = corpus.parent / "golden", corpus.parent / "captures"
    with tempfile.TemporaryDirectory() as cache:
        for name, place in DEVICES.items():
            if (golden / name / "tables.json").is_file():
                compared += check_device_profile(name, corpus / place, json.loads((golden / name / "tables.json").read_text()), cache)
        if captures.is_dir() and golden.is_dir():
            ask(cache, "list", str(captures / "train-steps"))
            check_processor(captures, cache)
        for name, place in XPROF.items():
            if (golden / name / "pod_viewer.json").is_file() and (captures / place).is_dir():
                ask(cache, "list", str(captures / place))
                compared += check_pod(name, captures / place, golden / name / "pod_viewer.json", cache)
    for failure in manifest.failures:
        print(failure)
    print(f"{compared} rows of XProf's, {len(manifest.failures)} differences")
    return 1 if manifest.failures or (golden.is_dir() and not compared) else 0


if __name__ == "__main__":
    sys.exit(main())
