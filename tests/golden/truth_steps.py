#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps, their breakdown, idle time and hosts against the raw events, and against XProf's step tables, where golden/ and
captures/ lie beside $JVIEW_CORPUS. Where XProf leaves steps out or adds hosts up, the raw events say what is right."""
import gzip
import json
import os
import pathlib
import sys
import tempfile

import manifest
import xplane_reader
from test_kernels import ask, union

XPROF = {  # golden/NAME -> the profile below captures/ or the corpus
    "jaxcpu-train-steps": "train-steps", "jaxcpu-control-flow": "control-flow", "jaxcpu-multi-device": "multi-device",
    "jaxcpu-profile-server": "profile-server", "jaxcpu-python-tracer": "python-tracer", "jaxcpu-recompiles": "recompiles",
    "jaxcpu-transfers-idle": "transfers-idle", "jaxcpu-odd-names": "odd-names",
    "jaxcpu-periodic-step_500": "periodic/runs/profiles/step_500", "jaxcpu-periodic-step_1000": "periodic/runs/profiles/step_1000",
    "jaxcpu-periodic-step_1500": "periodic/runs/profiles/step_1500",
}
T4 = {"181856": (6119.2, 44.1), "184122": (7740.5, 41.3)}


def within(path, what, got, wanted, share):
    if got is None or abs(got - wanted) > share * abs(wanted):
        manifest.failures.append(f"{path}: {what}: {got}, not {wanted} within {share:.1%}")


def rows_of(cache, path, verb, *words):
    ask(cache, "list", str(path))
    return ask(cache, verb, str(path), *words, "--limit", "10000")


def spaces(path):
    return {file.name.removesuffix(".xplane.pb"): xplane_reader.read(file) for file in sorted(path.rglob("*.xplane.pb"))}


def spans(space, wanted, planes=None):
    """[begin, end) of the events that are wanted."""
    for plane in space["planes"]:
        if planes and not plane["name"].startswith(planes):
            continue
        for line in plane["lines"]:
            for event in line["events"]:
                if event["dur_ps"] > 0 and not event["aggregated"] and wanted(line, event):
                    yield event["begin_ps"], event["begin_ps"] + event["dur_ps"]


def stat(event, name):
    for key, _, value in event["stats"]:
        if key == name:
            return value
    return None


def raw_steps(space):
    """(number, length) of what StepTraceAnnotation marks, in order; marks inside others are none."""
    found, reach = [], None
    marks = sorted(((event["begin_ps"], -event["dur_ps"], stat(event, "step_num")) for plane in space["planes"] for line in plane["lines"]
                    for event in line["events"] if stat(event, "_r") == 1 and event["dur_ps"] > 0), key=lambda mark: mark[:2])
    for begin, less, number in marks:
        if reach is None or begin - less > reach:
            found.append((begin, number, -less))
            reach = begin - less
    return found


def check_sums(name, cache, path):
    """Kinds of a step sum to it, and of each of its devices."""
    steps = rows_of(cache, path, "steps")
    devices = rows_of(cache, path, "steps", "--view", "devices")
    for what, page in (("step", steps), ("step of a device", devices)):
        for row in page["rows"]:
            manifest.equal(name, f"kinds of {what} {row['step']}", sum(part["self_ps"] for part in row["breakdown"]), row["dur_ps"])
            if row.get("busy_ps") is not None and not 0 <= row["wait_ps"] <= row["busy_ps"] <= row["dur_ps"]:
                manifest.failures.append(f"{name}: {what} {row['step']}: waits {row['wait_ps']} of {row['busy_ps']} of {row['dur_ps']}")
    idle = rows_of(cache, path, "steps", "--view", "idle")
    if devices["rows"] and devices["rows"][0]["device"] is not None and steps["rows"]:
        counted = {(row["host"], row["start_ps"]) for row in steps["rows"] if not row["warmup"] and not row["cut"]}
        gaps = sum(row["dur_ps"] - row["busy_ps"] for row in devices["rows"] if (row["host"], row["start_ps"]) in counted)
        manifest.equal(name, "idle by cause", sum(row["idle_ps"] for row in idle["rows"]), gaps)
    return steps["rows"]


# XProf takes marks of any name for one series.
FAMILIES = {"jaxcpu-odd-names": ("no step_num", "text step")}


def check_steps(name, cache, path, tables):
    rows = check_sums(name, cache, path)
    for family in FAMILIES.get(name, ()):
        rows = sorted(rows + rows_of(cache, path, "steps", "--family", family)["rows"], key=lambda row: row["start_ps"])
    for host, space in spaces(path).items():
        raw = raw_steps(space)
        ours = [row for row in rows if row["host"] == host]
        manifest.equal(name, f"lengths of steps of {host}", [row["dur_ps"] for row in ours], [dur for _, _, dur in raw])
        numbers = [number for _, number, _ in raw]
        if raw and all(isinstance(number, int) and 0 <= number < 2**53 for number in numbers):
            manifest.equal(name, f"numbers of steps of {host}", [row["step"] for row in ours], numbers)
    told = json.loads(tables.read_text()).get("steps", []) if tables.is_file() and all(number is not None for number in numbers) else []
    lengths = {row["step"]: row["dur_ps"] for row in rows}
    for row in told:  # XProf leaves the first and the last out (C17); those that it has are right
        number = row["stepnum"].rsplit(" ", 1)[-1]
        if number.isdigit() and int(number) in lengths:
            manifest.equal(name, f"XProf's length of step {number}", lengths[int(number)], round(row["step_ms"] * 1e9))
    return len(rows), len(told)


def check_conv(corpus, cache):  # C5
    path = corpus / "gpu-mi300x-jax-conv"
    (space,) = spaces(path).values()
    work = {}
    for plane in space["planes"]:
        if plane["name"].startswith("/device:GPU:"):
            one = list(spans({"planes": [plane]}, lambda line, event: line["name"].startswith("Stream")))
            if one:
                work[int(plane["name"].rsplit(":", 1)[1])] = one
    page = ask(cache, "overview", str(path))
    within("C5", "idle time of all devices, in us", sum(device["idle_ps"] for device in page["devices"]) / 1e6, 39153.5, 1e-5)
    for device in page["devices"]:
        one = work[device["device"]]
        own = max(end for _, end in one) - min(begin for begin, _ in one)
        manifest.equal("C5", f"busy time of device {device['device']}", device["busy_ps"], union(one))
        manifest.equal("C5", f"idle time of device {device['device']}", device["idle_ps"], own - union(one))


def pieces_of(events, begin, end):
    """[(from, to, names of what is open, outermost first)] of one thread, without a gap."""
    events = sorted((event for event in events if event[0] < end and event[1] > begin), key=lambda event: (event[0], -event[1]))
    edges = sorted({begin, end} | {min(max(at, begin), end) for event in events for at in event[:2]})
    opened, at = [], 0
    for left, right in zip(edges, edges[1:]):
        while at < len(events) and max(events[at][0], begin) <= left:
            opened.append(events[at])
            at += 1
        opened = [event for event in opened if event[1] > left]
        yield left, right, [event[2] for event in opened]


def meaning(names):
    """What a thread does while devices do nothing, by names alone."""
    if any(word in name for name in names for word in ("device_put", "DevicePut")):
        return "copy"
    if not names or any("block_until_ready" in name or "try_to_block" in name for name in names):
        return "idle"
    return "host"


def check_conv_host(corpus, cache):
    """Where devices do nothing, each moment of the thread that steps, by the names open then: 73 % of a step is not their work."""
    path = corpus / "gpu-mi300x-jax-conv"
    (space,) = spaces(path).values()
    lines = [(plane["name"], line) for plane in space["planes"] for line in plane["lines"]]
    zero = min(event["begin_ps"] for _, line in lines for event in line["events"] if not event["aggregated"]) // 1000 * 1000
    steps = [row for row in rows_of(cache, path, "steps")["rows"] if not row["cut"]]
    begin, end = steps[0]["start_ps"] + zero, steps[-1]["start_ps"] + steps[-1]["dur_ps"] + zero
    (python,) = [line for plane, line in lines if plane == "/host:CPU" and line["name"] == "python"]
    thread = list(pieces_of([(event["begin_ps"], event["begin_ps"] + event["dur_ps"], event["name"]) for event in python["events"]], begin, end))
    sums, devices = dict.fromkeys(("copy", "idle", "host"), 0), 0
    for plane in space["planes"]:
        work = list(spans({"planes": [plane]}, lambda line, event: line["name"].startswith("Stream"), "/device:GPU"))
        devices += bool(work)
        for left, right, names in thread if work else ():
            inside = [(max(a, left), min(b, right)) for a, b in work if a < right and b > left]
            sums[meaning(names)] += right - left - union(inside)
    told = {part["kind"]: part["self_ps"] for part in ask(cache, "overview", str(path))["breakdown"]}
    copied = sum(union([(max(a, begin), min(b, end)) for a, b in spans(
        {"planes": [plane]}, lambda line, event: line["name"].startswith("Stream") and "Copy" in event["name"], "/device:GPU") if a < end and b > begin])
        for plane in space["planes"])
    sums["copy"] += copied
    for kind, total in sums.items():  # the mean of the devices, rounded in each step
        if abs(told[kind] * devices - total) > 2 * devices * len(steps):
            manifest.failures.append(f"gpu-mi300x-jax-conv: {kind} is {told[kind]}, by the names of the thread {total / devices}")


def check_t4(corpus, golden, cache):  # C6, C8
    for day, (busy_us, idle_percent) in T4.items():
        path = corpus / "gpu-t4-tf2-keras" / "logs/fit" / f"20231107-{day}"
        rows = check_sums(f"T4 {day}", cache, path)
        page = ask(cache, "overview", str(path))
        (device,) = page["devices"]
        within("C6", f"busy time, {day}, in us", device["busy_ps"] / 1e6, busy_us, 1e-5)
        within("C6", f"idle percent, {day}", 100 * device["idle_ps"] / (device["idle_ps"] + device["busy_ps"]), idle_percent, 2e-3)
        manifest.equal("C8", f"deviation of one step, {day}", page["step"]["stdev_ps"], None)
        tables = golden / f"gpu-t4-tf2-keras-{day}" / "tables.json"
        for row in json.loads(tables.read_text())["steps"] if tables.is_file() else []:
            manifest.equal("T4", f"XProf's step, {day}", rows[0]["dur_ps"], round(row["step_ms"] * 1e9))


def check_tpu(corpus, cache):  # C13
    path = corpus / "tpu-inference-4chip"
    (space,) = spaces(path).values()
    check_sums("TPU", cache, path)
    begins = {row["step"]: (row["start_ps"], row["end_ps"]) for row in rows_of(cache, path, "steps")["rows"]}
    waits = busy = 0
    ours_wait = ours_busy = 0
    for row in rows_of(cache, path, "steps", "--view", "devices")["rows"]:
        ours_wait += row["wait_ps"]
        ours_busy += row["busy_ps"]
    for plane in space["planes"]:
        if plane["name"].startswith("/device:TPU:"):
            ops = list(spans({"planes": [plane]}, lambda line, event: line["name"] == "XLA Ops"))
            done = list(spans({"planes": [plane]}, lambda line, event: line["name"] == "XLA Ops" and event["name"].startswith("copy-done")))
            busy += union(ops)
            waits += union(done)
    # Of the events: 83.6 % of the capture waits in copy-done, and about a thirtieth does anything else.
    manifest.equal("C13", "steps", len(begins), 100)
    within("C13", "share of waiting in what runs in steps", ours_wait / ours_busy, waits / busy, 0.05)
    if ours_wait / ours_busy < 0.96:
        manifest.failures.append(f"C13: {ours_wait / ours_busy:.3f} of what runs is waiting, not more than 0.96")


def check_updates(corpus, cache):
    """PyTorch's own marks taken away: from one update of its optimizer to the next is as long as the step that they marked. What lies
    between an update's end and the mark's is less than a hundredth."""
    for path in sorted((corpus / "pytorch-resnet50-tb").rglob("*.pt.trace.json.gz")):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        marks = sorted((event for event in trace["traceEvents"] if str(event.get("name")).startswith("ProfilerStep#")), key=lambda event: float(event["ts"]))
        trace["traceEvents"] = [event for event in trace["traceEvents"] if not str(event.get("name")).startswith("ProfilerStep#")]
        with tempfile.TemporaryDirectory() as scratch:
            bare = pathlib.Path(scratch) / "bare.pt.trace.json"
            bare.write_text(json.dumps(trace))
            page = rows_of(cache, bare, "steps")
        manifest.equal(path.name, "steps without marks", (page["rule"], page["confidence"], len(page["rows"])), ("optimizer", "medium", len(marks) - 1))
        for row, mark in zip(page["rows"], marks[1:]):
            within(path.name, f"{mark['name']} without its mark, in us", row["dur_ps"] / 1e6, mark["dur"], 0.01)


def check_hosts(captures, cache):  # C20
    for name, waiting in (("together", (58.7, 15.4)), ("apart", (45.8, 5.4)), ("session-id", (58.3, 14.2))):
        path = captures / "multi-host" / name
        check_sums(f"multi-host/{name}", cache, path)
        page = rows_of(cache, path, "hosts")
        rows = {row["name"]: row for row in page["rows"]}
        for host, wanted in zip(("hostA", "hostB"), waiting):
            within("C20", f"{name}: communication of {host}, in ms", rows[host]["communication_ps"] / 1e9, wanted, 0.01)
        manifest.equal("C20", f"{name}: stragglers", [row["name"] for row in page["rows"] if row["straggler"]], ["hostB"])
        manifest.equal("C20", f"{name}: steps that B came last in", rows["hostB"]["last_count"], 6)
        grid = rows_of(cache, path, "hosts", "--view", "grid")["rows"]
        for host, space in spaces(path).items():
            manifest.equal("C20", f"{name}: steps of {host}", [row["dur_ps"] for row in grid if row["host"] == host],
                           [dur for _, _, dur in raw_steps(space)])
        waits = sum(max(one["communication_ps"] for one in pair) - row["communication_ps"] for row in grid
                    for pair in [[one for one in grid if one["step"] == row["step"]]])
        manifest.equal("C20", f"{name}: waiting in all steps", waits, sum(row["wait_ps"] for row in page["rows"]))


def check_captures(captures, cache):
    path = captures / "train-steps"  # C17, C21
    rows = rows_of(cache, path, "steps")["rows"]
    manifest.equal("C17", "steps of train-steps", len(rows), 12)
    within("C17", "their mean, in ms", sum(row["dur_ps"] for row in rows) / len(rows) / 1e9, 31.27, 5e-4)
    manifest.equal("C17", "steps of profile-server", len(rows_of(cache, captures / "profile-server", "steps")["rows"]), 15)
    (space,) = spaces(path).values()
    loads = union(spans(space, lambda line, event: event["name"] == "data_loading"))
    total = sum(row["dur_ps"] for row in rows)
    within("C21", "data_loading of all steps, raw, in percent", 100 * loads / total, 48.3, 2e-3)
    for row in rows:
        part = {part["kind"]: part["self_ps"] for part in row["breakdown"]}
        row["input"] = part["input"]
    within("C21", "input of all steps, in percent", 100 * sum(row["input"] for row in rows) / total, 48.3, 5e-3)
    path = captures / "transfers-idle"  # C22
    (space,) = spaces(path).values()
    copies = sum(end - begin for begin, end in spans(space, lambda line, event: event["name"] == "H2D Dispatch"))
    sleeps = sum(end - begin for begin, end in spans(space, lambda line, event: event["name"] == "$time sleep"))
    within("C22", "H2D Dispatch, raw, in ms", copies / 1e9, 1569.8, 1e-4)
    within("C22", "sleeps, raw, in ms", sleeps / 1e9, 243.5, 1e-3)
    (row,) = rows_of(cache, path, "top", "--by", "name", "--name", "H2D Dispatch")["rows"]
    manifest.equal("C22", "H2D Dispatch", (row["kind"], row["total_ps"]), ("copy", copies))
    rows = rows_of(cache, path, "steps")["rows"]
    kinds = {kind: sum(part["self_ps"] for row in rows for part in row["breakdown"] if part["kind"] == kind) for kind in ("copy", "idle", "input")}
    within("C22", "idle of all steps against the sleeps", kinds["idle"], sleeps, 0.02)
    manifest.equal("C22", "copies are more than a third", kinds["copy"] > sum(row["dur_ps"] for row in rows) / 3, True)


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    corpus = pathlib.Path(corpus)
    captures, golden = corpus.parent / "captures", corpus.parent / "golden"
    steps = told = 0
    with tempfile.TemporaryDirectory() as cache:
        check_conv(corpus, cache)
        check_conv_host(corpus, cache)
        check_t4(corpus, golden, cache)
        check_tpu(corpus, cache)
        check_updates(corpus, cache)
        if captures.is_dir():
            check_captures(captures, cache)
            check_hosts(captures, cache)
            for name, path in XPROF.items():
                got = check_steps(name, cache, captures / path, golden / name / "tables.json")
                steps, told = steps + got[0], told + got[1]
        else:
            print("skipped in part: there is no captures/ beside the corpus")
    for failure in manifest.failures:
        print(failure)
    print(f"{steps} steps, {told} of them in XProf's tables, {len(manifest.failures)} differences")
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
