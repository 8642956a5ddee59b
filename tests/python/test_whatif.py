#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`jviewd whatif` against real JAX programs that were changed: a few of the pairs of bench/whatif_pairs.py, held loosely, for other programs
run on the machine meanwhile. A pair that fails is recorded again, twice."""

import pathlib
import sys
import tempfile

import packages

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "bench"))

import whatif_pairs  # noqa: E402

CHOSEN = ("larger_1", "loader_slower_1", "callback_removed_1", "device_late_4")
# What jviewd predicts otherwise, and why: printed, never passed over in silence.
KNOWN = {"device_late_4": "what one device alone does in a branch of its own is not on the path of a loop that blocks on all of them"}
LOOSE = 0.35  # of the change; a wrong path is off by all of it
TAKES = 3


def right(verdict):
    return verdict.refused is None and (not verdict.clear or (verdict.right_sign and abs(verdict.error) <= LOOSE + 3 * verdict.noise / abs(verdict.change)))


def take(names, home, places):
    """Those that are wrong in it."""
    devices = {one["name"]: one["devices"] for one in whatif_pairs.PAIRS}
    done = [name for name in names if whatif_pairs.record(name, devices[name], home / name)]
    verdicts = whatif_pairs.judge([home / name for name in done], places)
    return [name for name in names if name not in done] + [one.name for one in verdicts if not right(one)]


def main():
    if not whatif_pairs.has_verb():
        print("skipped: jviewd has no verb whatif")
        return 77
    packages.need("jax")
    wrong = list(CHOSEN)
    with tempfile.TemporaryDirectory() as scratch:
        places = ["--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"]
        for number in range(TAKES):
            again = wrong if number == 0 else [name for name in wrong if name not in KNOWN]
            wrong = [name for name in wrong if name not in again] + take(again, pathlib.Path(scratch) / str(number), places)
    print(f"{len(CHOSEN)} pairs, wrong in each of {TAKES} takes: {', '.join(wrong) or 'none'}")
    print(*(f"{'known' if name in wrong else 'right here'}: {name}: {reason}" for name, reason in KNOWN.items()), sep="\n")
    return bool(set(wrong) - KNOWN.keys())


if __name__ == "__main__":
    sys.exit(main())
