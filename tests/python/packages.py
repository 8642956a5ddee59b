# SPDX-License-Identifier: Apache-2.0
"""need("jax"): this Python has these modules, or $JVIEWD_JAX_PYTHON takes its place; else the test is skipped, and says so."""

import importlib.util
import os
import sys


def need(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    other = os.environ.pop("JVIEWD_JAX_PYTHON", None)
    if missing and other:
        os.execv(other, [other, *sys.argv])
    if missing:
        print(f"skipped: {sys.executable} has no {' nor '.join(missing)}; ./dev setup gets it where there is a network")
        sys.exit(77)
