#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory against sources that know nothing of ours, where they lie beside $JVIEW_CORPUS:

  allocator events    every level, peak, owner and remainder from the raw events, by a plain replay of our own
  ../golden/*/memory_profile   of XProf: peaks, capacity, fragmentation, what nobody owns (C15, C16: its own figures differ)
  ../golden/*/memory_viewer    of XProf: every module's peak, sums of allocations, parameters, buffers at the peak
  ../captures/memory-leak      sums of snapshots as the program itself counted them
"""
import collections
import gzip
import json
import lzma
import os
import pathlib
import re
import sys
import tempfile

import manifest
import xplane_reader
from test_kernels import ask

PROFILES = {  # XProf's output -> what it was made from
    "gpu-mi300x-jax-conv": "corpus/gpu-mi300x-jax-conv",
    "gpu-mi300x-jax08-conv": "corpus/gpu-mi300x-jax08/plugins/profile/conv",
    "gpu-mi300x-jax08-gemm": "corpus/gpu-mi300x-jax08/plugins/profile/gemm",
    "gpu-t4-tf2-keras-181856": "corpus/gpu-t4-tf2-keras/logs/fit/20231107-181856/train",
    "gpu-t4-tf2-keras-184122": "corpus/gpu-t4-tf2-keras/logs/fit/20231107-184122/train",
    "tpu-inference-4chip": "corpus/tpu-inference-4chip",
    "jaxcpu-control-flow": "captures/control-flow",
    "jaxcpu-multi-device": "captures/multi-device",
    "jaxcpu-odd-names": "captures/odd-names",
    "jaxcpu-python-tracer": "captures/python-tracer",
    "jaxcpu-recompiles": "captures/recompiles",
    "jaxcpu-train-steps": "captures/train-steps",
    "jaxcpu-transfers-idle": "captures/transfers-idle",
}
MIB = 1 << 20
equal = manifest.equal


def load(path):
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


def raw_events(directory):
    """{allocator: [(begin, is free, {stat: value})]} by time, and the run's zero."""
    files = sorted(directory.rglob("*.xplane.pb"))
    found, begins = collections.defaultdict(list), []
    for file in files:
        for plane, event in xplane_reader.slices_of(xplane_reader.read(file)):
            begins.append(event["begin_ps"])
            if event["name"] in ("MemoryAllocation", "MemoryDeallocation") and not plane["name"].startswith("/device:"):
                stats = {name: value for name, _, value in event["stats"]}
                name = stats.get("allocator_name") or f"device {stats.get('index_on_host', stats.get('device_ordinal'))}"
                found[name].append((event["begin_ps"], event["name"] == "MemoryDeallocation", stats))
    for events in found.values():
        events.sort(key=lambda event: event[0])
    return found, min(begins) // 1000 * 1000 if begins else 0


def replay(events):
    """Levels, and what is alive after each event: the plain rule, told once more."""
    live, levels, owned = {}, [], []
    for _, is_free, stats in events:
        live.pop(stats["addr"], None)
        if not is_free:
            live[stats["addr"]] = stats.get("allocation_bytes", stats.get("requested_bytes", 0))
        levels.append((stats["bytes_allocated"], stats.get("bytes_reserved", 0)))
        owned.append(sum(live.values()))
    return levels, owned


def check_allocators(name, path, cache):
    found, zero = raw_events(path)
    timeline = {one["name"]: one for one in ask(cache, "memory", str(path), "--view", "timeline")["allocators"]}
    equal(name, "allocators", sorted(timeline), sorted(found))
    for allocator, events in found.items():
        got, (levels, owned) = timeline[allocator], replay(events)
        in_use = [allocated + reserved for allocated, reserved in levels]
        peak = in_use.index(max(in_use))  # the first of equal ones
        equal(name, f"{allocator}: events", got["event_count"], len(events))
        equal(name, f"{allocator}: peak", got["peak_bytes"], in_use[peak])
        equal(name, f"{allocator}: C16: at the first moment, on the clock of the timeline", got["peak_at_ps"], events[peak][0] - zero)
        equal(name, f"{allocator}: C15: allocated alone", got["peak_allocated_bytes"], max(allocated for allocated, _ in levels))
        equal(name, f"{allocator}: C15: lifetime, allocated alone", got["lifetime_peak_bytes"],
              max(stats["peak_bytes_in_use"] for _, _, stats in events))
        equal(name, f"{allocator}: limit", got["capacity_bytes"], in_use[peak] + events[peak][2]["bytes_available"])
        equal(name, f"{allocator}: fragmentation", got["fragmentation"], events[peak][2]["fragmentation"])
        for at in sorted({peak, 0, len(events) // 3, len(events) - 1}):
            last = max(i for i, event in enumerate(events) if event[0] <= events[at][0]) if at != peak else peak
            words = [] if at == peak else ["--at-ps", str(events[at][0] - zero)]
            alive = ask(cache, "memory", str(path), "--view", "peak", "--allocator", allocator, "--limit", "10000", *words)
            sums = collections.Counter()
            for row in alive["rows"]:
                sums[row["row_kind"]] += row["bytes"]
            equal(name, f"{allocator}: rows after event {last}", sum(sums.values()), in_use[last])
            equal(name, f"{allocator}: owners after event {last}", sums["owner"], owned[last])
            equal(name, f"{allocator}: reserved after event {last}", sums["reserved"], levels[last][1])
    return len(found)


def check_memory_profile(name, path, golden, cache):
    told = load(golden)["memoryProfilePerAllocator"]
    timeline = {one["name"]: one for one in ask(cache, "memory", str(path), "--view", "timeline")["allocators"]}
    for allocator, wanted in told.items():
        summary = wanted["profileSummary"]
        got = timeline[f"device {allocator}" if allocator.isdigit() else allocator]
        equal(name, f"XProf's peak of {allocator}", got["peak_bytes"], int(summary["peakStats"]["peakBytesInUse"]))
        equal(name, f"XProf's capacity of {allocator}", got["capacity_bytes"], int(summary["memoryCapacity"]))
        # XProf's time is that of any of the equal peaks; ours is never later by more than its clock lags behind (C16).
        if got["lifetime_peak_bytes"] < int(summary["peakBytesUsageLifetime"]):
            manifest.failures.append(f"{name}: {allocator}: lifetime peak {got['lifetime_peak_bytes']}")
    return len(told)


DIFFERENT = {  # docs/xprof-differences.md: (profile, module) -> what is explained there
    ("gpu-mi300x-jax-conv", "jit__multi_slice(13)"): {"peakHeapMib": 64, "peakUnpaddedHeapMib": 64},
    ("tpu-inference-4chip", "jit_broadcast_in_dim(11287434908481120160)"): {"peakUnpaddedHeapMib": -508},
    ("tpu-inference-4chip", "jit_convert_element_type(2433868464432466958)"): {"peakUnpaddedHeapMib": -1016},
}
SUMS = {"peakHeapMib": "peak_bytes", "peakUnpaddedHeapMib": "peak_unpadded_bytes", "totalBufferAllocationMib": "total_allocation_bytes",
        "indefiniteBufferAllocationMib": "fixed_bytes", "entryComputationParametersMib": "parameter_bytes"}
SMALL = 16 << 10  # XProf folds smaller buffers into one


def check_module(name, path, file, cache):
    module, told = file.name.split(".json")[0], load(file)
    got = ask(cache, "memory", str(path), "--view", "heap", "--module", module, "--limit", "10000")
    explained = DIFFERENT.get((name, module), {})
    for theirs, ours in SUMS.items():
        equal(name, f"{module}: {theirs}", got[ours], round(told.get(theirs, 0) * MIB) + explained.get(theirs, 0))
    equal(name, f"{module}: rows", sum(row["bytes"] for row in got["rows"]), got["peak_bytes"])
    equal(name, f"{module}: alive", got["alive_bytes"], got["peak_bytes"])
    equal(name, f"{module}: highest point", max(point["bytes"] for point in got["points"]), got["peak_bytes"])
    if explained:
        return
    wanted = collections.Counter((one["instructionName"], round(one["logicalBufferSizeMib"] * MIB)) for one in told.get("maxHeap", ())
                                 if one.get("instructionName") and one["logicalBufferSizeMib"] * MIB >= SMALL)
    large = collections.Counter((row["name"] + (row["part"] or ""), row["bytes"]) for row in got["rows"] if row["bytes"] >= SMALL)
    equal(name, f"{module}: large buffers at the peak", large, wanted)


def check_train_step(captures, cache):
    """What the compiler itself told when it compiled (README of the captures)."""
    got = ask(cache, "memory", str(captures / "train-steps"), "--view", "heap", "--module", "jit_train_step(36)")
    equal("train-steps", "all allocations", got["total_allocation_bytes"] + got["thread_local_bytes"], 14754588)
    equal("train-steps", "temporaries of memory_analysis()", got["temporary_bytes"], 12785732)
    equal("train-steps", "arguments of memory_analysis()", got["parameter_bytes"], 1968164)
    equal("train-steps", "the heap's own peak", got["peak_bytes"] - got["fixed_bytes"], 12720136)


def check_leak(captures, cache):
    path = captures / "memory-leak"
    truth = {one["name"]: one for one in json.loads((path / "truth.json").read_text())["snapshots"]}
    for name in ("leak-0", "leak-1", "leak-2"):
        got = ask(cache, "memory", str(path), "--view", "pprof", "--snapshot", f"{name}.prof", "--type", "space", "--limit", "10000")
        equal(name, "bytes of live arrays", got["total"], truth[name]["bytes"])
        equal(name, "rows", sum(row["value"] for row in got["rows"]), got["total"])
        equal(name, "live arrays", sum(row["count"] for row in got["rows"] if row["kind"] == "buffer"), truth[name]["arrays"])
    got = ask(cache, "memory", str(path), "--view", "pprof", "--snapshot", "leak-2.prof", "--base", "leak-0.prof", "--limit", "10000")
    equal("leak", "growth", sum(row["delta"] for row in got["rows"]), truth["leak-2"]["bytes"] - truth["leak-0"]["bytes"])
    rules = [row for row in ask(cache, "findings", str(path), "--limit", "100")["rows"] if row["rule"] == "memory-leak"]
    equal("leak", "who leaks", ["leak_activations" in row["text"] for row in rules], [True])


def check_pytorch(corpus, cache):
    """Levels and owners of a Kineto profile, from its JSON."""
    path = corpus / "pytorch-large/df_index_resolver.json.gz"
    if not path.is_file():
        return
    with gzip.open(path) as file:
        events = [one for one in json.load(file)["traceEvents"] if one.get("name") == "[memory]" and one["args"]["Device Type"] == 1]
    events.sort(key=lambda one: one["ts"])
    levels = [one["args"]["Total Allocated"] for one in events]
    peak, live = levels.index(max(levels)), {}
    for one in events[:peak + 1]:
        live.pop(one["args"]["Addr"], None)
        if one["args"]["Bytes"] > 0:
            live[one["args"]["Addr"]] = one["args"]["Bytes"]
    got = ask(cache, "memory", str(path), "--view", "peak", "--allocator", "GPU 1", "--limit", "10000")
    equal(path.name, "peak", got["total_bytes"], levels[peak])
    equal(path.name, "owners", sum(row["bytes"] for row in got["rows"] if row["row_kind"] == "owner"), sum(live.values()))
    equal(path.name, "rows", sum(row["bytes"] for row in got["rows"]), levels[peak])
    equal(path.name, "its pool", got["allocator"]["pool_bytes"], events[peak]["args"]["Total Reserved"])


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    corpus = pathlib.Path(corpus)
    golden, captures = corpus.parent / "golden", corpus.parent / "captures"
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as cache:
        for name, place in PROFILES.items():
            path = (corpus if place.startswith("corpus/") else captures) / re.sub("^[a-z]+/", "", place)
            if not path.is_dir():
                continue
            counts["allocators"] += check_allocators(name, path, cache)
            for file in sorted((golden / name).glob("memory_profile.json*")):
                counts["XProf's allocators"] += check_memory_profile(name, path, file, cache)
            for file in sorted((golden / name / "memory_viewer").glob("*")):
                check_module(name, path, file, cache)
                counts["modules"] += 1
        if captures.is_dir():
            check_train_step(captures, cache)
            check_leak(captures, cache)
        check_pytorch(corpus, cache)
    for failure in manifest.failures:
        print(failure)
    print(", ".join(f"{count} {what}" for what, count in counts.items()) + f": {len(manifest.failures)} differences")
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
