# SPDX-License-Identifier: Apache-2.0
"""A page shared with programs under tests/shims/fail.c, and that shim made ready: which call fails, and how many there were."""

import mmap
import os
import pathlib
import shutil
import struct
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "shims/fail.c"
ALLOC, OPEN, READ, WRITE, SYNC, NAME, MAP, SIZE, STAT, START, OTHER = (1 << bit for bit in range(11))
FILES = OPEN | READ | WRITE | SYNC | NAME | MAP | SIZE
FAILS, IS_SHORT, IS_INTERRUPTED, FAILS_ON, IS_STALE = range(5)
PAGE_BYTES = 4096


def is_sanitized(program):
    return b"__asan_init" in pathlib.Path(program).read_bytes()


def build(folder, sanitized):
    """The shim, without allocations for a sanitized program; None where there is no compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None
    library = pathlib.Path(folder) / "fail.so"
    without = ["-DSHIM_WITHOUT_ALLOC"] if sanitized else []
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-std=gnu17", "-fno-builtin", *without, "-o", library, SOURCE, "-ldl"],
                   check=True)
    return library


class Shim:
    def __init__(self, folder, library, only=None):
        self.path = pathlib.Path(folder) / "shim.page"
        self.path.write_bytes(bytes(PAGE_BYTES))
        with open(self.path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), PAGE_BYTES)
        self.env = {"LD_PRELOAD": str(library), "SHIM_PAGE": str(self.path),
                    "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        if only:
            self.env["SHIM_ONLY"] = only

    def arm(self, fail_at, kinds, way=FAILS):
        self.page[:] = bytes(PAGE_BYTES)
        self.page[:24] = struct.pack("<QQII", 0, fail_at, kinds, way)

    def count(self):
        return struct.unpack_from("<Q", self.page, 0)[0]

    def fired(self):
        """What failed, and where it was called; None: that many calls there were not."""
        if struct.unpack_from("<I", self.page, 24)[0] == 0:
            return None
        what, where = (bytes(self.page[at:at + size]).split(b"\0")[0].decode() for at, size in ((32, 80), (112, 200)))
        return f"{what} called at {where}"
