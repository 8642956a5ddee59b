#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the collector's room ends, and where a program is killed: what is there is right, what is not is
counted. JVIEWD_KILLS is how many programs are killed (20)."""

import fcntl
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
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
        self.assertGreaterEqual(self.lost(notes, "ranges have no name"), nameless)
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

OUTLIVES = """
import fcntl, os, pathlib, shutil, subprocess, sys
program, until, *counts = sys.argv[1:]
for count in counts:
    subprocess.run([program, "steps", count], check=True)
*others, last = sorted(pathlib.Path(os.environ["JVIEW_SESSION"]).glob("*.jvs"), key=lambda path: path.stat().st_mtime_ns)
later = open((last.rename if others else lambda to: shutil.copy(last, to))(last.with_name("9-9.jvs")))
fcntl.flock(later, fcntl.LOCK_EX)
if os.fork() == 0:
    os.close(1), os.close(2)
    open(until).read()
    os._exit(0)
"""

DAMAGES = """
import os, pathlib, subprocess, sys
for count in sys.argv[2:]:
    subprocess.run([sys.argv[1], "steps", count], check=True)
spool = min(pathlib.Path(os.environ["JVIEW_SESSION"]).glob("*.jvs"), key=lambda path: path.stat().st_mtime_ns)
told = bytearray(spool.read_bytes())
told[len(told) // 2] ^= 0x40
spool.write_bytes(told)
"""


class Left(unittest.TestCase):
    """Captures of a session whose spools somebody had not put into their places yet."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def collect(self, *command):
        run = subprocess.run([BIN / "jview-collect", "--system=0", "--finalize=0", "-o", self.out, "--capture-range=nvtx",
                              "-p", "step", "--capture-range-end=repeat", "--", *command], capture_output=True, text=True,
                             timeout=100)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr

    def finalize(self):
        run = subprocess.run([BIN / "jview-collect", "finalize", self.out], capture_output=True, text=True, timeout=100,
                             env={**os.environ, "JVIEW_FINALIZE": "0"})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def spools(self):
        """Of each session, in order, what each of its spools tells."""
        return [[counts(dump(spool)) for spool in sorted(session.glob("*.jvs"))]
                for session in sorted(self.out.glob("plugins/profile/*"))]

    def step(self, *numbers):
        return [[{"step": 1, "load": 1, "compute": 1, f"capture {number}": 1}] for number in numbers]

    def test_not_moved(self):
        """Split, and no place to move the parts to."""
        (self.out / "plugins").touch()
        self.assertIn("Not a directory", self.collect(PROGRAM, "steps", "3"))
        self.assertEqual(len(list(self.out.glob(".jview-spool/*/capture-*/*.jvs"))), 3)
        (self.out / "plugins").unlink()
        self.assertIn("moved      3 spools", self.finalize())
        self.assertEqual(self.spools(), self.step(1, 2, 3))
        self.assertFalse(list(self.out.glob(".jview-spool/*")), "nothing is left behind")

    def test_half_moved(self):
        """The second of three was moved: the others have sessions of their own, whatever was there before."""
        (self.out / "plugins").touch()
        self.collect(PROGRAM, "steps", "3")
        (self.out / "plugins").unlink()
        second, = self.out.glob(".jview-spool/*/capture-2/*.jvs")
        moved = self.out / "plugins/profile" / second.parent.parent.name
        moved.mkdir(parents=True)
        second.rename(moved / "host.jvs")
        self.finalize()
        self.assertEqual(sorted(map(str, self.spools())), sorted(map(str, self.step(1, 2, 3))))

    def outlive(self, *counts):
        """The last spool, of one a copy, is held by a process that lives on."""
        os.mkfifo(self.out / "until")
        self.collect(sys.executable, "-c", OUTLIVES, PROGRAM, self.out / "until", *counts)

    def end_later(self):
        (self.out / "until").write_text("now")
        later, = self.out.glob(".jview-spool/*/9-9.jvs")
        with later.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
        self.assertIn("moved      1 spools", self.finalize())
        self.assertFalse(list(self.out.glob(".jview-spool/*")), "nothing is left behind")

    def test_later(self):
        """A process that outlives the launcher brings its parts to the same sessions."""
        self.outlive("3")
        self.assertEqual(self.spools(), self.step(1, 2, 3))
        self.end_later()
        self.assertEqual(self.spools(), [2 * told for told in self.step(1, 2, 3)])

    def test_later_beside(self):
        """The others are XPlane by then, of which its name would be taken."""
        self.outlive("3")
        for spool in self.out.glob("plugins/profile/*/*.jvs"):
            spool.rename(spool.with_suffix(".xplane.pb"))
        self.end_later()
        self.assertEqual(self.spools(), self.step(1, 2, 3))
        self.assertEqual([spool.stem[-3:] for spool in self.out.glob("plugins/profile/*/*.jvs")], 3 * ["_p9"])

    def test_later_another(self):
        """What it recorded is the second capture, of which the launcher placed nothing."""
        self.outlive("1", "1")
        self.assertEqual(self.spools(), self.step(1))
        self.end_later()
        self.assertEqual(self.spools(), self.step(1, 2))

    def test_damaged(self):
        """A spool that lost something stays whole, and tells so; the other is split."""
        self.assertIn("stay in one profile: it is damaged", self.collect(sys.executable, "-c", DAMAGES, PROGRAM, "3", "2"))
        (whole,), *others = ([dump(spool) for spool in session.glob("*.jvs")]
                             for session in sorted(self.out.glob("plugins/profile/*")))
        self.assertIn("damaged", [note[0] for note in whole["notes"]])
        self.assertEqual([[counts(trace) for trace in session] for session in others], self.step(4, 5))

    def test_half_split(self):
        """A part that was being written while its whole still stood is made anew."""
        left = f'{PROGRAM} steps 3; cd "$JVIEW_SESSION"; mkdir capture-2; for it in *.jvs; do head -c 100 $it > capture-2/$it; done'
        self.assertNotIn("stay in one profile", self.collect("sh", "-c", left))
        self.assertEqual(self.spools(), self.step(1, 2, 3))


if __name__ == "__main__":
    unittest.main(verbosity=1)
