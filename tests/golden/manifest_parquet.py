#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_parquet.py TRACE_DUMP: every Parquet table of $JVIEW_CORPUS has the rows and columns that its manifest counts."""
import sys

import manifest


def check(path, facts, got):
    counts = got["counts"]
    is_ranges = "Projected Start" in facts["columns"]
    manifest.equal(path, "format", got["format"], "nsys-jax-ranges" if is_ranges else "parquet")
    manifest.equal(path, "rows", counts.get("ranges" if is_ranges else "rows"), facts["rows"])
    manifest.equal(path, "columns", counts.get("columns"), len(facts["columns"]))
    about = got["file_properties"]
    manifest.equal(path, "writer", about.get("created_by"), facts["created_by"])
    manifest.equal(path, "codec", about.get("codec"), facts["codec"])
    if is_ranges:
        left_out = sum(count for _, count, message in got["notes"] if "without a name" in message)
        hosts = sum(track["count"] for track in got["tracks"] if track["device"] < 0)
        manifest.equal(path, "ranges on threads", hosts + left_out, facts["rows"])


if __name__ == "__main__":
    sys.exit(manifest.run(sys.argv[1], "parquet", check))
