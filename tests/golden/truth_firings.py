#!/usr/bin/env python3
"""What fires where (findings_expected.txt) against the raw events: for rules that a short reckoning over a file can decide, a
plain reader says on every profile of its format whether they must fire, how often, and the figures that some of them state.

  xplane   python-tracer, unused-devices, input-bound, outlier-step, capture-too-short, waits-for-copies
  nsys     small-transfers, tiny-kernels, no-device-events (SQL)
  pprof    memory-leak
Nothing of the program is asked: truth_findings.py holds it to the table.
"""
import collections
import gzip
import os
import pathlib
import sqlite3
import statistics
import sys

import manifest
import xplane_reader
from truth_steps import spans, stat

TABLE = pathlib.Path(__file__).with_name("findings_expected.txt")
PLACES = {  # run -> where it lies, if not where its name says
    "corpus/gpu-mi300x-jax08/conv": "corpus/gpu-mi300x-jax08/plugins/profile/conv",
    "corpus/gpu-mi300x-jax08/gemm": "corpus/gpu-mi300x-jax08/plugins/profile/gemm",
}
INPUT = {"data_loading", "load_data", "Iterator::Prefetch::Generator"}  # what loads data in our captures
SMALL_BYTES, TINY_NS = 64 * 1024, 5000


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


def check_xplane(run, rules, files):
    spaces = [xplane_reader.read(file) for file in files]
    for check in (check_python, check_devices, check_steps, check_waits):
        check(run, rules, spaces)


def rows(database, query):
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []  # an export has the tables of what was recorded


def check_nsys(run, rules, file):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        kernels = collections.defaultdict(list)
        for name, dur_ns in rows(database, "select demangledName, end - start from CUPTI_ACTIVITY_KIND_KERNEL"):
            kernels[name].append(dur_ns)
        copies = rows(database, f"select count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where bytes <= {SMALL_BYTES} and copyKind in (1, 2)")
        moved = sum(count for table in ("MEMCPY", "MEMSET") for count, in rows(database, f"select count(*) from CUPTI_ACTIVITY_KIND_{table}"))
    launches = sum(map(len, kernels.values()))
    tiny = sum(len(durs) for durs in kernels.values() if statistics.median_low(durs) < TINY_NS)
    if tiny < 100 or 2 * tiny < launches:  # else the gaps decide
        must(run, rules, "tiny-kernels", 0)
    must(run, rules, "small-transfers", int(bool(copies) and copies[0][0] >= 100))
    must(run, rules, "no-device-events", int(not kernels and not moved))


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
        files = sorted(place.rglob("*.xplane.pb")) if place.is_dir() else []
        if files:
            check_xplane(run, rules, files)
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
