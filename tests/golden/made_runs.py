#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes runs of other machines than the samples' below a folder: XPlane of a GPU and of TPU cores, Kineto, and an
export of Nsight Systems.

  made_runs.py FOLDER MAKE_PROFILE
"""

import pathlib
import sqlite3
import subprocess
import sys

import made_cases

STEPS, KERNELS = 6, {"gemm_f16": 400_000, "softmax_warp": 90_000, "gemm_f16_tail": 30_000}
NAMES = ["cudaLaunchKernel_v7000", "train_step", "main", *KERNELS]
PROCESS = 100 << 24


def nsys(path):
    """A thread that launches three kernels in each of six ranges; each queues behind the one before."""
    base = sqlite3.connect(path)
    base.executescript("""
        create table StringIds(id integer primary key, value text);
        create table TARGET_INFO_GPU(id integer, name text, smCount integer);
        create table ThreadNames(nameId integer, priority integer, globalTid integer);
        create table NVTX_EVENTS(start integer, end integer, eventType integer, text text, textId integer, globalTid integer, domainId integer);
        create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, eventClass integer, globalTid integer, correlationId integer, nameId integer,
          returnValue integer, callchainId integer);
        create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, contextId integer, streamId integer, correlationId integer,
          globalPid integer, demangledName integer, shortName integer, gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer,
          blockZ integer);""")
    ids = {name: at for at, name in enumerate(NAMES, 1)}
    base.executemany("insert into StringIds values(?, ?)", [(at, name) for name, at in ids.items()])
    base.execute("insert into TARGET_INFO_GPU values(0, 'NVIDIA H100 80GB HBM3', 132)")
    thread = PROCESS | 101
    base.execute("insert into ThreadNames values(?, 10, ?)", (ids["main"], thread))
    at, correlation = 1_000_000, 0
    for step in range(STEPS):
        begin, free = at, at
        for name, length in KERNELS.items():
            correlation += 1
            base.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?, ?, 0, ?, ?, ?, 0, null)", (at, at + 6_000, thread, correlation, ids[NAMES[0]]))
            start = max(free, at + 9_000)
            free = start + length + 1_000 * step
            base.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?, ?, 0, 1, 7, ?, ?, ?, ?, 8, 1, 1, 128, 1, 1)",
                         (start, free, correlation, PROCESS, ids[name], ids[name]))
            at += 8_000
        base.execute("insert into NVTX_EVENTS values(?, ?, 59, 'train_step', null, ?, 0)", (begin, free + 5_000, thread))
        at = free + 40_000
    base.commit()
    base.close()


def main():
    folder, make_profile = pathlib.Path(sys.argv[1]), sys.argv[2]
    cases = {"made_tpu": "tpu_late_core", "made_kineto": "kineto_two_streams", "made_launches": "kineto_slow_launches", "made_cpu": "cpu_input_thread"}
    for name, case in cases.items():
        (folder / name).mkdir(parents=True)
        made_cases.CASES[case]()[1](folder / name)
    (folder / "made_gpu").mkdir()
    subprocess.run([make_profile, "gpu", "--events", "3000", "--seed", "7", "-o", folder / "made_gpu" / "host.xplane.pb"], check=True, stdout=subprocess.DEVNULL)
    (folder / "made_nsys").mkdir()
    nsys(folder / "made_nsys" / "report.sqlite")


if __name__ == "__main__":
    main()
