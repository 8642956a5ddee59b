#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_nsys.py TRACE_DUMP: every SQLite export of Nsight Systems in $JVIEW_CORPUS is read as its manifest counts it, and as
SQL sums it.

From MANIFEST.json: rows by table, versions, GPUs, first and last times of tables. From the export itself, by SQL: the sums of
kernels, calls, copies and NVTX ranges by name (count, total, least, longest, to the nanosecond) against `jviewd top`; launches
that are joined with their work; the projection of every range onto its devices. And no segment holds what stands in the
environment, nor the name of a user."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import manifest

SECRET = b"API_TOKEN=this-must-never-be-shown"
LANES = {"CUPTI_ACTIVITY_KIND_RUNTIME": "CUDA API", "NVTX_EVENTS": "NVTX", "OSRT_API": "OS runtime",
         "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "Synchronization"}
ON_STREAMS = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")
CALL = "CASE substr(s.value, -6, 2) WHEN '_v' THEN substr(s.value, 1, length(s.value) - 6) ELSE s.value END"
NAMES = {  # table: the name of a slice, what else is joined
    "CUPTI_ACTIVITY_KIND_KERNEL": ("s.value", "JOIN StringIds s ON s.id = t.demangledName"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("'[CUDA memcpy ' || e.label || ']'", "JOIN ENUM_CUDA_MEMCPY_OPER e ON e.id = t.copyKind"),
    "CUPTI_ACTIVITY_KIND_MEMSET": ("'[CUDA memset]'", ""),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (CALL, "JOIN StringIds s ON s.id = t.nameId"),
    "NVTX_EVENTS": ("coalesce(t.text, s.value)", "LEFT JOIN StringIds s ON s.id = t.textId"),
}
USERS = "SELECT value FROM META_DATA_CAPTURE WHERE name LIKE '%USER_NAME' UNION " \
        "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_USER'"


def tables_of(db):
    return {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def sums(db, tables):
    """name: [count, total, least, longest] over the tables that have names for slices."""
    found = {}
    for table, (name, join) in NAMES.items():
        if table not in tables:
            continue
        for key, *values in db.execute(f'SELECT {name}, count(*), sum(t.end - t.start), min(t.end - t.start), max(t.end - t.start) '
                                       f'FROM "{table}" t {join} WHERE t.end IS NOT NULL GROUP BY 1'):
            if key in found:
                old = found[key]
                values = [old[0] + values[0], old[1] + values[1], min(old[2], values[2]), max(old[3], values[3])]
            found[key] = values
    return found


def top(jviewd, path, cache):
    """The same of what jviewd answers, page by page."""
    found, cursor = {}, []
    place = ["--profile-dir", str(path.parent), "--cache-dir", cache]
    subprocess.run([jviewd, "list", *place], capture_output=True, timeout=600, check=True)
    while True:
        done = subprocess.run([jviewd, "top", path.stem, *place, "--by", "name", "--limit", "10000", "--format", "json", *cursor], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            manifest.failures.append(f"{path}: jviewd top: {done.stderr.strip()}")
            return found
        answer = json.loads(done.stdout)
        for row in answer["rows"]:
            found[row["name"]] = [row["count"], row["total_ps"], row["min_ps"], row["max_ps"]]
        if not answer.get("next"):
            return found
        cursor = ["--cursor", answer["next"]]


def launches(db, tables):
    """(process, correlation): (thread, start) of the first call, and the work by it."""
    calls, works = {}, []
    if "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
        for thread, correlation, start in db.execute("SELECT globalTid, correlationId, start FROM CUPTI_ACTIVITY_KIND_RUNTIME"):
            calls.setdefault((thread >> 24, correlation), (thread, start))
    for table in ON_STREAMS:
        if table in tables:
            works += db.execute(f"SELECT globalPid >> 24, correlationId, deviceId, start, end FROM {table}")
    return calls, works


def projections(db, tables):
    """device: [count, total] of the ranges with work there, each from its first start to its last end."""
    calls, works = launches(db, tables)
    of_thread = collections.defaultdict(list)
    for process, correlation, device, start, end in works:
        if (process, correlation) in calls:
            thread, called = calls[process, correlation]
            of_thread[thread].append((called, device, start, end))
    found = collections.Counter(), collections.Counter()
    if "NVTX_EVENTS" not in tables:
        return {}
    for thread, begin, finish in db.execute("SELECT globalTid, start, end FROM NVTX_EVENTS WHERE end > start"):
        inside = collections.defaultdict(list)
        for called, device, start, end in of_thread[thread]:
            if begin <= called <= finish:
                inside[device].append((start, end))
        for device, spans in inside.items():
            found[0][device] += 1
            found[1][device] += max(end for _, end in spans) - min(start for start, _ in spans)
    return {device: [found[0][device], found[1][device] * 1000] for device in found[0]}


def lane(got, name):
    return [track for track in got["tracks"] if track["line"] == name]


def check_rows(path, facts, got):
    counts = got["counts"]
    for table, rows in facts["rows"].items():
        if table in LANES:
            manifest.equal(path, f"slices of {table}", sum(track["count"] for track in lane(got, LANES[table])), rows)
        told = sum(count for _, count, message in got["notes"] if f" {table} " in message)  # as not shown
        manifest.equal(path, f"rows of {table}", counts.get(table, told), rows)
    streams = sum(track["count"] for track in got["tracks"] if track["line"].startswith("Stream #"))
    manifest.equal(path, "work on streams", streams, sum(facts["rows"].get(table, 0) for table in ON_STREAMS))
    manifest.equal(path, "samples", got["stack_samples"], facts["rows"].get("COMPOSITE_EVENTS", 0))
    for key, (first, last) in ((key, value) for key, value in facts.items() if key.endswith("_range_ns")):
        tracks = lane(got, LANES.get(key.removesuffix("_range_ns"), ""))
        if tracks:
            manifest.equal(path, key, [min(track["start_ps"] for track in tracks), max(track["end_ps"] for track in tracks)],
                           [first * 1000, last * 1000])


def check_about(path, facts, got):
    about, counted = got["file_properties"], got["counts"]
    manifest.equal(path, "version", about.get("product_version"), facts["product_version"])
    manifest.equal(path, "schema", about.get("schema_version"), facts["schema_version"])
    manifest.equal(path, "GPUs", counted.get("TARGET_INFO_GPU", 0), len(facts["gpus"]))
    manifest.equal(path, "epoch is known", got["epoch_ns"] is not None, True)


def check_sums(jviewd, path, db, tables, got, cache):
    wanted = {name: [count, total * 1000, least * 1000, most * 1000] for name, (count, total, least, most) in sums(db, tables).items()}
    found = top(jviewd, path, cache) if wanted else {}
    for name, values in wanted.items():
        manifest.equal(path, f"{name}: count, total, least, longest", found.get(name), values)
    calls, works = launches(db, tables)
    joined = sum((process, correlation) in calls for process, correlation, *_ in works)
    streams = sum(track["count"] for track in got["tracks"] if track["line"].startswith("Stream #"))
    if streams:
        waits = 0
        if "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" in tables:
            waits = sum((process, correlation) in calls for process, correlation in db.execute(
                "SELECT globalPid >> 24, correlationId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"))
        manifest.equal(path, "launches joined", got["flows_by_kind"].get("kernel launch", 0), joined + waits)
    projected = {}
    for track in got["tracks"]:
        if track["derived"]:
            old = projected.get(track["device"], [0, 0])
            projected[track["device"]] = [old[0] + track["count"], old[1] + track["sum_ps"]]
    manifest.equal(path, "projected ranges", projected, projections(db, tables))


def check_secrets(jviewd, path, db, tables, temporary):
    segment = pathlib.Path(temporary) / "own.seg"
    subprocess.run([jviewd, "index", str(path), "--out", str(segment)], capture_output=True, timeout=600, check=True)
    content = b"".join(file.read_bytes() for file in pathlib.Path(temporary).rglob("*") if file.is_file())
    manifest.equal(path, "the segment holds the environment", SECRET in content, False)
    if "META_DATA_CAPTURE" in tables:
        for user, in db.execute(USERS).fetchall():
            if user and len(user) > 3:
                manifest.equal(path, f"the segment holds the user {user}", user.encode() in content, False)


def main():
    trace_dump = pathlib.Path(sys.argv[1])
    jviewd = os.environ.get("JVIEWD") or str(trace_dump.parent.parent / "jviewd")
    corpus = pathlib.Path(os.environ.get("JVIEW_CORPUS", ""))

    def check(path, facts, got):
        db = sqlite3.connect(f"file:{corpus / path}?mode=ro&immutable=1", uri=True)
        tables = tables_of(db)
        manifest.equal(path, "tables of the export", len(tables), facts["tables"])
        check_rows(path, facts, got)
        check_about(path, facts, got)
        with tempfile.TemporaryDirectory() as temporary:
            check_sums(jviewd, corpus / path, db, tables, got, temporary)
            check_secrets(jviewd, corpus / path, db, tables, temporary)
        db.close()

    return manifest.run(str(trace_dump), "nsys-sqlite", check)


if __name__ == "__main__":
    sys.exit(main())
