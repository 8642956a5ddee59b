#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that other tools write here and now, against the clock of the program that they watched. A tool that is not installed is
skipped by its name; $JVIEWD_TORCH_PYTHON and $JVIEWD_TF_PYTHON name a Python that has PyTorch, and one that has TensorFlow."""

import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import packages

if __name__ == "__main__":
    packages.need("viztracer")

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("JVIEWD") or os.environ.get("JVIEWD_DEV") or str(HERE.parents[1] / "build/release/jviewd")
PLAIN = str(HERE / "foreign_programs/plain.py")


def python_with(module, variable):
    """The Python that has it; a test without one is skipped."""
    if os.environ.get(variable):
        return os.environ[variable]
    if importlib.util.find_spec(module):
        return sys.executable
    raise unittest.SkipTest(f"no {module} here: ${variable} may name a Python that has it")


class Foreign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.truth = self.home / "truth.json"

    def run_program(self, *command):
        done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, timeout=600, cwd=self.home)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def own(self):
        return json.loads(self.truth.read_text())["step_s"]

    def ask(self, verb, file, *words):
        command = [PROGRAM, verb, str(file), *words, "--format", "json", "--cache-dir", str(self.home / "cache"), "--data-dir", str(self.home / "data")]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def named(self, file, **columns):
        words = [word for name, value in columns.items() for word in ("--" + name, value)]
        return {row["name"].split(" (")[0]: row for row in self.ask("top", file, "--by", "name", "--limit", "10000", *words)["rows"]}

    def close(self, said_ps, true_s, within=0.03):
        self.assertLessEqual(abs(said_ps / 1e12 - true_s), within * true_s, f"jviewd says {said_ps / 1e9:.3f} ms, the program {true_s * 1e3:.3f} ms")

    def steps_or_none(self, file, own):
        """What no mark says is unsaid, with a reason, or right."""
        step = self.ask("overview", file)["step"]
        if step["median_ps"] is None:
            self.assertTrue(step["reasons"])
        else:
            self.assertTrue(len(own) - 2 <= step["count"] <= len(own), step)
            self.close(step["median_ps"], statistics.median(own))


class VizTracer(Foreign):
    def test_calls_are_as_many_and_as_long_as_the_clock_says(self):
        file = self.home / "viztracer.json"
        self.run_program(sys.executable, "-m", "viztracer", "--quiet", "-o", file, PLAIN, self.truth)
        own, rows = self.own(), self.named(file)
        for name in ("train_step", "load", "compute", "time.sleep"):
            self.assertEqual(rows[name]["count"], 12, name)
        self.close(rows["train_step"]["total_ps"], sum(own))
        self.close(rows["train_step"]["total_ps"], (rows["load"]["total_ps"] + rows["compute"]["total_ps"]) / 1e12)
        self.assertLess(rows["train_step"]["self_ps"], 0.05 * rows["train_step"]["total_ps"])
        self.steps_or_none(file, own)


class PySpy(Foreign):
    def record(self, form, file):
        tool = shutil.which("py-spy", path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ.get("PATH", "")]))
        if tool is None:
            self.skipTest("no py-spy here")
        command = [tool, "record", "--format", form, "--rate", "400", "--idle", "--output", str(file), "--", sys.executable, PLAIN, str(self.truth)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        if "ermission" in done.stderr:
            self.skipTest("py-spy may not watch another process here")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_frames_that_begin_together_are_caller_and_callee(self):
        file = self.home / "pyspy.json"
        self.record("chrometrace", file)
        rows = self.named(file)
        callees = rows["load"]["total_ps"] + rows["compute"]["total_ps"]
        self.assertLess(rows["train_step"]["self_ps"], 0.1 * rows["train_step"]["total_ps"], rows["train_step"])
        self.close(rows["train_step"]["total_ps"], callees / 1e12, 0.1)
        self.assertEqual(rows["compute"]["self_ps"], rows["compute"]["total_ps"])
        self.assertEqual(rows["load"]["self_ps"], rows["load"]["total_ps"])
        self.close(rows["train_step"]["total_ps"], sum(self.own()), 0.15)  # it looks 400 times a second, and late on a loaded machine

    def test_its_speedscope_file_is_refused_by_name(self):
        file = self.home / "pyspy.speedscope.json"
        self.record("speedscope", file)
        command = [PROGRAM, "overview", str(file), "--cache-dir", str(self.home / "cache")]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("speedscope", done.stderr)


class Torch(Foreign):
    def record(self, kind):
        file = self.home / f"{kind}.pt.trace.json"
        self.run_program(python_with("torch", "JVIEWD_TORCH_PYTHON"), HERE / "foreign_programs/torch_steps.py", kind, file, self.truth)
        return file, self.own()

    def test_a_schedule_marks_the_steps(self):
        file, own = self.record("schedule")
        steps = self.ask("steps", file)
        self.assertEqual([row["step"] for row in steps["rows"]], list(range(2, 10)))
        counted = [time for row, time in zip(steps["rows"], own) if not row["warmup"]]
        self.close(self.ask("overview", file)["step"]["median_ps"], statistics.median(counted))
        for row, time in zip(steps["rows"], own):
            self.close(row["dur_ps"], time, 0.1)  # the clock is read beside prof.step(), which itself takes a moment

    def test_ops_of_a_step_are_those_of_the_program(self):
        file, _ = self.record("schedule")
        for step in ("3", "6"):
            rows = self.named(file, step=step)
            self.assertEqual(rows["aten::linear"]["count"], 2, step)
            self.assertEqual(rows["aten::tanh"]["count"], 1, step)

    def test_without_a_schedule_steps_are_unsaid_or_right(self):
        file, own = self.record("plain")
        self.assertEqual(self.named(file)["aten::tanh"]["count"], 12)
        self.steps_or_none(file, own)

    def test_updates_of_the_optimizer_are_steps_where_nothing_is_marked(self):
        """Each from the end of one to the end of the next: the first has no beginning."""
        for kind, sure in (("plain", "low"), ("loader", "medium"), ("summed", "medium"), ("two", "medium")):
            with self.subTest(kind):
                file, own = self.record(kind)
                steps = self.ask("steps", file)
                self.assertEqual((steps["rule"], len(steps["rows"])), ("optimizer", 11), steps["rule_text"])
                self.assertEqual(steps["confidence"], sure, steps["confidence_text"])
                self.close(self.ask("overview", file)["step"]["median_ps"], statistics.median(own[1:]))
                self.close(sum(row["dur_ps"] for row in steps["rows"]), sum(own[1:]))
                self.assertEqual(self.named(file, step="4")["aten::tanh"]["count"], 3 if kind == "summed" else 1)

    def test_named_ranges_are_as_long_as_the_clock_says(self):
        file, own = self.record("named")
        rows = self.named(file)
        self.assertEqual(rows["train_step"]["count"], 12)
        self.close(rows["train_step"]["total_ps"], sum(own))
        self.are_steps(file, "train_step", own)

    def test_numbered_ranges_are_the_steps(self):
        file, own = self.record("numbered")
        self.are_steps(file, "iteration", own)
        self.assertEqual(len(self.ask("steps", file, "--family", "Optimizer.step#SGD.step")["rows"]), 12)

    def are_steps(self, file, family, own):
        steps = self.ask("steps", file)
        self.assertEqual([row["step"] for row in steps["rows"]], list(range(12)))
        self.assertIn(f'"{family}"', json.dumps(self.ask("overview", file)).replace("\\", ""))
        for row, time in zip(steps["rows"], own):
            self.close(row["dur_ps"], time, 0.1)
        counted = [time for row, time in zip(steps["rows"], own) if not row["warmup"]]
        self.close(self.ask("overview", file)["step"]["median_ps"], statistics.median(counted))


class Keras(Foreign):
    def test_the_batches_profiled_are_the_steps(self):
        python = python_with("tensorflow", "JVIEWD_TF_PYTHON")
        logs = self.home / "logs"
        self.run_program(python, HERE / "foreign_programs/keras_fit.py", logs, self.truth)
        own, overview = self.own(), self.ask("overview", logs)
        self.assertTrue(len(own) - 1 <= overview["step"]["count"] <= len(own), overview["step"])
        self.close(overview["step"]["median_ps"], statistics.median(own), 0.1)  # callbacks of Keras lie between clock and step


if __name__ == "__main__":
    unittest.main(verbosity=2)  # which tool was skipped, too
