#!/usr/bin/env python3
"""Where the collector's room ends, and where a program is killed: what is there is right, what is not is
counted. JVIEWD_KILLS is how many programs are killed (20)."""

import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["NVTX_PROGRAM"]
DUMP = os.environ["TRACE_DUMP"]
FLUSH_NS, NAP_NS = 250_000_000, 50_000_000
BUSY_NS = int(700_000_000 * max(1, os.getloadavg()[0] / os.cpu_count()))  # a machine that does much else


def dump(spool):
    return json.loads(subprocess.run([DUMP, spool], capture_output=True, text=True, check=True).stdout)


def counts(trace):
    found = {}
    for track in trace["tracks"]:
        for name, count, *_ in track["names"]:
            found[name] = found.get(name, 0) + count
    return found


class Limits(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def collect(self, *words):
        run = subprocess.run([BIN / "jview-collect", "--system=0", "-o", self.out, "--", PROGRAM, *map(str, words)],
                             capture_output=True, text=True, timeout=200)
        if run.returncode == 77:
            self.skipTest("no room for so many threads")
        self.assertEqual(run.returncode, 0, run.stderr)
        spool, = self.out.glob("plugins/profile/*/*.jvs")
        trace = dump(spool)
        return counts(trace), {note[2]: note[1] for note in trace["notes"] if note[0] == "events-dropped"}

    def lost(self, notes, words):
        return sum(count for text, count in notes.items() if words in text)

    def test_ring_full(self):
        names, notes = self.collect("burst", 400_000)
        self.assertEqual(names["burst"] + self.lost(notes, "faster"), 400_000)

    def test_texts_full(self):
        """Half a million texts; ranges beyond stand without a name."""
        names, notes = self.collect("distinct", 560_000)
        ring = self.lost(notes, "faster")
        self.assertEqual(sum(names.values()) + ring, 560_000)
        nameless = names.pop("(no name)", 0)  # none where a busy machine lost as many to the ring
        self.assertGreaterEqual(nameless + ring, 560_000 - 524_288)
        self.assertGreaterEqual(self.lost(notes, "without their names"), nameless)
        self.assertLessEqual(len(names), 524_288)

    def test_crowd(self):
        names, notes = self.collect("crowd", 1100)
        self.assertEqual(names["in the crowd"], 1024)
        self.assertGreaterEqual(self.lost(notes, "more threads"), 76)

    def kill_one(self, number, after):
        out, times = self.out / str(number), self.out / f"{number}.times"
        env = {**os.environ, "JVIEW_OUT": str(out), "NVTX_INJECTION64_PATH": str(BIN / "libjview-collector.so")}
        run = subprocess.Popen([PROGRAM, "counted", times], stdout=subprocess.DEVNULL, env=env)
        time.sleep(after)
        run.kill()
        run.wait()
        told = [at for at, in struct.iter_unpack("<q", times.read_bytes()) if at] if times.exists() else []
        spools = list(out.glob("plugins/profile/*/*.jvs"))
        found, notes = {}, []
        if spools:
            try:
                trace = dump(spools[0])
                found, notes = counts(trace), [note[0] for note in trace["notes"]]
            except subprocess.CalledProcessError:
                self.assertLess(spools[0].stat().st_size, 64, "only a spool cut within its head is none")
        due = [at for at in told if at < told[-1] - FLUSH_NS - NAP_NS - BUSY_NS]
        self.assertGreaterEqual(found.get("counted", 0), len(due), f"killed after {after}")
        self.assertLessEqual(found.get("counted", 0), len(told) + 1)
        self.assertLessEqual(set(found), {"counted"})
        if found:
            self.assertIn("truncated", notes)
            self.assertNotIn("damaged", notes)

    def test_kill(self):
        """At any moment: all but the last quarter of a second is there, and nothing that never was."""
        chance = random.Random(466)
        for number in range(int(os.environ.get("JVIEWD_KILLS", "20"))):
            self.kill_one(number, chance.uniform(0, 2.5))


if __name__ == "__main__":
    unittest.main(verbosity=1)
