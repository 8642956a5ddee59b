#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No zero stands for unknown: every endpoint is asked of every profile, and a field that the profile
cannot know must be null with a reason, not 0.

The endpoints are those of api/openapi.yaml: every path with a run, by each word of its `by` and `view`; those
that need more than a run (a slice, a track, a text, a module, a second run) get it from earlier replies.
A path that nothing asked, and words that no profile had an answer for, are faults: nobody would see their zeros.
Replies must be what the page says of them, so that a null is where the page allows one.

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
# Of spans on the host: what devices did inside; null where a run has no device that did anything.
OF_DEVICES = ("device_ps", "device_self_ps", "launch_count", "projected_ps", "projected_count")
# Of two runs: what one of them does not have.
STATES = {"new": "a_", "gone": "b_"}
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
        value = row["values"][int(field)] if field.isdigit() else row.get(field, 0)  # of several runs: by their ordinal
        if value not in (None, []):
            complain(run, path, row, field, f"is {value!r} and has a reason for being unknown")


def check_rows(run, path, rows, knows):
    # PyTorch may have recorded shapes: then costs are counted without HLO, and those of a copy are 0 FLOPs.
    has_shapes = any(row.get("flops") for row in rows)
    for row in rows:
        for field, value in row.items():
            if value != 0 or isinstance(value, bool):
                continue
            if field in NEVER_ZERO:
                complain(run, path, row, field, "is 0")
            if field in RATE_OF and row.get(RATE_OF[field]) != 0:
                complain(run, path, row, field, f"is 0 while {RATE_OF[field]} is {row.get(RATE_OF[field])!r}")
            basis = HANG_ON.get(field)
            if basis and row.get(basis, row.get("flops")) is None:  # some tables have amounts, no rates
                complain(run, path, row, field, f"is 0 while {basis} is unknown")
            if field in ("flops", "bytes") and path.startswith("api/top") and not knows["costs"] and not has_shapes:
                complain(run, path, row, field, "is 0 in a profile without HLO")
        check_sides(run, path, row)
        check_reasons(run, path, row)


def check_sides(run, path, row):
    """Sums of kernels belong to tables of kernels; what only one of two runs has, the other has not for 0 ps."""
    if path.startswith("api/kernels by=") and "occupancy_known_ps" in row and row["by"] not in ("kernel", "variant") and row["occupancy_known_ps"] is not None:
        complain(run, path, row, "occupancy_known_ps", "is told where kernels are not walked")
    if "projected_ps" in row and "no device work" in (row.get("reasons", {}).get("device_share") or ""):
        for field in OF_DEVICES:
            if row[field] is not None:
                complain(run, path, row, field, f"is {row[field]} in a run without work of devices")
    side = STATES.get(row.get("state"))
    for field, value in row.items():
        if side and field.startswith(side) and value == 0 and not isinstance(value, bool):
            complain(run, path, row, field, f"is 0 where the op is {row['state']}")


def check_overview(run, overview, knows):
    step = overview["step"]
    times = [field for field in step if field.endswith("_ps")]
    for field in times:
        if step["counted"] == 0 and step[field] is not None:
            complain(run, "api/overview", {}, f"step.{field}", f"is {step[field]} without steps")
        if step[field] is None and not step["reasons"].get(field):
            complain(run, "api/overview", {}, f"step.{field}", "is null without a reason")
        alone = step["counted"] == 1 and field == "stdev_ps"  # one step has no spread
        alone |= field == "span_ps" and step["rule"] in ("module", "steps-line")  # nothing on the host marks those
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


# Paths whose replies hold no figure of a profile.
NO_FIGURES = {
    "/api/bundle": "an archive", "/api/tiles": "pixels", "/api/trace": "a file", "/api/table": "a file", "/api/tables": "names of columns", "/api/notes": "notes on a run", "/api/baselines": "what people named",
    "/api/jobs": "what is being indexed", "/api/events": "a stream of changes", "/api/openapi": "the page", "/api/upload": "what may be sent", "/api/source": "lines of a file",
    "/api/capture": "who records", "/launch/*": "a page", "/perfetto/*": "a page", "/l/*": "a link", "/healthz": "a word", "/readyz": "a word", "/metrics": "of the server",
    "/assets/*": "files", "/": "a page",
}
ROWS = {"/api/flows": 1000, "/api/slices": 1000, "/api/flame": 2000}  # where a row is an event of the file
ALONE = {"/api/overview", "/api/runs"}  # asked by themselves
PAIRS = 5  # of so many runs one is compared with the next
EACH = 2  # slices, counters and modules of a run that are asked for
answered = {}  # (path, parameter, its word) -> a profile had an answer


def parameters_of(path):
    return {one["name"]: one for one in map(openapi.resolve, openapi.PAGE["paths"][path]["get"].get("parameters", []))}


def words_of(parameters, name):
    return [None, *parameters.get(name, {"schema": {}})["schema"].get("enum", [])]


def words(path):
    """(by, view) of every table of the path."""
    parameters = parameters_of(path)
    if path == "/api/memory":  # by= is for two of its views
        views = [view for view in words_of(parameters, "view") if view]
        return [(by, view) for view in views for by in (words_of(parameters, "by") if view in ("peak", "layers", "pprof") else [None])]
    return [*((by, None) for by in words_of(parameters, "by")), *((None, view) for view in words_of(parameters, "view")[1:])]


def tables():
    """(path, query) of every endpoint that a run is enough for."""
    for path, methods in openapi.PAGE["paths"].items():
        if "get" not in methods or path in NO_FIGURES:
            continue
        parameters = parameters_of(path)
        answered.update({(path, *pair): path in ALONE for by, view in words(path) for pair in (("by", by), ("view", view))})
        if "run" not in parameters or path in ALONE or any(one.get("required") for name, one in parameters.items() if name != "run"):
            continue
        limit = {"limit": ROWS.get(path, 10000)} if "limit" in parameters else {}
        for by, view in words(path):
            query = {key: word for key, word in (("by", by), ("view", view)) if word is not None}
            yield path, {**(limit if (path, view) not in (("/api/memory", "timeline"), ("/api/memory", "layers")) else {}), **query}


def questions(server, run):
    """(path, query) of what needs more than the run, which its other replies have."""
    _, page = server.get("api/slices", run=run["id"], limit=EACH, sort="-self_ps")
    for row in page.get("rows", []):
        for path, key in (("/api/slice", "id"), ("/api/chain", "slice"), ("/api/flows", "slice")):
            yield path, {key: row["id"]}
        yield "/api/search", {"q": row["name"] or "a", "limit": 100}
    for by in words_of(parameters_of("/api/op"), "by"):
        _, page = server.get("api/top", run=run["id"], limit=EACH, **({"by": by} if by else {}))
        for row in page.get("rows", []):
            yield "/api/op", {"name": row["name"], **({"by": by} if by else {})}
    _, page = server.get("api/tracks", run=run["id"])
    for track in [one["id"] for one in page.get("tracks", []) if one["kind"] == "counter"][:EACH]:
        yield "/api/counters", {"track": track}
    _, page = server.get("api/hlo", run=run["id"], limit=EACH)
    for module in page.get("modules", [])[:EACH]:
        for view in words_of(parameters_of("/api/hlo"), "view"):
            yield "/api/hlo", {"module": module["key"], **({"view": view} if view else {})}
    _, page = server.get("api/memory", run=run["id"], view="timeline")
    for allocator in page.get("allocators", [])[:EACH]:
        yield "/api/memory", {"view": "peak", "allocator": allocator["name"], "limit": 10000}


def comparisons(one, other):
    """(path, query) of a run and the next."""
    yield from (("/api/diff", {"a": one["id"], "b": other["id"], "limit": 10000, **({"by": by} if by else {})}) for by in words_of(parameters_of("/api/diff"), "by"))
    yield "/api/check", {"run": other["id"], "baseline": one["id"]}
    yield "/api/compare", {"runs": f"{one['id']},{other['id']}"}


def trends(server):
    _, page = server.get("api/trend", names="all")
    for metric in page["names"]:
        yield "/api/trend", {"metric": metric["name"]}


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
    return sum(walk(server, run, path, {"run": run["id"], **query}, knows, missing) for path, query in [*TABLES, *questions(server, run)])


def walk(server, run, path, query, knows, missing):
    status, reply = server.get(path, **query)
    if status != 200:
        if status == 404 and reply.get("type") == "not-found" and "There is no" in reply.get("detail", ""):
            missing.add(path)
        elif status >= 500:
            complain(run, path, query, "status", f"{status}: {reply.get('detail')}")
        return 0
    answered[path, "by", query.get("by")] = answered[path, "view", query.get("view")] = True  # also where a run has no row of it
    asked = path[1:] + "".join(f" {key}={value}" for key, value in query.items() if key not in ("limit", "run"))
    for fault in openapi.faults(reply, openapi.schema_of(path))[:3]:
        complain(run, asked, {}, "reply", f"is not what the page says: {fault}")
    check_rows(run, asked, objects_of(reply), knows)
    return len(reply.get("rows", []))


def main():
    if not profiles.roots():
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return profiles.SKIPPED
    runs, rows, missing = 0, 0, set()
    TABLES.extend(tables())
    for _, root in profiles.roots().items():
        with profiles.served(root) as server:
            all_runs = server.runs()
            for run, next_one in zip(all_runs, [*all_runs[1:], None]):
                runs += 1
                rows += check_run(server, run, missing)
                if next_one and runs % PAIRS == 0:
                    rows += sum(walk(server, run, path, query, {"costs": True}, missing) for path, query in comparisons(run, next_one))
            rows += sum(walk(server, {"name": str(root)}, path, query, {"costs": True}, missing) for path, query in trends(server))
    for (path, name, word), was in answered.items():
        if not was:
            failures.append(f"{path} {name}={word}: no profile had an answer")
    for path in sorted(missing):
        failures.append(f"{path}: there is no such endpoint")
    for failure in failures:
        print(failure)
    print(f"{runs} runs, {rows} rows, {len(failures)} zeros or silences that stand for unknown")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
