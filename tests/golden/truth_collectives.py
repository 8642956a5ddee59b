#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives against sources that know nothing of ours:

  captures/multi-device   sums of op events and of their Rendezvous, sizes and groups by hand from the program that was run
  captures/multi-host     waits by hand from both hosts' events, and the straggler that the capture was made with
  corpus: XPlane of a TPU, Kineto of two ranks, a large Kineto file, nsys-jax: sums of raw events, sizes by the calls' args

Without $JVIEW_CORPUS, or where one of them is not beside it, that part is skipped.
"""
import collections
import decimal
import gzip
import json
import os
import pathlib
import sys
import tempfile

import manifest
import xplane_reader
from test_kernels import ask

SKIPPED = 77
equal = manifest.equal


def rows_of(cache, path, *words):
    rows, cursor = [], []
    while True:
        page = ask(cache, "collectives", str(path), *words, "--limit", "10000", *cursor)
        rows += page["rows"]
        if page["next"] is None:
            return page, rows
        cursor = ["--cursor", page["next"]]


def close(name, what, got, wanted, tolerance=1e-9):
    if got is None or abs(got - wanted) > tolerance * max(abs(wanted), 1):
        manifest.failures.append(f"{name}: {what}: {got}, not {wanted}")


def check_sums(name, page, rows):
    """However it is grouped, exposed and hidden are all."""
    equal(name, "total of rows", sum(row["total_ps"] for row in rows), page["total_ps"])
    equal(name, "exposed of rows", sum(row["exposed_ps"] for row in rows), page["exposed_ps"])
    for row in rows:
        equal(name, f"exposed + hidden of {row['name']}", row["exposed_ps"] + row["hidden_ps"], row["total_ps"])
        if row["exposed_share"] is not None:
            close(name, f"exposed share of {row['name']}", row["exposed_share"], row["exposed_ps"] / row["total_ps"])


def check_groupings(name, path, cache):
    totals = set()
    for by in ("op", "kind", "axis", "size", "group", "device", "host"):
        page, rows = rows_of(cache, path, "--by", by)
        check_sums(f"{name} by {by}", page, rows)
        totals.add((page["total_ps"], page["exposed_ps"], sum(row["count"] for row in rows), sum(row["wait_ps"] or 0 for row in rows)))
    equal(name, "totals of all groupings are one", len(totals), 1)


class Event:
    def __init__(self, plane, event):
        self.plane, self.name, self.begin_ps, self.dur_ps = plane["name"], event["name"], event["begin_ps"], event["dur_ps"]
        self.stats = {name: value for name, _, value in reversed(event["stats"])}  # of two of a name the first


def events_of(path):
    return [Event(plane, event) for plane, event in xplane_reader.slices_of(xplane_reader.read(path))]


def op_events(path):
    """[(hlo_op, module, run, device, begin, end)] with the end of an op's partner where that is later."""
    events = events_of(path)
    ends = {}
    for event in events:
        if "_c" in event.stats and event.stats.get("_ct", 0) == 0:
            ends[event.stats["_c"]] = event.begin_ps + event.dur_ps
    for event in events:
        if "hlo_op" in event.stats:
            end = max(event.begin_ps + event.dur_ps, ends.get(event.stats.get("_p"), 0))
            yield event.stats["hlo_op"], event.stats["hlo_module"], event.stats["run_id"], event.stats["device_ordinal"], event.begin_ps, end


# What multi-device ran: f32[256, 128] x f32[128, 256] on a mesh of data=4 x model=2; each device holds 64 x 128 of the product.
BLOCK = 64 * 128 * 4
MULTI_DEVICE = {  # op: (kind, size of nccl-tests, groups)
    "ppermute.3": ("collective-permute", BLOCK, [{0, 2, 4, 6}, {1, 3, 5, 7}]),
    "psum.7": ("all-reduce", BLOCK, [{0, 2, 4, 6}, {1, 3, 5, 7}]),
    "all_gather.3": ("all-gather", 2 * BLOCK, [{0, 1}, {2, 3}, {4, 5}, {6, 7}]),
    "reduce_scatter.7": ("reduce-scatter", 2 * BLOCK, [{0, 1}, {2, 3}, {4, 5}, {6, 7}]),
    "all-reduce": ("all-reduce", 128 * 256 * 4, [{0, 2, 4, 6}, {1, 3, 5, 7}]),
    "all-gather": ("all-gather", 2 * BLOCK, [{0, 1}, {2, 3}, {4, 5}, {6, 7}]),
    "all-gather.1": ("all-gather", 256 * 256 * 4, [{0, 1}, {2, 3}, {4, 5}, {6, 7}]),
}
FACTORS = {"all-reduce": lambda n: 2 * (n - 1) / n, "all-gather": lambda n: (n - 1) / n, "reduce-scatter": lambda n: (n - 1) / n,
           "collective-permute": lambda n: 1}


def check_multi_device(path, cache):
    name = "multi-device"
    page, rows = rows_of(cache, path)
    by_op = collections.defaultdict(list)
    for op, _, run, device, begin, end in op_events(next(path.rglob("*.xplane.pb"))):
        if op in MULTI_DEVICE:
            by_op[op].append((run, device, begin, end))
    equal(name, "ops", {row["name"] for row in rows}, set(MULTI_DEVICE))
    for row in rows:
        kind, size, groups = MULTI_DEVICE[row["name"]]
        runs = by_op[row["name"]]
        total = sum(end - begin for _, _, begin, end in runs)
        what = row["name"]
        equal(name, f"{what}: kind", row["kind"], kind)
        equal(name, f"{what}: bytes", row["bytes"], size)
        equal(name, f"{what}: devices a group", row["group_size"], len(groups[0]))
        equal(name, f"{what}: members", row["members"], " ".join("{" + ",".join(map(str, sorted(group))) + "}" for group in groups))
        equal(name, f"{what}: count", row["count"], len(runs))
        equal(name, f"{what}: total", row["total_ps"], total)
        equal(name, f"{what}: nothing computes meanwhile", row["exposed_ps"], total)
        close(name, f"{what}: bus", row["bus_bytes_per_s"], size * len(runs) * FACTORS[kind](len(groups[0])) * 1e12 / total)
        wait, spread, turns, lasts = 0, 0, 0, collections.Counter()
        for run in {run for run, *_ in runs}:
            for group in groups:
                mates = [(begin, end, device) for one, device, begin, end in runs if one == run and device in group]
                last = max(begin for begin, _, _ in mates)
                wait += sum(min(last - begin, end - begin) for begin, end, _ in mates)
                spread += last - min(begin for begin, _, _ in mates)
                turns += 1
                lasts[max(mates)[2]] += 1
        equal(name, f"{what}: wait", row["wait_ps"], wait)
        equal(name, f"{what}: first to last", row["spread_ps"], spread // turns)
        equal(name, f"{what}: who is last", lasts[int(row["last"].split()[-1])], max(lasts.values()))
    _, arrivals = rows_of(cache, path, "--view", "arrivals")
    equal(name, "executions", len(arrivals), sum(map(len, by_op.values())))
    for (op, turn, group), mates in grouped(arrivals, lambda row: (row["name"], row["turn"], row["group"])).items():
        equal(name, f"{op} {turn} {group}: one is last", sum(row["last"] for row in mates), 1)
        equal(name, f"{op} {turn} {group}: all of the group", {row["device"] for row in mates}, MULTI_DEVICE[op][2][group])
    check_groupings(name, path, cache)


def grouped(rows, key):
    ret = collections.defaultdict(list)
    for row in rows:
        ret[key(row)].append(row)
    return ret


def check_multi_host(path, cache):
    name = f"multi-host/{path.name}"
    lengths = {}
    for file in sorted(path.rglob("*.xplane.pb")):
        host = file.name.removesuffix(".xplane.pb")
        lengths[host] = {run: end - begin for op, _, run, _, begin, end in op_events(file) if op == "psum.7"}
    a, b = lengths["hostA"], lengths["hostB"]
    equal(name, "both ran the same", set(a), set(b))
    page, rows = rows_of(cache, path)
    equal(name, "collectives", [row["name"] for row in rows], ["psum.7"])
    equal(name, "total", page["total_ps"], sum(a.values()) + sum(b.values()))
    # No common clock: who is shorter came last.
    equal(name, "wait", rows[0]["wait_ps"], sum(abs(a[run] - b[run]) for run in a))
    equal(name, "the straggler", rows[0]["last"].split()[0], "hostB")
    equal(name, "bytes", rows[0]["bytes"], 64 * 64 * 4)
    _, hosts = rows_of(cache, path, "--by", "host")
    waits = {row["name"]: row["wait_ps"] for row in hosts}
    equal(name, "hostA waits", waits["hostA"], sum(max(a[run] - b[run], 0) for run in a))
    if waits["hostA"] <= waits["hostB"]:
        manifest.failures.append(f"{name}: hostB, who is late, waits longer")
    check_groupings(name, path, cache)


def check_tpu(path, cache):
    """Each event has the HLO of its op; the device's own clock gives its length."""
    name = "tpu-inference-4chip"
    total = count = 0
    for event in events_of(next(path.rglob("*.xplane.pb"))):
        if event.plane.startswith("/device:TPU") and event.name == "all-reduce" and "device_duration_ps" in event.stats:
            total += event.stats["device_duration_ps"]
            count += 1
    page, rows = rows_of(cache, path)
    equal(name, "collectives", [row["kind"] for row in rows], ["all-reduce"])
    equal(name, "count", rows[0]["count"], count)
    equal(name, "total", page["total_ps"], total)
    equal(name, "bytes", rows[0]["bytes"], 5 * 1024 * 1024 * 256 * 4)  # f32[5,1024,1024,256]
    equal(name, "group", rows[0]["axis"], "2 devices, stride 4")  # replica_groups=[4,2]<=[2,4]T(1,0)
    close(name, "bus", rows[0]["bus_bytes_per_s"], count * 5 * 2**30 * 1e12 / total)
    equal(name, "waits of a group of which one device is here", rows[0]["wait_ps"], None)
    hosts = ask(cache, "hosts", str(path))
    equal(name, "none of them lies in a step, which both tables say", ([row["communication_ps"] for row in hosts["rows"]], *(
        sum(note["kind"] == "outside-steps" for note in one["notes"]) for one in (page, hosts))), ([0], 1, 1))
    check_groupings(name, path, cache)


def union(intervals):
    ret = []
    for begin, end in sorted(intervals):
        if ret and begin <= ret[-1][1]:
            ret[-1][1] = max(end, ret[-1][1])
        else:
            ret.append([begin, end])
    return ret


def check_kineto(path, cache, world):
    """Kernels by name; what of them no other kernel of the device covers, by hand; sizes by the annotation around the launch."""
    name = path.name
    events = [event for event in json.loads(gzip.decompress(path.read_bytes()), parse_float=decimal.Decimal)["traceEvents"] if event.get("ph") == "X"]
    kernels = [event for event in events if event.get("cat") == "kernel"]

    def interval(event):
        begin = int(event["ts"] * 1000000)
        return begin, begin + int(event["dur"] * 1000000)
    nccl = [event for event in kernels if event["name"].startswith("nccl")]
    compute = union(interval(event) for event in kernels if not event["name"].startswith("nccl"))
    total = hidden = 0
    for event in nccl:
        begin, end = interval(event)
        total += end - begin
        hidden += sum(max(0, min(end, to) - max(begin, at)) for at, to in compute)
    page, rows = rows_of(cache, path)
    equal(name, "count", sum(row["count"] for row in rows), len(nccl))
    equal(name, "total", page["total_ps"], total)
    equal(name, "exposed", page["exposed_ps"], total - hidden)
    widths = {"float": 4, "int": 4, "long": 8, "unsigned char": 1, "signed char": 1}
    told = collections.Counter()
    for event in events:
        dims = event.get("args", {}).get("Input Dims")
        if event["name"].startswith("nccl:") and dims and dims[0]:
            size = widths[event["args"]["Input type"][0]]
            for one in dims[0]:
                size *= one
            told[event["name"], size] += 1
    for row in rows:
        if row["bytes"] is not None and row["kind"] in ("all-reduce", "all-to-all"):
            equal(name, f"{row['kind']} of {row['bytes']} bytes was called for", ("nccl:" + row["kind"].replace("-", "_"), row["bytes"]) in told, True)
    equal(name, "algorithm", {row["algorithm"] for row in rows}, {"ring"})
    check_groupings(name, path, cache)
    return rows


def check_two_ranks(path, cache):
    for rank in (0, 1):
        rows = check_kineto(path / f"sampled_rank-{rank}.json.gz", cache, 128)
        gathers = [row for row in rows if row["kind"] == "all-gather" and row["bytes"] is not None]
        for row in gathers:  # c10d::_allgather_base_ of [1073741824] from [16777216] signed chars
            equal(path.name, "an all-gather is as large as its result", (row["bytes"], row["group_size"]), (1073741824, 64))


def check_nsys_jax(path, cache):
    """Thunks that nsys-jax projects: fsdp over four processes, one device here."""
    name = "nsys-jax"
    page, rows = rows_of(cache, path)
    equal(name, "there are some", len(rows) > 0, True)
    equal(name, "all of them over four devices", {row["group_size"] for row in rows}, {4})
    equal(name, "kinds", {row["kind"] for row in rows}, {"all-gather", "reduce-scatter", "all-reduce"})
    check_groupings(name, path, cache)


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return SKIPPED
    corpus = pathlib.Path(corpus)
    captures = corpus.parent / "captures"
    checks = [(captures / "multi-device", check_multi_device), (corpus / "tpu-inference-4chip", check_tpu),
              (corpus / "pytorch-2-ranks", check_two_ranks), (corpus / "nsys-jax/pax_fsdp4_4proc_proc0", check_nsys_jax),
              (corpus / "pytorch-large/df_index_resolver.json.gz", lambda path, cache: check_kineto(path, cache, 2))]
    checks += [(captures / "multi-host" / variant, check_multi_host) for variant in ("apart", "session-id", "together")]
    done = 0
    with tempfile.TemporaryDirectory() as cache:
        for path, check in checks:
            if not path.exists():
                print(f"skipped: {path.name} is not there")
                continue
            check(path, cache)
            done += 1
    for failure in manifest.failures:
        print(failure)
    print(f"{done} profiles, {len(manifest.failures)} differences")
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
