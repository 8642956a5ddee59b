# SPDX-License-Identifier: Apache-2.0
"""need("jax"): this Python has these modules, or $JVIEWD_JAX_PYTHON takes its place; else the test is skipped, and says so.
What is only wished for decides between the two: a part of the test needs it."""

import importlib.util
import os
import sys


def is_here(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def need(*modules, wished=()):
    missing = [name for name in modules if not is_here(name)]
    other = os.environ.pop("JVIEWD_JAX_PYTHON", None)
    if other and (missing or not all(map(is_here, wished))):
        os.execv(other, [other, *sys.argv])
    if missing:
        print(f"skipped: {sys.executable} has no {' nor '.join(missing)}; ./dev setup gets it where there is a network")
        sys.exit(77)
