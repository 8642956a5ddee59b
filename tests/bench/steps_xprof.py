#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps_xprof.py DIR: step times of XProf and of jviewd beside the clocks of real JAX programs.

DIR holds recordings that `tests/python/test_step_truth.py --keep DIR` made. JVIEWD_XPROF names a Python that has the package xprof, JVIEWD
the program. A step time is right that lies within a tenth of the mean by the program's clock: of all steps, of all but the first and the last,
which XProf leaves out, or of all but the first, which may be warm-up.
"""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

CLOSE = 0.1
ASK = """
import json, pathlib, sys
from xprof.convert import raw_to_tool_data
told = {}
for folder in sys.argv[1:]:
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(next(pathlib.Path(folder).rglob("*.xplane.pb")))], "overview_page", {})
    for table in json.loads(data):
        if "steptime_ms_average" in table.get("p", {}):
            told[folder] = table["p"]["steptime_ms_average"]
print(json.dumps(told))
"""


def of_xprof(folders):
    """{folder: milliseconds}; 0 where it finds no step."""
    done = subprocess.run([os.environ["JVIEWD_XPROF"], "-c", ASK, *map(str, folders)], check=True, capture_output=True, text=True, timeout=1800)
    return {folder: float(str(text).split()[0]) for folder, text in json.loads(done.stdout.splitlines()[-1]).items()}


def of_jviewd(folder, scratch):
    command = [os.environ["JVIEWD"], "overview", str(folder), "--format", "json", "--cache-dir", f"{scratch}/cache", "--data-dir", f"{scratch}/data"]
    mean_ps = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout)["step"]["mean_ps"]
    return None if mean_ps is None else mean_ps / 1e9


def verdict(said_ms, own_s):
    if not said_ms:
        return "none"
    means = [statistics.fmean(part) * 1e3 for part in (own_s, own_s[1:-1], own_s[1:]) if part]
    return "right" if any(abs(said_ms - mean) <= CLOSE * mean for mean in means) else "wrong"


def main():
    if not os.environ.get("JVIEWD_XPROF") or len(sys.argv) != 2:
        print("nothing was compared: a directory of recordings and $JVIEWD_XPROF are needed")
        return
    folders = [path.parent for path in sorted(pathlib.Path(sys.argv[1]).glob("*/*/truth.json"))]
    own = {folder: json.loads((folder / "truth.json").read_text())["step_s"] for folder in folders}
    folders, xprof, counts = [folder for folder in folders if own[folder]], of_xprof(folders), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for folder in folders:
            said = {"XProf": xprof.get(str(folder)), "jviewd": of_jviewd(folder, scratch)}
            told = {tool: verdict(value, own[folder]) for tool, value in said.items()}
            counts.update(told.items())
            if set(told.values()) != {"right"}:
                print(f"{folder.parent.name}/{folder.name}: the program {statistics.fmean(own[folder]) * 1e3:.2f} ms;",
                      "; ".join(f"{tool} {said[tool] or 0:.2f}, {word}" for tool, word in told.items()))
    for tool in ("XProf", "jviewd"):
        print(tool, len(folders), "programs:", ", ".join(f"{counts[tool, word]} {word}" for word in ("right", "wrong", "none")))


if __name__ == "__main__":
    main()
