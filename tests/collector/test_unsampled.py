#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jview-collect of a build without samplers: what asks for samples is refused with a sentence, all else goes on."""

import subprocess
import sys
import unittest

COLLECT = sys.argv.pop()


def said(*words):
    run = subprocess.run([COLLECT, *words], capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout, run.stderr


class Unsampled(unittest.TestCase):
    def test_refused(self):
        for words, named in ((["--py-sample"], "--py-sample"), (["--py-sample=50"], "--py-sample"),
                             (["--sample=cpu"], "--sample=cpu"), (["-s", "process-tree"], "--sample=cpu"),
                             (["--sampling-frequency", "99"], "--sampling-frequency")):
            with self.subTest(words):
                self.assertEqual(said(*words, "--", "true"), (
                    2, "", f"jview-collect: {named}: this jview-collect is built without samplers "
                           "(JVIEWD_SAMPLERS=OFF)\n"))

    def test_taken(self):
        self.assertEqual(said("--sample=none", "--version")[0], 0)
        self.assertIn("is built without samplers", said("--help")[1])


if __name__ == "__main__":
    unittest.main()
