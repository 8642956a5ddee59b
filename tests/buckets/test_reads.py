#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles in buckets, by real stores of other people: moto (S3), Azurite (Azure), gcp-storage-emulator (Google), with faults
between them and us. What a bucket shows is what the same directory shows."""

import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from packages import need  # noqa: E402

need("moto", "flask", "boto3", wished=("azure.storage.blob", "gcp_storage_emulator", "swift"))

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import harness  # noqa: E402
from harness import Skip  # noqa: E402

import logging  # noqa: E402

logging.getLogger("werkzeug").setLevel(logging.ERROR)
from moto.backends import get_backend  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

KEY, SECRET = "AKIDEXAMPLE", "very/secret+key=="
LENDER = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true"}
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # of every Azurite
RANGE = 8 << 20


class Proxy:
    """Between a store and us: counts, and breaks what it is told to."""

    def __init__(self, port):
        self.asked, self.lock, self.fault = [], threading.Lock(), None
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.body = self.rfile.read(length)
                with proxy.lock:
                    proxy.asked.append((self.command, self.path, {name.title(): value for name, value in self.headers.items()}))
                    count = len(proxy.asked)
                if proxy.fault and proxy.fault(self, count):
                    return
                status, headers, body = proxy.forward(self, body)
                self.reply(status, headers, body)

            def reply(self, status, headers, body, cut=None):
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                head = self.command == "HEAD"
                length = dict((k.lower(), v) for k, v in headers).get("content-length")
                self.send_header("Content-Length", length if head and length else str(len(body)))
                self.end_headers()
                if not head:
                    self.wfile.write(body if cut is None else body[:cut])
                if cut is not None:
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

            def log_message(self, *_):
                pass

        def forward(handler, body):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
            for name, value in handler.headers.items():
                if name.lower() not in ("connection",):
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            reply = connection.getresponse()
            data = reply.read()
            connection.close()
            return reply.status, reply.getheaders(), data

        self.forward = forward
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who is cut off resets
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forget(self):
        with self.lock:
            self.asked.clear()
        self.fault = None

    def bytes_asked(self):
        """Requests for bytes, and not for lists."""
        with self.lock:
            return [path for method, path, headers in self.asked if method == "GET" and "Range" in headers]


class Store:
    """S3 by moto, in this process, behind a proxy."""

    def __init__(self):
        self.server = ThreadedMotoServer("127.0.0.1", 0)
        self.server.start()
        self.proxy = Proxy(self.server.get_host_and_port()[1])
        self.backend = get_backend("s3")["123456789012"]["aws"]
        self.env = {**LENDER, "AWS_ENDPOINT_URL": self.proxy.url}

    def bucket(self, name):
        if name not in self.backend.buckets:
            self.backend.create_bucket(name, "us-east-1")

    def put(self, bucket, key, data):
        self.backend.put_object(bucket, key, data)

    def put_tree(self, bucket, tree, prefix=""):
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                self.put(bucket, prefix + str(path.relative_to(tree)), path.read_bytes())


def jviewd(place, *arguments, env=None, cache="cache"):
    return subprocess.run([harness.program(), *map(str, arguments), "--cache-dir", str(place.dir / cache), "--data-dir", str(place.dir / "data")],
                          capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(place.dir / "home"), **(env or {})})


def samples(place):
    """A directory with two runs."""
    tree = place.dir / "tree"
    if not tree.exists():
        for name in ("step_500", "step_1000"):
            shutil.copytree(harness.SAMPLES / name, tree / name)
        for path in tree.rglob("*.pb"):
            harness.age(path)
    return tree


STORES = []


def store(place):
    """The one of this script, with nothing asked yet."""
    if not STORES:
        STORES.append(Store())
        STORES[0].bucket("team")
        STORES[0].put_tree("team", samples(place), "runs/")
    STORES[0].proxy.forget()
    return STORES[0]


def plain(answer):
    """Without what is of a place and not of a profile."""
    if isinstance(answer, list):
        return [plain(item) for item in answer]
    if isinstance(answer, str):
        return re.sub(r"\br[0-9a-f]{16}\b", "ID", answer)
    if not isinstance(answer, dict):
        return answer
    return {key: plain(value) for key, value in answer.items() if key not in ("id", "modified_at", "run_id")}


def same_as_directory(place, url, env):
    tree = samples(place)
    for words in (["list"], ["top", "/step_1000"], ["overview", "/step_1000"], ["top", "/step_500", "--by", "scope"], ["findings", "/step_500"], ["trend"]):
        def named(root):
            return [f"{root}{word}" if word.startswith("/") else word for word in words] + ([root] if len(words) == 1 else []) + ["--format", "json"]
        local = jviewd(place, *named(str(tree)), cache="local")
        there = jviewd(place, *named(url), env=env, cache="there")
        assert local.returncode == there.returncode and local.stdout[:1] == there.stdout[:1] == "{", (words, local, there)
        left, right = (plain(json.loads(text.stdout)) for text in (local, there))
        assert words == ["list"] or (left and left == right), (words, left, right, there.stderr)
    names = [[run["name"] for run in json.loads(jviewd(place, "list", root, "--format", "json", env=env, cache=cache).stdout)["runs"]]
             for root, cache in ((str(tree), "local"), (url, "there"))]
    assert names[0] == names[1] and len(names[0]) == 2, names


def every_verb_answers_as_for_a_directory(place):
    same_as_directory(place, "s3://team/runs", store(place).env)


def a_restart_downloads_nothing(place):
    s3 = store(place)
    first = jviewd(place, "top", "s3://team/runs/step_1000", env=s3.env, cache="again")
    assert first.returncode == 0 and len(s3.proxy.bytes_asked()) == 1, (s3.proxy.asked, first)
    s3.proxy.forget()
    second = jviewd(place, "top", "s3://team/runs/step_1000", env=s3.env, cache="again")
    assert second.stdout == first.stdout and not s3.proxy.bytes_asked() and len(s3.proxy.asked) == 1, s3.proxy.asked
    s3.proxy.forget()  # the same object, by a place above it
    third = jviewd(place, "top", "step_1000", "--profile-dir", "s3://team", env=s3.env, cache="again")
    assert third.stdout == first.stdout and not any("step_1000" in path for path in s3.proxy.bytes_asked()), (third, s3.proxy.asked)


def a_server_shows_buckets_beside_directories(place):
    s3 = store(place)
    place.sample("step_1500")
    server = place.serve("--profile-dir", "s3://team/runs", env={**s3.env, "HOME": str(place.dir)})
    server.until_scanned()
    runs = server.runs()
    assert {"step_1500", "step_1000", "step_500"} <= set(runs), runs
    assert runs["step_1000"]["state"] == "queued" and not s3.proxy.bytes_asked(), "downloaded though nobody asked"
    assert server.top("step_1000", wait_ms=30000)[2]["rows"]
    assert server.runs()["step_1000"]["state"] == "ready"
    files = server.run("step_1000")["files"]
    path = next(file["path"] for file in files if file["path"].endswith(".xplane.pb"))
    s3.put_tree("team", harness.SAMPLES / "step_250", "runs/step_250/")
    harness.until("a new run to be seen", lambda: "step_250" in server.runs(), 60)
    assert server.top("step_250", wait_ms=30000)[2]["rows"]
    words = server.words() + json.dumps(server.runs()) + json.dumps(server.run("step_1000"))
    assert SECRET not in words and path, "a secret was told"
    assert server.stop() == 0
    for name in list(s3.backend.buckets["team"].keys):
        if "step_250" in name:
            s3.backend.delete_object("team", name)


def a_program_says_of_its_run(place):
    s3 = store(place)
    s3.bucket("said")
    s3.put_tree("said", harness.SAMPLES / "step_500", "wide/")
    s3.put("said", "wide/jview.json", json.dumps({"name": "wide mlp", "step": 7, "tags": ["nightly"]}).encode())
    said = [json.loads(jviewd(place, "list", "s3://said", "--format", "json", env=s3.env, cache="said").stdout)["runs"][0] for _ in range(2)]
    assert said[0]["title"] == said[1]["title"] == "wide mlp", said
    assert len([path for path in s3.proxy.bytes_asked() if path.endswith("jview.json")]) == 1, s3.proxy.asked
    s3.put("said", "wide/jview.json", json.dumps({"name": "narrow"}).encode())
    assert json.loads(jviewd(place, "list", "s3://said", "--format", "json", env=s3.env, cache="said").stdout)["runs"][0]["title"] == "narrow"


def a_store_that_falls_silent(place):
    """What was listed stays, and the list says since when it is all there is."""
    s3 = store(place)
    server = place.serve(root="s3://team/runs", env={**s3.env, "HOME": str(place.dir)})
    server.until_scanned()
    assert server.top("step_1000", wait_ms=30000)[2]["rows"]

    def silent(handler, _):
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True
        return True

    s3.proxy.fault = silent
    note = harness.until("the silence to be told", lambda: [note["message"] for note in server.fetch("/api/runs")[2]["notes"] if "since" in note["message"]], 90)
    assert "runs listed before stay listed" in note[0] and SECRET not in note[0], note
    assert {"step_1000", "step_500"} <= set(server.runs()) and server.top("step_1000")[2]["rows"]
    s3.proxy.fault = None
    harness.until("the store to be heard again", lambda: not [note for note in server.fetch("/api/runs")[2]["notes"] if "since" in note["message"]], 90)
    assert server.stop() == 0


def recipes():
    """The guide's commands for places in buckets, as it prints them."""
    guide = (harness.TESTS.parent / "docs/guide.md").read_text()
    table = guide.split("### In a bucket")[1].split("### ")[0].split("commands write into a bucket")[0]
    commands = [row.split("|")[2].strip().strip("`") for row in table.splitlines() if row.startswith("| ") and "`jviewd" in row or "URL=http" in row or "PROFILE=team" in row]
    assert len(commands) == 5, commands
    return commands


def the_recipes_of_the_guide(place):
    """Word by word, against these stores; only the port is another."""
    s3 = store(place)
    commands = recipes()
    home = place.dir / "home" / ".aws"
    home.mkdir(parents=True, exist_ok=True)
    (home / "credentials").write_text(f"[team]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\nendpoint_url = {s3.proxy.url}\n")
    for bucket, prefix in (("team-profiles", ""), ("traces", "run/")):
        s3.bucket(bucket)
        s3.put_tree(bucket, samples(place), prefix)
    (place.dir / "bin").mkdir()
    (place.dir / "bin" / "jviewd").symlink_to(harness.program())
    env = {**os.environ, "HOME": str(place.dir / "home"), "PATH": f"{place.dir / 'bin'}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(place.dir / "xdg"),
           "AWS_EC2_METADATA_DISABLED": "true"}
    (place.dir / "runs").mkdir()
    listed = subprocess.run(["sh", "-c", commands[1] + " --list-only"], cwd=place.dir, env=env, capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0 and "step_1000" in listed.stdout, (commands[1], listed)
    endpoint = commands[2].replace("http://localhost:9000", s3.proxy.url)
    assert endpoint != commands[2]
    listed = subprocess.run(["sh", "-c", endpoint], cwd=place.dir, env={**env, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}, capture_output=True,
                            text=True, timeout=60)
    assert listed.returncode == 0 and "step_1000" in listed.stdout, (endpoint, listed)


def what_is_odd_in_a_bucket(place):
    s3 = store(place)
    s3.bucket("odd")
    profile = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    for key in ("../up.xplane.pb", "a//b.xplane.pb", "dir/", "dir/../c.xplane.pb", "..", "./x.xplane.pb", ".hidden/y.xplane.pb", "/z.xplane.pb"):
        s3.put("odd", key, profile)
    for key in ("a b+c%20d/run ü.xplane.pb", "100%/x+y.xplane.pb", "plain/host.xplane.pb", "q?x=1&y#z/h.xplane.pb"):
        s3.put("odd", key, profile)
    done = jviewd(place, "list", "s3://odd", "--format", "json", env=s3.env, cache="odd")
    names = sorted(run["name"] for run in json.loads(done.stdout)["runs"])
    assert len(names) == 4, (names, done.stderr)
    for name in names:
        run = jviewd(place, "top", name, "--profile-dir", "s3://odd", env=s3.env, cache="odd")
        assert run.returncode == 0 and len(run.stdout) > 100, (name, run)


def large(place):
    """A profile of several ranges."""
    path = place.dir / "big" / "host.xplane.pb"
    harness.make_profile(path, events=700000)
    assert path.stat().st_size > 2 * RANGE, path.stat()
    return path.read_bytes()


def cuts(s3, most, spared=0):
    """A fault: ranges end after so many bytes; each `spared`th request is answered whole."""
    def fault(handler, count):
        if "Range" not in handler.headers or (spared and count % spared == 0):
            return False
        status, headers, body = s3.proxy.forward(handler, b"")
        handler.reply(status, headers, body, cut=min(len(body), most))
        return True
    return fault


def broken_transfers_are_mended(place):
    s3 = store(place)
    data = large(place)
    s3.bucket("big")
    s3.put("big", "host.xplane.pb", data)

    def storm(handler, count):
        if count % 3 != 0:
            handler.reply(503, [("Retry-After", "0")], b"<Error><Code>SlowDown</Code></Error>")
        return count % 3 != 0

    good = jviewd(place, "top", place.dir / "big" / "host.xplane.pb", cache="big-local")
    for name, fault in (("none", None), ("storm", storm), ("cuts", cuts(s3, 3 << 20, 4))):
        s3.proxy.forget()
        s3.proxy.fault = fault
        done = jviewd(place, "top", "s3://big/host.xplane.pb", env=s3.env, cache=f"big-{name}")
        assert done.returncode == 0 and done.stdout == good.stdout, (name, done.returncode, done.stderr)
        kept = list((place.dir / f"big-{name}" / "downloads").rglob("host.xplane.pb"))
        assert len(kept) == 1 and kept[0].read_bytes() == data, (name, kept)


def cuts_slow_bytes_and_wrong_lengths(place):
    """A connection cut at every 64 KiB, bytes that trickle, a part that is shorter or longer than it says: the same bytes, or a sentence."""
    s3 = store(place)
    path = place.dir / "big" / "host.xplane.pb"
    harness.make_profile(path, events=120000)
    data = path.read_bytes()
    assert len(data) > 1 << 20, len(data)
    s3.bucket("cut")
    s3.put("cut", "host.xplane.pb", data)
    good = jviewd(place, "top", path, cache="cut-local")

    def slow(handler, _):
        if "Range" not in handler.headers:
            return False
        status, headers, body = s3.proxy.forward(handler, b"")
        handler.send_response_only(status)
        for name, value in headers:
            if name.lower() in ("etag", "content-range"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        for at in range(0, len(body), 100000):
            handler.wfile.write(body[at:at + 100000])
            handler.wfile.flush()
            time.sleep(0.02)
        return True

    for name, fault in (("64k", cuts(s3, 64 << 10)), ("slow", slow)):
        s3.proxy.forget()
        s3.proxy.fault = fault
        done = jviewd(place, "top", "s3://cut/host.xplane.pb", env=s3.env, cache=f"cut-{name}")
        assert done.returncode == 0 and done.stdout == good.stdout, (name, done.returncode, done.stderr)
        kept = list((place.dir / f"cut-{name}" / "downloads").rglob("host.xplane.pb"))
        assert len(kept) == 1 and kept[0].read_bytes() == data, (name, kept)
        asked = len(s3.proxy.bytes_asked())
        assert asked == (-(-len(data) // (64 << 10)) if name == "64k" else 1), (name, asked)

    def lies(handler, _):  # another part than was asked, and one that is longer
        if "Range" not in handler.headers:
            return False
        status, headers, body = s3.proxy.forward(handler, b"")
        headers = [(k, v.replace("bytes 0-", "bytes 1-") if k.lower() == "content-range" else v) for k, v in headers]
        handler.reply(status, headers, body + b"more")
        return True

    s3.proxy.forget()
    s3.proxy.fault = lies
    done = jviewd(place, "top", "s3://cut/host.xplane.pb", env=s3.env, cache="cut-lies")
    assert done.returncode != 0 and not list((place.dir / "cut-lies" / "downloads").rglob("*.pb")), done


def a_list_that_is_stale(place):
    """It names an object that is another by now, and one that is gone: neither is mistaken for what was listed."""
    s3 = store(place)
    s3.bucket("stale")
    profile = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    other = next((harness.SAMPLES / "step_1000").rglob("*.xplane.pb")).read_bytes()
    for name in ("replaced", "gone"):
        s3.put("stale", f"{name}/host.xplane.pb", profile)
    said = []

    def stale(handler, _):
        if "list-type" not in handler.path:
            return False
        said.append(s3.proxy.forward(handler, b"")) if not said else None
        handler.reply(*said[0])
        return True

    s3.proxy.fault = stale
    assert jviewd(place, "list", "s3://stale", env=s3.env, cache="stale").returncode == 0 and said
    s3.put("stale", "replaced/host.xplane.pb", other)
    s3.backend.delete_object("stale", "gone/host.xplane.pb")
    for name in ("replaced", "gone"):
        done = jviewd(place, "top", name, "--profile-dir", "s3://stale", env=s3.env, cache="stale")
        assert done.returncode != 0 and done.stdout == "" and done.stderr, (name, done)
    assert not list((place.dir / "stale" / "downloads").rglob("*.pb"))


def another_version_is_never_mixed_in(place):
    s3 = store(place)
    data = large(place)
    s3.bucket("swap")
    s3.put("swap", "host.xplane.pb", data)
    swapped = []

    def swap(handler, _):
        if "Range" in handler.headers and not handler.headers["Range"].startswith("bytes=0-") and not swapped:
            swapped.append(1)
            s3.put("swap", "host.xplane.pb", data[:-1000])
        return False

    s3.proxy.fault = swap
    done = jviewd(place, "top", "s3://swap/host.xplane.pb", env=s3.env, cache="swap")
    assert swapped and not list((place.dir / "swap" / "downloads").rglob("*.pb")), done
    s3.proxy.forget()

    def lie(handler, _):
        if "list-type" not in handler.path:
            return False
        status, headers, body = s3.proxy.forward(handler, b"")
        handler.reply(status, headers, body.replace(b"<Size>" + str(len(data) - 1000).encode(), b"<Size>" + str(len(data)).encode()))
        return True

    s3.proxy.fault = lie
    done = jviewd(place, "list", "s3://swap", env=s3.env, cache="lie")
    assert not list((place.dir / "lie").rglob("downloads/*/*.pb")), done


def ten_thousand_keys_are_ten_pages(place):
    s3 = store(place)
    s3.bucket("many")
    for i in range(10000):
        s3.put("many", f"run_{i:05}/plugins/profile/2026_11_21_13_08_50/host.xplane.pb", b"x")
    done = jviewd(place, "list", "s3://many", "--limit", "10000", "--format", "json", env=s3.env, cache="many")
    assert len(json.loads(done.stdout)["runs"]) == 10000, (done.stdout[:500], done.stderr)
    assert len(s3.proxy.asked) == 10 and not s3.proxy.bytes_asked(), (len(s3.proxy.asked), [path for _, path, _ in s3.proxy.asked[8:16]])


def refusals_are_one_sentence(place):
    s3 = store(place)

    def forbidden(handler, _):
        handler.reply(403, [], b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
        return True

    def elsewhere(handler, _):
        handler.reply(307, [("Location", place.trap.url + "/x")], b"")
        return True

    place.trap = Proxy(s3.proxy.port)
    for url, env, fault, code, part in (
            ("s3://nothing", {}, None, 3, 'there is no bucket "nothing"'),
            ("s3://team/none", {}, None, 3, "nothing exists there"),
            ("s3://team", {}, forbidden, 4, "AWS_PROFILE=NAME"),
            ("s3://team", {}, elsewhere, 4, "credentials are not sent there"),
            ("s3://team", {"AWS_SECRET_ACCESS_KEY": ""}, None, 2, "only one of AWS_ACCESS_KEY_ID"),
            ("s3://team", {"AWS_PROFILE": "nope", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, None, 3, 'the profile "nope"'),
            ("s3://team", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, None, 4, "does not answer"),
            ("s3://team", {"AWS_ENDPOINT_URL": "http://nothing.invalid:9000"}, None, 4, "the host name nothing.invalid:9000 cannot be resolved: check the network"),
            ("s3://team", {"AWS_ENDPOINT_URL": "ftp://x"}, None, 2, "AWS_ENDPOINT_URL must be an address"),
            ("az://team", {}, None, 2, "no storage account is given"),
            ("https://user:password@127.0.0.1/x.pb", {}, None, 2, "without a password"),
            ("gs://team", {"STORAGE_EMULATOR_HOST": "http://a@b"}, None, 2, "STORAGE_EMULATOR_HOST")):
        s3.proxy.forget()
        s3.proxy.fault = fault
        done = jviewd(place, "list", url, env={**s3.env, **env}, cache="refused")
        words = done.stderr + done.stdout
        assert done.returncode == code and part in words and len(done.stderr.strip().splitlines()) == 1, (url, env, done)
        assert SECRET not in words and "password@" not in words, done
    assert not place.trap.asked, "a redirect was followed"


# In a network of its own, where the one who knows names hears and says nothing.
SILENT = """
import fcntl, socket, struct, subprocess, sys
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(plain, 0x8914, struct.pack("16sH14s", b"lo", 0x41, b""))  # SIOCSIFFLAGS: up
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
sys.exit(subprocess.run(sys.argv[2:]).returncode)
"""


def names_that_nobody_answers_for(place):
    alone = ["unshare", "--map-root-user", "--mount", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        raise Skip("no network of one's own here")
    (place.dir / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    done = subprocess.run([*alone, sys.executable, "-c", SILENT, place.dir / "resolv.conf", harness.program(), "list", "s3://team/runs", "--cache-dir",
                           place.dir / "cache", "--data-dir", place.dir / "data"], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **LENDER, "AWS_ENDPOINT_URL": "http://store.example:9000", "no_proxy": "*", "HOME": str(place.dir)})
    assert done.returncode == 4 and len(done.stderr.strip().splitlines()) == 1, done
    assert "the host name store.example:9000 cannot be resolved: check the network, or https_proxy" in done.stderr, done


def profiles_of_aws_are_understood(place):
    s3 = store(place)
    home = place.dir / "home" / ".aws"
    home.mkdir(parents=True, exist_ok=True)
    (home / "credentials").write_text(f"[other]\naws_access_key_id = X\n[team]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    (home / "config").write_text(f"[profile team]\nregion = eu-west-1\nendpoint_url = {s3.proxy.url}\n")
    env = {"AWS_PROFILE": "team", "AWS_EC2_METADATA_DISABLED": "true"}
    done = jviewd(place, "list", "s3://team/runs", env=env, cache="profile")
    assert done.returncode == 0 and "step_1000" in done.stdout, done
    assert "Credential=AKIDEXAMPLE/" in s3.proxy.asked[0][2]["Authorization"] and "/eu-west-1/s3/" in s3.proxy.asked[0][2]["Authorization"]
    told = subprocess.run([harness.program(), "doctor", "s3://team/runs", "--cache-dir", str(place.dir / "profile")], capture_output=True, text=True,
                          env={**os.environ, "HOME": str(place.dir / "home"), **env})
    assert f"the access key {KEY}" in told.stdout and 'the profile "team"' in told.stdout and SECRET not in told.stdout + told.stderr, told


def who_may_not_list_may_name_a_file(place):
    s3 = store(place)
    key = next(name for name in s3.backend.buckets["team"].keys if name.endswith("step_1000/plugins/profile/2026_11_21_13_08_51/trainer-0.xplane.pb"))

    def no_lists(handler, _):
        if "list-type" in handler.path:
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
        return "list-type" in handler.path

    s3.proxy.fault = no_lists
    done = jviewd(place, "top", f"s3://team/{key}", env=s3.env, cache="file")
    assert done.returncode == 0 and "fusion" in done.stdout, done


def a_file_behind_http(place):
    """By its ranges, and after a redirect; nobody's credentials go along."""
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Files(*a))
    web.handle_error = lambda *_: None
    seen = []

    class Files(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            seen.append((self.path, dict(self.headers)))
            data = next((harness.SAMPLES / "step_1000").rglob("*.xplane.pb")).read_bytes()
            if self.path.startswith("/moved"):
                self.send_response(302)
                self.send_header("Location", "/files/trainer-0.xplane.pb")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)  # it knows no ranges
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", '"v1"')
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    threading.Thread(target=web.serve_forever, daemon=True).start()
    good = jviewd(place, "top", harness.SAMPLES / "step_1000", cache="web-local")
    for path in ("files/trainer-0.xplane.pb", "moved/trainer-0.xplane.pb?token=SECRET-IN-QUERY"):
        done = jviewd(place, "top", f"http://127.0.0.1:{web.server_address[1]}/{path}", env=LENDER, cache="web")
        assert done.returncode == 0 and done.stdout == good.stdout, (path, done)
        assert "SECRET-IN-QUERY" not in done.stdout + done.stderr
    assert any("SECRET-IN-QUERY" in path for path, _ in seen) and not any("Authorization" in headers for _, headers in seen)
    done = jviewd(place, "list", f"http://127.0.0.1:{web.server_address[1]}/moved/trainer-0.xplane.pb?token=SECRET-IN-QUERY", cache="web", env=LENDER)
    assert done.returncode == 0 and "SECRET-IN-QUERY" not in done.stdout + done.stderr, done
    catalog = (place.dir / "web" / "catalog.sqlite").read_bytes()
    assert b"SECRET-IN-QUERY" not in catalog
    web.shutdown()


def no_place_no_network(place):
    """A server of directories loads no library of the network; no request names a place."""
    place.sample("step_1500")
    server = place.serve(cache=place.dir / "quiet", env=store(place).env)
    server.until_settled()
    maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "libcurl" not in maps, maps
    for path in ("/api/top", "/api/run", "/api/overview"):
        assert server.fetch(path, run="s3://team/runs/step_1000")[0] == 404
        assert server.fetch(path, run=store(place).proxy.url + "/x.pb")[0] == 404
    assert not store(place).proxy.asked
    maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "libcurl" not in maps
    assert server.stop() == 0


def roles_by_a_token_of_the_cluster(place):
    """AWS_WEB_IDENTITY_TOKEN_FILE, answered by moto's token service."""
    s3 = store(place)
    token = place.dir / "token"
    token.write_text("header.claims.signature\n")
    env = {"AWS_ENDPOINT_URL": s3.proxy.url, "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/reader", "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
           "AWS_EC2_METADATA_DISABLED": "true"}
    done = jviewd(place, "list", "s3://team/runs", env=env, cache="role")
    assert done.returncode == 0 and "step_1000" in done.stdout, done
    posts = [asked for asked in s3.proxy.asked if asked[0] == "POST"]
    signed = [asked for asked in s3.proxy.asked if asked[0] == "GET"]
    assert len(posts) == 1 and "Authorization" not in posts[0][2] and "X-Amz-Security-Token" in signed[0][2], s3.proxy.asked


def serve(place, command, port, cwd):
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    place.undo.append(lambda: (process.terminate(), process.wait(30)))

    def answers():
        assert process.poll() is None, command
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return False
    harness.until("the store to start", answers, 60)


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def azurite(place, *options):
    """A connection string, and a client of somebody else's."""
    root = harness.TESTS.parent / "build/azurite/node_modules/.bin/azurite-blob"
    program = os.environ.get("JVIEWD_AZURITE") or (str(root) if root.exists() else shutil.which("azurite-blob"))
    if not program:
        raise Skip("no azurite: ./dev test gets it where there is a network")
    port = free_port()
    (place.dir / "azurite").mkdir()
    serve(place, [program, "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--blobPort", str(port), "--location", str(place.dir / "azurite"), *options],
          port, place.dir)
    scheme = "https" if "--cert" in options else "http"
    connection = (f"DefaultEndpointsProtocol={scheme};AccountName=devstoreaccount1;AccountKey={AZURITE_KEY};"
                  f"BlobEndpoint={scheme}://127.0.0.1:{port}/devstoreaccount1;")
    try:
        from azure.storage.blob import BlobServiceClient
    except ImportError:
        raise Skip("this Python has no azure-storage-blob")
    return connection, BlobServiceClient.from_connection_string(connection, connection_verify=options[options.index("--cert") + 1] if options else True)


def azure_by_azurite(place):
    connection, client = azurite(place)
    client.create_container("team")
    tree = samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            client.get_blob_client("team", "runs/" + str(path.relative_to(tree))).upload_blob(path.read_bytes())
    client.get_blob_client("team", "odd/a b+c%20d/run ü.xplane.pb").upload_blob(next(tree.rglob("*.xplane.pb")).read_bytes())
    env = {"AZURE_STORAGE_CONNECTION_STRING": connection}
    same_as_directory(place, "az://team/runs", env)
    done = jviewd(place, "top", "az://team/odd", env=env, cache="there")
    assert done.returncode == 0 and "fusion" in done.stdout, done
    wrong = connection.replace(AZURITE_KEY, AZURITE_KEY.replace("E", "F"))
    done = jviewd(place, "list", "az://team/runs", env={"AZURE_STORAGE_CONNECTION_STRING": wrong}, cache="wrong")
    assert done.returncode == 4 and "refuses the key of the account" in done.stderr and "F" + AZURITE_KEY[1:20] not in done.stderr, done


def google(place):
    """The address of an emulator with a bucket, how it is written, how it is read."""
    program = pathlib.Path(sys.executable).parent / "gcp-storage-emulator"
    if not program.exists():
        raise Skip("this Python has no gcp-storage-emulator")
    port = free_port()
    serve(place, [str(program), "start", "--host", "127.0.0.1", "--port", str(port), "--in-memory"], port, place.dir)

    def post(path, body, kind):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", path, body=body, headers={"Content-Type": kind})
        reply = connection.getresponse()
        data = reply.read()
        assert reply.status == 200, (path, reply.status, data)
    post("/storage/v1/b?project=p", json.dumps({"name": "team"}), "application/json")

    def read(name):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", f"/storage/v1/b/team/o/{urllib.parse.quote(name, safe='')}?alt=media")
        reply = connection.getresponse()
        data = reply.read()
        assert reply.status == 200, (name, reply.status, data[:200])
        return data
    return f"127.0.0.1:{port}", post, read


def google_by_an_emulator(place):
    address, post, _ = google(place)
    tree = samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            name = "runs/" + str(path.relative_to(tree))
            part = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": name}).encode() +
                    b'\r\n--x\r\nContent-Type: application/octet-stream\r\n\r\n' + path.read_bytes() + b'\r\n--x--')
            post("/upload/storage/v1/b/team/o?uploadType=multipart", part, 'multipart/related; boundary="x"')
    same_as_directory(place, "gs://team/runs", {"STORAGE_EMULATOR_HOST": address})


if __name__ == "__main__":
    harness.main([every_verb_answers_as_for_a_directory, a_restart_downloads_nothing, a_server_shows_buckets_beside_directories, a_program_says_of_its_run, a_store_that_falls_silent, the_recipes_of_the_guide, what_is_odd_in_a_bucket,
                  broken_transfers_are_mended, cuts_slow_bytes_and_wrong_lengths, a_list_that_is_stale, another_version_is_never_mixed_in, ten_thousand_keys_are_ten_pages, refusals_are_one_sentence,
                  names_that_nobody_answers_for,
                  profiles_of_aws_are_understood, who_may_not_list_may_name_a_file, a_file_behind_http, no_place_no_network,
                  roles_by_a_token_of_the_cluster, azure_by_azurite, google_by_an_emulator])
