#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call of the collector fails once, in turn: the program under it starts, runs to its end, and its exit code comes back.

JVIEWD_TORTURES is how many passes there are (60), spread over all calls; 0: every one. Only calls of jview-collect and of the
library that it puts into the program count. Limits of files that are reached end nothing of the program either.
"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import shim  # noqa: E402

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["NVTX_PROGRAM"]
PASSES = int(os.environ.get("JVIEWD_TORTURES", "60"))
EXIT_CODE = 43
WAIT_S = 20


class Torture(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name)
        library = shim.build(self.out, shim.is_sanitized(BIN / "jview-collect"))
        if library is None:
            self.skipTest("no compiler")
        self.shim = shim.Shim(self.out, library, only="jview-collect:libjview-collector")

    def tearDown(self):
        self.place.cleanup()

    def run_one(self, number, **options):
        mark = self.out / "mark"
        mark.unlink(missing_ok=True)
        script = f'"{PROGRAM}" steps 2 && echo ran > "{mark}"; exit {EXIT_CODE}'
        run = subprocess.Popen([BIN / "jview-collect", "--finalize=0", "-o", self.out / str(number), "--", "sh", "-c", script],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, **self.shim.env}, **options)
        try:
            run.stderr_text = run.communicate(timeout=WAIT_S)[1]
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.stderr_text = f"hangs after {WAIT_S} s: " + run.communicate()[1]
        return run, mark.exists()

    def every(self, kinds, way):
        self.shim.arm(0, kinds, way)
        run, has_run = self.run_one("sound")
        self.assertEqual((run.returncode, has_run), (EXIT_CODE, True), run.stderr_text)
        count, wrong = self.shim.count(), []
        self.assertGreater(count, 20)
        stride = max(1, count // PASSES) if PASSES else 1
        at = 1
        while True:
            self.shim.arm(at, kinds, way)
            run, has_run = self.run_one(at)
            what = self.shim.fired()
            if what is None:
                break
            if run.returncode != EXIT_CODE or not has_run:
                wrong.append(f"{at}: {what}: exit {run.returncode}, ran {has_run}: {run.stderr_text.strip()[:200]}")
            at += stride
        print(f"{count} calls, every {stride}th failed", file=sys.stderr)
        self.assertFalse(wrong, "\n".join(wrong))

    def test_each_call(self):
        kinds = (1 << 11) - 1
        if shim.is_sanitized(BIN / "jview-collect"):
            kinds &= ~shim.ALLOC
        self.every(kinds, shim.FAILS)

    def test_file_size_limit(self):
        """RLIMIT_FSIZE is reached by what the collector writes: SIGXFSZ would end the program."""
        self.shim.arm(0, 0)
        run, has_run = self.run_one("limit", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual((run.returncode, has_run), (EXIT_CODE, True), run.stderr_text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
