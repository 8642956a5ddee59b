#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the collector costs: of a thread that tells ranges, of the writer, in bytes, in memory, at the start.

usage: bench_collector.py BUILD   (a release build with jview-collect, nvtx_program, cuda_program and the fakes)

CPU times, so that a machine that does much else still tells the truth; the least of several runs."""

import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
COLLECT, LIBRARY = BUILD / "jview-collect", BUILD / "libjview-collector.so"
NVTX, CUDA, FAKES = BUILD / "tests/nvtx_program", BUILD / "tests/cuda_program", BUILD / "tests/fake"
TURNS = 5


def row(what, value, unit, target=""):
    print(f"{what:<58} {value:>10} {unit:<12} {target}", flush=True)


def burst(place, count, *options):
    """Nanoseconds of CPU of the telling thread for a push and its pop, the least of some runs."""
    def once(number):
        words = [NVTX, "burst", str(count)]
        if options:
            words = [COLLECT, "-q", "--system=0", "-o", place / f"burst{len(options)}{number}", *options, "--", *words]
        return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1])

    return min(once(number) for number in range(TURNS))


def watch(process):
    """CPU seconds of the writer's thread and the most memory of the process, as last seen."""
    cpu, peak = 0, 0
    while process.poll() is None:
        try:
            for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
                if (task / "comm").read_text() == "jview-writer\n":
                    cpu = int((task / "schedstat").read_text().split()[0]) / 1e9
            peak = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) << 10
        except (OSError, TypeError):
            pass
        time.sleep(0.01)
    return cpu, peak


def alone(out, words, **env):
    """Without the launcher, so that the process is ours to watch."""
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, env={
        **os.environ, "JVIEW_OUT": str(out), "NVTX_INJECTION64_PATH": str(LIBRARY), **env})
    began = time.monotonic()
    cpu, peak = watch(process)
    spools = list(out.glob("plugins/profile/*/*.jvs"))
    return cpu, peak, sum(spool.stat().st_size for spool in spools), time.monotonic() - began


KINDS = range(11, 15)  # SPOOL_KERNEL, _COPY, _SET, _CALL
FRAME = struct.Struct("<IHHIIQII")


def records_of(out):
    """Of all kinds of CUDA activity, by the heads of the frames: see api/record.h."""
    total = 0
    for spool in out.glob("plugins/profile/*/*.jvs"):
        data, at = spool.read_bytes(), 64
        while at + FRAME.size <= len(data):
            _, kind, _, _, packed, _, records, _ = FRAME.unpack_from(data, at)
            total += records if kind in KINDS else 0
            at += FRAME.size + packed + 8
    return total


def bench_ranges(place):
    floor, recorded = burst(place, 2_000_000), burst(place, 2_000_000, "--delay=0")
    closed = burst(place, 2_000_000, "--delay", "3600")
    row("push and pop, no tool", f"{floor:.1f}", "ns")
    row("push and pop, recorded", f"{recorded:.1f}", "ns", "<= 60")
    row("push and pop, recording off", f"{closed:.1f}", "ns")


def bench_xla_ranges(place):
    """Looked at while nothing is recorded too: graphs are built before the recording."""
    def once(number, *options):
        run = subprocess.run([COLLECT, "-q", "--system=0", "-o", place / f"xla{len(options)}{number}", *options, "--", CUDA,
                              "0", "0", "burst", "2000000"], capture_output=True, text=True, check=True,
                             env={**os.environ, "LD_LIBRARY_PATH": str(FAKES)})
        return float(run.stdout.split()[0])

    row("push and pop of XLA's, recorded", f"{min(map(once, range(TURNS))):.1f}", "ns")
    closed = min(once(number, "--delay=3600") for number in range(TURNS))
    row("push and pop of XLA's, recording off", f"{closed:.1f}", "ns")


def finalised(place, records):
    """The recording becomes XPlane, in the process that jview-collect starts for it: all its CPU, and memory with what is mapped."""
    spool, = (place / "cuda").glob("plugins/profile/*/*.jvs")
    made = place / "made.xplane.pb"
    turns = []
    for _ in range(TURNS):
        process = subprocess.Popen([BUILD / "jviewd", "index", spool, "--xplane", "--out", made], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"{spool} did not become XPlane")
        turns.append((used.ru_utime + used.ru_stime, used.ru_maxrss))
    cpu, most = min(turns)[0], max(most for _, most in turns)
    row("CUDA records to XPlane, of its CPU", f"{cpu / records * 1e6:.2f}", "us/record", "<= 0.5")
    row("CUDA records to XPlane, memory at its most", f"{most / 1024:.0f}", "MiB", "<= 256")
    row("CUDA records as XPlane", f"{made.stat().st_size / records:.0f}", "B/record")


def bench_activity(place):
    launches, threads = 250_000, 4
    told = threads * sum(2 + (number % 4 == 0) + (number % 8 == 0) for number in range(launches))
    env = {"FAKE_CUPTI_NOISE": "1", "CUDA_INJECTION64_PATH": str(LIBRARY), "LD_LIBRARY_PATH": str(FAKES)}
    cpu, _, size, wall = alone(place / "cuda", [CUDA, threads, launches, "sleep", 2000], **env)
    records = records_of(place / "cuda")
    row("CUDA records, told as fast as four threads can", f"{told / 1e6:.2f}", "M")
    row("CUDA records, of them written (the rest counted)", f"{records / 1e6:.2f}", "M")
    row("CUDA records, writer's CPU", f"{cpu / records * 1e9:.0f}", "ns/record", "<= 250")
    row("CUDA records, on disk", f"{size / records:.1f}", "B/record", "<= 20")
    finalised(place, records)
    row("CUDA records the writer keeps up with", f"{records / cpu / 1e6:.1f}", "M/s of CPU", ">= 2")


def bench_memory(place):
    _, small, *_ = alone(place / "few", [NVTX, "burst", 1_000_000])
    cpu, large, size, _ = alone(place / "many", [NVTX, "burst", 50_000_000])
    row("memory at its most, 1 M ranges", f"{small / 2**20:.1f}", "MiB")
    row("memory at its most, 50 M ranges", f"{large / 2**20:.1f}", "MiB", "the same")


def bench_start(place):
    def once(words):
        began = time.monotonic()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        return (time.monotonic() - began) * 1000

    plain = statistics.median(once(["true"]) for _ in range(15))
    ours = statistics.median(once([COLLECT, "-q", "-o", place / "start", "true"]) for _ in range(15))
    row("start and end of the launcher", f"{ours - plain:.1f}", "ms", "< 50")


def main():
    with tempfile.TemporaryDirectory() as place:
        for bench in (bench_ranges, bench_xla_ranges, bench_activity, bench_memory, bench_start):
            bench(pathlib.Path(place))


if __name__ == "__main__":
    main()
