#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is written into buckets: bundles, captures, and what prune deletes; in parts where it is large, and whole or not at all."""

import json
import os
import pathlib
import signal
import shutil
import socket
import subprocess
import sys

import test_reads as buckets
from test_reads import RANGE, SECRET, harness, jviewd, store

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
import common  # noqa: E402
from test_capture import SAMPLE, Program  # noqa: E402


def keys(s3, bucket):
    return sorted(s3.backend.buckets[bucket].keys)


def a_bundle_goes_into_a_bucket(place):
    s3 = store(place)
    s3.bucket("out")
    run = buckets.samples(place) / "step_1000"
    done = jviewd(place, "bundle", run, "-o", "s3://out/kept/a b+c.jvz", env=s3.env, cache="local")
    assert done.returncode == 0 and done.stderr.strip() == "s3://out/kept/a b+c.jvz", done
    assert keys(s3, "out") == ["kept/a b+c.jvz"], keys(s3, "out")
    assert not list((place.dir / "local").rglob("output")), "what was made stays in the cache"
    local = jviewd(place, "top", run, cache="local")
    there = jviewd(place, "top", "s3://out/kept", env=s3.env, cache="there")
    assert there.returncode == 0 and there.stdout == local.stdout, (there, local)
    again = jviewd(place, "bundle", run, "-o", "s3://out/kept/a b+c.jvz", env=s3.env, cache="local")
    assert again.returncode == 0 and len(keys(s3, "out")) == 1, again  # -o names it: it is replaced
    table = jviewd(place, "extract", run, "--format", "csv", "-o", "s3://out/slices.csv", env=s3.env, cache="local")
    assert table.returncode == 0 and s3.backend.get_object("out", "slices.csv").value.startswith(b"\"") or \
        b"," in s3.backend.get_object("out", "slices.csv").value[:200], table
    for words, code, part in ((["-o", "s3://out"], 2, "names a bucket and no object"), (["-o", "https://host.example/x.jvz"], 2, "read only"),
                              (["-o", "s3://nobucket/x.jvz"], 4, 'no bucket "nobucket"')):
        done = jviewd(place, "bundle", run, *words, env=s3.env, cache="local")
        assert done.returncode == code and part in done.stderr and len(done.stderr.strip().splitlines()) == 1, (words, done)
    done = jviewd(place, "extract", run, "--format", "files", "-o", "s3://out/x/", env=s3.env, cache="local")
    assert done.returncode != 0 and "written to a directory" in done.stderr and len(keys(s3, "out")) == 2, done


def large(place):
    """A run whose table of slices takes several parts."""
    path = place.dir / "large" / "host.xplane.pb"
    if not path.exists():
        harness.make_profile(path, events=700000)
    return path


def parts(s3):
    return [path for method, path, _ in s3.proxy.asked if method == "PUT" and "partNumber" in path]


def a_large_one_goes_in_parts(place):
    s3 = store(place)
    s3.bucket("parts")
    run = large(place)
    local = place.dir / "slices.csv"
    done = jviewd(place, "extract", run, "--format", "csv", "-o", local, cache="local")
    assert done.returncode == 0 and local.stat().st_size > 2 * RANGE, (done, local.stat())

    def storm(handler, count):  # each second request breaks: its answer is lost, or it is refused
        if handler.command == "PUT" and count % 4 == 1:
            s3.proxy.forward(handler, handler.body)
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return True
        if handler.command != "HEAD" and count % 4 == 3:
            handler.reply(503, [("Retry-After", "0")], b"<Error><Code>SlowDown</Code></Error>")
            return True
        return False

    for name, fault in (("none", None), ("storm", storm)):
        s3.proxy.forget()
        s3.proxy.fault = fault
        done = jviewd(place, "extract", run, "--format", "csv", "-o", f"s3://parts/{name}.csv", env=s3.env, cache="local")
        assert done.returncode == 0, (name, done)
        assert s3.backend.get_object("parts", f"{name}.csv").value == local.read_bytes(), name
        assert len(set(parts(s3))) == -(-local.stat().st_size // RANGE), parts(s3)
        assert not s3.backend.buckets["parts"].multiparts, name
    lying = []

    def lies(handler, _):  # a failure that comes as a 200, once
        if handler.command == "POST" and "uploadId" in handler.path and not lying:
            lying.append(1)
            handler.reply(200, [], b"<Error><Code>InternalError</Code><Message>again</Message></Error>")
            return True
        return False

    s3.proxy.fault = lies
    done = jviewd(place, "extract", run, "--format", "csv", "-o", "s3://parts/lies.csv", env=s3.env, cache="local")
    assert done.returncode == 0 and lying and s3.backend.get_object("parts", "lies.csv").value == local.read_bytes(), done


def an_upload_that_breaks_is_given_up(place):
    s3 = store(place)
    s3.bucket("broken")

    def forbids(handler, _):
        if handler.command == "PUT" and "partNumber=2" in handler.path:
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
            return True
        return False

    s3.proxy.fault = forbids
    done = jviewd(place, "extract", large(place), "--format", "csv", "-o", "s3://broken/x.csv", env=s3.env, cache="local")
    assert done.returncode == 4 and "s3:PutObject" in done.stderr, done
    assert any(method == "DELETE" and "uploadId" in path for method, path, _ in s3.proxy.asked), s3.proxy.asked
    assert not keys(s3, "broken") and not s3.backend.buckets["broken"].multiparts, "something of it stays in the store"
    assert SECRET not in done.stderr + done.stdout


def captured(place, *words, env, **options):
    return subprocess.run([harness.program(), "capture", *words], capture_output=True, text=True, timeout=90,
                          env={**os.environ, "HOME": str(place.dir / "home"), "XDG_CACHE_HOME": str(place.dir / "xdg"), **env}, **options)


def left(place):
    """Files that captures left on this machine."""
    return [path for path in (place.dir / "xdg").rglob("*") if path.is_file() and "captures" in path.parts]


def a_capture_goes_into_a_bucket(place):
    s3 = store(place)
    s3.bucket("taken")
    with Program("good") as one, Program("good") as two:
        done = captured(place, one.address, two.address, "--ms", "100", "--profile-dir", "s3://taken/run 7", env=s3.env)
    assert done.returncode == 0, done
    told = done.stdout.splitlines()[-1]
    assert told.startswith("s3://taken/run 7/plugins/profile/"), done
    session = told.removeprefix("s3://taken/")
    assert keys(s3, "taken") == sorted(f"{session}/127.0.0.1_{port}.xplane.pb" for port in (one.port, two.port)), keys(s3, "taken")
    assert all(s3.backend.get_object("taken", key).value == SAMPLE.read_bytes() for key in keys(s3, "taken"))
    assert not left(place) and not list((place.dir / "xdg/jviewd/captures").iterdir()), "a copy stays here"
    assert all(headers.get("If-None-Match") == "*" for method, _, headers in s3.proxy.asked if method == "PUT"), s3.proxy.asked
    listed = jviewd(place, "top", "s3://taken/run 7", env=s3.env, cache="taken")
    assert listed.returncode == 0 and "fusion" in listed.stdout, listed


def a_capture_that_cannot_be_put_is_kept_here(place):
    s3 = store(place)
    s3.bucket("shut")

    def shut(handler, _):
        if handler.command == "PUT":
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
        return handler.command == "PUT"

    s3.proxy.fault = shut
    with Program("good") as one:
        done = captured(place, one.address, "--ms", "100", "--profile-dir", "s3://shut", env=s3.env)
    assert done.returncode == 3 and "s3:PutObject" in done.stderr and "the profile is kept in" in done.stderr, done
    kept = left(place)
    assert len(kept) == 1 and kept[0].read_bytes() == SAMPLE.read_bytes() and str(kept[0]) in done.stderr, (kept, done)
    kept[0].unlink()
    done = captured(place, "localhost:1", "--profile-dir", "https://host.example/x.pb", env=s3.env)
    assert done.returncode == 2 and "only read" in done.stderr, done


def the_last_captures_are_kept(place):
    s3 = store(place)
    s3.bucket("turns")
    s3.put("turns", "plugins/profile/2020_01_01_00_00_00/other.xplane.pb", b"x")
    with Program("good") as one:
        process = subprocess.Popen([harness.program(), "capture", one.address, "--ms", "50", "--every", "1m", "--keep", "1", "--profile-dir", "s3://turns"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "XDG_CACHE_HOME": str(place.dir / "xdg"), **s3.env})
        told = [process.stdout.readline() for _ in range(4)]  # a program and a session, twice: a minute
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, process.stderr.read()
    rest = [line.strip() for line in told + process.stdout.read().splitlines() if line.startswith("s3://")]
    assert len(rest) == 2, rest
    there = {key.rsplit("/", 1)[0] for key in keys(s3, "turns")}
    assert there == {line.removeprefix("s3://turns/") for line in rest[-1:]} | {"plugins/profile/2020_01_01_00_00_00"}, (there, rest)


def a_server_records_into_its_bucket(place):
    s3 = store(place)
    s3.bucket("served")
    s3.put_tree("served", buckets.samples(place))
    with Program("good") as one:
        server = place.serve(f"--allow-capture={one.address}", root="s3://served",
                             env={**s3.env, "HOME": str(place.dir / "home"), "XDG_CACHE_HOME": str(place.dir / "xdg")})
        server.until_scanned()
        server.port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        status = common.ask(server, "/api/capture", method="POST", body=json.dumps({"targets": one.address, "ms": 100}), headers={"Content-Type": "application/json"}).status
        assert status == 202, status
        capture = harness.until("the capture to end", lambda: (lambda c: c if c["state"] in ("done", "failed") else None)(
            server.fetch("/api/capture")[2]["capture"]), 60)
        assert capture["state"] == "done" and capture["directory"].startswith("s3://served/plugins/profile/"), capture
        key = capture["directory"].removeprefix("s3://served/") + f"/127.0.0.1_{one.port}.xplane.pb"
        assert s3.backend.get_object("served", key).value == SAMPLE.read_bytes()
        assert server.stop() == 0


def prune_says_and_deletes(place):
    s3 = store(place)
    s3.bucket("old")
    s3.put_tree("old", buckets.samples(place), "runs/")
    s3.put("old", "runs/step_500/notes.txt", b"mine")
    before = keys(s3, "old")
    said = jviewd(place, "prune", "s3://old/runs", "--keep", "1", env=s3.env, cache="prune")
    assert said.returncode == 0 and " yes " in said.stdout and "Nothing was deleted" in said.stdout, said
    assert keys(s3, "old") == before and not any(method in ("DELETE", "PUT", "POST") for method, _, _ in s3.proxy.asked), s3.proxy.asked
    for words in (["--compress"], ["--index-store", str(place.dir / "nowhere"), "--delete"]):
        done = jviewd(place, "prune", "s3://old/runs", *words, env=s3.env, cache="prune")
        assert done.returncode == 2 and "take a directory" in done.stderr, done

    def swap(handler, _):  # another one writes the object between the list and the removal
        if handler.command == "HEAD":
            for key in before:
                if not key.endswith(".txt"):
                    s3.put("old", key, s3.backend.get_object("old", key).value + b"\0\0")
        return False

    s3.proxy.fault = swap
    done = jviewd(place, "prune", "s3://old/runs", "--keep", "1", "--delete", env=s3.env, cache="prune")
    assert done.returncode == 4 and "replaced and stays" in done.stderr and keys(s3, "old") == before, (done, keys(s3, "old"))
    s3.proxy.forget()
    jviewd(place, "note", "tag", "s3://old/runs/step_500", "pinned", env=s3.env, cache="prune")
    done = jviewd(place, "prune", "s3://old/runs", "--keep", "0", "--delete", env=s3.env, cache="prune")
    assert done.returncode == 0 and "pinned" in done.stdout and any("step_500" in key and key.endswith(".pb") for key in keys(s3, "old")), done
    jviewd(place, "note", "untag", "s3://old/runs/step_500", "pinned", env=s3.env, cache="prune")
    done = jviewd(place, "prune", "s3://old/runs", "--keep", "0", "--delete", env=s3.env, cache="prune")
    assert done.returncode == 0 and "yes" in done.stdout, done
    assert [key for key in keys(s3, "old") if key.endswith(".pb")] == [] and "runs/step_500/notes.txt" in keys(s3, "old"), keys(s3, "old")


def writes(place, url, env, read):
    """Whole and in parts, captured and pruned, by another provider."""
    run = large(place)
    local = place.dir / "other.csv"
    assert jviewd(place, "extract", run, "--format", "csv", "-o", local, cache="local").returncode == 0
    done = jviewd(place, "extract", run, "--format", "csv", "-o", f"{url}/slices/all of it.csv", env=env, cache="local")
    assert done.returncode == 0 and read("slices/all of it.csv") == local.read_bytes(), done
    with Program("good") as one:
        done = captured(place, one.address, "--ms", "100", "--profile-dir", f"{url}/taken", env=env)
    assert done.returncode == 0, done
    session = done.stdout.splitlines()[-1].removeprefix(url + "/")
    assert read(f"{session}/127.0.0.1_{one.port}.xplane.pb") == SAMPLE.read_bytes() and not left(place), done
    done = jviewd(place, "top", f"{url}/taken", env=env, cache="taken")
    assert done.returncode == 0 and "fusion" in done.stdout, done
    done = jviewd(place, "prune", f"{url}/taken", "--keep", "0", "--delete", env=env, cache="taken")
    assert done.returncode == 0 and "1 run deleted" in done.stdout, done
    done = jviewd(place, "list", f"{url}/taken", env=env, cache="taken")
    assert done.returncode == 3 and "nothing exists there" in done.stderr, done


def into_azure(place):
    connection, client = buckets.azurite(place)
    client.create_container("written")
    writes(place, "az://written", {"AZURE_STORAGE_CONNECTION_STRING": connection}, lambda key: client.get_blob_client("written", key).download_blob().readall())


def into_google(place):
    address, _, read = buckets.google(place)
    writes(place, "gs://team", {"STORAGE_EMULATOR_HOST": address}, read)


if __name__ == "__main__":
    if shutil.which("node") is None:
        print("skipped: no node to play the profiler server")
        sys.exit(77)
    harness.main([a_bundle_goes_into_a_bucket, a_large_one_goes_in_parts, an_upload_that_breaks_is_given_up, a_capture_goes_into_a_bucket,
                  a_capture_that_cannot_be_put_is_kept_here, the_last_captures_are_kept, a_server_records_into_its_bucket, prune_says_and_deletes,
                  into_azure, into_google])
