#!/usr/bin/env python3
"""summary.py JUNIT.xml: what ctest ran, the skipped by name, and the last line "N passed, N failed"."""

import sys
import xml.etree.ElementTree as ElementTree


def main():
    passed, failed, skipped = [], [], []
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        status, name = case.get("status"), case.get("name")
        if case.find("skipped") is not None or status in ("notrun", "disabled"):
            skipped.append(name)
        elif status == "run":
            passed.append(name)
        else:
            failed.append(name)
    for name in skipped:
        print(f"skipped: {name}")
    for name in failed:
        print(f"FAILED: {name}")
    tail = f", {len(skipped)} skipped" if skipped else ""
    print(f"{len(passed)} passed, {len(failed)} failed{tail}")
    sys.exit(bool(failed) or not passed)


if __name__ == "__main__":
    main()
