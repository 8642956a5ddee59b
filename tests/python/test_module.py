#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module against the real program: the wheel where one is installed, else JVIEWD_DEV; the samples are what it shows."""

import contextlib
import http.server
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = TOP / "tests" / "samples"
if importlib.util.find_spec("jviewd") is None:  # else the wheel is what is tested
    os.environ.setdefault("JVIEWD_BIN", os.environ.get("JVIEWD") or os.environ["JVIEWD_DEV"])
    os.environ["PYTHONPATH"] = str(TOP / "api" / "python")
    sys.path.insert(0, os.environ["PYTHONPATH"])

import jviewd  # noqa: E402
from jviewd import notebook, server  # noqa: E402


def get(url):
    with urllib.request.urlopen(url, timeout=30) as reply:
        return json.load(reply)


class Looking(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        home = pathlib.Path(self.folder.name)
        places = {"XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data"), "JUPYTER_RUNTIME_DIR": str(home)}
        patched = mock.patch.dict(os.environ, places)
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(self.stop_all)

    def stop_all(self):
        for own in server._own.values():
            own.stop()
        server._own.clear()

    def test_a_server_is_started_once_and_found_by_others(self):
        shown = jviewd.view_profile(SAMPLES, ui="none")
        again = jviewd.view_profile(SAMPLES, ui="none", run="step_500")
        self.assertIs(again.server, shown.server)
        found = jviewd.server._find(str(SAMPLES))
        self.assertEqual(found.url, shown.url.split("?")[0])
        self.assertIsNone(found.process)
        found.stop()  # somebody else's: goes on
        names = {run["name"] for run in get(shown.url + "api/runs")["runs"]}
        self.assertEqual(names, {"step_250", "step_500", "step_1000", "step_1500"})
        shown.stop()
        self.assertIsNone(jviewd.server._find(str(SAMPLES)))
        self.assertTrue(get(jviewd.view_profile(SAMPLES, ui="none").url + "api/runs")["runs"])

    def test_the_latest_run_is_the_newest(self):
        shown = jviewd.open_latest_profile(SAMPLES, ui="none")
        self.assertIn("run=latest", shown.url)
        while any(run["state"] != "ready" for run in get(shown.server.url + "api/runs")["runs"]):
            time.sleep(0.1)  # what they tell of their time decides
        run = get(shown.url.replace("?", "api/run?"))
        newest = get(shown.server.url + "api/runs")["runs"][0]
        self.assertEqual(run["id"], newest["id"])

    def test_list_and_extract(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertIsNone(jviewd.view_profile(SAMPLES, list_only=True))
        self.assertIn("step_1000", out.getvalue())
        with contextlib.redirect_stdout(io.StringIO()):
            into = jviewd.view_profile(SAMPLES / "step_1000", extract=pathlib.Path(self.folder.name, "out"))
        traces = [json.loads(path.read_text()) for path in into.rglob("*.json")]
        self.assertTrue(any(trace["traceEvents"] for trace in traces))

    def test_without_a_directory_the_environment_names_one(self):
        with mock.patch.dict(os.environ, {"PROFILE_DIR": "/nowhere", "XAX_PROFILE_DIR": str(SAMPLES)}):
            self.assertEqual(len(get(jviewd.view_profile(ui="none").url + "api/runs")["runs"]), 4)
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, TOP)
        with mock.patch.dict(os.environ):
            os.environ.pop("XAX_PROFILE_DIR", None), os.environ.pop("PROFILE_DIR", None)
            with self.assertRaisesRegex(FileNotFoundError, "XAX_PROFILE_DIR"):
                jviewd.view_profile(ui="none")

    def test_what_cannot_be_is_said(self):
        with self.assertRaisesRegex(ValueError, "builtin, perfetto"):
            jviewd.view_profile(SAMPLES, ui="xprof")
        with mock.patch.dict(os.environ, {"JVIEWD_BIN": str(SAMPLES)}), self.assertRaisesRegex(jviewd.NotInstalled, "JVIEWD_BIN"):
            jviewd.program("jviewd")  # a directory may be entered, but is no program
        failing = pathlib.Path(self.folder.name, "failing")
        failing.write_text("#!/bin/sh\nexec false\n")
        failing.chmod(0o755)
        with mock.patch.dict(os.environ, {"JVIEWD_BIN": str(failing)}), self.assertRaisesRegex(jviewd.NotInstalled, "no program"):
            jviewd.program("jviewd")  # else this package's own command would run itself for ever
        with mock.patch.dict(os.environ, {"JVIEWD_CONFIG": self.folder.name + "/absent"}), self.assertRaisesRegex(jviewd.ServerFailed, "absent"):
            server.serve(SAMPLES)

    def test_a_name_stays_a_name_in_html(self):
        shown = jviewd.View(jviewd.Server("http://localhost:1/"), run='"><script>alert(1)</script>')
        bundle = shown._repr_mimebundle_()
        self.assertNotIn("<script", bundle["text/html"])
        self.assertNotIn('"><', bundle["text/html"].replace('"></iframe>', "").replace('noopener">Open', ""))
        self.assertIn("embed=1", bundle["text/html"])
        self.assertEqual(bundle["text/plain"], repr(shown))

    def announce(self, **told):
        path = pathlib.Path(self.folder.name, f"jpserver-{os.getppid()}.json")
        path.write_text(json.dumps(told))
        self.addCleanup(path.unlink)

    def test_the_notebooks_own_pages_may_frame_it(self):
        self.announce(url="http://localhost:8899/", base_url="/")
        around = notebook.notebook()
        self.assertEqual(around.origins, ("http://localhost:8899", "http://127.0.0.1:8899"))
        plain = jviewd.view_profile(SAMPLES, ui="none")
        self.assertFalse(plain.server.lets_frame(around.origins))
        framed = server.serve(SAMPLES, around.origins, around.hosts)
        self.assertNotEqual(framed.url, plain.server.url)
        self.assertTrue(framed.lets_frame(around.origins))

    def test_a_hub_is_named_to_the_server(self):
        self.announce(url="https://hub.example.org/user/ada/", base_url="/user/ada/")
        around = notebook.notebook()
        self.assertEqual(around.origins, ("https://hub.example.org",))
        self.assertEqual(around.hosts, ("hub.example.org",))
        self.assertTrue(server.serve(SAMPLES, around.origins, around.hosts).lets_frame(around.origins))

    def test_through_the_proxy_the_frame_is_of_the_notebooks_origin(self):
        asked = []

        class Proxy(http.server.BaseHTTPRequestHandler):
            answers = {"/user/ada/proxy/8081/healthz": (200, b"ok\n"), "/user/ada/proxy/8082/healthz": (200, b"<title>Login"),
                       "/user/ada/proxy/8083/healthz": (404, b"")}

            def do_GET(self):
                code, body = self.answers[self.path]
                asked.append(self.headers["Authorization"])
                self.send_response(code)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        self.addCleanup(hub.server_close)
        self.addCleanup(hub.shutdown)
        self.announce(url=f"http://localhost:{hub.server_port}/user/ada/", base_url="/user/ada/", token="t0")
        around = notebook.notebook()
        self.assertEqual(around.address("http://localhost:8081/?run=a&embed=1"), "/user/ada/proxy/8081/?run=a&embed=1")
        self.assertEqual(asked, ["token t0"])
        for installed, address in ((object(), "/user/ada/proxy/8082/"), (None, "http://localhost:8082/")):
            with mock.patch("importlib.util.find_spec", return_value=installed):
                self.assertEqual(around.address("http://localhost:8082/"), address)
        self.assertEqual(around.address("http://localhost:8083/"), "http://localhost:8083/")

    def test_half_an_announcement_is_none(self):
        pathlib.Path(self.folder.name, f"jpserver-{os.getppid()}.json").write_text('{"url": "ht')
        self.assertEqual(notebook.notebook().origins[0], "http://localhost:8888")

    def script(self, text):
        """A program that shows the samples and prints its server's process; what it does then is the text."""
        head = f"import jviewd; shown = jviewd.view_profile({str(SAMPLES)!r}, ui='none'); print(shown.server.process.pid, flush=True); "
        return subprocess.Popen([sys.executable, "-c", head + text], stdout=subprocess.PIPE, text=True)

    def gone(self, pid):
        for _ in range(200):
            if not pathlib.Path("/proc", pid.strip()).exists():
                return True
            time.sleep(0.1)
        return False

    def test_the_server_ends_with_the_program(self):
        with self.script("") as program:
            self.assertTrue(self.gone(program.stdout.readline()))
        self.assertEqual(program.returncode, 0)

    def test_an_interrupt_ends_the_wait(self):
        # Who starts tests in the background may have them ignore interrupts, and Python leaves that as it is.
        interrupt = "import os, signal, threading; signal.signal(signal.SIGINT, signal.default_int_handler); "
        interrupt += "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start(); "
        with self.script(interrupt + "shown.wait(); print('went on')") as program:
            pid = program.stdout.readline()
            self.assertEqual(program.stdout.read(), "went on\n")
        self.assertTrue(self.gone(pid))


class Timing(unittest.TestCase):
    def test_milliseconds_a_call(self):
        calls = []
        timing = jviewd.benchmark_function(lambda nap, factor: (calls.append(factor), time.sleep(nap)), 0.002, num_iterations=5, warmup=2, factor=3)
        self.assertEqual(calls, [3] * 7)
        self.assertEqual(timing["count"], 5)
        self.assertGreaterEqual(timing["min"], 2)
        self.assertTrue(timing["min"] <= timing["median"] <= timing["max"] and timing["min"] <= timing["mean"] <= timing["max"])
        with self.assertRaises(ValueError):
            jviewd.benchmark_function(print, num_iterations=0)


if __name__ == "__main__":
    unittest.main()
