#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What two tables tell of one thing is one number, on every run of $JVIEW_CORPUS and of captures/ beside it: every sum here is
made of the replies alone, so nothing is typed by hand and any profile may be added.

  top          rows of every grouping sum to its total; groupings of the same events have the same total, flame graphs too
  overview     kinds sum to what was divided, and are those of the counted steps; devices are busy within the capture
  kernels, collectives, transfers, compiles, memory    every grouping sums to the same; parts sum to the whole
  collectives, hosts    what is exposed in the counted steps is what devices communicate in them
  findings     evidence lies in the run; no win is longer than the counted steps
"""
import sys

import profiles

failures = []
GROUPINGS = {
    "api/collectives": (("op", "kind", "axis", "size", "group", "device", "host"), ("count", "total_ps", "exposed_ps", "hidden_ps")),
    "api/transfers": (("direction", "size", "stream", "caller"), ("count", "total_ps", "bytes", "unsized_count")),
    "api/kernels": (("kernel", "variant"), ("count", "total_ps")),
}
SAME_EVENTS = ("op", "module", "scope", "source", "category")
TOP_BY = ("op", "module", "scope", "source", "category", "device", "host", "track", "name", "kernel", "api")


def equal(run, what, got, wanted):
    if got != wanted and len(failures) < 200:
        failures.append(f"{run['name']}: {what}: {got}, not {wanted}")


def within(run, what, value, least, most):
    if value is not None and not least <= value <= most and len(failures) < 200:
        failures.append(f"{run['name']}: {what}: {value} is not in {least} .. {most}")


def sum_of(rows, field):
    return sum(row.get(field) or 0 for row in rows)


class Run:
    """Asks for one run; what it asked is kept."""

    def __init__(self, server, run):
        self.server, self.run, self.kept = server, run, {}

    def ask(self, path, **query):
        key = (path, *sorted(query.items()))
        if key not in self.kept:
            status, page = self.server.get(path, run=self.run["id"], **query)
            if status >= 500:
                failures.append(f"{self.run['name']}: {path} {query}: {status} {page.get('detail')}")
            self.kept[key] = page if status == 200 else None
        return self.kept[key]

    def table(self, path, **query):
        """The first page with the rows of all."""
        page = self.ask(path, limit=10000, **query)
        cursor = page and page["next"]
        if page and "all" not in page:
            page["all"] = list(page["rows"])
            while cursor:
                more = self.ask(path, limit=10000, cursor=cursor, **query)
                page["all"] += more["rows"]
                cursor = more["next"]
            equal(self.run, f"rows of {path} {query}", len(page["all"]), page["row_count"])
        return page


def check_top(asked):
    told, of = {}, {}  # by grouping; the first grouping of the ops of devices, of those of hosts
    for by in TOP_BY:
        page = asked.table("api/top", by=by)
        if not page or page["by"] != by:
            continue  # without programs, ops are kernels or names, as the reply says
        for field in ("self_ps", "total_ps"):
            if field == "self_ps" or by == "op":
                equal(asked.run, f"{field} by {by}", sum_of(page["all"], field), page["total_self_ps" if field == "self_ps" else "total_ps"])
        told[by] = page["total_self_ps"]
        if by in SAME_EVENTS:
            of.setdefault(page["of"], by)
            equal(asked.run, f"self time by {by} and by {of[page['of']]}", told[by], told[of[page["of"]]])
        flame = asked.ask("api/flame", by=by) if by in ("module", "scope", "source") else None
        if flame and flame["of"] in of:
            equal(asked.run, f"flame graph by {by} and top by {of[flame['of']]}", flame["root"]["total_ps"], told[of[flame["of"]]])
    return len(told)


def check_overview(asked):
    page = asked.ask("api/overview")
    if not page:
        return False
    run, step = asked.run, page["step"]
    kinds = {part["kind"]: part["self_ps"] for part in page["breakdown"]}
    equal(run, "kinds of the breakdown", sum(kinds.values()), page["breakdown_total_ps"])
    counted = [row for row in asked.table("api/steps")["all"] if not row["warmup"] and not row["cut"]]
    if page["breakdown_of"] == "steps":
        equal(run, "breakdown of steps", page["breakdown_total_ps"], step["total_ps"])
        equal(run, "steps that count", (step["counted"], step["total_ps"]), (len(counted), sum_of(counted, "dur_ps")))
        parts = [part for row in counted for part in row["breakdown"]]
        equal(run, "breakdown of the counted steps", kinds, {kind: sum(part["self_ps"] for part in parts if part["kind"] == kind) for kind in kinds})
    for device in page["devices"]:
        if device["busy_ps"] is not None:
            within(run, f"busy and idle of {device['name']}", device["busy_ps"] + device["idle_ps"], 0, page["duration_ps"])
    duty = page["duty"]
    if duty["busy_ps"] is not None and duty["wait_ps"] is not None:
        equal(run, "busy is work and waiting", duty["work_ps"] + duty["wait_ps"], duty["busy_ps"])
    compiles = asked.table("api/compiles", by="compile")["all"]  # where no compiler tells of itself, what is named like one
    named = [row for row in asked.table("api/top", by="name")["all"] if row["kind"] == "compile"]
    within(run, "compile of the breakdown", kinds["compile"], 0, sum_of(compiles or named, "total_ps"))
    check_findings(asked, page["duration_ps"], page["breakdown_total_ps"] or page["duration_ps"])
    return True


def check_findings(asked, duration_ps, counted_ps):
    for row in asked.table("api/findings")["all"]:
        within(asked.run, f"win of {row['rule']}", row["win_ps"], 0, counted_ps)
        for evidence in row["evidence"]:
            begin, end = evidence.get("start_ps"), evidence.get("end_ps")
            within(asked.run, f"evidence of {row['rule']}", begin, 0, duration_ps)
            within(asked.run, f"evidence of {row['rule']}", end, begin or 0, duration_ps)


def check_groupings(asked):
    for path, (groupings, fields) in GROUPINGS.items():
        pages = {by: asked.table(path, by=by) for by in groupings}
        pages = {by: page["all"] for by, page in pages.items() if page}
        for field in fields:
            told = {by: sum_of(rows, field) for by, rows in pages.items()}
            for by in told:
                equal(asked.run, f"{path}: {field} by {by} and by {groupings[0]}", told[by], told[groupings[0]])
    for row in (asked.table("api/collectives") or {"all": ()})["all"]:
        equal(asked.run, f"{row['name']}: exposed and hidden", row["exposed_ps"] + row["hidden_ps"], row["total_ps"])
    kernels = asked.table("api/kernels")
    top = asked.table("api/top", by="kernel")
    if kernels and top and kernels["all"]:
        equal(asked.run, "kernels and top by kernel", kernels["total_ps"], sum_of(top["all"], "total_ps"))


def by_device(rows, field):
    ret = {}
    for row in rows:
        key = (row["host"], row["device"])
        ret[key] = ret.get(key, 0) + row[field]
    return {key: value for key, value in ret.items() if value}


def check_communication(asked):
    """In steps that the rows have by number; where a number is of a warm-up as well, it cannot be asked for."""
    steps = asked.table("api/steps")
    told = asked.table("api/hosts", by="device")
    if not steps or not told or not steps["all"] or any(row["warmup"] or row["cut"] or row["step"] is None for row in steps["all"]):
        return
    numbers = sorted({row["step"] for row in steps["all"]})
    found = asked.table("api/collectives", by="device", step=",".join(map(str, numbers)))
    if not found or len(numbers) > 200:
        return
    for ours, theirs in (("exposed_ps", "communication_ps"), ("hidden_ps", "hidden_communication_ps")):
        equal(asked.run, f"{ours} of collectives and {theirs} of devices", by_device(found["all"], ours), by_device(told["all"], theirs))


def check_memory(asked):
    timeline = asked.ask("api/memory", view="timeline")
    for allocator in (timeline or {}).get("allocators", ()):
        page = asked.table("api/memory", view="peak", allocator=allocator["name"])
        equal(asked.run, f"owners at the peak of {allocator['name']}", (sum_of(page["all"], "bytes"), page["total_bytes"]), (allocator["peak_bytes"],) * 2)


def main():
    if not profiles.roots():
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return profiles.SKIPPED
    runs = tables = 0
    for root in profiles.roots().values():
        with profiles.served(root) as server:
            for run in server.runs():
                asked = Run(server, run)
                if not check_overview(asked):
                    continue  # without a timeline
                check_top(asked)
                check_groupings(asked)
                check_communication(asked)
                check_memory(asked)
                runs, tables = runs + 1, tables + len(asked.kept)
    for failure in failures:
        print(failure)
    print(f"{runs} runs, {tables} tables, {len(failures)} of them contradict another")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
