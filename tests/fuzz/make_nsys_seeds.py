#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_nsys_seeds.py DIR: small SQLite exports as Nsight Systems writes them, made up, for the fuzzer to start from."""

import pathlib
import sqlite3
import sys

PID = (1 << 48) | (7 << 24)
NAMES = f"""
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'python'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'step'), (5, 'libc.so');
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES ({PID}, 7, 'train');
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (1, 0, {PID + 8});
"""
SEEDS = {
    "cuda": f"""
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 15, 0, {PID + 8}, 1, 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
 globalPid INT, demangledName INT, gridX INT, gridY INT, gridZ INT, graphNodeId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20, 30, 0, 1, 7, 1, {PID}, 2, 4, 1, 1, 9);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, globalPid INT, bytes INT, copyKind INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (31, 32, 0, 7, {PID}, 4096, 8);
""",
    "waits": f"""
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
 globalPid INT, demangledName INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20, 30, 0, 1, 7, 1, {PID}, 2), (31, 40, 0, 1, 9, 4, {PID}, 4);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT,
 eventId INT, eventSyncId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 2, {PID}, 5, 6);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, deviceId INT, contextId INT, streamId INT,
 correlationId INT, globalPid INT, syncType INT, eventId INT, eventSyncId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (22, 23, 0, 1, 9, 3, {PID}, 2, 5, 6);
""",
    "nvtx": f"""
CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, rangeId INT, category INT, color INT, text TEXT, globalTid INT,
 textId INT, domainId INT, doubleValue REAL, jsonText TEXT);
INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, NULL, NULL, 'NCCL', {PID + 8}, NULL, 2, NULL, NULL),
 (5, 40, 59, NULL, 3, 4278255360, NULL, {PID + 8}, 4, 2, 1.5, '{{}}'), (6, NULL, 59, NULL, NULL, NULL, 'a', {PID + 8}, NULL, 0, NULL, NULL);
""",
    "sampled": f"""
CREATE TABLE SAMPLING_CALLCHAINS (id INT, symbol INT, module INT, stackDepth INT, PRIMARY KEY (id, stackDepth));
INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 2, 5, 0), (1, 4, 5, 1);
CREATE TABLE COMPOSITE_EVENTS (id INT, start INT, globalTid INT);
INSERT INTO COMPOSITE_EVENTS VALUES (1, 5, {PID + 8});
CREATE TABLE GPU_METRICS (timestamp INT, typeId INT, metricId INT, value INT);
INSERT INTO GPU_METRICS VALUES (1, 256, 1, 50);
CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT);
INSERT INTO DIAGNOSTIC_EVENT VALUES (3, 'lost');
""",
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, script in SEEDS.items():
        db = sqlite3.connect(":memory:")
        db.executescript("PRAGMA page_size = 512;" + NAMES + script)
        (folder / name).write_bytes(db.serialize())


if __name__ == "__main__":
    main()
