#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module's types hold by mypy's strict rules, as a caller's checker reads them (py.typed). Skipped, and said so, where there is no mypy."""

import pathlib
import sys

import packages

if __name__ == "__main__":
    packages.need("mypy")

from mypy import api  # noqa: E402

MODULE = pathlib.Path(__file__).resolve().parents[2] / "api" / "python" / "jviewd"

assert (MODULE / "py.typed").is_file()
# Without what is installed: JAX's own types differ between its versions, and are no promise of this module.
told, failure, code = api.run(["--strict", "--no-incremental", "--cache-dir=/dev/null", "--python-version=3.10", "--no-site-packages",
                               "--ignore-missing-imports", str(MODULE)])
print(told, failure)
sys.exit(code)
