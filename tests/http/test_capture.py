#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jviewd capture: what a profiler server answers lands in the profile directory, whole; what it answers wrongly is said."""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import common  # noqa: F401  (where harness is)
import harness
import openapi
from common import ask

HERE = pathlib.Path(__file__).resolve().parent
JSON = {"Content-Type": "application/json"}
SAMPLE = next((harness.SAMPLES / "step_1000").rglob("*.xplane.pb"))


class Program:
    """A profiler server of one kind."""

    def __init__(self, kind):
        command = ["node", str(HERE / "profiler_server.mjs"), kind, str(SAMPLE)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip()
        self.address = f"127.0.0.1:{self.port}"

    def asked(self):
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def capture(folder, *words, **options):
    command = [harness.program(), "capture", *words, "--profile-dir", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def a_whole_reply_is_a_run(folder):
    with Program("good") as one, Program("good") as two:
        told = capture(folder, one.address, two.address, "--ms", "300", "--python-level", "1")
        asked = one.asked()
    assert told.returncode == 0, told.stderr
    names = [f"127.0.0.1_{port}.xplane.pb" for port in sorted((one.port, two.port))]
    assert [path.name for path in files(folder)] == names, files(folder)
    assert all(path.read_bytes() == SAMPLE.read_bytes() for path in files(folder))
    assert len({path.parent for path in files(folder)}) == 1 and told.stdout.splitlines()[-1] == str(files(folder)[0].parent)
    assert (asked["path"], asked["type"], asked["te"]) == ("/tensorflow.ProfilerService/Profile", "application/grpc", "trailers")
    # duration_ms 300; options {version 1, no dataset ops, levels 2 1 1, HLO, duration 300}; emit_xspace
    options = "2801" "0800" "1002" "1801" "2001" "3801" "48ac02"
    message = "08ac02" f"22{len(options) // 2:02x}" + options + "4801"
    assert asked["body"] == f"00{len(message) // 2:08x}" + message, asked["body"]


def what_goes_wrong_is_said(folder):
    for kind, code, words in (
        ("empty", 3, "nothing ran during it"),
        ("busy", 3, "another recording is in progress"),
        ("absent", 3, "has no /tensorflow.ProfilerService/Profile"),
        ("refuses", 3, "not Allowed"),
        ("page", 3, "does not speak gRPC"),
        ("long", 3, "longer than it said"),
        ("compressed", 3, "compressed"),
    ):
        with Program(kind) as program:
            told = capture(folder, program.address, "--ms", "10")
            assert told.returncode == code and words in told.stderr, (kind, told.returncode, told.stderr)
        if kind != "long":
            assert not files(folder), (kind, files(folder))
    told = capture(folder, "127.0.0.1:1", "--ms", "10")
    assert told.returncode == 3 and "nothing answers at 127.0.0.1:1" in told.stderr
    assert not [path for path in folder.rglob("20*") if path.is_dir() and not any(path.iterdir())], "an empty session stays"
    assert told.stderr.count("127.0.0.1:1") == 1, told.stderr
    folder.mkdir(parents=True, exist_ok=True)
    capture(folder / "new" / "deep", "127.0.0.1:1", "--ms", "10")
    assert folder.is_dir() and not (folder / "new").exists(), list(folder.rglob("*"))


def of_a_cut_reply_what_came_is_kept(folder):
    with Program("cut") as program:
        told = capture(folder, program.address, "--ms", "10")
    assert told.returncode == 3 and "is kept" in told.stderr, told.stderr
    (file,) = files(folder)
    content = file.read_bytes()
    assert 0 < len(content) < SAMPLE.stat().st_size and SAMPLE.read_bytes().startswith(content)


def one_that_fails_does_not_take_the_other_with_it(folder):
    with Program("good") as good, Program("busy") as busy:
        told = capture(folder, busy.address, good.address, "--ms", "10")
    assert told.returncode == 3 and busy.address in told.stderr and good.address in told.stdout
    assert [path.name for path in files(folder)] == [f"127.0.0.1_{good.port}.xplane.pb"]


def an_interrupt_ends_it(folder):
    with Program("silent") as program:
        command = [harness.program(), "capture", program.address, "--profile-dir", str(folder)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        program.asked()
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=30)[1]
    assert process.returncode == 3 and "told to end" in told, told
    assert not files(folder)


def the_last_ones_are_kept(folder):
    theirs = folder / "plugins/profile/2020_01_01_00_00_00"
    theirs.mkdir(parents=True)
    (theirs / "host.xplane.pb").write_bytes(b"theirs")
    with Program("good") as program:
        command = [harness.program(), "capture", program.address, "--ms", "10", "--every", "1m", "--keep", "1", "--profile-dir", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        made = [line for line in (process.stdout.readline() for _ in range(2))][1].strip()
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()
    assert process.returncode == 0 and pathlib.Path(made).is_dir() and (theirs / "host.xplane.pb").exists()


def what_it_cannot_do_it_says(folder):
    for words, message in (
        (("host",), "not HOST:PORT"),
        (("host:0",), "not HOST:PORT"),
        (("host:99999",), "not HOST:PORT"),
        ((":9999",), "not HOST:PORT"),
        (("a:1", "a:1"), "twice"),
        (("a:1", "--ms", "0"), "1 ms to 1 hour"),
        (("a:1", "--keep", "3"), "--every"),
        (("a:1", "--every", "5"), "10m, 2h, 1d"),
        ((), "capture needs HOST:PORT"),
    ):
        told = capture(folder, *words)
        assert told.returncode == 2 and message in told.stderr, (words, told.returncode, told.stderr)
    assert not files(folder)


def by_the_page(folder):
    """POST, progress, the run appears; refused where it was not allowed."""
    place = harness.Place()
    try:
        server = serve(place)
        assert ask(server, "/api/capture").json["allowed"] is False
        assert ask(server, "/api/capture", method="POST", body=b'{"targets": "a:1"}', headers=JSON).status == 403
        assert server.stop() == 0
        with Program("good") as good, Program("busy") as busy, Program("silent") as silent:
            server = serve(place, f"--allow-capture={good.address},{busy.address},{silent.address}")
            body = json.dumps({"targets": f"{good.address} {busy.address}", "ms": 100}).encode()
            reply = ask(server, "/api/capture", method="POST", body=body, headers=JSON)
            assert reply.status == 202, reply.body
            state = done(server)
            told = {target["target"]: target for target in state["targets"]}
            assert state["state"] == "done" and told[good.address]["bytes"] == SAMPLE.stat().st_size
            assert told[busy.address]["state"] == "failed" and "another recording" in told[busy.address]["problem"]
            assert listed(server) and not openapi.faults(ask(server, "/api/capture").json, {"$ref": "#/components/schemas/Capture"})
            body = json.dumps({"targets": silent.address}).encode()
            assert ask(server, "/api/capture", method="POST", body=body, headers=JSON).status == 202
            assert ask(server, "/api/capture", method="POST", body=body, headers=JSON).status == 409
            silent.asked()
            assert ask(server, "/api/capture", method="DELETE").status == 200
            assert "told to end" in done(server)["targets"][0]["problem"]
            other = json.dumps({"targets": f"{good.address} 127.0.0.1:1"}).encode()
            reply = ask(server, "/api/capture", method="POST", body=other, headers=JSON)
            assert reply.status == 403 and "127.0.0.1:1 is not among" in reply.json["detail"], reply.body
            assert ask(server, "/api/capture").json["only"] == [good.address, busy.address, silent.address]
        for body, words in ((b"{}", "targets"), (b'{"targets": " "}', "1 to 256"), (b'{"targets": "x"}', "HOST:PORT")):
            reply = ask(server, "/api/capture", method="POST", body=body, headers=JSON)
            assert reply.status == 400 and words in reply.json["detail"], reply.body
        assert server.stop() == 0
    finally:
        place.close()


def private_addresses_need_a_list(folder):
    """Without one, what is of this machine or of a private network is not connected to, whatever name leads there."""
    place = harness.Place()
    try:
        server = serve(place, "--allow-capture")
        with Program("good") as good:
            assert ask(server, "/api/capture").json["only"] is None
            names = ("127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "169.254.169.254", "10.255.255.1")
            body = json.dumps({"targets": " ".join(f"{name}:{good.port}" for name in names)}).encode()
            assert ask(server, "/api/capture", method="POST", body=body, headers=JSON).status == 202
            state = done(server)
            for target in state["targets"]:
                assert "--allow-capture=HOST:PORT" in (target["problem"] or ""), target
            assert state["state"] == "failed" and state["seconds"] < 4, state
        assert server.stop() == 0
        for value in ("x", "a:1,,b:2", "a:0", "a:1,b"):
            told = place.jviewd("serve", place.profiles, f"--allow-capture={value}", "--port", "0", "--cache-dir", place.cache)
            assert told.returncode == 2 and "HOST:PORT" in told.stderr, (value, told)
    finally:
        place.close()


def serve(place, *arguments):
    server = place.serve(*arguments)
    server.port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    return server


def done(server):
    for _ in range(300):
        state = ask(server, "/api/capture").json["capture"]
        if state["state"] in ("done", "failed"):
            return state
        time.sleep(0.1)
    raise AssertionError(f"it does not end: {state}")


def listed(server):
    for _ in range(300):
        runs = ask(server, "/api/runs").json["runs"]
        if runs and runs[0]["state"] == "ready":
            return runs
        time.sleep(0.1)
    raise AssertionError("the run does not appear")


def main():
    if shutil.which("node") is None:
        print("skipped: no node to play the profiler server")
        return 77
    for test in (
        a_whole_reply_is_a_run, what_goes_wrong_is_said, of_a_cut_reply_what_came_is_kept, one_that_fails_does_not_take_the_other_with_it,
        an_interrupt_ends_it, the_last_ones_are_kept, what_it_cannot_do_it_says, by_the_page, private_addresses_need_a_list,
    ):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder, "runs"))
        print(f"ok {test.__name__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
