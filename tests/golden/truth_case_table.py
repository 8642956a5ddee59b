#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cases made after other people's reports: a question each, and what is right by the program that was recorded, by its clock, or by
the numbers in the file. Small ones lie in cases/ here, the others beside $JVIEW_CORPUS."""

import concurrent.futures
import gzip
import json
import os
import pathlib
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile

import profiles

MS, US = 10**9, 10**6
OWN = pathlib.Path(__file__).resolve().parent / "cases"


class Case:
    """jviewd, asked about one case by the verbs of its command line."""

    def __init__(self, path, places):
        self.path, self.places, self.known = path, places, {}

    def run(self, *words):
        if words not in self.known:
            command = [profiles.program(), words[0], str(self.path), *words[1:], "--format", "json", *self.places]
            self.known[words] = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        return self.known[words]

    def ask(self, *words):
        done = self.run(*words)
        if done.returncode:
            raise ValueError(f"{words}: {done.returncode}: {done.stderr.strip()[-300:]}")
        return json.loads(done.stdout)

    def rows(self, *words):
        return self.ask(*words, "--limit", "10000")["rows"]

    # What tables of the cases ask for.

    def step(self, *words):
        """(counted steps, their median in picoseconds)"""
        step = self.ask("overview", *words)["step"]
        return step["counted"], step["median_ps"]

    def numbers(self):
        return [row["step"] for row in self.rows("steps")]

    def rows_of_compare(self):
        return self.ask("compare", str(self.path), "--ops", "100")["rows"]

    def says(self, *words):
        """(exit code, what stands on the terminal) of a verb that may end otherwise than well."""
        command = [profiles.program(), words[0], str(self.path), *words[1:], *self.places]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def names(self, column="self_ps", by="name", **columns):
        words = [word for name, value in columns.items() for word in ("--" + name, value)]
        return {row["name"]: row[column] for row in self.rows("top", "--by", by, *words)}

    def busy(self):
        """Of each device that ran."""
        return [row["total_ps"] for row in self.rows("top", "--by", "device")]

    def modules(self):
        return self.ask("hlo")["modules"]

    def notes(self):
        return {note["kind"] for note in self.ask("overview")["notes"]}

    def refused(self):
        done = self.run("overview")
        return done.stderr if done.returncode else None


def close(value, right, part):
    return value is not None and abs(value - right) <= part * right


def steps(count, median_ps, *words):
    return f"{count} steps of {median_ps / MS:g} ms {' '.join(words)}", lambda case: case.step(*words), (count, median_ps)


def self_times(**names):
    return "self times", lambda case: {name: case.names().get(name) for name in names}, names


def reads(**names):
    """All good events, each of its length."""
    return "events", lambda case: {name: case.names("total_ps").get(name) for name in names}, names


def tells(*kinds):
    return f"tells {', '.join(kinds)}", lambda case: sorted(set(kinds) - case.notes()), []


def true(what, ask):
    return what, lambda case: bool(ask(case)), True


def median_of(case, rule):
    rows = case.rows("steps")
    assert all(row["rule"] == rule for row in rows), rows
    return statistics.mean(row["dur_ps"] for row in rows)


def finding(*words):
    """One of the findings holds all of these words."""
    return true(" and ".join(words), lambda case: any(all(word in json.dumps(one, ensure_ascii=False) for word in words) for one in case.rows("findings")))


PLAIN = reads(**{"two": 1 * US, "ä☃ op": 2 * US})
PERFETTO = self_times(first=2 * US, second=4 * US)
HUNDRED = [reads(k=100 * 50 * US), ("capture", lambda case: case.ask("overview")["duration_ps"], 9_950 * US), tells("stray-times")]
RANKS = [("devices", lambda case: case.busy(), [1_500 * US] * 2), reads(k_rank0=1_500 * US, k_rank1=1_500 * US)]

TABLE = {
    "steps/real-async": [
        true("270.0 ms a step", lambda case: close(median_of(case, "work"), 270.0 * MS, 0.03)),
        true("idle below 5 %", lambda case: (lambda one: one["duty"]["busy_ps"] > 0.95 * one["breakdown_total_ps"])(case.ask("overview"))),
    ],
    "steps/async/n_512.xplane.pb": [true("4.46 ms of work a step: 5.22 by the loop's clock, whose first call and last wait are no step's",
                               lambda case: close(median_of(case, "work"), 4.46 * MS, 0.03))],
    "steps/async/n_1536.xplane.pb": [
        true("161.9 ms a step", lambda case: close(median_of(case, "work"), 161.9 * MS, 0.03)),
        true("against n_512 31 times slower: regressed",
             lambda case: (lambda code, said: code == 1 and "step_time regressed" in said)(*case.says("check", "--baseline", str(case.path.parent / "n_512.xplane.pb")))),
    ],
    "steps/async": [("two captures in one directory are two runs", lambda case: sorted((row["name"], len(row["hosts"])) for row in case.ask("list")["runs"]), [("n_1536", 1), ("n_512", 1)]),
                    true("and the newer is asked first", lambda case: case.ask("overview")["run"]["name"] == "n_1536"),
                    true("an op that none has: the nearest", lambda case: "the nearest that these runs have is op:ynn_fusion" in json.dumps(case.ask("trend", "--metric", "op:ynn_fusoin")["notes"])),
                    ("a trend has measured both before it prints", lambda case: [close(row["value"], right * MS, 0.03) for row, right in zip(case.rows("trend", "--metric", "step_mean"), (4.46, 161.9))], [True, True])],
    "steps/C3-async-gpu-raw": [true("8 of 9.99 ms", lambda case: case.step()[0] == 8 and close(case.step()[1], 9.99 * MS, 0.002))],
    "steps/C-tpu-clock-right": [steps(5, 8 * MS)],
    "steps/C-tpu-clock-ahead": [steps(5, 8 * MS), tells("device-clock")],
    "steps/A-zero-xplane": [true("12 steps", lambda case: case.step()[0] == 12),
                            true("names the file that could not be read", lambda case: any(note["kind"] == "partial" and "vllm-single-node.xplane.pb" in note["message"] for note in case.ask("overview")["notes"]))],
    "steps/J-json-steps": [("numbers", lambda case: case.numbers(), list(range(100, 106))), steps(6, 900 * US)],
    "steps/T-train-eval": [steps(16, 10 * MS), steps(24, 200 * MS, "--family", "eval"),
                           true("names eval", lambda case: '"eval\\" (24)' in json.dumps(case.ask("overview")))],
    "steps/N-nested-epoch": [steps(24, 10 * MS)],
    "steps/H-torchxla": [steps(4, 100 * MS)],
    "steps/F2-tpu-no-hlo": [
        true("copy-done first, 304.0 s", lambda case: close(sum(time for name, time in list(case.names(by="op").items())[:4] if name.startswith("copy-done")), 304.0e12, 0.001)),
        true("784.13 ms apart on the device's clock, within 0.1: the slices of modules are not on it, and would differ by 30",
             lambda case: close(case.ask("overview")["step"]["mean_ps"], 784.1 * MS, 0.001) and case.ask("overview")["step"]["stdev_ps"] < 1 * MS),
        true("broadcast_add_fusion.1 1.04 %", lambda case: close(case.names("share", by="op")["broadcast_add_fusion.1"], 0.0104, 0.01)),
    ],
    "steps/B-cmdbuf-none": [finding("--xla_gpu_enable_command_buffer=")],
    "steps/B-cmdbuf-hlo": [finding("--xla_gpu_enable_command_buffer=")],
    "steps/real-collide": [
        ("modules", lambda case: case.names("count", by="module"), {"jit_f(6)": 4, "jit_f(8)": 3, "jit_f(10)": 2}),
        ("each is asked for", lambda case: [len(case.names(by="module", module=name)) for name in ("jit_f(6)", "jit_f(8)", "jit_f(10)", "jit_f")], [1, 1, 1, 3]),
        true("as hlo has them", lambda case: {"jit_f(6)", "jit_f(8)", "jit_f(10)"} <= {row["key"] for row in case.modules()}),
        true("kernels and ops say the same", lambda case: {row["module"] for row in case.rows("top", "--by", "op") if row["module"].startswith("jit_f")} == {"jit_f(6)", "jit_f(8)", "jit_f(10)"}),
        ("a difference has a row each", lambda case: sorted(row["name"] for row in case.rows("diff", str(case.path), "--by", "module") if row["name"].startswith("jit_f")), ["jit_f(10)", "jit_f(6)", "jit_f(8)"]),
        true("and keys of ops that differ", lambda case: (lambda keys: len(keys) == len(set(keys)))([row["key"] for row in case.rows("diff", str(case.path))])),
        ("two of three steps count, for the end cuts one", lambda case: [case.ask("diff", str(case.path))["a"][name] for name in ("step_count", "warmup_count", "cut_count")], [2, 0, 1]),
        true("steps, too", lambda case: "of jit_f(8)," in case.ask("steps")["rule_text"]),
        true("the nearest name", lambda case: 'the nearest name is "jit_f(' in case.run("top", "--module", "jit_g").stderr),
        true("a name of nothing says so", lambda case: [note["message"] for note in case.ask("top", "--name", "nosuch")["notes"]] == ["nothing in the run matches name=nosuch"]),
        true("a flame of nothing, too", lambda case: "nothing in the run matches name=nosuch" in case.says("flame", "--name", "nosuch")[1]),
        true("runs side by side, too", lambda case: {row["module"] for row in case.rows_of_compare() if row["group"] == "op"} >= {"jit_f(6)", "jit_f(8)", "jit_f(10)"}),
    ],
    "steps/real-remat": [finding("computed twice"), ("dot.4 ran 32 times", lambda case: case.names("count", by="op").get("dot.4"), 32)],
    "steps/real-mem": [("bytes of both arrays", lambda case: [row["value"] for row in case.rows("memory")][:2], [20_000_000, 12_000_000]),
                       true("on its overview", lambda case: "19.1 MiB of weights, 11.4 MiB of cache" in case.ask("overview")["sentence"])],
    "steps/K-sparsecore": [finding("--xla_tpu_"), true("no flag of GPUs", lambda case: "xla_gpu" not in json.dumps(case.ask("findings")))],
    "steps/D-tpu-too-long": [finding("Capture shorter"), true("no nsys", lambda case: "nsys" not in json.dumps(case.ask("findings")))],
    "steps/Y-xpu-plane": [steps(5, 900 * US), true("its own name", lambda case: "XLA:CPU" not in json.dumps(case.ask("overview")))],
    "steps/F-tpu-inference-mxu": [("busy", lambda case: case.busy(), [4 * US])],
    "steps/S-big-stepnum": [("numbers", lambda case: case.numbers(), [10**10 + k for k in range(6)]), steps(6, 9 * MS)],
    "steps/S2-restart": [steps(8, 9 * MS)],
    "steps/X-dump-gz": [("modules of the dump", lambda case: sorted(row["key"] for row in case.modules()), ["jit__lambda(336)", "jit__lambda(336).before_optimizations"]),
                        ("instructions", lambda case: sorted(row["instruction_count"] for row in case.modules()), [3, 7])],
    "steps/Z-zip/prof.tgz": [true("opens", lambda case: case.step()[0] == 8)],
    "steps/Z-zip/flat.zip": [true("opens", lambda case: case.step()[0] == 8)],
    "steps/Z-zip": [true("the file and the archive of it are one run, whose steps count once", lambda case: case.step()[0] == 8)],
    "steps/real-nohlo": [true("5 steps, one of them warm-up", lambda case: len(case.numbers()) == 5)],
    "traces/be-same-times.json": [self_times(inner=10 * US, outer=0, xinner=10 * US, xouter=0)],
    "traces/be-same-times-be-first.json": [self_times(main=7 * US, outer=0, inner=5 * US)],
    "traces/be-nest3.json": [self_times(p=10 * US, a=0, b=0, c=7 * US)],
    "traces/async-same.json": [reads(inner=10 * US, outer=10 * US)],
    "traces/pf-same-times.pftrace": [self_times(inner=100_000, outer=0)],
    "traces/one-ts0.pt.trace.json": HUNDRED,
    "traces/one-ts0-last.pt.trace.json": HUNDRED,
    "traces/kineto109-ts0.pt.trace.json": HUNDRED,
    "traces/corrupt-times.pt.trace.json": [reads(good=100 * US), tells("stray-times", "negative-duration"), ("capture", lambda case: case.ask("overview")["duration_ps"], 400 * US)],
    "traces/merged-sglang-prefix.json": RANKS,
    "traces/merged-2ranks-samepid.json": RANKS,
    "traces/graph-launch.pt.trace.json": [
        ("launches", lambda case: case.names("count", by="api"), {"cudaGraphLaunch": 20}),
        ("their time", lambda case: case.names("total_ps", by="api"), {"cudaGraphLaunch": 800 * US}),
        ("kernels", lambda case: sum(case.names("count", by="kernel").values()), 400),
    ],
    # The main thread calls CUDA twice for 10 ms and waits 3 s in getc; kernels take 10 ms each; another thread polls until 3,999 ms.
    "traces/nsys-getc.sqlite": [reads(getc=3 * 10**12),
                                ("what the thread that calls CUDA did, not the one that polls", lambda case: {row["kind"]: row["self_ps"] for row in case.ask("overview")["breakdown"] if row["self_ps"]},
                                 {"compute": 20 * MS, "host": 3_020 * MS, "idle": 959 * MS}),
                                true("and it is called main", lambda case: "That thread is main (101)" in case.ask("overview")["sentence"]),
                                ("while the device rested", lambda case: {row["cause"]: row["idle_ps"] for row in case.rows("steps", "--view", "idle")}, {"host code": 3_000 * MS, "nothing recorded": 959 * MS, "dispatch": 20 * MS})],
    **{f"traces/pf-{name}.pftrace": [PERFETTO] for name in ("plain", "compressed", "compressed-tail", "lost", "legacy")},
    "traces/quotes.json": [reads(**{f"aten::{name}": 10 * US for name in ("before", "after1", "after2")}), tells("damaged")],
    "traces/backslash.json": [reads(**{"aten::mul": 1 * US})],
    "traces/control.json": [reads(**{"aten::after": 10 * US})],
    "traces/infinity.pt.trace.json": [reads(k=9 * US, **{"Memcpy HtoD (Pageable -> Device)": 5 * US}), tells("left-out"),
                                           true("a copy among what ran", lambda case: "Memcpy HtoD (Pageable -> Device)" in case.names(by="op"))],
    "traces/missing-fields.json": [reads(ok=5 * US, strdur=5 * US, notid=3 * US, expo=1 * US), tells("without-time", "left-out", "not-shown", "unfinished")],
    "traces/two-docs.json": [PLAIN, tells("trailing")],
    "traces/trailing.json": [PLAIN],
    "traces/crlf.json": [PLAIN],
    "traces/bom.json": [PLAIN],
    "traces/latin1.json": [reads(two=1 * US)],
    "traces/ndjson.json": [PLAIN],
    "traces/displayns.json": [reads(a=1_000, b=1 * US)],
    "traces/truncated.pt.trace.json.gz": [tells("truncated"), true("what is whole", lambda case: case.names("count")["aten::empty"] == 116)],
    "traces/utf16be-nobom.json": [true("refused by name", lambda case: "UTF-16" in (case.refused() or ""))],
    "traces/utf16le.json": [true("refused by name", lambda case: "UTF-16" in (case.refused() or "")),
                            true("in the list, too", lambda case: "UTF-16" in case.says("list")[1])],
    "traces/memory_timeline.json": [true("refused by name", lambda case: "export_memory_timeline" in (case.refused() or ""))],
    # Right before, and to be kept.
    "traces/overlap.json": [self_times(red=100 * US, late=90 * US, green=80 * US, blue=20 * US, inner=10 * US)],
    "traces/begin-end.json": [self_times(**{f"Event{k}": us * US for k, us in zip(range(1, 7), (104562, 104562, 388, 71, 283, 64))})],
    "traces/order.json": [self_times(A=45 * US, B=10 * US, C=40 * US, D=5 * US)],
    "traces/async.json": [reads(Nested=9 * US, Read=3 * US, Write=4 * US)],
    "traces/ascend133-trace_view.json": [("its device", lambda case: case.busy(), [199_960_000]), reads(MatMulV3=199_960_000),
                                         ("arrows to what ran", lambda case: case.names("count", by="kernel"), {"MatMulV3": 20})],
    # Bounds from the raw events and XLA's own text of the HLO: what of a loop, up to the first use of its value, no op of its body
    # covers. At least, where each op lasts until its end mark was written, however late; at most, where it ends as its first user begins,
    # or, of while.1, as its launch returns. With ops that end at the sooner of mark and first use: 0.72, 1.21 and 7.94 ms.
    "derived/scan-while-self.xplane.pb": [true("while.16, of 22.67 with its body in another thread", lambda case: 0.64 * MS <= case.names(by="op")["while.16"] <= 1.12 * MS)],
    "derived/tr_slow": [true("while.1, of 191 with its body", lambda case: 1.13 * MS <= case.names(by="op")["while.1"] <= 3.75 * MS),
                        true("while.4", lambda case: 4.05 * MS <= case.names(by="op")["while.4"] <= 9.46 * MS)],
    "derived/mpmd-2dev": [true("nothing is still queued", lambda case: "still queued" not in json.dumps(case.ask("findings")))],
    "numbers/overflow": [
        true("no negative time", lambda case: all(value >= 0 for row in case.rows("top", "--by", "op") for value in row.values() if isinstance(value, (int, float)))),
        true("it has a first sentence", lambda case: case.ask("overview")["sentence"]),
        true("no share above 1", lambda case: all((row["share"] or 0) <= 1 for row in case.rows("top", "--by", "op"))),
    ],
}


def check(name, rows, folder, places):
    case, failures = Case(folder / name, places), []
    for what, ask, right in rows:
        try:
            said = ask(case)
        except (AssertionError, IndexError, KeyError, TypeError, ValueError) as fault:
            said = repr(fault)
        if said != right:
            failures.append(f"{name}: {what}: {said}, not {right}")
    return failures


def doubles(data):
    """Every double of a protobuf message and of those in it, for what lies deeper may be a text as well."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(data):
        kind = varint() & 7
        if kind == 0:
            varint()
        elif kind == 1:
            yield struct.unpack("<d", data[at:at + 8])[0]
            at += 8
        elif kind == 2:
            size = varint()
            part, at = data[at:at + size], at + size
            try:
                yield from list(doubles(part))
            except (IndexError, struct.error, ValueError):
                pass
        elif kind == 5:
            at += 4
        else:
            raise ValueError(kind)


def check_keras(cases, places):
    """Sessions of TensorFlow on a CPU beside what its own profiler made of each: the step that its overview_page.pb states."""
    failures, pages = [], sorted((cases / "steps/mac-all").rglob("*overview_page.pb"))
    for page in pages:
        said = Case(page.parent, places).ask("overview")["step"]["median_ps"]
        stated = list(doubles(page.read_bytes()))
        if said is None or not any(close(said / MS, one, 0.001) for one in stated):
            failures.append(f"{page.parent.name}: a step of {said}, which TensorFlow does not state")
    state = {row["state"] for row in Case(cases / "steps/mac-all", places).ask("list")["runs"]}
    return failures + ([] if len(pages) == 8 and state == {"ready"} else [f"{len(pages)} sessions, {state}"])


def check_slices(cases):
    """A slice's module is told apart as in tables: program_id is in the file's events."""
    with profiles.served(cases / "steps/real-collide") as server:
        run = server.runs()[0]["id"]
        _, found = server.get("api/search", run=run, q="ynn_fusion", limit=1000)
        ops = [row["id"] for row in found["rows"] if row["name"] == "ynn_fusion"]
        facts = [server.get("api/slice", run=run, id=one)[1] for one in ops]
    wrong = {(one["module"], arg["value"]) for one in facts for arg in one["args"] if arg["name"] == "program_id" and one["module"] != f"jit_f({arg['value']})"}
    modules = {one["module"] for one in facts}
    return [f"slices: {wrong}, {modules}"] if wrong or len(modules) < 2 else []


def check_hip(cases, places, scratch):
    """The same launches of graphs by HIP, whose kernels do not say that a graph launched them."""
    text = (cases / "traces/graph-launch.pt.trace.json").read_text()
    trace = json.loads(text.replace("cudaGraphLaunch", "hipGraphLaunch"))
    for event in trace["traceEvents"]:
        for key in ("graph id", "graph node id"):
            event.get("args", {}).pop(key, None)
    path = pathlib.Path(scratch) / "hip.pt.trace.json"
    path.write_text(json.dumps(trace))
    os.utime(path, (1, 1))
    return check(path.name, [
        ("launches", lambda case: case.names("count", by="api"), {"hipGraphLaunch": 20}),
        ("kernels of graphs", lambda case: sum(row["graph_count"] for row in case.rows("kernels")), 400),
        ("a call of 20 kernels is one that came late, or none", lambda case: any("400 kernels" in row["text"] for row in case.rows("findings")), False),
    ], path.parent, places)


def make_nsys(path):
    """An export of Nsight Systems: six ranges "iteration N" of NVTX, 10 ms apart, four "layer N" in each; a call in each launches a
    kernel that runs until the next one's."""
    thread, process = 100 << 24 | 101, 100 << 24
    base = sqlite3.connect(path)
    base.executescript("""
        create table StringIds(id integer primary key, value text);
        create table NVTX_EVENTS(start integer, end integer, eventType integer, text text, textId integer, domainId integer, globalTid integer);
        create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, eventClass integer, globalTid integer, correlationId integer,
            nameId integer, returnValue integer, callchainId integer);
        create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, contextId integer, streamId integer,
            correlationId integer, globalPid integer, demangledName integer, shortName integer, gridX integer, gridY integer, gridZ integer,
            blockX integer, blockY integer, blockZ integer);
        create table ThreadNames(nameId integer, priority integer, globalTid integer);""")
    base.executemany("insert into StringIds values(?,?)", enumerate(("cudaLaunchKernel_v7000", "k(int*)", "k", "main"), 1))
    base.execute("insert into ThreadNames values(4, 10, ?)", (thread,))
    for number in range(6):
        begin = number * 1_000_000  # the loop runs ahead: a turn takes 1 ms of the host and 10 of the device
        base.execute("insert into NVTX_EVENTS values(?,?,59,?,null,0,?)", (begin, begin + 900_000, f"iteration {number}", thread))
        for layer in range(4):
            start = begin + 10_000 + layer * 200_000
            base.execute("insert into NVTX_EVENTS values(?,?,59,?,null,0,?)", (start, start + 150_000, f"layer {layer}", thread))
        base.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?,?,0,?,?,1,0,null)", (begin + 20_000, begin + 30_000, thread, number + 1))
        base.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?,?,0,1,7,?,?,2,3,1,1,1,32,1,1)",
                     (50_000 + number * 10_000_000, 50_000 + (number + 1) * 10_000_000, number + 1, process))
    base.commit()
    base.close()
    os.utime(path, (1, 1))


def check_nvtx(places, scratch):
    path = pathlib.Path(scratch) / "nvtx.sqlite"
    make_nsys(path)
    return check(path.name, [
        ("numbers", lambda case: case.numbers(), list(range(6))),
        ("the loop runs ahead: from kernel to kernel", lambda case: [row["dur_ps"] for row in case.rows("steps")], [10 * MS] * 6),
        ("its spans", lambda case: {row["span_ps"] for row in case.rows("steps")}, {900 * US}),
        ("another family", lambda case: len(case.rows("steps", "--family", "layer")), 24),
        ("one of it", lambda case: len(case.rows("steps", "--family", "layer 2")), 6),
        ("the kernel of step 4", lambda case: case.names("count", by="kernel", step="4"), {"k(int*)": 1}),
    ], path.parent, places)


def check_cap(places, scratch):
    """JAX's exporter stops at a round count of events, whichever it is: the file's own evidence."""
    failures = []
    for count, capped in ((5_000_000, True), (4_999_999, False)):
        path = pathlib.Path(scratch) / f"cap_{count}.trace.json.gz"
        event = '{"ph":"X","pid":701,"tid":1,"ts":%d,"dur":0.5,"name":"op"},'
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},')
            for begin in range(0, count, 10_000):
                file.write("".join(event % at for at in range(begin, min(begin + 10_000, count))))
            file.write("{}]}")
        os.utime(path, (1, 1))
        failures += check(path.name, [("capped", lambda case: "capped" in case.notes(), capped)], path.parent, places)
    return failures


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    beside = pathlib.Path(corpus).parent / "cases" if corpus else None
    places_of = {name: next((folder for folder in (OWN, beside) if folder and (folder / name).exists()), None) for name in TABLE}
    chosen = [name for name in TABLE if places_of[name] and (not sys.argv[1:] or name in sys.argv[1:])]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        places = ["--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"]
        failures = [line for lines in pool.map(lambda name: check(name, TABLE[name], places_of[name], places), chosen) for line in lines]
        if not sys.argv[1:]:
            failures += check_nvtx(places, scratch) + check_cap(places, scratch)
        if not sys.argv[1:] and beside and beside.is_dir():
            failures += check_keras(beside, places) + check_slices(beside) + check_hip(beside, places, scratch)
    print(*failures, sep="\n")
    print(f"{sum(len(TABLE[name]) for name in chosen)} questions of {len(chosen)} cases, {len(failures)} answered otherwise; not here:",
          ", ".join(name for name in TABLE if not places_of[name]) or "none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
