#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The system strip: figures of the machine, of the process and of GPUs (an NVML that is made up) as
counters with their units, what slows a GPU down as slices, and a word where there is no NVML."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["NVTX_PROGRAM"]
DUMP = os.environ["TRACE_DUMP"]


class System(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name) / "profiles"

    def tearDown(self):
        self.place.cleanup()

    def collect(self, *options, words=("steps", 4000), **env):
        run = subprocess.run([BIN / "jview-collect", "-o", self.out, *options, "--", PROGRAM, *map(str, words)],
                             capture_output=True, text=True, timeout=120,
                             env={**os.environ, "LD_LIBRARY_PATH": os.environ["FAKES"], **env})
        self.assertEqual(run.returncode, 0, run.stderr)
        spool, = self.out.glob("plugins/profile/*/*.jvs")
        trace = json.loads(subprocess.run([DUMP, spool], capture_output=True, text=True, check=True).stdout)
        notes = {note[0]: note for note in trace["notes"]}
        return {(track["plane"].split(" (")[0] if "GPU" not in track["plane"] else track["plane"], track["line"]): track
                for track in trace["tracks"]}, notes

    def test_figures(self):
        tracks, notes = self.collect("--system", "10")
        samples = {name: track["samples"] for name, track in tracks.items() if "samples" in track}
        cool, hot = "GPU metrics (GPU 0, Made Up 9000)", "GPU metrics (GPU 1, Made Up 9000)"
        for gpu, line, value in ((cool, "SM clock", 1980), (hot, "SM clock", 980), (cool, "memory clock", 2600),
                                 (cool, "power", 100.5), (hot, "power", 300.5), (hot, "temperature", 95),
                                 (cool, "memory in use", 2000), (hot, "busy", 97)):
            count, least, greatest = samples[gpu, line]
            self.assertGreaterEqual(count, 4, "ten looks a second of about one second")
            self.assertEqual((least, greatest), (value, value), line)
        self.assertTrue(0 <= samples["system", "CPU"][1] <= samples["system", "CPU"][2] <= 100)
        self.assertGreater(samples["system", "memory in use"][1], 1 << 24)
        self.assertGreater(samples["nvtx_program", "memory of the process"][1], 1 << 16)
        self.assertLess(samples["nvtx_program", "CPU of the process"][2], 100 * os.cpu_count() + 50)
        slowed = tracks[hot, "slowed down"]
        self.assertEqual([name[0] for name in slowed["names"]], ["power cap + thermal (software)"])
        self.assertNotIn((cool, "slowed down"), tracks, "an idle GPU is not slowed down")
        self.assertIn("gpu-slowed", notes)
        self.assertEqual(tracks["nvtx_program", next(line for plane, line in tracks if line.startswith("main"))]["count"],
                         12000)

    def test_none(self):
        tracks, notes = self.collect("--system=0", words=("steps", 500))
        self.assertFalse([name for name, track in tracks.items() if "samples" in track])
        self.assertNotIn("collector", notes)

    def test_no_gpu(self):
        """No NVML, or one that fails: said once, and all else is there."""
        for env, words in (({"LD_LIBRARY_PATH": ""}, "libnvidia-ml.so.1 was not found"),
                           ({"FAKE_NVML_FAIL": "nvmlInit_v2=9"}, "Driver Not Loaded (NVML error 9)")):
            with self.subTest(words):
                out, self.out = self.out, self.out / words[:4]
                tracks, notes = self.collect("--system=10", words=("steps", 2000), **env)
                self.assertIn(words, str(notes["collector"]))
                self.assertIn(("system", "CPU"), tracks)
                self.assertFalse([plane for plane, _ in tracks if plane.startswith("GPU")])
                self.out = out

    def test_one_figure_less(self):
        """What a GPU does not tell is missing, not 0."""
        tracks, _ = self.collect("--system=10", words=("steps", 1000), FAKE_NVML_FAIL="nvmlDeviceGetClockInfo=3")
        gpu = {line for plane, line in tracks if plane.startswith("GPU metrics (GPU 0")}
        self.assertNotIn("SM clock", gpu)
        self.assertIn("power", gpu)

    def test_wrong_words(self):
        for value in ("11", "-1", "x", ""):
            run = subprocess.run([BIN / "jview-collect", f"--system={value}", "true"], capture_output=True, text=True,
                                 timeout=60)
            self.assertEqual(run.returncode, 2, value)


if __name__ == "__main__":
    unittest.main(verbosity=1)
