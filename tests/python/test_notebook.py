#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A notebook's last line shows the profile: run by a real kernel, its output opened in a real browser, from a page of the notebook's origin.

Skipped, and said so, where there is no nbclient, no ipykernel or no browser.
"""

import contextlib
import html
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import packages

TOP = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = TOP / "tests" / "samples"
if __name__ == "__main__":
    packages.need("nbclient", "ipykernel")
    if shutil.which("node") is None or not (TOP / "web" / "node_modules").is_dir():
        print("skipped: no node, or nothing in web/node_modules")
        sys.exit(77)
if importlib.util.find_spec("jviewd") is None:  # else the wheel is what is tested
    os.environ["PYTHONPATH"] = str(TOP / "api" / "python")
    os.environ.setdefault("JVIEWD_BIN", os.environ.get("JVIEWD") or os.environ["JVIEWD_DEV"])

import nbclient  # noqa: E402
import nbformat  # noqa: E402


class Page(http.server.BaseHTTPRequestHandler):
    """The notebook as its browser sees it: a page with the cell's output in it."""

    output = ""

    def do_GET(self):
        if "/proxy/" in self.path:
            return self.send_error(404)
        body = f"<!doctype html><title>notebook</title>{self.output}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Notebook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        places = {"XDG_CACHE_HOME": str(self.home / "cache"), "XDG_DATA_HOME": str(self.home / "data"), "JUPYTER_RUNTIME_DIR": str(self.home)}
        patched = mock.patch.dict(os.environ, places)
        patched.start()
        self.addCleanup(patched.stop)

    def announce(self, **told):
        """As the notebook's server does for the kernels it starts; here that is this process."""
        (self.home / f"jpserver-{os.getpid()}.json").write_text(json.dumps(told))

    @contextlib.contextmanager
    def cell(self):
        """The data of what a cell leaves, while its kernel lives."""
        lines = f"from jviewd import view_profile\nview_profile({str(SAMPLES)!r}, run='step_1000', view='overview')"
        cell = nbformat.v4.new_code_cell(lines)
        client = nbclient.NotebookClient(nbformat.v4.new_notebook(cells=[cell]), timeout=300, startup_timeout=300, kernel_name="python3")
        with client.setup_kernel():
            client.execute_cell(cell, 0)
            yield cell.outputs[-1]["data"]

    def look(self, url):
        told = subprocess.run(["node", str(TOP / "tests/python/frame.mjs"), url], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("step_1000", told.stdout)
        self.assertIn("A step takes", told.stdout)

    def test_the_last_line_of_a_cell_shows_the_run(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        origin = f"http://localhost:{server.server_port}/"
        self.announce(url=origin, base_url="/")
        with self.cell() as data:
            self.assertIn("run=step_1000", data["text/plain"])
            Page.output = data["text/html"]
            self.look(origin)

    @unittest.skipUnless(importlib.util.find_spec("jupyter_server_proxy"), "no jupyter-server-proxy")
    def test_through_the_notebooks_own_server(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "jupyter_server", f"--port={port}", "--no-browser", "--allow-root", "--IdentityProvider.token=t0"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.home)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        told = self.home / f"jpserver-{process.pid}.json"
        for _ in range(1200):
            if told.exists() and told.read_text().endswith("}"):
                break
            time.sleep(0.1)
        self.announce(**json.loads(told.read_text()))
        with self.cell() as data:
            path = re.search(r'<iframe src="(/proxy/[^"]*)"', data["text/html"])[1]
            self.look(f"http://localhost:{port}{html.unescape(path)}&token=t0")


if __name__ == "__main__":
    unittest.main()
