#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The end of a recording: what was recorded becomes XPlane, with the figures that the script gave, for jviewd and, where
$JVIEW_XPROF_PYTHON names a Python that has it, for XProf. Where that cannot be done the spool stays, and why is told."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from settled import settle

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["CUDA_PROGRAM"]
NVTX_PROGRAM = os.environ["NVTX_PROGRAM"]
SLOW_JVIEWD = os.environ["SLOW_JVIEWD"]
FAKES = os.environ["FAKES"]
XPROF = os.environ.get("JVIEW_XPROF_PYTHON")
NAMES = ("matmul", "softmax", "add")

ASK_XPROF = """
import json, sys
from xprof.convert import raw_to_tool_data
for tool in ("kernel_stats", "trace_viewer"):
    data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {})
    print(json.dumps(json.loads(data)))
"""


ASK_XPROF_MODULES = """
import sys
from xprof.convert import raw_to_tool_data
space, module = sys.argv[1], {"module_name": "jit_copy(3)", "program_id": "3"}
assert {"memory_viewer", "graph_viewer"} <= set(raw_to_tool_data.xspace_to_tool_names([space]))
for tool, options in (("memory_viewer", module), ("graph_viewer", {"graph_viewer_options": {"type": "short_txt", **module}})):
    data, _ = raw_to_tool_data.xspace_to_tool_data([space], tool, options)
    print(data.decode())
"""


def field(number, value):
    """Of a message: a number, or what has a length."""
    out, count = bytearray(), value if isinstance(value, int) else len(value)
    for part in (number << 3 | (0 if isinstance(value, int) else 2), count):
        while part >= 0x80:
            out.append(part & 0x7F | 0x80)
            part >>= 7
        out.append(part)
    return bytes(out) + (b"" if isinstance(value, int) else value)


def hlo_module():
    """jit_step, of which matmul.1 and add.3 are: an HloProto, as XLA dumps it."""
    ops = [field(1, name) + field(2, opcode) + field(7, field(2, b"jit(step)/train/" + opcode)) + field(35, number)
           for number, (name, opcode) in enumerate(((b"matmul.1", b"dot"), (b"add.3", b"add")), 1)]
    computation = field(1, b"main") + b"".join(field(2, op) for op in ops) + field(5, 1) + field(6, 2)
    return field(1, field(1, b"jit_step") + field(2, b"main") + field(3, computation) + field(5, 3) + field(6, 1))


def whole_module():
    """jit_copy of one number, whole enough for XLA to read: types of 11 are F32."""
    shape = field(2, 11)
    program = field(1, shape) + field(2, shape) + field(3, b"x")
    ops = (field(1, b"x.1") + field(2, b"parameter") + field(3, shape) + field(35, 1),
           field(1, b"copy.2") + field(2, b"copy") + field(3, shape) + field(35, 2) + field(36, 1))
    computation = field(1, b"main") + b"".join(field(2, op) for op in ops) + field(4, program) + field(5, 1) + field(6, 2)
    return field(1, field(1, b"jit_copy") + field(2, b"main") + field(3, computation) + field(4, program) + field(5, 3) +
                 field(6, 1))


def fields(message):
    """Of a message: number and value of each, in order; numbers as they are, what has a length as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            count = 8 if tag & 7 == 1 else varint()
            yield tag >> 3, message[at:at + count]
            at += count


def all_of(message, number):
    return [value for key, value in fields(message) if key == number]


def meaning(space):
    """What an XSpace says, whatever the numbers of its names: planes with their lines, events with their stats, times."""
    def stat(names, message):
        parts = dict(fields(message))
        key, (kind, value) = names[parts.pop(1)], next(iter(parts.items()), (0, b""))
        return key, names[value] if kind == 7 else value

    def names_of(plane, number):
        entries = (dict(fields(entry))[2] for entry in all_of(plane, number))
        return {one.get(1, 0): (one.get(2, b""), entry) for entry in entries for one in [dict(fields(entry))]}

    planes = []
    for plane in all_of(space, 1):
        names = {number: text for number, (text, _) in names_of(plane, 5).items()}
        events = {number: (text, [stat(names, one) for one in all_of(entry, 5)])
                  for number, (text, entry) in names_of(plane, 4).items()}
        lines = []
        for line in all_of(plane, 3):
            about = dict(fields(line))
            lines.append((about.get(1, 0), about.get(2), [
                (events[one[1]], about.get(3, 0) * 1000 + one.get(2, 0), one.get(3, 0),
                 [stat(names, value) for value in all_of(event, 4)])
                for event in all_of(line, 4) for one in [dict(fields(event))]]))
        planes.append((all_of(plane, 2), lines, [stat(names, one) for one in all_of(plane, 6)],
                       sorted(entry for entry in events.values()) if not lines else None))
    return planes, [field for field in fields(space) if field[0] != 1]


def made(threads, launches):
    """By name of the kernel: how many there are, and how long they take together, in ns: see fake_cupti.c."""
    counts, times = collections.Counter(), collections.Counter()
    for number in range(launches):
        counts[NAMES[number % 3]] += threads
        times[NAMES[number % 3]] += threads * (1000 + 10 * (number % 7))
    return {name: (counts[name], times[name]) for name in counts}


class Finalize(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name) / "profiles"

    def tearDown(self):
        self.place.cleanup()

    def collect(self, *words, options=(), program=PROGRAM, collector=BIN / "jview-collect", **env):
        env = {**os.environ, "LD_LIBRARY_PATH": FAKES, **env}
        env.setdefault("JVIEW_FINALIZE", "100")
        return subprocess.run([collector, "-o", self.out, "--system=0", *options, "--", program, *map(str, words)],
                              capture_output=True, text=True, timeout=200, env=env)

    def files(self):
        """Of all sessions, the hidden ones too."""
        return sorted(path.suffix for path in self.out.glob("plugins/profile/*/*"))

    def told(self):
        run = subprocess.run([BIN / "jviewd", "top", "latest", "--by", "name", "--limit", "1000", "--profile-dir", self.out,
                              "--cache-dir", pathlib.Path(self.place.name) / "cache", "--format", "json"],
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return {row["name"]: (row["count"], row["total_ps"] // 1000) for row in json.loads(run.stdout)["rows"]}

    def test_written(self):
        run = self.collect(4, 500)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.files(), [".pb"], run.stderr)
        told = self.told()
        self.assertEqual({name: told[name] for name in NAMES}, made(4, 500))
        self.assertEqual(told["cuLaunchKernel"], (2000, 2000 * 200))

    def test_several(self):
        """Each process of a session a file."""
        run = self.collect("exec", 5, program=NVTX_PROGRAM)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.files(), [".pb", ".pb"], run.stderr)

    def test_modules(self):
        """What XLA dumped goes into the file: of the session's own dump, and of one elsewhere; of each capture."""
        module = hlo_module()
        for elsewhere, captures in ((True, 1), (False, 1), (True, 2)):
            with self.subTest(elsewhere=elsewhere, captures=captures):
                out, self.out = self.out, self.out / f"{elsewhere}{captures}"
                dump = self.out / "dump" if elsewhere else pathlib.Path(self.place.name) / "made"
                dump.mkdir(parents=True, exist_ok=True)
                (dump / "module_0003.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb").write_bytes(module)
                (dump / "module_0003.jit_step.before_optimizations.hlo.pb").write_bytes(b"none of ours")
                run = self.collect(0, 0, *(("profile", 2) if captures > 1 else ("xla", 3)), options=(
                    ("--hlo-dump=" + str(dump),) if elsewhere else ()) + (
                    ("--capture-range=cudaProfilerApi", "--capture-range-end=repeat") if captures > 1 else ()),
                    JVIEW_FINALIZE="100" if elsewhere else "0", FAKE_CUPTI_LATE="0")
                self.assertEqual(run.returncode, 0, run.stderr)
                if not elsewhere:
                    spool, = self.out.glob("plugins/profile/*/*.jvs")
                    dump.rename(self.out / f"hlo-{spool.parent.name}")
                    subprocess.run([BIN / "jview-collect", "finalize", spool], check=True, timeout=100)
                spaces = [path.read_bytes() for path in self.out.glob("plugins/profile/*/*.pb")]
                self.assertEqual([space.count(module) for space in spaces], [1] * captures, run.stderr)
                for space in spaces:
                    self.assertEqual((space.count(b"/host:metadata"), space.count(b"jit_step(3)")), (1, 1))
                self.assertEqual(self.files(), [".pb"] * captures)
                self.out = out

    def test_modules_later(self):
        """Captures keep the dump of their session, also where the launcher found no place for them."""
        made = pathlib.Path(self.place.name) / "module_0003.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb"
        made.write_bytes(hlo_module())
        for given, is_left in ((True, False), (True, True), (False, False)):
            with self.subTest(given=given, is_left=is_left):
                out, self.out = self.out, self.out / f"{given}{is_left}"
                self.out.mkdir(parents=True)
                dump = f"{self.out}/dump" if given else f"{self.out}/hlo-$(basename $JVIEW_SESSION)"
                if is_left:
                    (self.out / "plugins").touch()
                run = self.collect("-c", f"{PROGRAM} 0 0 profile 2; mkdir {dump}; cp {made} {dump}", program="sh", options=(
                    f"--hlo-dump={dump}" if given else "--hlo-dump", "--capture-range=cudaProfilerApi",
                    "--capture-range-end=repeat"), JVIEW_FINALIZE="0", FAKE_CUPTI_LATE="0")
                self.assertEqual(run.returncode, 0, run.stderr)
                if is_left:
                    (self.out / "plugins").unlink()
                run = subprocess.run([BIN / "jview-collect", "finalize", self.out], capture_output=True, text=True,
                                     timeout=100, env={**os.environ, "JVIEW_FINALIZE": "100"})
                self.assertEqual((run.returncode, self.files()), (0, [".pb", ".pb"]), run.stderr)
                self.assertEqual([path.read_bytes().count(hlo_module()) for path in self.out.glob("plugins/profile/*/*.pb")],
                                 [1, 1])
                self.out = out

    def take_dump(self, dump):
        """The user's files stay as they are, and what cannot be read is told once."""
        kept = dump / "module_0003.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb"
        kept.write_bytes(hlo_module())
        for number in (4, 5):
            os.symlink("nowhere", dump / f"module_000{number}.jit_f.gpu_after_optimizations.hlo.pb")
        before = kept.stat()
        run = self.collect(0, 0, "xla", 3, options=(f"--hlo-dump={dump}",), FAKE_CUPTI_LATE="0")
        space = max(self.out.glob("plugins/profile/*/*.pb"))
        self.assertEqual(space.read_bytes().count(hlo_module()), 1, run.stderr)
        self.assertEqual(run.stderr.count("not in the XPlane"), 1, run.stderr)
        self.assertIn(f"2 modules of {dump} are not in the XPlane: ", run.stderr)
        after = kept.stat()
        self.assertEqual((after.st_mtime_ns, after.st_ctime_ns), (before.st_mtime_ns, before.st_ctime_ns))

    def test_dump_elsewhere(self):
        """On the same disk, and on another, where there is one."""
        for place in (self.place.name, "/dev/shm"):
            if os.access(place, os.W_OK):
                with self.subTest(place), tempfile.TemporaryDirectory(dir=place) as dump:
                    self.take_dump(pathlib.Path(dump))

    def test_asked_not_to(self):
        for options, env in ((("--finalize=0",), {}), ((), {"JVIEW_FINALIZE": "0"})):
            self.collect(1, 10, options=options, **env)
            self.assertEqual(set(self.files()), {".jvs"})

    def test_later(self):
        """One spool by its name, and all of a directory."""
        for named in (True, False):
            self.collect(1, 10, JVIEW_FINALIZE="0")
            spool, = self.out.glob("plugins/profile/*/*.jvs")
            run = subprocess.run([BIN / "jview-collect", "finalize", spool if named else self.out], capture_output=True,
                                 text=True, timeout=100, env={**os.environ, "JVIEW_FINALIZE": "100"})
            self.assertEqual((run.returncode, set(self.files())), (0, {".pb"}), run.stderr)

    def test_as_extracted(self):
        """What a recording becomes at once says what jviewd makes of it by its index, of lines in order and of others; the
        same bytes each time; and nothing else is a recording."""
        place = pathlib.Path(self.place.name)
        for number, (words, env) in enumerate((
                ((4, 500), {}), ((4, 500), {"FAKE_CUPTI_NOISE": "1"}), ((0, 0, "xla", 3), {"FAKE_CUPTI_LATE": "0"}),
                ((0, 0, "graph", 3), {"FAKE_CUPTI_LATE": "0"}), (("steps", 500), {}), (("payloads",), {}), (("abort",), {}),
                (("around", 40000), {}))):  # the outermost range comes behind 160,000 that lie in it
            with self.subTest(words=words):
                self.out = place / f"profiles{number}"
                self.collect(*words, options=("--delay=0",), JVIEW_FINALIZE="0", **env,
                             program=PROGRAM if isinstance(words[0], int) else NVTX_PROGRAM)
                spool, = self.out.glob("plugins/profile/*/*.jvs")
                settle(self.out)
                spaces = []
                for words in (("extract", spool, "--cache-dir", place / f"cache{number}", "--format", "xplane", "-o"),
                              ("index", spool, "--xplane", "--out"), ("index", spool, "--xplane", "--out")):
                    run = subprocess.run([BIN / "jviewd", *words, place / f"{len(spaces)}.pb"], capture_output=True, text=True,
                                         timeout=120)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    spaces.append((place / f"{len(spaces)}.pb").read_bytes())
                self.assertEqual(spaces[1], spaces[2])
                (planes, about), extracted = meaning(spaces[1]), meaning(spaces[0])
                self.assertEqual(about, extracted[1])
                for plane, want in zip(planes, extracted[0], strict=True):
                    self.assertEqual(plane, want)
        run = subprocess.run([BIN / "jviewd", "index", place / "1.pb", "--xplane", "--out", place / "none.pb"],
                             capture_output=True, text=True, timeout=120)
        self.assertIn("it is not a spool of jview-collect", run.stderr)
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse([path for path in place.iterdir() if path.name.startswith("none.pb")])

    def test_why_not(self):
        """The reason is a sentence."""
        spool = pathlib.Path(self.place.name) / "bad.jvs"
        spool.write_text("no spool\n")
        run = subprocess.run([BIN / "jview-collect", "finalize", spool], capture_output=True, text=True, timeout=100)
        self.assertEqual((run.returncode, run.stdout, [spool]), (1, "", list(spool.parent.iterdir())))
        self.assertEqual(run.stderr, f"jview-collect: jviewd: {spool}: Text, not a profile. Of text, jviewd reads traces in JSON, HLO, and messages of memory that ran out.\n")

    def test_ended_half_way(self):
        """Who was ended when the XPlane had its name and the spool its own is followed by another; a file that is
        another's stays, and the spool with it."""
        self.collect(1, 10, JVIEW_FINALIZE="0")
        spool, = self.out.glob("plugins/profile/*/*.jvs")
        recorded, space = spool.read_bytes(), spool.with_suffix(".xplane.pb")
        for left, want in ((None, 0), ("itself", 0), ("another's", 1)):
            spool.write_bytes(recorded)
            if left == "another's":
                space.write_text(left)
            elif left is None:
                space.unlink(missing_ok=True)
            run = subprocess.run([BIN / "jview-collect", "finalize", spool], capture_output=True, text=True, timeout=100)
            self.assertEqual((run.returncode, self.files()), (want, [".jvs", ".pb"] if want else [".pb"]), run.stderr)
        self.assertIn(f"{space} is there already", run.stderr)
        self.assertEqual(space.read_text(), "another's")

    def test_no_jviewd(self):
        """The program's exit code is its own; the spool stays, and opens."""
        alone = pathlib.Path(self.place.name) / "alone"
        alone.mkdir()
        for name in ("jview-collect", "libjview-collector.so"):
            shutil.copy(BIN / name, alone)
        run = self.collect(4, 500, collector=alone / "jview-collect")
        self.assertEqual((run.returncode, self.files()), (0, [".jvs"]))
        self.assertIn("stays a spool, which jviewd can open: jviewd is not beside jview-collect", run.stderr)
        told = self.told()
        self.assertEqual({name: told[name] for name in NAMES}, made(4, 500))

    def test_slow(self):
        """Whatever takes too long is ended, and leaves nothing behind."""
        slow = pathlib.Path(self.place.name) / "slow"
        slow.mkdir()
        for name in ("jview-collect", "libjview-collector.so"):
            shutil.copy(BIN / name, slow)
        shutil.copy(SLOW_JVIEWD, slow / "jviewd")  # no script: whoever reads a spool may start no shell
        run = self.collect(1, 10, collector=slow / "jview-collect", options=("--finalize=0.3",))
        self.assertEqual((run.returncode, self.files()), (0, [".jvs"]), run.stderr)
        self.assertIn("it took more than the 0.3 s of --finalize", run.stderr)
        run = self.collect(1, 10, collector=slow / "jview-collect", SLOW_JVIEWD_FAILS="1")
        self.assertIn("jviewd can open: jviewd: no room", run.stderr)
        (slow / "jviewd").write_text("#!/bin/sh\necho ran\n")
        run = self.collect(1, 10, collector=slow / "jview-collect")
        self.assertIn("stays a spool", run.stderr)

    @unittest.skipUnless(XPROF, "JVIEW_XPROF_PYTHON names no Python with XProf")
    def test_xprof(self):
        self.collect(4, 500)
        space, = self.out.glob("plugins/profile/*/*.xplane.pb")
        run = subprocess.run([XPROF, "-c", ASK_XPROF, space], capture_output=True, text=True, timeout=200)
        self.assertEqual(run.returncode, 0, run.stderr)
        stats, viewer = map(json.loads, run.stdout.splitlines())
        names = [column["id"] for column in stats["cols"]]
        rows = [dict(zip(names, (cell["v"] for cell in row["c"]))) for row in stats["rows"]]
        self.assertEqual({row["kernel_name"]: (row["occurrences"], round(row["total_duration_us"] * 1000)) for row in rows},
                         made(4, 500))
        self.assertEqual({(row["registers_per_thread"], row["shmem_bytes"], row["grid_dim"], row["block_dim"]) for row in rows},
                         {(32, 3072, "8,4,2", "128,2,1")})
        drawn = collections.Counter(event["name"] for event in viewer["traceEvents"] if event.get("ph") == "X")
        self.assertEqual({name: drawn[name] for name in NAMES}, {name: count for name, (count, _) in made(4, 500).items()})
        self.assertEqual(drawn["cuLaunchKernel"], 2000)

    @unittest.skipUnless(XPROF, "JVIEW_XPROF_PYTHON names no Python with XProf")
    def test_xprof_modules(self):
        """Its viewers of memory and graph find the modules; it writes them beside the file when it is asked for its tools."""
        dump = pathlib.Path(self.place.name) / "dump"
        dump.mkdir()
        (dump / "module_0003.jit_copy.sm_9.0_gpu_after_optimizations.hlo.pb").write_bytes(whole_module())
        run = self.collect(0, 0, "xla", 3, options=(f"--hlo-dump={dump}",), FAKE_CUPTI_LATE="0")
        space, = self.out.glob("plugins/profile/*/*.xplane.pb")
        run = subprocess.run([XPROF, "-c", ASK_XPROF_MODULES, space], capture_output=True, text=True, timeout=200)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('"moduleName":"jit_copy"', run.stdout)
        self.assertIn("HloModule jit_copy", run.stdout)


if __name__ == "__main__":
    unittest.main()
