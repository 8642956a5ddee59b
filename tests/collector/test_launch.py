#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jview-collect is asked for: when it records, what, where to, and how it is turned while it runs."""

import collections
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from settled import settle

BIN = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PROGRAM = os.environ["NVTX_PROGRAM"]
COLLECT = BIN / "jview-collect"


class Launch(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.place.name) / "profiles"

    def tearDown(self):
        self.place.cleanup()

    def command(self, *options, words=("steps", 10)):
        return [COLLECT, "-o", self.out, *map(str, options), "--", PROGRAM, *map(str, words)]

    def collect(self, *options, words=("steps", 10), env=None):
        return subprocess.run(self.command(*options, words=words), capture_output=True, text=True, timeout=120,
                              env={**os.environ, **(env or {})})

    def ask(self, *words, out=None):
        settle(out or self.out)
        run = subprocess.run([BIN / "jviewd", *words, "--profile-dir", out or self.out, "--cache-dir",
                              pathlib.Path(self.place.name) / "cache", "--format", "json"],
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def dumps(self):
        """Each spool, by session, as its decoder reads it."""
        for spool in sorted(self.out.glob("plugins/profile/*/*.jvs")):
            run = subprocess.run([os.environ["TRACE_DUMP"], spool], capture_output=True, text=True, check=True, timeout=60)
            yield json.loads(run.stdout)

    def sessions(self):
        """What each holds: names, and how often."""
        sums = [collections.Counter() for _ in self.out.glob("plugins/profile/*/*.jvs")]
        for names, dump in zip(sums, self.dumps()):
            for track in dump["tracks"]:
                names.update({name: count for name, count, *_ in track["names"]})
        return sums

    def names(self, out=None):
        if len(list((out or self.out).glob("plugins/profile/*"))) > 1:
            return dict(sum(self.sessions(), collections.Counter()))
        table = self.ask("top", "latest", "--by", "name", "--limit", "1000", out=out)
        return {row["name"]: row["count"] for row in table["rows"]}

    def notes(self):
        return {note["kind"]: note for note in self.ask("overview", "latest")["notes"]}

    def ctl(self, verb, place=None):
        run = subprocess.run([COLLECT, "ctl", verb, place or self.out], capture_output=True, text=True, timeout=60)
        return run, dict(line.split(None, 1) for line in run.stdout.splitlines())

    def status(self, **wanted):
        """Waits until the session that runs says so."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            run, said = self.ctl("status")
            if run.returncode == 0 and all(test(said[key]) for key, test in wanted.items()):
                return said
            time.sleep(0.05)
        self.fail(f"never {list(wanted)}: {run.stdout} {run.stderr}")

    def test_nvtx(self):
        """Within the range, the range with it, as often as asked for; the inside of `load` is itself."""
        for end, count in (("stop", 1), ("repeat:3", 3), ("repeat", 10)):
            with self.subTest(end):
                out, self.out = self.out, self.out / end.replace(":", "")
                run = self.collect("--capture-range", "nvtx", "--nvtx-capture", "step@train",
                                   "--capture-range-end", end)
                self.assertEqual(run.returncode, 0, run.stderr)
                wanted = {name: count for name in ("step", "load", "compute")}
                wanted.update({f"capture {number + 1}": 1 for number in range(count)})
                self.assertEqual(self.names(), wanted)
                self.assertEqual(self.notes()["captures"]["count"], 1)
                self.out = out

    def test_sessions(self):
        """Each capture is a session and a run of its own, of all processes that told something then."""
        shell = f"{PROGRAM} steps 3; {PROGRAM} steps 2"
        run = subprocess.run([COLLECT, "-o", self.out, "--capture-range=nvtx", "-p", "step", "--capture-range-end=repeat",
                              "sh", "-c", shell], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("15 ranges of 2 processes", run.stderr)
        self.assertIn("in 5 captures", run.stderr)
        self.assertEqual(self.sessions(), [{"step": 1, "load": 1, "compute": 1, f"capture {number + 1}": 1}
                                           for number in range(5)])
        spools = {path.relative_to(self.out / "plugins/profile").parts for path in self.out.glob("plugins/profile/*/*")}
        self.assertEqual((len(spools), len({session for session, _ in spools})), (5, 5))
        self.assertFalse(list(self.out.glob(".jview-spool/*")), "nothing is left behind")

    def test_signal_once(self):
        """Sent to the launcher alone, or to its whole group: the program gets it once."""
        program = ("import signal, sys\n"
                   "signal.signal(signal.SIGUSR1, lambda *_: print('got', flush=True))\n"
                   "signal.signal(signal.SIGUSR2, lambda *_: sys.exit(0))\n"
                   "print('ready', flush=True)\n"
                   "while True:\n    signal.pause()\n")
        for send in (os.kill, os.killpg):
            with self.subTest(send.__name__):
                run = subprocess.Popen([COLLECT, "-q", "--system=0", "-o", self.out, "--", sys.executable, "-c", program],
                                       stdout=subprocess.PIPE, text=True, start_new_session=True)
                said = [run.stdout.readline()]
                send(run.pid, signal.SIGUSR1)
                said.append(run.stdout.readline())
                os.kill(run.pid, signal.SIGUSR2)  # behind it: what came twice would be told by now
                said += run.stdout.read().splitlines(True)
                self.assertEqual((run.wait(60), said), (0, ["ready\n", "got\n"]))
                run.stdout.close()

    def test_signal_of_terminal(self):
        """^C reaches the program by itself; what is sent to the launcher afterwards goes on to it."""
        program = ("import signal, sys\n"
                   "signal.signal(signal.SIGINT, lambda *_: print('got', flush=True))\n"
                   "signal.signal(signal.SIGUSR2, lambda *_: sys.exit(0))\n"
                   "print('ready', flush=True)\n"
                   "while True:\n    signal.pause()\n")
        outside, inside = os.openpty()
        run = subprocess.Popen([COLLECT, "-q", "--system=0", "-o", self.out, "--", sys.executable, "-c", program],
                               stdin=inside, stdout=subprocess.PIPE, text=True, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        said = [run.stdout.readline()]
        os.write(outside, b"\x03")
        said.append(run.stdout.readline())
        status = pathlib.Path(f"/proc/{run.pid}/status")
        while "\nShdPnd:\t0000000000000000\n" not in status.read_text():
            time.sleep(0.01)  # two that wait would be one
        os.kill(run.pid, signal.SIGINT)
        os.kill(run.pid, signal.SIGUSR2)
        said += run.stdout.read().splitlines(True)
        self.assertEqual((run.wait(60), said), (0, ["ready\n", "got\n", "got\n"]))
        run.stdout.close()
        os.close(outside)
        os.close(inside)

    def test_second_profiler(self):
        """Another profiler's sign in the environment is told, where CUDA is asked for."""
        for options, is_told in (((), True), (("-t", "nvtx"), False)):
            run = self.collect(*options, words=("steps", 1), env={"NSYS_PROFILING_SESSION_ID": "7"})
            self.assertEqual((run.returncode, "another profiler seems" in run.stderr), (0, is_told), run.stderr)

    def test_other_profile(self):
        """What another profiler wrote meanwhile is told; what was there before, or is of a jview-collect, is not."""
        there = self.out / "plugins/profile"
        for name, text in (("before", b"x"), ("meanwhile", b"x"), ("ours", b"jview_collect_version")):
            (there / name).mkdir(parents=True)
            (pathlib.Path(self.place.name) / name).write_bytes(text)
        shutil.copy(pathlib.Path(self.place.name) / "before", there / "before/h.xplane.pb")
        shell = "; ".join(f"cp {self.place.name}/{name} {there}/{name}/h.xplane.pb" for name in ("meanwhile", "ours"))
        run = subprocess.run([COLLECT, "-o", self.out, "sh", "-c", f"{shell}; {PROGRAM} steps 2"], capture_output=True,
                             text=True, timeout=60)
        told = [line for line in run.stderr.splitlines() if "another profiler" in line]
        self.assertEqual((len(told), "profile/meanwhile" in told[0]), (1, True), run.stderr)

    def environment(self, *options, **env):
        """What the program inherits, and what was told."""
        known = {name: value for name, value in os.environ.items() if not name.startswith(("XLA_", "JAX_"))}
        run = subprocess.run([COLLECT, "-q", "--system=0", "-o", self.out, *options, "env", "-0"], capture_output=True,
                             text=True, timeout=60, env={**known, **env})
        self.assertEqual(run.returncode, 0, run.stderr)
        return dict(line.split("=", 1) for line in run.stdout.split("\0") if line), run.stderr

    def test_hlo_dump(self):
        """XLA's flags are added to what is set, and never in place of it."""
        self.out = self.out / 'with "a blank'
        added = r'--xla_dump_to="(.*/with \\"a blank/hlo-[0-9_]{19})" --xla_dump_hlo_as_proto$'
        self.assertRegex(self.environment("--hlo-dump")[0]["XLA_FLAGS"], "^" + added)
        self.assertRegex(self.environment("--hlo-dump", XLA_FLAGS="--xla_a=1")[0]["XLA_FLAGS"], "^--xla_a=1 " + added)
        flags = self.environment("--hlo-dump=own-%q{RANK}", XLA_FLAGS=" --xla_dump_hlo_as_proto=false", RANK="3")[0]
        self.assertEqual(flags["XLA_FLAGS"], f' --xla_dump_hlo_as_proto=false --xla_dump_to="{os.getcwd()}/own-3"')
        for mine, words in (("--xla_b --xla_dump_to=/x", "already sets a dump directory"), ("/etc/flags", "names a file")):
            found, told = self.environment("--hlo-dump", XLA_FLAGS=mine)
            self.assertEqual(found["XLA_FLAGS"], mine)
            self.assertIn(words, told)
        self.assertNotIn("XLA_FLAGS", self.environment()[0])

    def test_py_locations(self):
        limit, full = "JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "JAX_INCLUDE_FULL_TRACEBACKS_IN_LOCATIONS"
        found, _ = self.environment("--py-locations")
        self.assertEqual((found[limit], found[full]), ("-1", "1"))
        found, _ = self.environment("--py-locations", **{limit: "7"})
        self.assertEqual((found[limit], found[full]), ("7", "1"))
        self.assertNotIn(limit, self.environment()[0])

    def test_short_domain(self):
        """Names of four letters, as NCCL's."""
        run = self.collect("--nvtx-domain-include", "NCCL", words=("domains", 3))
        self.assertEqual(self.names(), {"of NCCL": 3}, run.stderr)

    def test_around(self):
        """Ranges that began unseen, while nothing is recorded, end none of those that are."""
        run = self.collect("--capture-range", "nvtx", "--nvtx-capture", "open", "--capture-range-end", "repeat",
                           words=("around", 4))
        self.assertEqual(self.names(), {"open": 4, "within": 4, **{f"capture {number + 1}": 1 for number in range(4)}},
                         run.stderr)
        notes = [note for dump in self.dumps() for note in dump["notes"]]
        self.assertEqual(sum(count for kind, count, _ in notes if kind == "unbalanced-ranges"), 1)

    def test_nvtx_other_domain(self):
        run = self.collect("--capture-range", "nvtx", "--nvtx-capture", "step@validate")
        self.assertIn("nothing was recorded", run.stderr)

    def test_steps(self):
        self.collect("--capture-range=steps=3:5")
        self.assertEqual(self.names(), {"step": 3, "load": 3, "compute": 3, "capture 1": 1})

    def test_domains(self):
        self.collect("--nvtx-domain-include", "train,io")
        self.assertEqual(self.names(), {"step": 10})
        self.out = self.out / "others"
        self.collect("--nvtx-domain-exclude", "train")
        self.assertEqual(self.names(), {"load": 10, "compute": 10})

    def test_trace(self):
        run = self.collect("-t", "cuda,osrt,nvtx")
        self.assertIn("-t osrt is not collected", run.stderr)
        self.assertEqual(self.names()["step"], 10)
        self.assertIn("nothing was recorded", self.collect("-t", "none").stderr)
        for words, set_ones in (("cuda,nvtx", 2), ("nvtx", 1)):
            run = subprocess.run([COLLECT, "-o", self.out, "-t", words, "env"], capture_output=True, text=True,
                                 timeout=60)
            self.assertEqual(run.stdout.count("_INJECTION64_PATH="), set_ones)

    def test_signal(self):
        """SIGUSR2 to the launcher turns it on and off, and never reaches the program."""
        run = subprocess.Popen(self.command("--capture-range", "signal", words=("steps", 4000)),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.status(processes=lambda count: count == "1")
        for opens in (True, False):
            run.send_signal(signal.SIGUSR2)
            said = self.status(state=lambda state: state == ("recording" if opens else "stopped"))
            self.assertEqual(said["captures"], "1")
            time.sleep(0.3)
        self.assertEqual(run.wait(timeout=120), 0, run.communicate())
        run.communicate()
        names = self.names()
        self.assertEqual(names["capture 1"], 1)
        self.assertTrue(0 < names["step"] < 4000, names)

    def test_ctl(self):
        run = subprocess.Popen(self.command("--delay", 3600, words=("steps", 8000)),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = self.status(processes=lambda count: count == "1", state=lambda state: state == "waiting")
        session = self.out / ".jview-spool" / said["session"]
        self.assertEqual(self.ctl("start")[1]["state"], "recording")
        self.status(ranges=lambda count: int(count) > 0, bytes=lambda count: int(count) > 0)
        self.assertEqual(self.ctl("stop", session)[1]["state"], "stopped")
        self.assertEqual(self.ctl("toggle")[1]["captures"], "2")
        time.sleep(0.3)  # the program looks at the switch every 50 ms
        self.assertEqual(self.ctl("toggle")[1]["state"], "stopped")
        self.assertEqual(self.ctl("restart")[0].returncode, 2)
        self.assertEqual(run.wait(timeout=120), 0)
        run.communicate()
        self.assertEqual({name for name in self.names() if name.startswith("capture")}, {"capture 1", "capture 2"})
        after = self.ctl("status")[0]
        self.assertEqual(after.returncode, 1)
        self.assertIn("no session is running", after.stderr)

    def test_if(self):
        for text, holds in (("RANK==0", True), ("RANK != 0", False), ("RANK==00 && HOST!='b'", True),
                            ("!(RANK==0) || HOST", True), ("NONE", False), ("!NONE && (HOST=='a')", True),
                            ("RANK", False), ("RANK==\"0x\"", False)):
            with self.subTest(text):
                run = self.collect("--if", text, words=("steps", 1), env={"RANK": "0", "HOST": "a"})
                self.assertEqual((run.returncode, run.stdout), (0, "attached\n" if holds else "alone\n"), run.stderr)
        for text in ("RANK=0", "(RANK==0", "RANK==", "", "'", "$(id)", "!" * 100 + "RANK"):
            with self.subTest(text):
                self.assertEqual(self.collect("--if", text).returncode, 2)

    def test_output(self):
        self.out = self.out / "%h-%p-%q{RANK}-%%"
        run = self.collect(env={"RANK": "3"})
        made = [path.name for path in self.out.parent.iterdir()]
        self.assertRegex(made[0], f"^{socket.gethostname()}-[0-9]+-3-%$", run.stderr)
        for name in ("%x", "%q{NO_SUCH_VARIABLE}", "%q", "%"):
            self.out = self.out.parent / name
            self.assertEqual(self.collect().returncode, 2)

    def test_max_spool(self):
        """What is beyond is lost, counted, and told."""
        self.collect("--max-spool", "1K", "--flush-interval", "0.05", words=("steps", 2000))
        note = self.notes()["events-dropped"]
        self.assertIn("--max-spool", note["message"])
        self.assertEqual(sum(self.names().values()) + note["count"], 6000)

    def test_report(self):
        """What it says is what is there: counts, losses by cause, the ranges that took longest."""
        run = self.collect(words=("steps", 30))
        self.assertIn("90 ranges of 1 process", run.stderr)
        self.assertRegex(run.stderr, r"(?s)top .* 30 x  step\n.* 30 x  load\n.* 30 x  compute\n")
        self.assertIn(f"jviewd --profile-dir {self.out.resolve()}", run.stderr)
        run = self.collect(words=("deep", 150))
        self.assertIn("lost     22: more open at once than are kept", run.stderr)
        run = self.collect("--max-spool", "1K", "--flush-interval", "0.05", words=("steps", 500))
        self.assertRegex(run.stderr, r"lost     \d+: beyond --max-spool\n           a larger disk, or a --capture-range\n")
        self.assertEqual(self.collect("-q").stderr, "")

    def on_terminal(self, *options, is_alone):
        """What a terminal shows of it, with the program's output there too, or not."""
        outside, inside = os.openpty()
        run = subprocess.Popen(self.command(*options, words=("steps", 400)), start_new_session=True, stdin=inside,
                               stdout=subprocess.DEVNULL if is_alone else inside, stderr=inside,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(inside)
        shown = b""
        try:
            while part := os.read(outside, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
        os.close(outside)
        self.assertEqual(run.wait(60), 0)
        return shown.decode()

    def test_progress(self):
        """A terminal is told when the recording begins; what the program says there is never wiped."""
        for is_alone in (True, False):
            shown = self.on_terminal(is_alone=is_alone)
            self.assertIn("ctl status", shown)
            self.assertRegex(shown, r"recording, [0-9.]+ s, \d.* ranges, ")
            self.assertNotIn("\033[K", shown)
            self.assertIn("1200 ranges of 1 process", shown)
        self.assertNotIn("recording", self.on_terminal("-q", is_alone=True))
        self.assertNotIn("recording", self.collect(words=("steps", 400)).stderr)

    def test_report_of_nothing(self):
        run = self.collect("--capture-range", "nvtx", "--nvtx-capture", "epoch@train")
        for text in ("never opened: waited for epoch@train", "met were step, load, compute\n"):
            self.assertIn(text, run.stderr)
        run = self.collect("--capture-range", "steps=50:60")
        self.assertIn("waited for step, the 50. of them", run.stderr)
        run = self.collect("--capture-range", "signal")
        self.assertIn("waits for SIGUSR2", run.stderr)
        run = subprocess.run([COLLECT, "-o", self.out, "true"], capture_output=True, text=True, timeout=60)
        self.assertIn("no process loaded the collector", run.stderr)

    def start_and_kill(self):
        """A launcher that is killed, and a program that goes on."""
        run = subprocess.Popen(self.command(words=("steps", 6000)), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        said = self.status(ranges=lambda count: int(count) > 0)
        run.kill()
        run.wait()
        return int(said["program"])

    def finalize(self):
        return subprocess.run([COLLECT, "finalize", self.out], capture_output=True, text=True, timeout=60)

    def test_finalize(self):
        """Spools of a killed launcher are moved, but never under a process that still writes."""
        program = self.start_and_kill()
        run = self.finalize()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 processes still record", run.stdout)
        self.assertFalse((self.out / "plugins").exists())
        os.kill(program, signal.SIGKILL)
        until = time.monotonic() + 60
        while "moved      1 spools" not in run.stdout and time.monotonic() < until:
            time.sleep(0.1)
            run = self.finalize()
        self.assertIn("moved      1 spools", run.stdout)
        self.assertFalse(list(self.out.glob(".jview-spool/*")), "nothing is left behind")
        self.assertGreater(self.names()["step"], 0)
        self.assertEqual(self.finalize().returncode, 0)
        self.out = self.out / "none"
        self.assertEqual(self.finalize().returncode, 1)

    def test_wait(self):
        """A process that outlives the program: its spool stays, or is waited for."""
        for wait, ranges in (("primary", None), ("all", 1500)):
            with self.subTest(wait):
                self.out = self.out.parent / wait
                shell = f"{PROGRAM} steps 500 >/dev/null 2>&1 & sleep 0.1; until [ -e {self.out}/.jview-spool/*/*.jvs ]; do sleep 0.05; done"
                run = subprocess.run([COLLECT, "-o", self.out, "--wait", wait, "sh", "-c", shell],
                                     capture_output=True, text=True, timeout=120)
                if ranges:
                    self.assertIn(f"{ranges} ranges of 1 process", run.stderr)
                else:
                    self.assertIn("1 process is still being recorded", run.stderr)

    def test_verb(self):
        """`jviewd collect` is jview-collect, with its exit code; where that is missing it is said."""
        run = subprocess.run([BIN / "jviewd", "collect", "-o", self.out, PROGRAM, "steps", "5"], capture_output=True,
                             text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout), (0, "attached\n"))
        self.assertIn("15 ranges", run.stderr)
        alone = pathlib.Path(self.place.name) / "jviewd"
        shutil.copy(BIN / "jviewd", alone)
        run = subprocess.run([alone, "collect", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 127)
        self.assertIn("must be installed beside", run.stderr)

    def test_shutdown(self):
        """A capture, or a time, behind which the program is ended; what was told by then is there."""
        for options, code, steps in ((("--capture-range=nvtx", "-p", "step", "--capture-range-end=stop-shutdown"), 143, 1),
                                     (("--capture-range=steps=2:3", "--capture-range-end=repeat-shutdown:1"), 143, 2),
                                     (("--capture-range=steps=3:4", "--kill=15"), 143, 2),
                                     (("--duration=0.5", "--kill=sigkill"), 137, None)):
            with self.subTest(options):
                out, self.out = self.out, self.out / options[-1][2:]
                run = self.collect(*options, words=("steps", 100000))
                self.assertEqual(run.returncode, code, run.stderr)
                names = self.names()
                self.assertEqual(names["step"], steps or names["step"])
                self.out = out
        self.assertEqual(self.collect("--duration=0.2", words=("steps", 100)).returncode, 0)
        run = self.collect("--capture-range=steps=1:1", "--capture-range-end=stop-shutdown", "--kill=none", words=("steps", 50))
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_shutdown_of_shell(self):
        """Below a shell the one that records is ended, too, and the launcher sees its end."""
        run = subprocess.run([COLLECT, "-o", self.out, "--capture-range=steps=2:3", "--capture-range-end=stop-shutdown", "--",
                              "sh", "-c", f"{PROGRAM} steps 100000; true"], capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 143, run.stderr)
        self.assertNotIn("still being recorded", run.stderr)
        self.assertEqual(self.names()["step"], 2)

    def test_words_of_nsys(self):
        """Scripts' words that mean nothing here are named, and no error; variables go to the program."""
        found, told = self.environment("-f", "true", "--stats=true", "--backtrace", "none", "-e", "A_ONE=1,A_TWO=b=c",
                                       "--env-var=A_THREE=3")
        self.assertEqual((found["A_ONE"], found["A_TWO"], found["A_THREE"]), ("1", "b=c", "3"))
        self.assertEqual([line.split()[1] for line in told.splitlines()], ["--stats", "--backtrace"])

    def test_wrong_words(self):
        for words in (("--capture-range", "nvtx"), ("--capture-range", "x"),
                      ("--capture-range", "steps=5:3"), ("--capture-range-end", "repeat:0"),
                      ("--nvtx-capture", "step"), ("-t", "nvtz"), ("--max-spool", "-1"), ("--max-spool", "1X"),
                      ("--flush-interval", "0"), ("--wait", "some"), ("--hlo-dump=",), ("--kill", "9x"), ("-e", "A"), ("--capture-range-end", "repeat-shutdown"), ("--capture-range", "signal", "--delay", "1"),
                      ("--nvtx-domain-include", "a", "--nvtx-domain-exclude", "b")):
            with self.subTest(words):
                run = self.collect(*words)
                self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
