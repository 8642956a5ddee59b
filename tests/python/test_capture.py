#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module with a real JAX: what it records is what the program shows. Skipped, and said so, where there is no JAX."""

import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from unittest import mock

import packages

TOP = pathlib.Path(__file__).resolve().parents[2]
if importlib.util.find_spec("jviewd") is None:  # else the wheel is what is tested
    sys.path.insert(0, str(TOP / "api" / "python"))
    os.environ.setdefault("JVIEWD_BIN", os.environ.get("JVIEWD") or os.environ["JVIEWD_DEV"])
if __name__ == "__main__":
    packages.need("jax")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import jviewd  # noqa: E402

FOR_PYTHON_39 = jax.__version_info__ <= (0, 4, 30)  # the last one for it


def multiply(x):
    with jviewd.profile_scope("feed_forward"):
        return x @ x


class Recording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.home = pathlib.Path(cls.folder.name)
        cls.runs = cls.home / "runs"
        places = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(cls.home / "cache"), "XDG_DATA_HOME": str(cls.home / "data")})
        places.start()
        cls.addClassCleanup(places.stop)
        cls.step = jax.jit(multiply)
        cls.x = jnp.ones((256, 256))

    def told(self, *words):
        command = [jviewd.program(), *words, "--profile-dir", str(self.runs), "--format", "json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def test_what_the_program_says_stands_beside_its_profile(self):
        metrics = {"loss": jnp.float32(0.5), "diverged": float("nan")}  # as training loops have them
        with jviewd.profile_trace(self.runs, "step_1000", step=jnp.int32(1000), commit="c0ffee", tags=["nightly"], metrics=metrics) as directory:
            type(self).step(self.x).block_until_ready()
        self.assertEqual(directory, self.runs / "step_1000")
        about = json.loads(next(directory.rglob("jview.json")).read_text())
        self.assertEqual(about, {"name": "step_1000", "step": 1000, "commit": "c0ffee", "tags": ["nightly"], "metrics": {"loss": 0.5}})
        told = self.told("note", "show", "step_1000")["about"]
        self.assertEqual((told["step"], told["commit"]), (1000, "c0ffee"))

    def test_a_decorated_function_warms_up_and_has_its_steps(self):
        calls = []

        @jviewd.profile_function(self.runs, warmup_steps=2, profile_steps=3)
        def train(x):
            calls.append(1)
            return type(self).step(x)

        self.assertEqual(float(train(self.x)[0, 0]), 256.0)
        self.assertEqual(len(calls), 5)
        self.assertEqual(self.told("steps", "train")["row_count"], 3)

    def test_names_stand_on_the_host_and_on_the_ops(self):
        @jviewd.annotate("load_batch")
        def load():
            return jnp.ones((64, 64)) + 1

        def fresh(x):
            return multiply(x) * 2

        with jviewd.profile_trace(self.runs, "named"):
            load()
            with jviewd.profile_scope("unseen", enabled=False):
                jax.jit(jviewd.trace_function(fresh, "whole"))(self.x).block_until_ready()
        names = {row["name"] for row in self.told("top", "named", "--by", "name", "--limit", "10000")["rows"]}
        self.assertLessEqual({"load_batch", "whole"}, names)
        self.assertNotIn("unseen", names)
        if FOR_PYTHON_39:
            return  # its profiles of the CPU name no scopes
        scopes = " ".join(row["name"] for row in self.told("top", "named", "--by", "scope", "--limit", "10000")["rows"])
        self.assertIn("whole/feed_forward", scopes)

    def test_the_latest_is_what_was_just_recorded(self):
        with jviewd.profile_trace(self.runs, "newest"):
            type(self).step(self.x).block_until_ready()
        shown = jviewd.open_latest_profile(self.runs, ui="none")
        self.addCleanup(shown.stop)
        for _ in range(300):  # what was written this moment is listed once it is whole
            run = self.latest(shown)
            if run == "newest":
                return
            time.sleep(0.2)
        self.fail(f"the latest run is {run}")

    def latest(self, shown):
        try:
            with urllib.request.urlopen(shown.server.url + "api/run?run=latest", timeout=30) as reply:
                return json.load(reply)["name"]
        except urllib.error.HTTPError:
            return None

    @unittest.skipIf(FOR_PYTHON_39, f"the server of JAX {jax.__version__} keeps its recordings to itself")
    def test_a_program_that_serves_its_profiler_is_recorded_from_outside(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        text = (f"import jax, jax.numpy as jnp; jax.profiler.start_server({port}); f = jax.jit(lambda x: x @ x); x = jnp.ones((256, 256))\n"
                "print(f(x).sum(), flush=True)\nwhile True: f(x).block_until_ready()")
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as program:
            try:
                program.stdout.readline()
                command = [jviewd.program(), "capture", f"localhost:{port}", "--ms", "500", "--profile-dir", str(self.runs / "outside")]
                done = subprocess.run(command, check=False, capture_output=True, text=True)
            finally:
                program.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.told("top", "outside", "--by", "op")["rows"]
        self.assertTrue(any("dot_general" in row["scope"] and row["count"] > 1 for row in rows), rows)

    def test_timing_waits_for_the_device(self):
        timing = jviewd.benchmark_function(type(self).step, self.x, num_iterations=5, warmup=1)
        self.assertGreater(timing["min"], 0)


if __name__ == "__main__":
    unittest.main()
