#!/usr/bin/env python3
"""No zero stands for unknown: every table of every profile is asked, and a field that the profile
cannot know must be null with a reason, not 0.

The tables are those of api/openapi.yaml: every path with a run, by each word of its `by` and `view`.

What a profile knows is taken from its own replies: programs (for FLOPs and bytes), steps, devices,
allocators, kernels' launch shapes. Where a fact is missing, the fields that hang on it are unknown.
"""
import pathlib
import sys

import profiles

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
import openapi

failures = []
TABLES = []

# Of rows: null or above zero, never a zero: nothing that was measured is exactly that.
NEVER_ZERO = {
    "peak_flops_per_s", "peak_bytes_per_s", "occupancy", "capacity_bytes", "algorithm_bytes_per_s",
    "bus_bytes_per_s", "registers",
}
# A rate is 0 where its amount is known to be 0 (a copy computes nothing), and only there.
RATE_OF = {"flops_per_s": "flops", "bytes_per_s": "bytes"}
# Of rows: a share or rate that a zero would make a statement of; null where its basis is null.
HANG_ON = {"flops_share": "flops_per_s", "bytes_share": "bytes_per_s", "of_peak": "flops_per_s", "of_roof": "flops_per_s"}


def complain(run, path, row, field, why):
    if len(failures) < 200:
        failures.append(f"{run['name']} {path} {str(row.get('name') or row.get('key') or row.get('step'))[:60]}: {field} {why}")


def check_reasons(run, path, row):
    """A null that a page would show says why: the reason stands in the same object."""
    reasons = row.get("reasons")
    if reasons is None:
        return
    for field, value in row.items():
        if value is None and (field in NEVER_ZERO or field in RATE_OF) and not reasons.get(field):
            complain(run, path, row, field, "is null without a reason")
    for field in reasons:
        if row.get(field, 0) not in (None, []):
            complain(run, path, row, field, f"is {row.get(field)!r} and has a reason for being unknown")


def check_rows(run, path, rows, knows):
    for row in rows:
        for field, value in row.items():
            if value != 0 or isinstance(value, bool):
                continue
            if field in NEVER_ZERO:
                complain(run, path, row, field, "is 0")
            if field in RATE_OF and row.get(RATE_OF[field]) != 0:
                complain(run, path, row, field, f"is 0 while {RATE_OF[field]} is {row.get(RATE_OF[field])!r}")
            if field in HANG_ON and row.get(HANG_ON[field]) is None:
                complain(run, path, row, field, f"is 0 while {HANG_ON[field]} is unknown")
            if field in ("flops", "bytes") and path.startswith("api/top") and not knows["costs"]:
                complain(run, path, row, field, "is 0 in a profile without HLO")
        check_reasons(run, path, row)


def check_overview(run, overview, knows):
    step = overview["step"]
    times = [field for field in step if field.endswith("_ps")]
    for field in times:
        if step["counted"] == 0 and step[field] is not None:
            complain(run, "api/overview", {}, f"step.{field}", f"is {step[field]} without steps")
        if step[field] is None and not step["reasons"].get(field):
            complain(run, "api/overview", {}, f"step.{field}", "is null without a reason")
        alone = step["counted"] == 1 and field == "stdev_ps"  # one step has no spread
        if step["counted"] > 0 and step[field] is None and not alone:
            complain(run, "api/overview", {}, f"step.{field}", "is null with steps")
    for device in overview["devices"]:
        if device["busy_share"] == 0 and device["busy_ps"] == 0 and device["idle_ps"] == 0:
            complain(run, "api/overview", device, "busy_share", "is 0 of a device without a hull")
    duty = overview["duty"]
    for field in ("busy_ps", "work_ps", "wait_ps", "hidden_communication_ps"):
        if not overview["devices"] and duty[field] is not None:
            complain(run, "api/overview", {}, f"duty.{field}", "is told without devices")
    if overview["breakdown_total_ps"] == 0 and any(part["share"] is not None for part in overview["breakdown"]):
        complain(run, "api/overview", {}, "breakdown.share", "is told of nothing")
    memory = overview["memory"]
    if (memory["reason"] is None) != ("peak_bytes" in memory):
        complain(run, "api/overview", {}, "memory", "has neither a peak nor a reason, or both")
    if memory.get("capacity_bytes") == 0:
        complain(run, "api/overview", {}, "memory.capacity_bytes", "is 0")
    # Of what XProf calls utilisation, nothing may stand in the sentence where it is not known.
    if not knows["costs"] and "of peak" in overview["sentence"]:
        complain(run, "api/overview", {}, "sentence", "tells a share of a peak without HLO")


# Paths that ask for more than a run: of one slice, one track, one text. The others are all walked.
NOT_TABLES = {
    "/api/bundle": "an archive", "/api/chain": "of one slice", "/api/counters": "of one track", "/api/slice": "of one slice", "/api/search": "of a text",
    "/api/tiles": "pixels", "/api/trace": "a file", "/api/overview": "check_overview", "/api/notes": "what people wrote", "/api/check": "of two runs",
}
ROWS = {"/api/flows": 1000, "/api/slices": 1000, "/api/flame": 2000}  # where a row is an event of the file


def tables():
    """(path, query) of every table of the page."""
    for path, methods in openapi.PAGE["paths"].items():
        parameters = {one["name"]: one for one in map(openapi.resolve, methods.get("get", {}).get("parameters", []))}
        if "run" not in parameters or path in NOT_TABLES:
            continue
        if any(one.get("required") for name, one in parameters.items() if name != "run"):
            complain({"name": "openapi.yaml"}, path, {}, "path", "is not walked, and nothing says why")
            continue
        limit = {"limit": ROWS.get(path, 10000)} if "limit" in parameters else {}
        yield path, limit
        for name in ("by", "view"):
            for word in parameters.get(name, {"schema": {}})["schema"].get("enum", []):
                yield path, {**limit, name: word}


def objects_of(reply):
    """Every object in a reply, however deep."""
    stack = [reply]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def check_run(server, run, missing):
    status, overview = server.get("api/overview", run=run["id"])
    if status != 200:
        return 0  # a run without a timeline has no overview
    _, details = server.get("api/run", run=run["id"])
    knows = {"costs": bool(details.get("programs") or details.get("program_count"))}
    _, modules = server.get("api/hlo", run=run["id"], limit=1)
    knows["costs"] = knows["costs"] or modules.get("row_count", 0) > 0
    check_overview(run, overview, knows)
    rows = 0
    for path, query in TABLES:
        status, reply = server.get(path, run=run["id"], **query)
        if status != 200:
            if status == 404 and reply.get("type") == "not-found" and "There is no" in reply.get("detail", ""):
                missing.add(path)
            elif status >= 500:
                complain(run, path, query, "status", f"{status}: {reply.get('detail')}")
            continue
        words = path[1:] + "".join(f" {key}={value}" for key, value in query.items() if key != "limit")
        check_rows(run, words, objects_of(reply), knows)
        rows += len(reply.get("rows", []))
    return rows


def main():
    if not profiles.roots():
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return profiles.SKIPPED
    runs, rows, missing = 0, 0, set()
    TABLES.extend(tables())
    for _, root in profiles.roots().items():
        with profiles.served(root) as server:
            for run in server.runs():
                runs += 1
                rows += check_run(server, run, missing)
    for path in sorted(missing):
        failures.append(f"{path}: there is no such endpoint")
    for failure in failures:
        print(failure)
    print(f"{runs} runs, {rows} rows, {len(failures)} zeros or silences that stand for unknown")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
