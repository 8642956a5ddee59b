#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_pprof.py TRACE_DUMP: every pprof profile of $JVIEW_CORPUS holds what its manifest counts."""
import sys

import manifest


def check(path, facts, got):
    counts = got["counts"]
    manifest.equal(path, "format", got["format"], "pprof")
    manifest.equal(path, "samples", got["stack_samples"], facts["samples"])
    manifest.equal(path, "samples read", counts.get("profile_samples"), facts["samples"])
    manifest.equal(path, "locations", counts.get("profile_locations"), facts["locations"])
    manifest.equal(path, "functions", counts.get("profile_functions"), facts["functions"])
    manifest.equal(path, "depth", counts.get("profile_depth"), facts["max_depth"])
    manifest.equal(path, "sample types", [f"{name}/{unit}" for name, unit, _ in got["sample_types"]], facts["sample_types"])
    manifest.equal(path, "totals", [total for _, _, total in got["sample_types"]], facts["totals"])
    manifest.equal(path, "labels", {f"{key}={text}": samples for key, text, samples in got["labels"]}, facts["labels"])


if __name__ == "__main__":
    sys.exit(manifest.run(sys.argv[1], "pprof", check))
