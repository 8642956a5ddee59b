#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FLOPs, bytes, rates and limits of ops against sources that know nothing of ours:

  captures/*/xla-dump   XLA's own cost analysis of the compiled programs (cost.json), module by module
  golden/*              XProf's tables of the same files, row by row: time, occurrences, FLOPs, bytes; where XProf differs from
                        the raw events (docs/xprof-differences.md) the figure by hand stands here instead
  samples               parts of a partition of time add up to the whole

Without $JVIEW_CORPUS, or where one of them is not beside it, that part is skipped.
"""
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

import manifest
from test_kernels import ask

SKIPPED = 77
equal = manifest.equal
ROOT = pathlib.Path(__file__).resolve().parents[2]

CONV = "gpu-mi300x-jax-conv"
CONV08 = "gpu-mi300x-jax08/plugins/profile/conv"
GEMM = "gpu-mi300x-jax08/plugins/profile/gemm"
TPU = "tpu-inference-4chip"


def close(name, what, got, wanted, tolerance=1e-4):
    if got is None or abs(got - wanted) > tolerance * max(abs(wanted), 1e-12):
        manifest.failures.append(f"{name}: {what}: {got}, not {wanted}")


def table(cache, verb, path, *words):
    return ask(cache, verb, str(path), "--limit", "10000", *words)


def by_name(rows):
    return {row["name"]: row for row in rows}


def check_cost_analysis(captures):
    """FLOPs and transcendentals are XLA's, but for rounding in its floats. Bytes are fewer by what a fusion does not read of
    the operands that it only slices or gathers from behind a bitcast (docs/costs.md)."""
    tool = pathlib.Path(os.environ["JVIEWD_TESTS_BIN"]) / "cost_dump"
    dumps = captures / "train-steps/xla-dump"
    if not dumps.is_dir() or not tool.exists():
        print("skipped: no XLA dump beside the captures")
        return
    costs = json.loads((captures / "train-steps/cost.json").read_text())
    for program, said in costs.items():
        path = next(dumps.glob(f"*.jit_{program}.cpu_after_optimizations.hlo.pb"))
        got = json.loads(subprocess.run([tool, path], capture_output=True, check=True).stdout)
        wanted = said["cost_analysis"]
        close(program, "FLOPs", got["flops"], wanted["flops"], 1e-6)
        close(program, "transcendentals", got["transcendentals"], wanted["transcendentals"], 1e-6)
        if not 0.92 * wanted["bytes accessed"] < got["bytes"] <= wanted["bytes accessed"] * (1 + 1e-6):
            manifest.failures.append(f"{program}: bytes: {got['bytes']}, XLA has {wanted['bytes accessed']}")


def check_convolution(cache, corpus):
    """C1: FLOPs by executions, not kernels. C2: one count of bytes, the result among them. C3: no op above its limit."""
    flops = 2 * 5120 * 16 * 32 * 60 * 104
    conv = by_name(table(cache, "top", corpus / CONV)["rows"])["cudnn-conv.1.0"]
    equal("C1", "events, which the mean is over", (conv["count"], conv["event_count"]), (10, 10))
    close("C1", "FLOPs", conv["flops"], 5 * flops)
    close("C1", "FLOPs", conv["flops"], 163.58e9)
    close("C2", "bytes", conv["bytes"], 5 * 579.1e6, 1e-3)
    close("C2", "bytes a second", conv["bytes_per_s"] / 2**30, 1751, 1e-2)
    equal("C2", "bound by", conv["bound_by"], "memory")
    kernels = by_name(table(cache, "top", corpus / CONV, "--by", "kernel")["rows"])
    equal("C1", "FLOPs of one of its two kernels", (kernels["Im3d2Col"]["flops"], "several kernels" in kernels["Im3d2Col"]["reasons"]["flops"]), (None, True))
    later = by_name(table(cache, "top", corpus / CONV08)["rows"])["cudnn-conv.1"]
    equal("C1", "events of the later one", later["event_count"], 79)
    close("C1", "FLOPs of the later one", later["flops"], 40 * flops)
    for path, devices in ((CONV, 2), (CONV08, None), (GEMM, 1)):
        roofline = table(cache, "roofline", corpus / path)
        if devices is not None:
            equal("C4", f"devices that ran, {path}", roofline["devices"][0]["device_count"], devices)
        equal("C3", f"{path}: ops above their limit", [row["name"] for row in roofline["rows"] if (row["peak_share"] or 0) > 1], [])
        equal("C3", f"{path}: a figure is not believed", roofline["devices"][0]["doubt"] is not None, True)
        memory = [roof for roof in roofline["devices"][0]["roofs"] if roof["kind"] == "memory"]
        equal("C3", f"{path}: memory", [(roof["per_s"], roof["source"]) for roof in memory], [(5.3e12, "AMD Instinct MI300X data sheet")])
        equal("C24", f"{path}: types", "bf16" in {row["type"] for row in roofline["rows"]}, True)
        equal("C24", f"{path}: a limit is known", (roofline["program"]["peak_share"] or 0) > 0, True)


def check_products(cache, corpus):
    """C9: a group is the sum of its members. C10: products that a library computes count."""
    top = table(cache, "top", corpus / GEMM)["rows"]
    calls = [row for row in top if row["name"] == "custom-call.1"]
    equal("C10", "custom calls", len(calls), 5)
    close("C10", "FLOPs", sum(row["flops"] for row in calls), 2686.5e9, 1e-3)
    largest = max(calls, key=lambda row: row["flops"])
    close("C10", "FLOPs a second of 8192 x 4096 x 8192", largest["flops_per_s"], 3 * 2 * 8192 * 4096 * 8192 / (largest["total_ps"] * 1e-12))
    close("C10", "FLOPs a second of 8192 x 4096 x 8192", largest["flops_per_s"], 900e12, 1e-2)
    equal("C10", "bound by", {row["bound_by"] for row in calls}, {"compute"})
    scope = next(row for row in table(cache, "top", corpus / GEMM, "--by", "scope")["rows"] if row["name"].endswith("dot_general"))
    equal("C9", "executions", scope["count"], 18)
    close("C9", "mean", scope["mean_ps"] / 1e6, 179.66, 1e-4)
    close("C9", "FLOPs", scope["flops"], sum(row["flops"] for row in top if row["scope"] == scope["name"]))


def check_transfers(cache, corpus):
    """C11: each transfer is counted once, where it starts, and has no rate over the instant of that. C12: a limit is known."""
    roofline = table(cache, "roofline", corpus / TPU)
    rows = roofline["rows"]
    starts = [row for row in rows if row["name"].startswith("copy-start")]
    dones = [row for row in rows if row["name"].startswith("copy-done")]
    close("C11", "bytes", sum(row["bytes"] for row in starts), 12.88e12, 1e-3)
    equal("C11", "bytes of the other half", sum(row["bytes"] for row in dones), 0)
    equal("C11", "rates", [row["name"] for row in starts + dones if row["bytes_per_s"] is not None], [])
    for by in ("device", "module", "category"):
        grouped = table(cache, "top", corpus / TPU, "--by", by)["rows"]
        close("sums", f"bytes by {by}", sum(row["bytes"] for row in grouped), sum(row["bytes"] for row in rows), 1e-9)
    equal("C12", "a limit is known", 0 < roofline["program"]["peak_share"] < 1, True)
    equal("C12", "roofs", {roof["source"] for roof in roofline["devices"][0]["roofs"] if roof["name"] in ("bf16", "memory")}, {"the profile"})


def check_processors(cache, captures):
    """C18: a profile of a CPU has ops. C25: names that say nothing are no ops."""
    top = table(cache, "top", captures / "train-steps")
    equal("C18", "ops", top["row_count"], 337)
    equal("C18", "ops without FLOPs", [row["name"] for row in top["rows"] if row["flops"] is None], [])
    for by in ("module", "scope", "source", "category"):
        grouped = table(cache, "top", captures / "train-steps", "--by", by)
        for field in ("flops", "bytes"):
            close("sums", f"{field} by {by}", sum(row[field] for row in grouped["rows"]), sum(row[field] for row in top["rows"]), 1e-9)
    limits = table(cache, "roofline", captures / "train-steps")
    equal("C18", "nobody states a limit", ({row["peak_share"] for row in limits["rows"]}, limits["devices"][0]["roofs"]), ({None}, []))


def golden_rows(path):
    file = path / "tables.json"
    return json.loads(file.read_text() if file.exists() else lzma.decompress((path / "tables.json.xz").read_bytes()))


# Of rows whose FLOPs or bytes are not XProf's: why, as docs/xprof-differences.md has it.
KNOWN = {
    CONV: {"cudnn-conv.1.0": {"flops", "bytes"}},
    CONV08: {"cudnn-conv.1": {"flops", "bytes"}},
    GEMM: {"custom-call.1": {"flops", "bytes"}},
    TPU: {f"copy-done{end}": {"bytes"} for end in ("", ".1", ".2", ".3", ".4", ".5")},
}


def check_rows(cache, corpus, golden):
    """XProf's rows of ops: each is there, with its events and time; FLOPs and bytes equal or known to differ."""
    for path, name in ((CONV, CONV), (CONV08, "gpu-mi300x-jax08-conv"), (GEMM, "gpu-mi300x-jax08-gemm"), (TPU, TPU)):
        theirs = golden_rows(golden / name)
        ours = table(cache, "top", corpus / path)["rows"]
        for tool in ("hlo_stats", "roofline"):
            rows = [row for row in theirs[tool] if row["rank"] > 0 and row["category"] != "IDLE" and row["name"] != "IDLE"]
            for row in rows:
                found = [one for one in ours if one["name"] == row["name"] and abs(one["total_ps"] / 1e6 - row["total_time_us"]) < 0.002 + 1e-9 * row["total_time_us"]]
                if not found:
                    manifest.failures.append(f"{name}: {tool}: no op {row['name']} of {row['total_time_us']} us")
                    continue
                equal(f"{name}: {tool}: {row['name']}", "events", row["occurrences"] in {one["event_count"] for one in found}, True)
                differ = KNOWN[path].get(row["name"], set())
                for field in ("flops", "bytes"):
                    same = any(one[field] is not None and abs(one[field] - row[field]) <= 1e-3 * max(row[field], 1) for one in found)
                    if not same and field not in differ:
                        manifest.failures.append(f"{name}: {tool}: {row['name']}: {field} {[one[field] for one in found]}, XProf has {row[field]}")


def check_partition(cache):
    """What windows show adds up to the whole: times exactly, FLOPs and bytes up to rounding."""
    path = ROOT / "tests/samples"
    run = ask(cache, "list", str(path))["runs"][0]["name"]
    whole = ask(cache, "top", run, "--profile-dir", str(path), "--limit", "10000")
    span = ask(cache, "steps", run, "--profile-dir", str(path), "--limit", "10000")["rows"]
    end = max(row["start_ps"] + row["dur_ps"] for row in span) * 2
    cuts = [-end, *[end * part // 7 for part in range(1, 7)], 2 * end]
    parts = [ask(cache, "top", run, "--profile-dir", str(path), "--limit", "10000", f"--start-ps={a}", f"--end-ps={b}") for a, b in zip(cuts, cuts[1:])]
    equal("partition", "time", sum(part["total_ps"] for part in parts), whole["total_ps"])
    for field in ("flops", "bytes"):
        close("partition", field, sum(row[field] or 0 for part in parts for row in part["rows"]), sum(row[field] or 0 for row in whole["rows"]), 1e-6)


def main():
    with tempfile.TemporaryDirectory() as cache:
        check_partition(cache)
        given = os.environ.get("JVIEW_CORPUS")
        if given:
            corpus = pathlib.Path(given)
            captures, golden = corpus.parent / "captures", corpus.parent / "golden"
            check_convolution(cache, corpus)
            check_products(cache, corpus)
            check_transfers(cache, corpus)
            if captures.is_dir():
                check_cost_analysis(captures)
                check_processors(cache, captures)
            if golden.is_dir():
                check_rows(cache, corpus, golden)
    for failure in manifest.failures:
        print(failure)
    print(f"{len(manifest.failures)} differences")
    if manifest.failures:
        return 1
    if not given:
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
