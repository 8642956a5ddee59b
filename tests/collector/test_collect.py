#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jview-collect around a program that tells NVTX ranges: what it told stands in the profile, whatever
became of the program; and the program never notices."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import tempfile
import unittest

from settled import settle

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["NVTX_PROGRAM"]
FAST = pathlib.Path(os.environ.get("JVIEWD", BIN / "jviewd")).parent
without_sanitizers = unittest.skipUnless((FAST / "tests/nvtx_program").exists(), f"{FAST} has no nvtx_program")


def collect(out, *words, options=(), env=None, place=BIN, program=PROGRAM):
    return subprocess.run([place / "jview-collect", "-o", out, *options, "--", program, *map(str, words)],
                          capture_output=True, text=True, timeout=120, env=env)


class Collect(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name) / "profiles"

    def tearDown(self):
        self.place.cleanup()

    def ask(self, *words):
        settle(self.out)
        run = subprocess.run([BIN / "jviewd", *words, "--profile-dir", self.out, "--cache-dir",
                              pathlib.Path(self.place.name) / "cache", "--format", "json"],
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def names(self):
        table = self.ask("top", "latest", "--by", "name", "--limit", "1000")
        return {row["name"]: row["count"] for row in table["rows"]}

    def notes(self):
        return {note["kind"]: note for note in self.ask("overview", "latest")["notes"]}

    def test_steps(self):
        run = collect(self.out, "steps", 30)
        self.assertEqual((run.returncode, run.stdout), (0, "attached\n"), run.stderr)
        self.assertIn("90 ranges of 1 process", run.stderr)
        self.assertEqual(self.names(), {"step": 30, "load": 30, "compute": 30})
        self.assertNotIn("truncated", self.notes())
        self.assertFalse(list(self.out.glob(".jview-spool/*/*")), "nothing is left behind")

    def test_threads(self):
        """64 threads, none of their ranges lost or moved to another."""
        collect(self.out, "threads", 20)
        self.assertEqual(self.names(), {"step": 64 * 20, "load": 64 * 20, "compute": 64 * 20})
        rows = self.ask("top", "latest", "--by", "track", "--limit", "1000")
        self.assertEqual([row["count"] for row in rows["rows"]], [60] * 64)

    def test_others(self):
        collect(self.out, "others")
        self.assertEqual(self.names(), {"na\u00efve \U0001f600": 1, "registered": 1})
        self.assertEqual(self.notes()["unbalanced-ranges"]["count"], 2)

    def test_payloads(self):
        """Structs of the program by their schemas, with XLA's and NCCL's keys as jviewd names them."""
        collect(self.out, "payloads")
        self.assertEqual(self.names(), {
            "ncclAllReduce": 1, "ncclBroadcast": 1, "ncclCut": 1,
            "TSL:Thunk:#hlo_op=fusion.3,hlo_module=jit_f,program_id=7#": 1})
        spool, = self.out.glob("plugins/profile/*/*.jvs")
        dump = subprocess.run([os.environ["TRACE_DUMP"], spool], capture_output=True, text=True, check=True)
        args = {row[0]: row[2:] for row in json.loads(dump.stdout)["args"]}
        counts = {key: count for key, (count, _) in args.items()}
        self.assertEqual(counts, {"domain": 4, "collective": 3, "communicator": 3, "bytes": 2, "reduction": 2, "root": 2,
                                  "scale": 2, "tag": 2, "comm name": 2, "host": 2, "hlo_op": 1, "hlo_module": 1,
                                  "program_id": 1}, "the cut one ends within its second field")
        self.assertEqual(args["bytes"][1], 2 * 1048576)
        self.assertEqual(args["communicator"][1], 3 * 0xabcdef)
        self.assertEqual(args["root"][1] % 2**64, -4 % 2**64)
        self.assertEqual(args["program_id"][1], 7)

    def test_deep(self):
        """More open ranges than are kept: those are counted, and all others are right."""
        collect(self.out, "deep", 150)
        self.assertEqual(self.names(), {"deeper": 128})
        self.assertEqual(self.notes()["events-dropped"]["count"], 22)

    def test_ends(self):
        """However it ends, what it told before is there, and what was open is shown as open."""
        for mode, code in (("abort", 128 + signal.SIGABRT), ("kill", 128 + signal.SIGKILL), ("_exit", 3)):
            with self.subTest(mode):
                run = collect(self.out / mode, mode)
                self.assertEqual(run.returncode, code)
                self.out, out = self.out / mode, self.out
                self.assertEqual(self.names(), {"step": 10, "load": 10, "compute": 10, "never ends": 1, "never ended": 1})
                self.assertIn("truncated", self.notes())
                self.assertIn("open-ranges", self.notes())
                self.out = out

    def test_children_ignored(self):
        """A parent that ignores the ends of its children hands that on: the program's is waited for all the same."""
        run = subprocess.run(["sh", "-c", 'trap "" CHLD; exec "$@"', "sh", BIN / "jview-collect", "-o", self.out, PROGRAM,
                              "code", "7"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 7, run.stderr)

    def test_page_cut(self):
        """Who cuts the session's file off, or takes it away, ends no program."""
        run = subprocess.Popen([BIN / "jview-collect", "-o", self.out, "--", PROGRAM, "steps", "3000"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not list(self.out.glob(".jview-spool/*/*.jvs")) and time.monotonic() < until:
            time.sleep(0.02)
        page, = self.out.glob(".jview-spool/*/control")
        os.truncate(page, 0)
        run.communicate()
        self.assertEqual(run.returncode, 0)
        self.assertEqual(self.names()["step"], 3000)

    @without_sanitizers  # they keep frames of threads that are gone
    def test_cancelled(self):
        """Threads that are cancelled at any instruction, within the collector's too: nothing waits for them."""
        run = collect(self.out, "cancelled", 100, place=FAST, program=FAST / "tests/nvtx_program")
        self.assertEqual(run.returncode, 0, run.stderr)
        names = self.names()
        self.assertEqual((names["step"], names["load"], names["compute"]), (100, 100, 100))
        self.assertGreater(names["cancelled"], 0)

    @without_sanitizers  # they look at a program by ptrace, which is refused
    @unittest.skipUnless(os.geteuid() == 0, "only root makes a program that is another's")
    def test_set_user_id(self):
        """A program with more rights than its user's: it runs as ever, and nothing is written."""
        with tempfile.TemporaryDirectory() as place:
            os.chmod(place, 0o755)
            program = shutil.copy(FAST / "tests/nvtx_program", place)
            os.chown(program, 65534, 65534)
            os.chmod(program, 0o4755)
            run = collect(self.out, "steps", 5, place=FAST, program=program)
        if "error while loading" in run.stderr:
            self.skipTest("its libraries are not the system's")
        self.assertEqual((run.returncode, run.stdout), (0, "alone\n"), run.stderr)
        self.assertFalse((self.out / "plugins").exists())

    def test_exec(self):
        """A program that becomes another one keeps what it told, and the next image has a spool of its own."""
        collect(self.out, "exec", 5)
        self.assertEqual(len(list(self.out.glob("plugins/profile/*/*.jvs"))), 2)

    def test_disk_full(self):
        """A spool that may not grow: the program goes on, what fits is whole, what does not is counted."""
        run = subprocess.run([BIN / "jview-collect", "-o", self.out, "--", "sh", "-c",
                              f"ulimit -f 16; exec {PROGRAM} distinct 200000"], capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("the disk was full, or writing failed", run.stderr)

    def test_fork(self):
        run = collect(self.out, "forks")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.names()["step"], 4)

    def test_quick_ones(self):
        """Several that end within a second do not take each other's place."""
        for _ in range(4):
            collect(self.out, "steps", 1)
        self.assertEqual(len(list(self.out.glob("plugins/profile/*/*.jvs"))), 4)

    def test_codes(self):
        self.assertEqual(collect(self.out, "code", 7).returncode, 7)
        run = subprocess.run([BIN / "jview-collect", "-o", self.out, "no-such-program"], capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(run.returncode, 127)
        self.assertIn("cannot run no-such-program", run.stderr)
        run = subprocess.run([BIN / "jview-collect"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2)

    def test_nothing(self):
        """Nothing recorded is said, and leaves nothing."""
        run = collect(self.out, "code", 0)
        self.assertIn("nothing was recorded", run.stderr)
        self.assertFalse((self.out / "plugins").exists())

    def test_gate(self):
        run = collect(self.out, "steps", 20, options=("--delay", "3600"))
        self.assertIn("nothing was recorded", run.stderr)

    def test_another_tool(self):
        env = {**os.environ, "NVTX_INJECTION64_PATH": "/opt/other/libtool.so"}
        run = collect(self.out, "steps", env=env)
        self.assertEqual(run.returncode, 127)
        self.assertIn("--replace-injection", run.stderr)

    def test_no_room(self):
        """A directory that refuses: the program runs on, and its end says so."""
        self.out.mkdir()
        env = {**os.environ, "JVIEW_OUT": "/proc/nowhere",
               "NVTX_INJECTION64_PATH": str(BIN / "libjview-collector.so")}
        run = subprocess.run([PROGRAM, "steps", "3"], capture_output=True, text=True, timeout=60, env=env)
        self.assertEqual((run.returncode, run.stdout), (0, "attached\n"))
        self.assertIn("no spool in /proc/nowhere", run.stderr)

    def test_without_launcher(self):
        """JVIEW_OUT alone: jviewd finds what was recorded."""
        env = {**os.environ, "JVIEW_OUT": "profiles", "NVTX_INJECTION64_PATH": str(BIN / "libjview-collector.so")}
        run = subprocess.run([PROGRAM, "steps", "3"], capture_output=True, text=True, timeout=60, env=env,
                             cwd=self.place.name)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.names(), {"step": 3, "load": 3, "compute": 3})

    def test_alone(self):
        """Without a session the library sleeps."""
        env = {**os.environ, "NVTX_INJECTION64_PATH": str(BIN / "libjview-collector.so")}
        run = subprocess.run([PROGRAM, "steps", "3"], capture_output=True, text=True, timeout=60, env=env)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "alone\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
