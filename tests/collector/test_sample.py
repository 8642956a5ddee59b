#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where threads were: Python stacks of every Python that is installed here, read from outside, and the processor's
stacks where the system permits it. Which functions, files and lines, and what dominates; never how long. Where
it is forbidden the message says by what, and the program goes on."""

import collections
import ctypes
import errno
import json
import os
import pathlib
import platform
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
DUMP = os.environ["TRACE_DUMP"]
PROGRAM = pathlib.Path(__file__).with_name("sampled.py")
NATIVE = os.environ["SAMPLED_PROGRAM"]
REFUSED = 99  # the exit code where a sandbox lets nobody set a filter
ENOUGH = 60  # samples of a thread: a quarter and three quarters are told apart


def forbid(*calls):
    """What a container's seccomp profile does, to this process and all that it starts."""
    numbers = {"x86_64": {"perf_event_open": 298, "process_vm_readv": 310},
               "aarch64": {"perf_event_open": 241, "process_vm_readv": 270}}[platform.machine()]
    rows = [(0x20, 0, 0, 0)]  # the number of the call
    for call in calls:
        rows += [(0x15, 0, 1, numbers[call]), (0x06, 0, 0, 0x00050000 | errno.EPERM)]
    rows.append((0x06, 0, 0, 0x7fff0000))  # all others are allowed
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(REFUSED)


def version_of(python):
    run = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"],
                         capture_output=True, text=True)
    words = run.stdout.split()
    return words[0] if run.returncode == 0 and words[1:] == ["cpython"] else ""


def pythons():
    """One a version, and the system's own, which is linked without a libpython."""
    found = {}
    places = [sys.executable, "/usr/bin/python3",
              *map(str, sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")))]
    for python in map(os.path.realpath, places):
        version = version_of(python) if os.access(python, os.X_OK) else ""
        if version in ("3.10", "3.11", "3.12", "3.13", "3.14"):
            found.setdefault((version, python.startswith("/usr/bin")), python)
    return found


def lines_of(function):
    """The lines of a function of the program."""
    text = PROGRAM.read_text().splitlines()
    first = next(at for at, line in enumerate(text, 1) if line.strip().startswith(f"def {function}("))
    last = next((at for at, line in enumerate(text, 1) if at > first and line and not line.startswith(" ")), len(text) + 1)
    return range(first, last)


class Sample(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name) / "profiles"

    def tearDown(self):
        self.place.cleanup()

    def collect(self, *command, options=("--py-sample=200",), before=None):
        self.out = pathlib.Path(tempfile.mkdtemp(dir=self.place.name))
        run = subprocess.run([BIN / "jview-collect", "-o", self.out, "--system=0", *options, "--", *map(str, command)],
                             capture_output=True, text=True, timeout=120, preexec_fn=before)
        if before is not None and run.returncode == REFUSED:
            print("no seccomp filter can be set here: not tested", file=sys.stderr)
            self.skipTest("no seccomp filter can be set here")
        self.assertEqual(run.returncode, 0, run.stderr)
        if before is None and ("process_vm_readv says" in run.stderr or "ptrace_scope is" in run.stderr):
            self.skipTest(f"not permitted here, which was told: {run.stderr.splitlines()[0]}")
        return run

    def trace(self):
        spool, = self.out.glob("plugins/profile/*/*.jvs")
        return json.loads(subprocess.run([DUMP, spool], capture_output=True, text=True, check=True).stdout)

    def threads(self, trace):
        """Stacks by thread, as tuples of (function, line), outermost first."""
        threads = collections.defaultdict(list)
        for track, _, stack, values in trace["sampled"]:
            threads[track].append(([tuple(frame[:3]) for frame in stack], values))
        return threads

    def enough(self, *command, **options):
        """A busy machine takes fewer samples a second: then longer."""
        for steps in (15, 60, 240):
            run = self.collect(*command, steps, **options)
            if "perf_event_open says" in run.stderr:
                return run, None
            trace = self.trace()
            if len(trace["sampled"]) >= 2 * ENOUGH:
                break
        return run, trace

    def check_shares(self, trace, qualified):
        counts, waiting = collections.Counter(), 0
        step, wait = ("Trainer.step", "Condition.wait") if qualified else ("step", "wait")
        for stacks in self.threads(trace).values():
            for stack, values in stacks:
                names = [frame[0] for frame in stack]
                for function in ("heavy", "light"):
                    if function in names:
                        counts[function] += 1
                        at = names.index(function)
                        self.assertEqual(names[at - 3:at], ["main", "na\xc3\xafve", step])
                        self.assertEqual(stack[at][1], str(PROGRAM))
                        self.assertIn(stack[at][2], lines_of(function))
                if "waits" in names and wait in names:
                    waiting += 1
                    self.assertLess(values[1], max(values[0], 1), "a thread that waits does not run")
        self.assertGreater(counts["heavy"], counts["light"])
        self.assertGreater(counts["light"], 0)
        self.assertGreater(waiting, 0)

    def test_versions(self):
        for (version, is_own), python in pythons().items():
            with self.subTest(version=version, python=python):
                run, trace = self.enough(python, PROGRAM)
                self.check_shares(trace, version != "3.10")
                self.assertIn("samples of stacks of 1 process", run.stderr)
                self.assertEqual([kind[:2] for kind in trace["sample_types"]],
                                 [["Python time", "nanoseconds"], ["Python CPU time", "nanoseconds"]])
                self.assertFalse(list(self.out.glob(".jview-spool/*/*")), "nothing is left behind")

    def test_below(self):
        """A Python that the program starts, behind a shell; and the program's exit code is its own."""
        run = self.collect("sh", "-c", f'"{sys.executable}" "{PROGRAM}" 10; true')
        self.assertTrue(self.trace()["sampled"], run.stderr)

    def test_no_python(self):
        run = self.collect("sleep", "0.2")
        self.assertIn("neither the program nor its children run Python", run.stderr)

    def test_gate(self):
        """Outside of what is recorded nothing is looked at."""
        run = self.collect(sys.executable, PROGRAM, 3, options=("--py-sample", "--delay=3600"))
        self.assertNotIn("samples of stacks", run.stderr)

    def test_processor(self):
        """What is compiled with frame pointers has all its callers; who may not is told why."""
        run, trace = self.enough(NATIVE, options=("--sample=cpu", "--sampling-frequency=999"))
        self.assertEqual(run.stdout, "done\n")
        if trace is None:
            self.assertRegex(run.stderr, "perf_event_paranoid|seccomp|no perf events")
            print(f"not permitted here, which was told: {run.stderr.splitlines()[0]}", file=sys.stderr)
            return
        self.assertEqual([kind[:2] for kind in trace["sample_types"]], [["CPU time", "nanoseconds"]])
        counts = collections.Counter()
        for stacks in self.threads(trace).values():
            for stack, _ in stacks:
                names = [frame[0] for frame in stack]
                counts.update({"spends_most", "spends_some"} & set(names))
                if "spends_most" in names and "main" in names:
                    counts["whole"] += names.index("main") < names.index("spends_most")
        self.assertGreater(counts["spends_most"], counts["spends_some"])
        self.assertGreater(counts["spends_some"], 0)
        self.assertGreater(counts["whole"], 0)

    def test_short_lived(self):
        """What is started and never sampled takes no place, however much of it there is."""
        command = f'for i in $(seq 200); do /bin/true; done; kill -USR2 $PPID; exec "{NATIVE}" "$0"'
        run, trace = self.enough("sh", "-c", command, options=("--sample=cpu", "--capture-range=signal",
                                                               "--sampling-frequency=999"))
        if trace is not None:
            self.assertIn("samples of stacks of 1 process", run.stderr)
        run = self.collect("sh", "-c", "for i in $(seq 9); do /bin/true; done", options=("--sample=cpu", "--delay=3600"))
        self.assertFalse([*self.out.glob("**/*.jvs")], "nothing was sampled")

    def test_some_processors(self):
        """Where there are files for some processors only, it is told for how many."""
        if os.sysconf("SC_NPROCESSORS_ONLN") < 2:
            self.skipTest("one processor: all of them, or none")
        told = ""
        for files in range(8, 40):
            run = subprocess.run([BIN / "jview-collect", "-o", self.out, "--system=0", "--sample=cpu", "--", "true"],
                                 capture_output=True, text=True, timeout=60,
                                 preexec_fn=lambda most=files: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            told += run.stderr
            if "--sample=cpu samples " in told or ("records nothing" in told and "Too many open files" not in told):
                break
        if "Too many open files" not in told:
            self.skipTest(f"not permitted here: {told.splitlines()[0]}")
        self.assertRegex(told, r"samples [0-9]+ of [0-9]+ CPUs; .*Too many open files.*\n.* ulimit -n [0-9]+\n")

    def test_both(self):
        """Both samplers are one spool, and a sample is of one of them."""
        run, trace = self.enough(sys.executable, PROGRAM, options=("--py-sample", "--sample=cpu"))
        if trace is None:
            return
        self.assertEqual([kind[0] for kind in trace["sample_types"]], ["Python time", "Python CPU time", "CPU time"])
        for _, _, _, (python, _, processor) in trace["sampled"]:
            self.assertTrue(python == 0 or processor == 0)

    def test_forbidden(self):
        run = self.collect(NATIVE, 2, options=("--sample=cpu",), before=lambda: forbid("perf_event_open"))
        self.assertIn("--sample=cpu records nothing: perf_event_open says", run.stderr)
        self.assertRegex(run.stderr, "sysctl kernel.perf_event_paranoid=2|docker run --cap-add PERFMON")
        self.assertEqual(run.stdout, "done\n")
        run = self.collect(sys.executable, PROGRAM, 5, before=lambda: forbid("process_vm_readv"))
        self.assertIn("process_vm_readv says", run.stderr)
        self.assertIn("--cap-add SYS_PTRACE", run.stderr)
        self.assertNotIn("samples of stacks", run.stderr)

    def test_finalized(self):
        """As XPlane, samples are a line of events beside their thread's."""
        self.out = pathlib.Path(tempfile.mkdtemp(dir=self.place.name))
        run = subprocess.run([BIN / "jview-collect", "-o", self.out, "--system=0", "--py-sample=200", "--finalize=300",
                              "--", sys.executable, PROGRAM, "20"], capture_output=True, text=True, timeout=400)
        self.assertEqual(run.returncode, 0, run.stderr)
        space, = self.out.glob("plugins/profile/*/*.xplane.pb")
        dump = subprocess.run([DUMP, space], capture_output=True, text=True, check=True)
        names = {name[0] for track in json.loads(dump.stdout)["tracks"] if track["line"].endswith(": Python time")
                 for name in track["names"]}
        self.assertLessEqual({"main", "heavy", "waits"}, names)

    def test_wrong_words(self):
        for value in ("0", "1001", "x", ""):
            run = subprocess.run([BIN / "jview-collect", f"--py-sample={value}", "true"], capture_output=True, text=True,
                                 timeout=60)
            self.assertEqual(run.returncode, 2, value)
            self.assertIn("--py-sample takes 1 to 1000", run.stderr)
        for words, said in (("--sample=gpu", "--sample takes cpu or none"),
                            ("--sampling-frequency=0", "--sampling-frequency takes 1 to 10000")):
            run = subprocess.run([BIN / "jview-collect", words, "true"], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
