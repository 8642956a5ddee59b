# SPDX-License-Identifier: Apache-2.0
"""Readers leave a file alone that changed a moment ago; who knows that nobody writes there any more need not wait."""

import os
import time


def settle(out):
    then = time.time() - 60
    for path in out.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (then, then))
