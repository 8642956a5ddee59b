#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every reader's endpoint under Schemathesis: what api/openapi.yaml allows and forbids, asked of a server, and each reply held against it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import common  # noqa: F401  (finds the harness)
import harness
from common import RUN

EXAMPLES = 6  # of each endpoint
SEED = 1
# Left out, by name:
#   positive_data_acceptance  a schema cannot say that a cursor came from a reply, that a window has a length, which columns a table can be sorted by
#   unsupported_method        an address beyond 8 KiB, or a POST that is not JSON, is refused before its method; test_gate.py asks the methods
#   /api/events               a stream without end
#   /assets/*, /perfetto/*    paths of files, which the document names by a pattern
WITHOUT_CHECKS = "positive_data_acceptance,unsupported_method"
WITHOUT_PATHS = "^/(api/events|assets/|perfetto/)"
CONFIG = f"""
[parameters]
"query.run" = "{RUN}"
"query.a" = "step_500"
"query.b" = "{RUN}"

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 422, 428, 429, 431, 503]
"""


def program():
    """None: it is not installed."""
    place = Path(os.environ.get("JVIEWD_JAX_PYTHON") or sys.executable).parent / "schemathesis"
    return place if place.exists() else None


def no_reply_contradicts_the_document(place):
    place.sample(), place.sample("step_500")
    server = place.serve()
    server.until_settled()
    config = place.dir / "schemathesis.toml"
    config.write_text(CONFIG)
    done = subprocess.run(
        [program(), "--config-file", config, "run", harness.TESTS.parent / "api/openapi.yaml", "--url", server.url.rstrip("/"), "--phases", "coverage,fuzzing",
         "--max-examples", str(EXAMPLES), "--seed", str(SEED), "--include-method", "GET", "--exclude-path-regex", WITHOUT_PATHS,
         "--exclude-checks", WITHOUT_CHECKS, "--suppress-health-check", "all", "--warnings", "off", "--no-color"],
        cwd=place.dir, capture_output=True, text=True, timeout=400)
    said = re.findall(r"^- ST\d+ .*\n\n(?:.*\n){1,30}?.*Reproduce with:\n\n.*$", done.stdout, re.M)
    print("\n".join(said)[:6000])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    tested, cases = re.search(r"Tested: (\d+)", done.stdout), re.search(r"(\d+) generated", done.stdout)
    assert int(tested[1]) >= 40 and int(cases[1]) >= 10 * int(tested[1]), done.stdout[-2000:]
    assert server.stop() == 0


if __name__ == "__main__":
    if program() is None:
        print("skipped: schemathesis is not installed (./dev test installs it)")
        sys.exit(77)
    harness.main([no_reply_contradicts_the_document])
