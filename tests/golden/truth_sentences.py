#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sentence survives its own evidence: the opening sentence and the steps of every profile of $JVIEW_CORPUS and what lies
beside it, held against the rest of the same replies. What is compared is recomputed here from rows.

  sum        the counted steps of a run do not take longer than its hosts' captures
  median     is that of the rows that count; of an even number the mean of the two in the middle
  idle       devices that rest in the steps do not work in the rest of the capture
  guess      steps that nobody marked are called inferred or guessed, and hold a good part of the work
  shares     lie between 0 and 1; lengths are not negative
  wins       none is longer than what was divided; each is of a rule of which is known what time it wins, and of two that
             win one kind of time the later says so
"""
import pathlib
import re
import statistics
import sys

import profiles

SLACK = 1.01
RESTS, WORKS, HELD = 0.1, 0.5, 0.25
SIGNED = ("delta", "offset", "skew", "change", "lead", "difference", "start", "end_", "at_", "from_", "to_", "epoch")

failures = []


def fail(run, what):
    if len(failures) < 200:
        failures.append(f"{run['name']}: {what}")


def numbers(run, value, path=""):
    """Shares lie between 0 and 1, lengths are not negative, anywhere in a reply."""
    if isinstance(value, dict):
        for key, inner in value.items():
            numbers(run, inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            numbers(run, inner, f"{path}[]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        key = path.rsplit(".", 1)[-1]
        if (key == "share" or key.endswith("_share")) and key != "peak_share" and not -1e-9 <= value <= 1 + 1e-9:
            fail(run, f"{path} is {value}")
        if key.endswith("_ps") and value < 0 and not any(word in key for word in SIGNED):
            fail(run, f"{path} is {value}")


def rows_of_steps(server, run):
    rows, cursor = [], None
    while True:
        status, page = server.get("api/steps", run=run["id"], limit=10000, **({"cursor": cursor} if cursor else {}))
        if status != 200:
            return None
        rows += page["rows"]
        cursor = page["next"]
        if not cursor:
            return rows


def check_steps(run, page, rows):
    step = page["step"]
    counted = [row for row in rows if not row["warmup"] and not row["cut"]] or rows
    if step["counted"] != len(counted):
        fail(run, f"{step['counted']} steps count, {len(counted)} of the rows do")
        return
    middle = int(statistics.median(row["dur_ps"] for row in counted))
    if abs(step["median_ps"] - middle) > 1:
        fail(run, f"the median is {step['median_ps']}, of the rows {middle}")
    hosts = len({row["host"] for row in counted})
    if step["total_ps"] > SLACK * hosts * page["duration_ps"]:
        fail(run, f"steps add up to {step['total_ps']} on {hosts} hosts whose capture lasts {page['duration_ps']}")


def check_idle(run, page, rows):
    """Of runs of one host: its devices' mean in the steps beside all that they did."""
    step, total = page["step"], page["breakdown_total_ps"]
    busy = [device["busy_ps"] for device in page["devices"]]
    busiest = max(busy, default=0)
    counted = [value for value in busy if value * 100 >= busiest]  # what a host's mean is over
    outside = page["duration_ps"] - sum(row["dur_ps"] for row in rows)
    if not counted or total <= 0 or outside <= 0 or len({row["host"] for row in rows}) != 1:
        return
    mean = sum(counted) / len(counted)
    inside_busy = sum(row["busy_ps"] or 0 for row in rows)
    inside, beyond = page["duty"]["busy_ps"] / total, (mean - inside_busy) / outside
    if beyond > WORKS and inside < RESTS * beyond and mean - inside_busy > WORKS * mean:
        fail(run, f"devices are busy {inside:.3f} of the steps and {beyond:.3f} of the rest: {page['sentence']}")
    if step["confidence"] != "high" and mean > 0 and inside_busy < HELD * mean:
        fail(run, f"steps that nobody marked hold {inside_busy / mean:.3f} of the devices' work: {page['sentence']}")


def times_of_wins():
    """{rule: kinds of time}, as the sources say."""
    source = (pathlib.Path(__file__).parents[2] / "server/analyse/findings/win_time.c").read_text()
    return {rule: set(times.split(" | ")) for rule, times in re.findall(r'\{"([\w-]+)", ([\w| ]+)\}', source)}


TIMES = times_of_wins()


def check_wins(run, page):
    wins = [finding for finding in page["findings"] if finding["win_ps"]]
    for at, finding in enumerate(wins):
        times = TIMES.get(finding["rule"])
        if times is None:
            fail(run, f"{finding['rule']} wins, and nothing says what time")
            continue
        same = [other["rank"] for other in wins[:at] if other["rule"] != finding["rule"] and ("WINS_ANY" in times | TIMES[other["rule"]] or times & TIMES[other["rule"]])]
        # Where the rules' times differ a replay of both may still win less than the sum.
        replayed = [other["rank"] for other in wins[:at] if other["replay_ps"] and finding["replay_ps"]]
        if finding["same_time_as"] != (same[0] if same else None) and (same or finding["same_time_as"] not in replayed):
            fail(run, f"{finding['rank']} {finding['rule']} is of the same time as {finding['same_time_as']}, not {same[:1]}")


def check(server, run):
    status, page = server.get("api/overview", run=run["id"])
    if status != 200:
        return False
    numbers(run, page)
    wins = [finding["win_ps"] or 0 for finding in page["findings"]]
    if wins and max(wins) > page["breakdown_total_ps"]:
        fail(run, f"a win of {max(wins)} of {page['breakdown_total_ps']}")
    check_wins(run, page)
    step = page["step"]
    if not step["counted"]:
        if "A step takes" in page["sentence"]:
            fail(run, f"no step counts: {page['sentence']}")
        return True
    guessed = "inferred" in page["sentence"] or "guessed" in page["sentence"]
    if (step["confidence"] != "high") != guessed:
        fail(run, f"confidence {step['confidence']}: {page['sentence']}")
    rows = rows_of_steps(server, run)
    if rows is None:
        fail(run, "its steps cannot be asked")
        return True
    numbers(run, rows)
    check_steps(run, page, rows)
    check_idle(run, page, rows)
    return True


def main():
    places = profiles.roots(cases=True)
    if not places:
        print("skipped: JVIEW_CORPUS names no directory")
        sys.exit(profiles.SKIPPED)
    checked = 0
    for place in places.values():
        with profiles.served(place) as server:
            for run in server.runs():
                checked += check(server, run)
    print("\n".join(failures))
    print(f"{checked} overviews held against their evidence, {len(failures)} contradictions")
    sys.exit(1 if failures or checked == 0 else 0)


if __name__ == "__main__":
    main()
