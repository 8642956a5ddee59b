#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summary.py JUNIT.xml: what ctest ran, what was skipped and why, one line each, and the last line "N passed, N failed"."""

import re
import sys
import xml.etree.ElementTree as ElementTree

WHY = re.compile(r"^skipped: (.*)$|^ok (\S+) # skipped: (.*)$", re.M)


def reasons(case):
    """What a test said of parts that it left out."""
    for all_of_it, part, why in WHY.findall(case.findtext("system-out") or ""):
        yield all_of_it or f"{part}: {why}"


def main():
    passed, failed, skipped, left_out = [], [], [], []
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        status, name = case.get("status"), case.get("name")
        if case.find("skipped") is not None or status in ("notrun", "disabled"):
            skipped.append((name, "; ".join(reasons(case)) or "it gave no reason"))
            continue
        left_out += [(name, why) for why in reasons(case)]
        (passed if status == "run" else failed).append(name)
    for name, why in skipped:
        print(f"skipped: {name}: {why}")
    for name, why in left_out:
        print(f"left out of {name}: {why}")
    for name in failed:
        print(f"FAILED: {name}")
    tail = f", {len(skipped)} skipped" if skipped else ""
    print(f"{len(passed)} passed, {len(failed)} failed{tail}")
    sys.exit(bool(failed) or not passed)


if __name__ == "__main__":
    main()
