# SPDX-License-Identifier: Apache-2.0
"""Holds what jviewd says of a recorded program to what the program measured itself: judge(ask, truth) gives a row a check."""

import collections
import json
import re
import statistics

CLOSE = 0.03  # of a step's time
CALL = 100e-6  # what making an annotation takes, by which a clock around it is late
POINTS = 0.03  # of idle, as a share
GAPS = 0.08  # between executions that follow each other: real, and no clock of the program sees them
LOADED = 0.30  # that much more where others kept the cores busy: a device's threads, and those that call it, wait for a core


def counted(row):
    return row["dur_ps"] is not None and not row["warmup"] and not row["cut"]


def overlap(truth, rows):
    """Pairs of jviewd's counted row and the program's own time of it, where both tell of the same steps; else nothing."""
    own = truth["step_s"]
    if "first" in truth:
        of_number = {truth["first"] + index * truth.get("every", 1): time for index, time in enumerate(own)}
        pairs = [(row, of_number[row["step"]]) for row in rows if row["step"] in of_number]
    else:
        pairs = list(zip(rows, own)) if len(rows) == len(own) else []
    return [(row, time) for row, time in pairs if counted(row)]


def near(said, true, own, loaded):
    """Within 3 %; where single times are rough, also within the middle third of them, or half on a loaded machine: there a thread
    wakes late, so that single times are too long and too short by turns, and only their sum is exact."""
    if abs(said - true) <= CLOSE * true:
        return True
    ordered, tail = sorted(own), 0.25 if loaded else 0.35
    return bool(own) and ordered[int(len(own) * tail)] <= said <= ordered[min(int(len(own) * (1 - tail)), len(own) - 1)]


def fits(row):
    """The work of a step ends after it began, and no device was busy for longer than the step."""
    start, end, busy = row.get("work_start_ps"), row.get("work_end_ps"), row["busy_ps"]
    return (start is None or start <= end) and (busy is None or busy <= row["dur_ps"])


class Judge:
    def __init__(self, ask, truth):
        self.ask, self.truth, self.verdicts = ask, truth, []
        self.loaded = truth["load"] > 1.5

    def check(self, what, right, said, true):
        self.verdicts.append((what, bool(right), f"jviewd {said}, the program {true}"))

    def run(self):
        steps, overview = self.ask("steps", "--limit", "10000"), self.ask("overview")
        rows = steps["rows"]
        self.family(rows, overview)
        if self.unsaid(overview):
            return self.verdicts
        self.count(rows)
        self.time(rows, overview)
        self.spans(rows)
        self.idle(overview)
        self.work()
        self.others()
        return self.verdicts

    def unsaid(self, overview):
        """No step time, with a reason, is an answer where the program does not say what a step is, or has too few of them."""
        step = overview["step"]
        if step["median_ps"] is not None:
            return False
        self.check("time", self.truth.get("unknown") and step["reasons"], "says none: " + json.dumps(step["reasons"]), "measured " + str(self.truth.get("median_s")))
        return True

    def family(self, rows, overview):
        truth = self.truth
        if truth.get("either"):  # two that nothing tells apart: whichever is said, the truth is that one's
            said = rows[0]["name"] if rows else None
            if said in truth["others"]:
                other = {"count": truth["count"], "step_s": truth["step_s"]}
                self.truth = truth = {**truth, **truth["others"][said], "family": said, "others": {truth["family"]: other}}
        if truth.get("family"):
            names = sorted({str(row["name"]) for row in rows})
            self.check("family", names == [truth["family"]], names, truth["family"])
        if truth.get("apart"):
            said, sure = overview["sentence"], overview["step"]["confidence"]
            self.check("names what runs between", truth["apart"] in said, said, f"{truth['apart']} (confidence {sure})")
        for name in truth.get("others", {}):
            texts = json.dumps([overview["sentence"], overview["step"], overview["notes"], overview["basis"]], ensure_ascii=False)
            self.check("names the other family", f'"{name}' in texts.replace("\\", "") or f" {name}" in texts, "has no word of it", name)

    def count(self, rows):
        wanted = self.truth["count"]
        least, most = wanted if isinstance(wanted, list) else (wanted, wanted)
        there = [row for row in rows if not row["cut"]]
        self.check("count", least <= len(there) <= most, len(there), wanted)
        if "first" in self.truth and least == most:
            numbers = [self.truth["first"] + index * self.truth.get("every", 1) for index in range(least)]
            self.check("numbers", [row["step"] for row in there] == numbers, [row["step"] for row in there], numbers)

    def time(self, rows, overview):
        if not self.truth["step_s"]:
            self.check("time", self.truth.get("family") and overview["step"]["counted"] == 1, f"says {overview['step']['median_ps'] / 1e9:.3f} ms", "has no step that ended, or nothing that repeats in an order")
            return
        pairs = overlap(self.truth, rows)
        own = [time for _, time in pairs] or self.truth["step_s"]
        spread = own if self.truth.get("rough") else []
        true = statistics.median(own)
        said = overview["step"]["median_ps"] / 1e12
        self.check("time", near(said, true, spread, self.loaded), f"{said * 1e3:.3f} ms", f"{true * 1e3:.3f} ms")
        if self.truth.get("unknown"):
            pairs = pairs[:-1]  # after the last one nothing begins that would end it
        if len(pairs) > 1:
            self.sum(pairs, true)

    def sum(self, pairs, median):
        """A rough clock begins with the first call, not with its work: with the first step or without it. On a loaded machine the
        thread that takes the times is late at both ends. What making a mark takes lies partly within it, and not within the clock."""
        said, true = sum(row["dur_ps"] for row, _ in pairs) / 1e12, sum(time for _, time in pairs)
        made = self.truth.get("mark_s", 0) * len(pairs)
        right, late = (1 - CLOSE) * true <= said <= (1 + CLOSE) * (true + made), median if self.loaded else 0
        if self.truth.get("rough"):
            right = right or abs(said - true - pairs[0][0]["dur_ps"] / 1e12 + pairs[0][1]) <= CLOSE * true + late
        self.check("sum", right, f"{said * 1e3:.2f} ms", f"{true * 1e3:.2f} ms of {len(pairs)} steps")

    def spans(self, rows):
        """The annotation's own length, which is not the step's time where the host runs ahead."""
        unfit = [row["step"] for row in rows if counted(row) and not fits(row)]
        self.check("work fits", not unfit, f"steps {unfit}", "none")
        if self.truth.get("span_s") and len(rows) == len(self.truth["span_s"]):
            said, true = statistics.median(row.get("span_ps", 0) / 1e12 for row in rows), statistics.median(self.truth["span_s"])
            self.check("host", abs(said - true) <= max(CLOSE * true, CALL), f"{said * 1e3:.3f} ms", f"{true * 1e3:.3f} ms")

    def idle(self, overview):
        busy, total = overview["duty"]["busy_ps"], overview["breakdown_total_ps"]
        if busy is None or not total:
            return
        said, above = 1 - busy / total, LOADED if self.loaded else POINTS if self.truth.get("idle") else GAPS
        if "idle" in self.truth:
            self.check("idle", -POINTS <= said - self.truth["idle"] <= above, f"{said:.3f}", f"{self.truth['idle']:.3f}")
        if "idle_at_least" in self.truth:
            self.check("idle", self.truth["idle_at_least"] - POINTS <= said <= 1, f"{said:.3f}", f"{self.truth['idle_at_least']:.3f} or more")

    def work(self):
        """--step k shows the modules that step k ran, as often as it ran them, and none that it did not; several of one name together."""
        every = {module for modules in self.truth.get("ops", {}).values() for module in modules}
        for number, modules in list(self.truth.get("ops", {}).items())[:3]:
            counts, ran = collections.Counter(), collections.Counter()
            for row in self.ask("top", "--by", "op", "--step", number, "--limit", "10000")["rows"]:
                counts[row["module"] or ""] = max(counts[row["module"] or ""], row["count"])
            for module, count in counts.items():
                name = re.sub(r"\(\d+\)$", "", module)
                if name in every:
                    ran[name] += count
            wanted = {module: count for module, count in modules.items() if count != 0}
            right = all(ran.get(module) == count if count else module in ran for module, count in wanted.items()) and ran.keys() <= wanted.keys()
            self.check(f"--step {number}", right, dict(ran), wanted)

    def others(self):
        for name, other in self.truth.get("others", {}).items():
            rows = self.ask("steps", "--family", name, "--limit", "10000").get("rows", [])
            pairs = overlap(other, rows)
            said, own = [row["dur_ps"] / 1e12 for row, _ in pairs] or [0], [time for _, time in pairs] or other["step_s"]
            true = statistics.median(own)
            right = {row["name"] for row in rows} == {name} and len(rows) == other["count"] and abs(statistics.median(said) - true) <= CLOSE * true
            self.check(f"--family {name}", right, f"{len(rows)} of {statistics.median(said) * 1e3:.3f} ms", f"{other['count']} of {true * 1e3:.3f} ms")


def judge(ask, truth):
    return Judge(ask, truth).run()
