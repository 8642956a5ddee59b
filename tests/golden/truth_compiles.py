#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and transfers against the raw events of the same files, read by another reader, and nsys tables by SQL: times and
counts to the picosecond, bytes to the byte. Skipped in part where captures/ does not lie beside $JVIEW_CORPUS."""
import csv
import json
import lzma
import os
import pathlib
import re
import sqlite3
import sys
import tempfile

import manifest
import xplane_reader
from test_kernels import ask

PHASES = ("trace", "lower", "cache", "passes", "codegen", "autotune", "compiler", "other")
T4 = "gpu-t4-tf2-keras/logs/fit"
TPU = "tpu-inference-4chip/plugins/profile/tpu_inference_2"
NSYS = ("nsys/h100-2gpu-1s/h100_2gpu_1s.sqlite", "nsys/rtx3080-wsl2/mock.sqlite")
KINETO = ("pytorch-2-ranks/sampled_rank-0.json.gz", "pytorch-2-ranks/sampled_rank-1.json.gz", "pytorch-large/df_index_resolver.json.gz")


def rows_of(cache, path, verb, *words):
    return ask(cache, verb, str(path), *words, "--limit", "10000")


def events(path, named):
    """(plane, line, event) of one xplane whose names fit."""
    (file,) = sorted(path.rglob("*.xplane.pb")) if path.is_dir() else (path,)
    for plane in xplane_reader.read(file)["planes"]:
        for line in plane["lines"]:
            for event in line["events"]:
                if re.search(named, event["name"]):
                    yield plane["name"], line["name"], event


def stat(event, name):
    return next((value for key, _, value in event["stats"] if key == name), None)


def sum_of(rows, key):
    return sum(row[key] or 0 for row in rows)


def check_conservation(name, cache, path):
    """Phases sum to the total, and every grouping to the same."""
    each = rows_of(cache, path, "compiles", "--by", "compile")
    joined = rows_of(cache, path, "compiles")
    for page in (each, joined):
        for row in page["rows"]:
            manifest.equal(name, f"phases of {row['function']}", sum_of([row], "total_ps"), sum(row[f"{phase}_ps"] or 0 for phase in PHASES))
    for key in ["total_ps", "backend_ps"] + [f"{phase}_ps" for phase in PHASES]:
        manifest.equal(name, f"{key} by function", sum_of(joined["rows"], key), sum_of(each["rows"], key))
    manifest.equal(name, "compiles by function", sum_of(joined["rows"], "count"), each["row_count"])
    transfers = rows_of(cache, path, "transfers", "--by", "transfer")["rows"]
    for by in ("direction", "size", "stream", "caller"):
        rows = rows_of(cache, path, "transfers", "--by", by)["rows"]
        manifest.equal(name, f"transfers by {by}", sum_of(rows, "count"), len(transfers))
        manifest.equal(name, f"their bytes by {by}", sum_of(rows, "bytes"), sum_of(transfers, "bytes"))
        manifest.equal(name, f"their time by {by}", sum_of(rows, "total_ps"), sum_of(transfers, "dur_ps"))
        manifest.equal(name, f"without size by {by}", sum_of(rows, "unsized_count"), sum(row["bytes"] is None for row in transfers))
    return each["rows"], transfers


def check_recompiles(captures, cache):
    """C19: 13 compiles, 469.8 ms of compiling proper; the overview's compile is the same time."""
    path = captures / "recompiles"
    rows, _ = check_conservation("recompiles", cache, path)
    raw = [event for _, _, event in events(path, r"^backend_compile_and_load$")]
    manifest.equal("C19", "compiles", (len(rows), len(raw)), (13, 13))
    manifest.equal("C19", "time in the compiler", sum_of(rows, "backend_ps"), sum(event["dur_ps"] for event in raw))
    manifest.equal("C19", "that is in ms", round(sum_of(rows, "backend_ps") / 1e9, 1), 469.8)
    truth = json.loads((path / "truth.json").read_text())
    calls = [call["backend_compiles"] for call in truth["calls"]]
    in_steps = [row for row in rows if row["function"] == "shifting"]
    manifest.equal("C19", "compiles of shifting", len(in_steps), sum(calls))
    manifest.equal("C19", "their steps", [row["step"] for row in in_steps], [at for at, count in enumerate(calls) if count])
    manifest.equal("C19", "what changed first", in_steps[1]["changed"], "x: f32[4,16] → f32[5,16]")
    told = sum(part["self_ps"] for step in rows_of(cache, path, "steps")["rows"] for part in step["breakdown"] if part["kind"] == "compile")
    inside = [row for row in rows if row["step"] is not None]
    least, most = (sum(sum_of(inside, key) for key in ("trace_ps", "lower_ps", "backend_ps"))), sum_of(inside, "total_ps")
    if not least <= told <= most:
        manifest.failures.append(f"C19: the steps say {told} of compiling, the compiles {least} of tracing, lowering and compiling, {most} with what is between")


def check_periodic(captures, cache):
    path = captures / "periodic/runs/profiles/step_1500"
    (row,), _ = check_conservation("periodic", cache, path)
    manifest.equal("C19", "one compile, in ms", (row["function"], row["step"], round(row["backend_ps"] / 1e9, 1)), ("train_step", 1502, 1732.5))
    manifest.equal("C19", "for a batch of 12", row["changed"], "tokens: s32[8,65] → s32[12,65]")
    for name in ("step_500", "step_1000"):
        manifest.equal(name, "compiles", rows_of(cache, captures / "periodic/runs/profiles" / name, "compiles")["row_count"], 0)


def check_idle(captures, cache):
    """C22: what is dispatched to the device is no compute of the host."""
    path = captures / "transfers-idle"
    _, rows = check_conservation("transfers-idle", cache, path)
    raw = [event["dur_ps"] for _, _, event in events(path, r"^H2D Dispatch$")]
    manifest.equal("C22", "uploads", (len(rows), sum_of(rows, "dur_ps")), (16, sum(raw)))
    manifest.equal("C22", "in ms", round(sum(raw) / 1e9, 1), 1569.8)
    manifest.equal("C22", "which way, how many bytes", {(row["direction"], row["bytes"]) for row in rows}, {("h2d", None)})


def check_t4(corpus, cache):
    """C7: copies by any of their names, of which XProf knows only ...HtoD."""
    for session, wanted in (("20231107-181856", {"h2d": 77.5}), ("20231107-184122", {"h2d": 81.3, "d2d": 24.1})):
        path = corpus / T4 / session / "train"
        _, rows = check_conservation(session, cache, path)
        raw = [(event, re.search(r"size:(\d+)", stat(event, "memcpy_details") or "")) for plane, _, event in events(path, r"^Memcpy") if plane.startswith("/device:")]
        manifest.equal("C7", f"copies of {session}", (len(rows), sum_of(rows, "dur_ps")), (len(raw), sum(event["dur_ps"] for event, _ in raw)))
        manifest.equal("C7", f"bytes of {session}", sum_of(rows, "bytes"), sum(int(size[1]) for _, size in raw if size))
        for direction, us in wanted.items():
            got = sum_of([row for row in rows if row["direction"] == direction], "dur_ps") / 1e6
            manifest.equal("C7", f"{direction} of {session} in us", round(got, 1), us)


def check_tpu(corpus, cache):
    """C11, C14: each offload counts its bytes once, at the copy, not at the ops that start it and wait for it."""
    path = corpus / TPU
    compiles, rows = check_conservation("TPU", cache, path)
    raw = [event for _, line, event in events(path, r"^async-copy") if line.startswith("Async")]
    copies = [row for row in rows if row["device"] is not None]
    manifest.equal("C11", "offloads", (len(copies), sum_of(copies, "dur_ps")), (len(raw), sum(event["dur_ps"] for event in raw)))
    manifest.equal("C11", "their bytes, once", sum_of(copies, "bytes"), len(raw) * 5368709120)
    raw = [event for _, _, event in events(path, r"^backend_compile$")]
    manifest.equal("TPU", "compiles", (len(compiles), sum_of(compiles, "backend_ps")), (len(raw), sum(event["dur_ps"] for event in raw)))


def check_nsys(corpus, cache):
    for name in NSYS:
        _, rows = check_conservation(name, cache, corpus / name)
        with sqlite3.connect(f"file:{corpus / name}?mode=ro&immutable=1", uri=True) as db:
            wanted = db.execute("SELECT count(*), sum(end - start), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchone()
        manifest.equal(name, "copies, ns, bytes", (len(rows), sum_of(rows, "dur_ps") // 1000, sum_of(rows, "bytes")), wanted)


JAX = "nsys-jax/pax_fsdp4_4proc_proc0"


def check_nsys_jax(corpus, cache):
    """An unpacked directory: all compilations of its report of ranges, not those alone that ran something on the GPU."""
    compiles, _ = check_conservation(JAX, cache, corpus / JAX)
    with lzma.open(corpus / JAX / "report_nvtx_pushpop_trace.csv.xz", "rt") as report:
        ranges = [(row["Name"], int(row["Start (ns)"]) * 1000, int(row["Duration (ns)"]) * 1000) for row in csv.DictReader(report)]
    raw = sorted((start, length) for name, start, length in ranges if name.startswith("TSL:XlaCompile:#module="))
    manifest.equal(JAX, "compiles and s of its report", (len(raw), round(sum(length for _, length in raw) / 1e12, 3)), (17, 69.388))
    first = min(start for _, start, _ in ranges)
    manifest.equal(JAX, "start and length of each compile", sorted((row["start_ps"] + first, row["total_ps"]) for row in compiles), raw)
    tuning = sum(length for name, _, length in ranges if re.match("TSL:XlaPass:#name=[a-z-]*(autotuner|algorithm-picker),", name))
    manifest.equal(JAX, "autotuning", sum_of(compiles, "autotune_ps"), tuning)


def check_kineto(corpus, cache):
    import gzip
    for name in KINETO:
        _, rows = check_conservation(name, cache, corpus / name)
        found = [event for event in json.loads(gzip.decompress((corpus / name).read_bytes()))["traceEvents"]
                 if event.get("ph") == "X" and str(event.get("name")).startswith("Memcpy ")]
        sizes = [event["args"].get("bytes", event["args"].get("Bytes")) for event in found]
        manifest.equal(name, "copies, bytes", (len(rows), sum_of(rows, "bytes")), (len(found), sum(size or 0 for size in sizes)))
        for word in ("Pageable", "Pinned"):
            manifest.equal(name, word, sum(row["memory"] == word.lower() for row in rows), sum(word in event["name"] for event in found))


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    corpus = pathlib.Path(corpus)
    captures = corpus.parent / "captures"
    with tempfile.TemporaryDirectory() as cache:
        for check in (check_t4, check_tpu, check_nsys, check_nsys_jax, check_kineto):
            check(corpus, cache)
        if captures.is_dir():
            for check in (check_recompiles, check_periodic, check_idle):
                check(captures, cache)
        else:
            print("skipped in part: there is no captures/ beside the corpus")
    for failure in manifest.failures:
        print(failure)
    print(f"{len(manifest.failures)} differences")
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
