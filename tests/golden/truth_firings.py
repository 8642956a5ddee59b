#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What fires where (findings_expected.txt) against the raw events: for rules that a short reckoning over a file can decide, a
plain reader says on every profile of its format whether they must fire, how often, and the figures that some of them state.

  xplane   python-tracer, unused-devices, input-bound, outlier-step, capture-too-short, waits-for-copies, no-hlo, no-step-markers,
           calls-shorter-than-dispatch, nothing-blocked (raw_calls.py), memory-donation, memory-rematerialise (raw_heap.py)
  JSON     no-hlo, no-step-markers, as far as args and names tell
  nsys     small-transfers, tiny-kernels, no-device-events, no-step-markers, exposed-transfers (SQL)
  pprof    memory-leak
Nothing of the program is asked: truth_findings.py holds it to the table.
"""
import collections
import glob
import gzip
import json
import os
import pathlib
import sqlite3
import statistics
import sys

import manifest
import raw_calls
import raw_heap
import xplane_reader
from truth_steps import spans, stat

TABLE = pathlib.Path(__file__).with_name("findings_expected.txt")
PLACES = {  # run -> where it lies, if not where its name says
    "corpus/gpu-mi300x-jax08/conv": "corpus/gpu-mi300x-jax08/plugins/profile/conv",
    **{f"corpus/tpu-qwen3-vllm-trace-only/{day}": f"corpus/tpu-qwen3-vllm-trace-only/plugins/profile/{day}"
       for day in ("2026_01_11_21_26_41", "2026_01_12_00_26_20")},
    "corpus/gpu-mi300x-jax08/gemm": "corpus/gpu-mi300x-jax08/plugins/profile/gemm",
}
INPUT = {"data_loading", "load_data", "Iterator::Prefetch::Generator"}  # what loads data in our captures
SMALL_BYTES, TINY_NS = 64 * 1024, 5000
CALLS, MIB, MODULES, BLOBS = 20, 1 << 20, 16, 16 << 20  # calls that are enough; modules whose plans are looked at, of how many bytes


def expected():
    """{run: {rule: count}}"""
    ret = {}
    for line in TABLE.read_text().splitlines():
        run, colon, rules = line.partition(": ")
        if colon and not line.startswith(("#", "never")):
            words = [] if rules == "-" else rules.split()
            ret[run] = {word.partition("(")[0]: int(word.partition("(")[2].rstrip(")") or 1) for word in words}
    return ret


def must(run, rules, rule, count):
    if rules.get(rule, 0) != count:
        manifest.failures.append(f"{run}: {rule} fires {rules.get(rule, 0)} times, of the raw events {count}")


def host_slices(space):
    return [event for plane, event in xplane_reader.slices_of(space) if plane["name"].startswith("/host:")]


def union_inside(pieces, windows):
    """Time of the pieces inside of the windows, each moment once."""
    total = 0
    for begin, end in windows:
        last = begin
        for start, stop in sorted(pieces):
            start, stop = max(start, last), min(stop, end)
            if start < stop:
                total, last = total + stop - start, stop
    return total


def steps_of(space):
    """[begin, end) of the steps that the program marks: an event with a number of a step, `_r` of 1."""
    return sorted(spans(space, lambda line, event: stat(event, "step_num") is not None and stat(event, "_r") == 1))


def check_python(run, rules, spaces):
    count = 0
    for space in spaces:
        events = [event for _, event in xplane_reader.slices_of(space)]
        calls = sum(event["name"].startswith("$") for event in events)
        count += calls >= 1000 and calls * 10 >= len(events)
    must(run, rules, "python-tracer", count)


def check_devices(run, rules, spaces):
    planes = [plane for space in spaces for plane in space["planes"] if plane["name"].startswith("/device:")]
    empty = [plane for plane in planes if not any(line["events"] for line in plane["lines"])]
    must(run, rules, "unused-devices", int(0 < len(empty) < len(planes)))


def check_steps(run, rules, spaces):
    """Only where the program marks steps and nothing is compiled within them: else steps are left out as warm-ups."""
    hosts = [(steps_of(space), space) for space in spaces]
    if not all(steps for steps, _ in hosts):
        return
    compiles = [one for _, space in hosts for one in spans(space, lambda line, event: event["name"] == "backend_compile_and_load")]
    if any(begin < stop and start < end for steps, _ in hosts for start, stop in steps for begin, end in compiles):
        return
    medians = [statistics.median_low([stop - start for start, stop in steps]) for steps, _ in hosts]
    total = sum(stop - start for steps, _ in hosts for start, stop in steps)
    loads = sum(union_inside(list(spans(space, lambda line, event: event["name"] in INPUT)), steps) for steps, space in hosts)
    must(run, rules, "input-bound", int(loads * 20 >= total))
    slow = [[2 * (stop - start) >= 3 * median and 100 * (stop - start - median) >= total for start, stop in steps]
            for (steps, _), median in zip(hosts, medians)]
    if not any(of_host[0] for of_host in slow):  # a slow first one is a warm-up, which is not counted
        must(run, rules, "outlier-step", sum(map(sum, slow)))
    must(run, rules, "capture-too-short", sum(len(steps) < 3 for steps, _ in hosts))


def check_waits(run, rules, spaces):
    """Time of a TPU in which its own line of ops has nothing but copy-done."""
    waits = busy = 0
    for plane in [plane for space in spaces for plane in space["planes"] if plane["name"].startswith("/device:TPU")]:
        alone = {"planes": [plane]}
        done = list(spans(alone, lambda line, event: line["name"] == "XLA Ops" and event["name"].startswith("copy-done")))
        work = list(spans(alone, lambda line, event: line["name"] == "XLA Ops" and not event["name"].startswith("copy-done")))
        hull = [(min(done + work)[0], max(end for _, end in done + work))]
        waits += union_inside(done + work, hull) - union_inside(work, hull)
        busy += union_inside(done + work, hull)
    must(run, rules, "waits-for-copies", int(waits * 20 >= busy > 0))


def check_markers(run, rules, spaces):
    """Marks of a step, by the program on a thread or by a line "Steps"."""
    marks = sum(len(line["events"]) if line["name"] == "Steps" else sum(stat(event, "_r") == 1 and event["dur_ps"] > 0 for event in line["events"])
                for space in spaces for plane in space["planes"] for line in plane["lines"])
    must(run, rules, "no-step-markers", int(marks == 0))


def check_calls(run, rules, spaces, programs):
    """Of a function that was called 20 times and ran 20 times a call against what runs; and calls of which half never ran."""
    short = unblocked = 0
    for space, known in zip(spaces, programs):
        executions = raw_calls.executions_of(space)
        names = {raw_heap.Heap(blob).name for blob in known.values()}
        for function, lengths in raw_calls.calls_of(space).items():
            mine = [one for one in executions if one[0] == raw_calls.program_of(function)]
            ran = max(collections.Counter(device for _, _, device, _, _ in mine).values(), default=0)
            if min(ran, len(lengths)) >= CALLS:
                short += statistics.median_low(lengths) // 2 >= statistics.median_low([end - begin for _, _, _, begin, end in mine])
            unblocked += raw_calls.program_of(function) in names and bool(executions) and len(lengths) >= 3 and 2 * ran <= len(lengths)
    must(run, rules, "calls-shorter-than-dispatch", short)
    must(run, rules, "nothing-blocked", unblocked)


def check_plans(run, rules, spaces, programs):
    """Modules that ran, each once for all hosts."""
    ran, blobs = collections.Counter(), {}
    for space, known in zip(spaces, programs):
        for module, program, _, _, _ in raw_calls.executions_of(space):
            program &= xplane_reader.MASK
            ran[(module, program)] += 1
            if program in known:
                blobs[(module, program)] = known[program]
    plans = {key: raw_heap.Heap(blob) for key, blob in blobs.items()}
    plans = {key: plan for key, plan in plans.items() if plan.has_buffers}
    if len(plans) > MODULES or sum(len(blobs[key]) for key in plans) > BLOBS or not all(plan.is_told for plan in plans.values()):
        return False
    spared = [(plan.donation_bytes, plan.peak_bytes) for key, plan in plans.items() if ran[key] >= 2]
    must(run, rules, "memory-donation", sum(spare >= MIB and 4 * spare >= peak for spare, peak in spared))
    again = [(plan.again_bytes(), plan.peak_bytes) for plan in plans.values()]
    must(run, rules, "memory-rematerialise", sum(spare >= MIB and 10 * spare >= peak for spare, peak in again))
    return True


def check_hlo(run, rules, spaces, programs):
    """Hosts whose ops name modules, where no file of the run holds HLO."""
    names = [any(line["name"] == "XLA Modules" and line["events"] or any(stat(event, "hlo_module") for event in line["events"])
                 for plane in space["planes"] for line in plane["lines"]) for space in spaces]
    must(run, rules, "no-hlo", 0 if any(programs) else sum(names))


def check_xplane(run, rules, files):
    spaces, programs = [xplane_reader.read(file) for file in files], [raw_heap.programs(file) for file in files]
    for check in (check_python, check_devices, check_steps, check_waits, check_markers):
        check(run, rules, spaces)
    for check in (check_calls, check_hlo):
        check(run, rules, spaces, programs)
    if not check_plans(run, rules, spaces, programs):
        print(f"{run}: not every module's heap is told by simulations, so memory-donation and memory-rematerialise are not checked")


def json_file(place):
    """The one in that directory, else of that name."""
    names = ["*.trace.json.gz"] if place.is_dir() else [glob.escape(place.name) + end for end in (".json", ".json.gz", ".*.json.gz")]
    return next((file for name in names for file in (place if place.is_dir() else place.parent).glob(name)), None)


def check_json(run, rules, file):
    """JSON holds no HLO. What is no profile of a program has no steps to miss: that some op names its module says that it is one."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    try:
        told = json.loads(data)
    except ValueError:
        return False  # cut off, or more than JSON
    events = [one for one in (told.get("traceEvents", []) if isinstance(told, dict) else told) if isinstance(one, dict)]
    tracks = {str((one.get("args") or {}).get("name")) for one in events if one.get("name") == "thread_name"}
    args = [one["args"] for one in events if isinstance(one.get("args"), dict)]
    modules = any("hlo_module" in one for one in args) or "XLA Modules" in tracks
    must(run, rules, "no-hlo", int(modules))
    if "Steps" in tracks or any(str(one.get("name")).startswith("ProfilerStep#") for one in events) or any("step_num" in one for one in args):
        must(run, rules, "no-step-markers", 0)
    elif modules:
        must(run, rules, "no-step-markers", 1)
    return True


def rows(database, query):
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []  # an export has the tables of what was recorded


def exposed_share(database):
    """Of the time from the first to the last event of devices what they do nothing in but copy to or from the host; their mean."""
    work, copies = collections.defaultdict(list), collections.defaultdict(list)
    for device, begin, end in rows(database, "select deviceId, start, end from CUPTI_ACTIVITY_KIND_KERNEL"):
        work[device].append((begin, end))
    for device, begin, end in rows(database, "select deviceId, start, end from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind in (1, 2)"):
        copies[device].append((begin, end))
    spans = [span for of_device in (*work.values(), *copies.values()) for span in of_device]
    if not spans:
        return 0
    hull = [(min(spans)[0], max(end for _, end in spans))]
    exposed = [union_inside(work[device] + copies[device], hull) - union_inside(work[device], hull) for device in {*work, *copies}]
    return statistics.mean(exposed) / (hull[0][1] - hull[0][0])


def check_nsys(run, rules, file):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        kernels = collections.defaultdict(list)
        for name, dur_ns in rows(database, "select demangledName, end - start from CUPTI_ACTIVITY_KIND_KERNEL"):
            kernels[name].append(dur_ns)
        copies = rows(database, f"select count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where bytes <= {SMALL_BYTES} and copyKind in (1, 2)")
        share = exposed_share(database)
        moved = sum(count for table in ("MEMCPY", "MEMSET") for count, in rows(database, f"select count(*) from CUPTI_ACTIVITY_KIND_{table}"))
    launches = sum(map(len, kernels.values()))
    tiny = sum(len(durs) for durs in kernels.values() if statistics.median_low(durs) < TINY_NS)
    if tiny < 100 or 2 * tiny < launches:  # else the gaps decide
        must(run, rules, "tiny-kernels", 0)
    if not 0.01 < share < 0.25:  # else it is for what the counted steps are
        must(run, rules, "exposed-transfers", int(share >= 0.25))
    must(run, rules, "small-transfers", int(bool(copies) and copies[0][0] >= 100))
    must(run, rules, "no-device-events", int(not kernels and not moved))
    must(run, rules, "no-step-markers", 1)  # NVTX has no word for a step


def held_bytes(file):
    """Bytes of buffers by their owner's address in a memory profile of JAX: the last value of each sample, by its innermost location."""
    data = gzip.decompress(file.read_bytes()) if file.read_bytes()[:2] == b"\x1f\x8b" else file.read_bytes()
    ret = 0
    for place in xplane_reader.message(data).get(2, ()):
        values = xplane_reader.message(data, *place).get(2, [])
        if values and isinstance(values[0], tuple):
            at, end = values[0]
            values = []
            while at < end:
                value, at = xplane_reader.unsigned(data, at, end)
                values.append(value)
        ret += values[-1] if values else 0
    return ret


def check_leak(captures, rules):
    series = [held_bytes(captures / "memory-leak" / f"leak-{i}.prof") for i in range(3)]
    grows = series[0] < series[1] < series[2] and series[2] - series[0] >= 1 << 20
    must("captures/memory-leak", rules["captures/memory-leak"], "memory-leak", int(grows))


def main():
    given = os.environ.get("JVIEW_CORPUS")
    if not given:
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return manifest.SKIPPED
    root, fires, checked = pathlib.Path(given).parent, expected(), 0
    for run, rules in fires.items():
        place = root / PLACES.get(run, run)
        files = sorted(place.rglob("*.xplane.pb*")) if place.is_dir() else []
        if files:
            check_xplane(run, rules, files)
        elif json_file(place):
            checked -= not check_json(run, rules, json_file(place))
        elif place.with_suffix(".sqlite").is_file():
            check_nsys(run, rules, place.with_suffix(".sqlite"))
        else:
            continue
        checked += 1
    if (root / "captures/memory-leak").is_dir():
        check_leak(root / "captures", fires)
    for failure in manifest.failures:
        print(failure)
    print(f"{checked} profiles, {len(manifest.failures)} firings that the raw events do not bear out")
    return 1 if manifest.failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
