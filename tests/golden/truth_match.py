#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ops of two runs are matched right: captures of one model, compiled with one change each (pairs/).

What is right is known from how the pairs were made, and read from the HLO by a decoder that knows nothing of
ours: an op works for the layer and part ("layer_1/mlp", backward apart) that most of what it computes stands in.
At least 95 % of the op time of both runs must be matched to the same, and of what is said with confidence 0.9 and
more at most 1 % may be wrong.  A third layer is new, and nothing of it is anyone's partner.
"""
import collections
import gzip
import pathlib
import re
import sys
import tempfile

import manifest
import xplane_reader as wire
from test_kernels import ask
from truth_flame import Module

PAIRS = pathlib.Path(__file__).resolve().parent / "pairs"
CHANGES = ("renumbered", "slower", "deeper", "bfloat16")
RIGHT, WRONG = 0.95, 0.01
PART = re.compile(r"(layer_\d+\)*/(?:attention|mlp)|embed|logits|loss|optimizer|jitter)")


def part_of(scope):
    found = PART.search(scope.replace("transpose(jvp(", "").replace("jvp(", "").replace(")", ""))
    backward = "backward " if "transpose(" in scope else ""
    return backward + found.group(1) if found else None


def parts(capture):
    """{instruction: what it works for} of the step's module."""
    blob = gzip.decompress(next((PAIRS / capture).glob("*.gz")).read_bytes())
    for module in modules(blob):
        if any("train_step" in scope for scope in module.scopes()):
            return {name: module.part(name) for name in module.instructions}
    raise SystemExit(f"{capture}: no train_step")


class Scoped(Module):
    def scopes(self):
        return [one["scope"] for one in self.instructions.values()]

    def part(self, name):
        one = self.instructions[name]
        inside = [part_of(leaf["scope"]) for called in one["called"] for leaf in self.computations[called][0]]
        votes = collections.Counter(part for part in inside or [part_of(one["scope"])] if part)
        return votes.most_common(1)[0][0] if votes else part_of(one["scope"])


def modules(blob):
    for plane in wire.message(blob, 0, len(blob)).get(1, ()):
        fields = wire.message(blob, *plane)
        if wire.text(blob, wire.last(fields, 2, (0, 0))) != "/host:metadata":
            continue
        for entry in fields.get(4, ()):
            about = wire.message(blob, *wire.last(wire.message(blob, *entry), 2))
            for stat in about.get(5, ()):
                value = wire.last(wire.message(blob, *stat), 6, None)
                if value:
                    yield Scoped(blob[value[0]:value[1]])


def check(change, known, cache):
    rows = ask(cache, "diff", "base", change, "--profile-dir", str(PAIRS), "--limit", "10000")["rows"]
    weights = collections.Counter()
    for row in rows:
        if row["match"] is None or row["module"] != "jit_train_step":
            continue
        weight = (row["a_self_ps"] or 0) + (row["b_self_ps"] or 0)
        a, b = (known[side].get((row[key] or "").split(" + ")[0]) for side, key in (("base", "a_name"), (change, "b_name")))
        weights["all"] += weight
        if row["state"] in ("new", "gone"):
            kind = "right" if (b if row["state"] == "new" else a) in ONLY.get(change, ()) else "missed"
        else:
            kind = "right" if a == b else "wrong"
            if kind == "wrong" and row["confidence"] >= 0.9:
                weights["sure of what is wrong"] += weight
        weights[kind] += weight
    share = {kind: weight / weights["all"] for kind, weight in weights.items()}
    print(change, {kind: round(value, 4) for kind, value in share.items()}, len(rows), "rows")
    if share.get("right", 0) < RIGHT:
        manifest.failures.append(f"{change}: {share.get('right', 0):.1%} of the time is matched right")
    if share.get("sure of what is wrong", 0) > WRONG:
        manifest.failures.append(f"{change}: {share['sure of what is wrong']:.1%} is wrong and sure")


ONLY = {"renumbered": {"jitter", "backward jitter"},
        "deeper": {f"{way}layer_2/{part}" for way in ("", "backward ") for part in ("attention", "mlp")}}


def main():
    known = {capture: parts(capture) for capture in ("base", *CHANGES)}
    with tempfile.TemporaryDirectory() as cache:
        for change in CHANGES:
            check(change, known, cache)
    for failure in manifest.failures:
        print(failure)
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
