#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jview-collect around a program that uses CUDA, with a driver and a CUPTI that are made up: what the
script launches is what jviewd reports, to the nanosecond; whatever CUPTI refuses, the program goes on
and the profile says what is missing.

Where each bad case is tested; without a file's name, here:

  CUPTI says of everything 7 8 12 33 35 38 39 40 to 45 999   test_refused
             of every library 15; of the newest              test_all_refuse; test_older_library
             of one kind 12 21 27 35 40 42 44                test_refused_in_part
             8 or 12 until half as many buffers do           test_tight
             of nodes, of the profiler's calls 27            test_no_nodes, test_profiler_range
  another of the same program asks for it                    test_second
  a flush takes 5 s; never comes back                        test_cupti_flush.c; test_hang
  its version, its layouts, too old                          test_older, test_newer, test_too_old, test_cupti_layout.c
  records dropped, without times, inverted, astray           test_drops, test_without_times, test_inverted, test_astray
  all buffers out, given back in any order, by many threads  test_cupti_pool.c, test_races.c
  no CUDA, not injected, a range that never opened           test_launch.py test_report_of_nothing
  another tool's library; another profiler's sign            test_collect.py test_another_tool; test_launch.py test_second_profiler
  abort, _exit, SIGKILL; at any moment                       test_collect.py test_ends; test_kill, test_limits.py test_kill
  fork, exec, signals to the launcher or its group           test_collect.py test_fork, test_exec; test_launch.py test_signal_once
  disk full, --max-spool                                     test_collect.py test_disk_full; test_launch.py test_max_spool
  a spool cut at every 97th byte, flipped, hostile           test_cut; unit decode.record*, fuzz_record
  another name at the place of one                           test_cupti_names.c
  two libcuptis mapped                                       test_two_libraries
  threads cancelled, a set-user-id program                   test_collect.py test_cancelled, test_set_user_id
  no test: CUPTI's second subscriber interface (13.3), whose layouts are in no header that was at hand"""

import collections
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from settled import settle

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["CUDA_PROGRAM"]
FAKES = os.environ["FAKES"]
NAMES = ("matmul", "softmax", "add")


def collect(out, *words, options=(), **env):
    env = {**os.environ, "LD_LIBRARY_PATH": FAKES, **{name: str(value) for name, value in env.items()}}
    return subprocess.run([BIN / "jview-collect", "-o", out, "--system=0", *options, "--", PROGRAM, *map(str, words)],
                          capture_output=True, text=True, timeout=120, env=env)


def made(threads, launches, skipped=lambda number: False):
    """By name: how many there are, and how long they take together, in ns: see fake_cupti.c."""
    counts, times = collections.Counter(), collections.Counter()

    def put(name, time):
        counts[name] += threads
        times[name] += threads * time

    for number in range(launches):
        put("cuLaunchKernel", 200)
        if not skipped(number):
            put(NAMES[number % 3], 1000 + 10 * (number % 7))
        if number % 4 == 0:
            put("[CUDA memcpy Host-to-Device]", 500)
        if number % 8 == 0:
            put("[CUDA memset]", 100)
        if number % 16 == 0:
            put("CUPTI buffer flush", 50)
    return {name: (counts[name], times[name] * 1000) for name in counts}


class Cuda(unittest.TestCase):
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

    def dump(self, spool=None):
        """A spool, the one unless given, as its decoder reads it: much quicker than a server for it."""
        if spool is None:
            spool, = self.out.glob("plugins/profile/*/*.jvs")
        run = subprocess.run([os.environ["TRACE_DUMP"], spool], capture_output=True, text=True, check=True, timeout=120)
        return json.loads(run.stdout)

    def told(self, dump=None):
        counts, times = collections.Counter(), collections.Counter()
        for track in (dump or self.dump())["tracks"]:
            for name, count, total, _ in track["names"]:
                counts[name] += count
                times[name] += total
        return {name: (counts[name], times[name]) for name in counts}

    def notes(self):
        """By kind: how many, and all they say."""
        notes = collections.defaultdict(lambda: [0, ""])
        for kind, count, message in self.dump()["notes"]:
            notes[kind][0] += count
            notes[kind][1] += message
        return notes

    def runs_on(self, run):
        self.assertEqual((run.returncode, run.stdout), (0, "done\n"), run.stderr)

    def test_sums(self):
        run = collect(self.out, 4, 500)
        self.runs_on(run)
        self.assertEqual(self.told(), made(4, 500))
        self.assertEqual(self.notes(), {})
        rows = self.ask("top", "latest", "--by", "name", "--limit", "1000")["rows"]
        self.assertEqual({row["name"]: (row["count"], row["total_ps"]) for row in rows}, made(4, 500))

    def test_kernels(self):
        collect(self.out, 2, 21)
        table = self.ask("kernels", "latest")
        for row in table["rows"]:
            self.assertEqual((row["launch_count"], row["grid"], row["block"], row["registers"], row["shared_bytes"]),
                             (14, "8,4,2", "128,2,1", 32, 3072))
            self.assertEqual((row["call_p50_ps"], row["launch_p50_ps"]), (200_000, 300_000), "launches are joined")
        tracks = {row["name"] for row in self.ask("top", "latest", "--by", "track", "--limit", "99")["rows"]}
        self.assertLessEqual({"Stream #7", "Stream #8", "CUDA API"}, tracks)

    def test_source_names(self):
        """Kernels are called as in the source, whatever the compiler made of it."""
        self.runs_on(collect(self.out, 2, 30, FAKE_CUPTI_MANGLED=1))
        shown = dict(zip(NAMES, ("void matmul<float>(float*, int)", "softmax(float*, int)", "ops::add(float*, float*)")))
        self.assertEqual(self.told(), {shown.get(name, name): sums for name, sums in made(2, 30).items()})

    def test_devices(self):
        """What CUDA tells of a GPU; NVML's figures of it go by its number, which is another with NVML."""
        for version in (130001, 24):
            with self.subTest(version):
                out, self.out = self.out, self.out / str(version)
                collect(self.out, 2, 90, "sleep", 600, options=("--system=10",), FAKE_CUPTI_VERSION=version,
                        JVIEW_FINALIZE=0)
                self.assertEqual({row["occupancy"] for row in self.ask("kernels", "latest")["rows"]}, {1})
                spool, = self.out.glob("plugins/profile/*/*.jvs")
                dump = subprocess.run([os.environ["TRACE_DUMP"], spool], capture_output=True, text=True, check=True)
                tracks = json.loads(dump.stdout)["tracks"]
                for device in range(2):
                    track, = [track for track in tracks if track["line"] == f"/device:GPU:{device}"]
                    self.assertEqual(track["counts"],
                                     {"core_count": 132, "clock_rate": 1980000, "memory_size": 80 << 30,
                                      "memory_bandwidth": 3 * 10**12, "compute_cap_major": 9, "compute_cap_minor": 0})
                clocks = {track["plane"]: track["samples"][1] for track in tracks if track["line"] == "SM clock"}
                self.assertEqual(clocks, {"GPU metrics (GPU 1, Made Up 9000)": 1980, "GPU metrics (GPU 0, Made Up 9000)": 980})
                self.out = out

    def test_cut(self):
        """Cut at every 97th byte, a spool holds what was whole by then: no more, and never another thing."""
        collect(self.out, 2, 40, JVIEW_FINALIZE=0)
        spool, = self.out.glob("plugins/profile/*/*.jvs")
        whole, cut, before = spool.read_bytes(), self.out / "1-2.jvs", {}
        for size in [*range(97, len(whole), 97), len(whole)]:
            cut.write_bytes(whole[:size])
            dump = subprocess.run([os.environ["TRACE_DUMP"], cut], capture_output=True, text=True, check=True, timeout=60)
            sums = collections.Counter()
            for track in json.loads(dump.stdout)["tracks"]:
                for name, count, *_ in track["names"]:
                    sums[name] += count
            for name, count in before.items():
                self.assertGreaterEqual(sums[name], count, f"{name} of {size} bytes")
            before = sums
        self.assertEqual(before, {name: count for name, (count, _) in made(2, 40).items()})

    def test_xla(self):
        """Launches within XLA's ranges are of their ops, to the nanosecond; others of none."""
        steps = 50
        run = collect(self.out, 0, 0, "xla", steps, FAKE_CUPTI_LATE=0)
        self.runs_on(run)
        self.assertIn("--hlo-dump stores what XLA compiles", run.stderr)
        want = collections.Counter()
        for step in range(steps):
            for place, op in enumerate(["matmul.1"] * 3 + ["add.3"] * 2 + [None]):
                number = step * 6 + place
                for has, name, ns in ((True, NAMES[number % 3], 1000 + 10 * (number % 7)),
                                      (number % 4 == 0, "[CUDA memcpy Host-to-Device]", 500),
                                      (number % 8 == 0, "[CUDA memset]", 100)):
                    want[(op, "jit_step") if op else (name, None)] += 1000 * ns * has
        rows = self.ask("top", "latest", "--by", "op", "--limit", "99")["rows"]
        self.assertEqual({(row["name"], row["module"]): row["total_ps"] for row in rows}, dict(+want))

    def args(self):
        return {row[0]: row[2] for row in self.dump()["args"]}

    def test_graph(self):
        """Kernels of a graph are of the op that built their node, also where it was built before the recording."""
        wanted = {("command_buffer.9", "jit_step"): 1, ("fusion.1", "jit_step"): 2, ("add.2", "jit_step"): 1}
        for options in ((), ("--delay", "0.15")):
            with self.subTest(options):
                out, self.out = self.out, self.out / str(len(options))
                self.runs_on(collect(self.out, 0, 0, "graph", 5, options=options))
                rows = self.ask("top", "latest", "--by", "op", "--limit", "99")["rows"]
                self.assertEqual({(row["name"], row["module"]): row["count"] for row in rows},
                                 {op: 5 * count for op, count in wanted.items()})
                self.assertEqual(self.args()["built_in"], 15, "the fourth was built in no range")
                self.assertEqual(self.notes(), {} if not options else self.notes())
                tracks = {track["line"] for track in self.dump()["tracks"]}
                self.assertIn("Stream #7 (compute)", tracks)
                self.out = out

    def test_whole_graph(self):
        self.runs_on(collect(self.out, 0, 0, "graph", 5, options=("--cuda-graph-trace=graph",)))
        self.assertEqual(self.told()["CUDA graph 5"], (5, 5 * 4000 * 1000))
        self.assertNotIn("of_graph", self.told())

    def test_no_nodes(self):
        """Without nodes' callbacks kernels have the op of their launch, and a sentence says so."""
        self.runs_on(collect(self.out, 0, 0, "graph", 5, FAKE_CUPTI_FAIL="cuptiEnableCallback:3=27"))
        self.assertNotIn("built_in", self.args())
        self.assertIn("the op of their launch alone", self.notes()["collector"][1])
        rows = self.ask("top", "latest", "--by", "op", "--limit", "99")["rows"]
        self.assertEqual({row["name"]: row["count"] for row in rows}, {"command_buffer.9": 20})

    def test_older_library(self):
        """A driver that is too old for the newest libcupti takes an older one that is there."""
        for fails in ("cuptiSubscribe=15", "cuptiActivityEnable:10=15"):
            with self.subTest(fails):
                out, self.out = self.out, self.out / fails[:20]
                self.runs_on(collect(self.out, 2, 40, FAKE_CUPTI_FAIL=fails))
                self.assertEqual(self.told(), made(2, 40))
                self.assertIn("libcupti 22 is used, because the driver is older than libcupti 130001",
                              self.notes()["collector"][1])
                self.out = out

    def test_hang(self):
        """A flush that never comes back: what CUPTI gave before is there, so are ranges, and the program ends."""
        began = time.monotonic()
        run = collect(self.out, 1, 0, "xla", 2, FAKE_CUPTI_HANG=1)
        self.runs_on(run)
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(self.told()["Thunk:#hlo_op=matmul.1#"][0], 2)
        notes = self.notes()
        self.assertIn("did not deliver its last records", notes["collector"][1])
        self.assertNotIn("truncated", notes)

    def test_many(self):
        """More than a buffer, a batch and a frame hold."""
        collect(self.out, 8, 5000)
        self.assertEqual(self.told(), made(8, 5000))

    def test_older(self):
        """The records of CUDA 12 are shorter."""
        collect(self.out, 2, 500, FAKE_CUPTI_VERSION=18)
        self.assertEqual(self.told(), made(2, 500))

    def test_newer(self):
        collect(self.out, 2, 50, FAKE_CUPTI_VERSION=130400)
        self.assertEqual(self.told(), made(2, 50))
        self.assertIn("libcupti 130400 is newer", self.notes()["collector"][1])

    def test_kill(self):
        run = collect(self.out, 2, 100, "kill")
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.told(), made(2, 100))
        self.assertIn("truncated", self.notes())

    def test_without_times(self):
        """Kernels that CUPTI has no time for are counted, not shown somewhere."""
        collect(self.out, 2, 100, FAKE_CUPTI_ZERO=10)
        self.assertEqual(self.told(), made(2, 100, lambda number: number % 10 == 0))
        self.assertEqual(self.notes()["no-times"][0], 20)

    def test_inverted(self):
        collect(self.out, 2, 100, FAKE_CUPTI_INVERT=10)
        self.assertEqual(self.told(), made(2, 100, lambda number: number % 10 == 0))
        self.assertEqual(self.notes()["inverted-times"][0], 20)

    def test_astray(self):
        """A name that points nowhere, as a record of an unknown layout may hold: not the program's end."""
        self.runs_on(collect(self.out, 1, 30, FAKE_CUPTI_ASTRAY=30))
        told = self.told()
        self.assertEqual((told["(no name)"][0], told["matmul"][0]), (1, 9))

    def test_drops(self):
        collect(self.out, 1, 10, FAKE_CUPTI_DROPS=77)
        self.assertEqual(self.told(), made(1, 10))
        self.assertEqual(self.notes()["events-dropped"][0], 77)

    def test_gate(self):
        run = collect(self.out, 2, 100, options=("--delay", "3600"))
        self.runs_on(run)
        self.assertFalse((self.out / "plugins").exists(), "nothing is recorded")

    def test_profiler_range(self):
        """Within cuProfilerStart and Stop: what was launched there, also where it ran long after."""
        for end, late, times in (("stop", 0, 1), ("repeat", 0, 3), ("repeat:2", 100_000_000, 2)):
            with self.subTest(end):
                out, self.out = self.out, self.out / end.replace(":", "")
                run = collect(self.out, 1, 0, "profile", 3, FAKE_CUPTI_LATE=late,
                              options=("--capture-range", "cudaProfilerApi", "--capture-range-end", end))
                self.runs_on(run)
                spools = sorted(self.out.glob("plugins/profile/*/*.jvs"))
                self.assertEqual(len(spools), times, "a session each")
                for number, spool in enumerate(spools, 1):
                    told = self.told(self.dump(spool))
                    self.assertEqual(told["cuLaunchKernel"][0], 20)
                    self.assertEqual(sum(told[name][0] for name in NAMES), 20)
                    self.assertEqual([name for name in told if name.startswith("capture")], [f"capture {number}"])
                self.out = out
        run = collect(self.out, 1, 5, options=("--capture-range=cudaProfilerApi",))
        self.assertIn("waits for cudaProfilerStart", run.stderr)
        run = collect(self.out, 1, 5, options=("--capture-range=cudaProfilerApi",), FAKE_CUPTI_FAIL="cuptiEnableCallback=27")
        self.assertIn("are not seen: this libcupti does not support it", run.stderr)

    def test_shutdown(self):
        """A program that is ended behind its capture: CUPTI's slow answer is waited for, and nothing is lost."""
        run = collect(self.out, 0, 0, "profile", 1, "stay", FAKE_CUPTI_LATE=0, FAKE_CUPTI_SLOW=200,
                      options=("--capture-range=cudaProfilerApi", "--capture-range-end=stop-shutdown", "--kill=sigkill",
                               "--flush-interval=60"))
        self.assertEqual(run.returncode, 128 + signal.SIGKILL, run.stderr)
        told = self.told()
        self.assertEqual((told["cuLaunchKernel"][0], sum(told[name][0] for name in NAMES)), (20, 20))

    def test_refused(self):
        """Every way in which CUPTI refuses everything: one sentence, and the program goes on."""
        for code, words in ((999, "no usable CUDA driver"), (35, "administrators"),
                            (39, "held by CUPTI for another tool"), (38, "older profiler"), (8, "out of memory"),
                            (33, "virtual GPU"), (40, "administrators"), (41, "confidential"), (42, "mining"),
                            (43, "MIG"), (44, "SLI"), (45, "WSL"), (12, "out of memory"),
                            (7, "CUPTI_ERROR_OF_A_TEST")):
            with self.subTest(code):
                run = collect(self.out, 2, 10, FAKE_CUPTI_FAIL=f"cuptiSubscribe={code}")
                self.runs_on(run)
                self.assertIn("CUDA activity is not recorded", run.stderr)
                self.assertIn(words, run.stderr)
                self.assertIn(f"error {code}", run.stderr)
                self.assertFalse((self.out / "plugins").exists())

    def test_second(self):
        """A profiler within the program asks for CUPTI, too: it gets none, ours goes on, and it is told."""
        run = collect(self.out, 1, 40, "second", FAKE_CUPTI_LATE=0)
        self.assertEqual((run.returncode, run.stdout), (0, "39 done\n"), run.stderr)
        self.assertEqual(self.told()["cuLaunchKernel"][0], 50)
        self.assertIn("Another profiler in the program wants CUPTI", self.notes()["collector"][1])
        self.assertIn("Another profiler in the program wants CUPTI", run.stderr)

    def test_two_libraries(self):
        """The program has two libcuptis mapped: one is used, and both are named."""
        run = collect(self.out, 1, 40, "two")
        self.runs_on(run)
        self.assertEqual(self.told(), made(1, 40))
        said = self.notes()["collector"][1]
        for name in ("libcupti.so.13", "libcupti.so.12"):
            self.assertIn(f"{FAKES}/{name}", said)
        self.assertIn("The program loads two libcuptis", run.stderr)

    def test_all_refuse(self):
        """15 of every libcupti there is."""
        run = collect(self.out, 2, 10, FAKE_CUPTI_FAIL="cuptiSubscribe=15", FAKE_CUPTI_12_FAIL="cuptiSubscribe=15")
        self.runs_on(run)
        self.assertIn("is used, because the driver is older", run.stderr)
        self.assertFalse((self.out / "plugins").exists())

    def test_refused_in_part(self):
        """What one kind or call is refused is missing, the rest is whole."""
        whole = made(2, 40)
        for fails, missing, words in (
                ("cuptiActivityEnable:10=35", NAMES, "Kernels are not recorded: the driver lets only"),
                ("cuptiActivityEnable:10=12", NAMES, "Kernels are not recorded: CUPTI ran out of memory"),
                ("cuptiActivityEnable:22=42,cuptiActivityEnable:1=40,cuptiActivityEnable:2=44",
                 ["[CUDA memcpy Host-to-Device]", "[CUDA memset]"], "Memory sets are not recorded: GPUs joined by SLI"),
                ("cuptiActivityEnable:1=21", ["[CUDA memcpy Host-to-Device]"], "Copies are not recorded"),
                ("cuptiActivityEnable:2=27", ["[CUDA memset]"], "Memory sets are not recorded"),
                ("cuptiActivityEnableDriverApi=27", ["cuLaunchKernel"], "Calls of the CUDA driver are not"),
                ("cuptiActivitySetAttribute=12", [], "memory on the GPU is not limited"),
                ("cuptiSetThreadIdType=1", [], "threads with numbers")):
            with self.subTest(fails):
                out, self.out = self.out, self.out / fails
                self.runs_on(collect(self.out, 2, 40, FAKE_CUPTI_FAIL=fails))
                self.assertEqual(self.told(), {name: sums for name, sums in whole.items() if name not in missing})
                self.assertIn(words, self.notes()["collector"][1])
                self.out = out

    def test_tight(self):
        """A GPU without room for CUPTI's buffers: half as many do. What CUPTI merely warns of is no complaint."""
        self.runs_on(collect(self.out, 2, 40, FAKE_CUPTI_TIGHT=1, FAKE_CUPTI_WARNS=1))
        self.assertEqual(self.told(), made(2, 40))
        self.assertEqual(self.notes(), {})

    def test_off(self):
        """Left to another profiler of the program: no word of it."""
        run = collect(self.out, 2, 10, JVIEW_CUPTI="off")
        self.runs_on(run)
        self.assertNotIn("CUDA activity", run.stderr)
        self.assertFalse((self.out / "plugins").exists())

    def test_too_old(self):
        run = collect(self.out, 1, 10, FAKE_CUPTI_VERSION=17)
        self.runs_on(run)
        self.assertIn("CUDA 12.0 is the oldest", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
