#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every block of the pages that one follows, followed: typed in a directory where `runs/profiles` and `tests/samples` hold the samples.

Where a page shows output, it is compared. What cannot run here stands in ELSEWHERE with its reason, and is printed with it. A command that
starts a server gets a port of the system's choice, and counts once the server answers; `localhost:8080` is a server of the same directory.
"""

import ast
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import blocks

sys.path.insert(0, str(blocks.ROOT / "tests" / "faults"))
import harness  # noqa: E402

PAGES = ["README.md", "docs/first-profile.md", "docs/guide.md", "docs/interface.md", "docs/compare.md", "docs/collector.md", "docs/sharing.md",
         "docs/troubleshooting.md", "docs/operations.md", "docs/agents.md", "docs/api.md", "api/python/README.md"]
INDENTED = {"docs/collector.md": 1}  # how many blocks of a page, by four spaces, are commands

# (beginning of the command, why it is not run)
ELSEWHERE = [
    ("./dev ", "builds what this test is given"),
    ("ssh ", "another machine"),
    ("sudo ", "changes this machine"),
    ("wsl ", "Windows"),
    ("chmod ", "names a file of the reader's"),
    ("docker ", "no container engine"),
    ("kubectl ", "no cluster"),
    ("srun ", "no scheduler"),
    ("sbatch ", "no scheduler"),
    ("systemctl ", "no service manager"),
    ("journalctl ", "no service manager"),
    ("jviewd doctor --release", "port 9001 is one for all of a machine"),
    ("nsys", "Nsight Systems"),
    ("python train.py", "a GPU and the reader's program"),
    ("python -m jax", "a JAX program that runs a server"),
    ("jviewd capture ", "a JAX program that runs a server"),
    ("pip install ", "the network"),
    ("claude ", "another program"),
    ("http://", "an address of the server, not a command"),
    ("curl --data-binary @host.xplane.pb", "a file of the reader's"),
    ("XLA_FLAGS=", "a GPU and the reader's program"),
]

# What a page says must fail, and what names a thing that only the reader has: the exit code.
CODES = {
    "jviewd check step_1000 --baseline main": 1,
    "jviewd check runs/profiles/step_1000 --baseline step_500": 1,
    "jviewd check runs/profiles/step_1000 --baseline step_500 --format md": 1,
    "jviewd note show step_1000; jviewd note list; jviewd note remove 7; jviewd note untag step_1000 pinned": 0,
    "jviewd doctor runs/nowhere": 3,
    "jviewd top latest --profile-dir runs/empty": 3,
    "jviewd top step_9999 --profile-dir runs/profiles": 3,
    "jviewd top step_1000 --profile-dir runs/nowhere": 3,
    "jviewd doctor runs/cut": 4,
    "curl 'localhost:8080/api/source?file=model/layers.py&line=41'": 22,  # no --source-root here
}

# What stands ready before a page begins, beside the samples.
BEFORE = {
    "docs/api.md": ["rm -f step_1000.json.gz"],  # curl writes over nothing
    "docs/compare.md": [
        "jviewd baseline set main step_500",
        """echo '{"step": {"mean": 10.0, "std": 0.2, "min": 9.5, "max": 10.6, "median": 10.0, "count": 100}}' | tee main.json > timings.json""",
    ],
    "docs/sharing.md": ["rm -rf profiles"],  # of the page on the collector: without a path it would be taken
    "docs/troubleshooting.md": [
        "mkdir -p runs/empty runs/cut",
        "head -c 20000 runs/profiles/step_500/plugins/profile/*/*.xplane.pb > runs/cut/step_500.xplane.pb",
        "touch -d '1 hour ago' runs/cut/*",
    ],
}

STARTS_SERVER = re.compile(r"(build/release/)?jviewd( serve)?( \S+\.jvz| \S+\.json\.gz| --profile-dir \S+)( --[\w-]+( [^-\s]\S*)?)*$")
WAIT_S = 60


def without_comment(text):
    return re.sub(r"\s+#\s.*$", "", text, flags=re.M).strip()


def jax_python():
    """An interpreter that has jax, or None."""
    return python_with("jax")


@functools.cache
def python_with(module):
    for python in (os.environ.get("JVIEWD_JAX_PYTHON"), sys.executable):
        if python and subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def script(path, words):
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o755)


class Desk:
    """A directory as the pages assume it, with the programs on its PATH and nothing of the user's."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="jviewd-docs-"))
        self.url = None
        self.server = None
        home, bin = self.dir / "home", self.dir / "bin"
        self.python = self.dir / "python"  # where blocks of Python write their profiles
        for made in (home, bin, self.dir / "runtime", self.dir / "tests", self.python / "runs/profiles"):
            made.mkdir(parents=True)
        for name in ("step_500", "step_1000", "step_1500"):
            for place in ("runs/profiles", "tests/samples"):
                shutil.copytree(harness.SAMPLES / name, self.dir / place / name)
        for path in self.dir.rglob("*"):
            if path.is_file():
                harness.age(path, 3600)
        program = pathlib.Path(harness.program()).resolve()
        (self.dir / "build/release").mkdir(parents=True)
        for name in ("jviewd", "jview-collect"):
            if (program.parent / name).exists():
                for place in (bin, self.dir / "build/release"):
                    (place / name).symlink_to(program.parent / name)
        if python_with("nvtx"):  # no link: a virtual environment is told by the path of its python
            script(bin / "python", python_with("nvtx"))
        script(bin / "curl", f"{shutil.which('curl')} --silent --show-error --fail-with-body")  # a problem is a failure
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("JVIEWD_", "XAX_", "PROFILE_DIR"))},
            "PATH": f"{bin}:{os.environ['PATH']}", "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config"), "XDG_RUNTIME_DIR": str(self.dir / "runtime"),
            "PYTHONPATH": str(blocks.ROOT / "api/python"), "JVIEWD_BIN": str(program), "LC_ALL": "C.UTF-8",
        }

    def type(self, text):
        if self.url:
            text = text.replace("localhost:8080", self.url.split("//")[1].rstrip("/"))
        return subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=WAIT_S, check=False)

    def start(self, text):
        """A command that serves: (process, address) once it answers."""
        log = open(self.dir / "server.log", "w+")
        process = subprocess.Popen(["bash", "-c", f"exec {text} --port 0"], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=log, text=True)
        for line in process.stdout:
            if line.startswith("  open "):
                url = line.split()[1]
                break
        else:
            log.seek(0)
            raise AssertionError(f"no server: {log.read()}")
        end = time.monotonic() + WAIT_S
        while "--public-url" not in text and time.monotonic() < end:
            try:
                with urllib.request.urlopen(url.split("launch/")[0] + "readyz", timeout=5):
                    return process, url
            except OSError:
                time.sleep(0.05)
        assert "--public-url" in text, f"{url} never became ready"
        return process, url  # the address is that of a proxy which is not here

    def serve(self):
        self.server, self.url = self.start("jviewd --profile-dir runs/profiles")

    def close(self):
        if self.server:
            stop(self.server)
        shutil.rmtree(self.dir)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.stdout.read()
    return process.wait(WAIT_S)


def is_like(shown, got):
    """Whether output is as shown; "..." on a line of its own stands for any lines, within one for any text."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + " *\n"
                      for line in shown)
    return re.fullmatch(pattern, got) is not None


def reason_not_to_run(text):
    for beginning, reason in ELSEWHERE:
        if text.startswith(beginning):
            return reason
    if re.search(r"\bpython loop\.py", text) and python_with("nvtx") is None:
        return "no Python has nvtx"
    if "<" in re.sub(r"<<'?\w+'?|<[(]", "", text).split("\n")[0] and "|" not in text:
        return "holds a word to be replaced"
    return None


def follow(desk, command):
    """None when it went as the page says, else what went otherwise."""
    text = without_comment(command.text) if "<<" not in command.text else command.text
    if STARTS_SERVER.match(text):
        process, _ = desk.start(text)
        code = stop(process)
        return None if code == 0 else f"the server ended with {code}"
    done = desk.type(text)
    due = CODES.get(text, 0)
    if done.returncode != due:
        return f"exit code {done.returncode}, not {due}: {(done.stderr or done.stdout)[-600:]}"
    got = (done.stdout + done.stderr).replace(str(desk.dir) + "/", "")
    if command.output is not None and not is_like(command.output, got):
        return "the page shows\n" + "\n".join(command.output) + "\nand it says\n" + got
    return None


def follow_python(desk, block):
    """A block compiles; one that imports jax or jviewd, and needs nothing that it does not make, runs."""
    try:
        tree = ast.parse(block.text)
    except SyntaxError as error:
        return None, f"{error.msg}, line {error.lineno}"
    modules = {name.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    if not modules & {"jax", "jviewd"}:
        return "compiled", None
    if modules & {"torch", "nvtx"} or "start_server" in block.text:
        return "compiled: needs " + ", ".join(sorted(modules & {"torch", "nvtx"}) or ["a program that stays"]), None
    python = python_with("jax")
    if python is None:
        return "compiled: no Python has jax", None
    done = subprocess.run([python, "-c", BEFORE_PYTHON + block.text], cwd=desk.python, env={**desk.env, "JAX_PLATFORMS": "cpu"},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    return ("ran", None) if done.returncode == 0 else (None, done.stderr[-800:])


# What a block takes for granted: the reader's step, state and data. Browsers stay closed.
BEFORE_PYTHON = """
import jax, jax.numpy as jnp, webbrowser
webbrowser.open = lambda *given: True
train_step = jax.jit(lambda state, batch: jnp.tanh(state @ batch))
state = batch = jnp.ones((64, 64))
data, step = [batch] * 3, 1000
"""


def parts_of(page):
    """Shell commands and Python blocks of a page, in order."""
    listed = [(block.line, block) for block in blocks.fenced(page)]
    listed += [(block.line, block) for block in blocks.indented(page)[:INDENTED.get(page, 0)]]
    for _, block in sorted(listed, key=lambda one: one[0]):
        if block.language == "python":
            yield block
        else:
            yield from blocks.commands(block)


def follow_page(desk, page):
    failed = 0
    for text in BEFORE.get(page, []):
        done = desk.type(text)
        assert done.returncode == 0, (text, done.stderr)
    for part in parts_of(page):
        is_python = isinstance(part, blocks.Block)
        reason = None if is_python else reason_not_to_run(part.text)
        if reason:
            print(f"   - {part.place}: {part.text.splitlines()[0][:90]}: not run: {reason}")
            continue
        started = time.monotonic()
        try:
            word, fault = follow_python(desk, part) if is_python else ("ran", follow(desk, part))
        except (AssertionError, subprocess.TimeoutExpired) as error:
            word, fault = None, str(error)
        failed += fault is not None
        first = part.text.strip().splitlines()[0][:90]
        print(f"{'not ok' if fault else '  ok'} {part.place}: {first} ({fault or word}, {time.monotonic() - started:.1f} s)", flush=True)
    return failed


def main():
    desk = Desk()
    failed = 0
    try:
        desk.serve()
        for page in PAGES:
            if (blocks.ROOT / page).exists() and (not sys.argv[1:] or any(word in page for word in sys.argv[1:])):
                failed += follow_page(desk, page)
    finally:
        desk.close()
    sys.exit(1 if failed else 0)


main()
