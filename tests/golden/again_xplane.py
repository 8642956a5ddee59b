#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""again_xplane.py TRACE_AGAIN [DIR...]: profiles, written as XPlane and read again, are the same: every slice, arg, sample and arrow of
an XPlane, and all that has a place in one of other formats. Without DIR: $JVIEW_CORPUS and the directory `captures` beside it."""
import json
import os
import pathlib
import subprocess
import sys

SKIPPED, LARGEST = 77, 4_000_000
OTHERS = ("chrome", "nsys-sqlite", "perfetto")


def wanted(corpus):
    """Whole XPlanes, and small files of formats that tell the same kind of things."""
    files = [path for directory in (corpus, corpus.parent / "captures") for path in sorted(directory.glob("**/*.xplane.pb*"))
             if "malformed" not in path.parts]
    for file in json.loads((corpus / "MANIFEST.json").read_text())["files"]:
        path = corpus / file["path"]
        if (file.get("facts") or {}).get("format") in OTHERS and "malformed" not in path.parts and path.stat().st_size < LARGEST:
            files.append(path)
    return files


def main(program, directories):
    if directories:
        files = [path for directory in directories for path in sorted(pathlib.Path(directory).glob("**/*.xplane.pb*"))]
    elif os.environ.get("JVIEW_CORPUS"):
        files = wanted(pathlib.Path(os.environ["JVIEW_CORPUS"]))
    else:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return SKIPPED
    failed = 0
    for path in files:
        run = subprocess.run([program, path], capture_output=True, text=True, timeout=600)
        failed += run.returncode != 0
        if run.returncode != 0:
            print(f"{path}:\n{run.stdout}{run.stderr}")
    print(f"{len(files)} files, {failed} differ")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
