#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that clients bring: what is taken and what is refused, by whom, and what is left of it; pages that
frame the embedded view."""

import json
import os
import pathlib
import re
import socket
import time
import urllib.parse

import common
import harness
import openapi
from common import RUN, ask

BYTES = {"Content-Type": "application/octet-stream"}
SAMPLE = next((harness.SAMPLES / RUN).rglob("*.xplane.pb")).read_bytes()


def bring(server, content=SAMPLE, name="brought.xplane.pb", headers=None, **query):
    target = "/api/upload?" + urllib.parse.urlencode({"name": name, **query})
    return ask(server, target, method="POST", body=content, headers={**BYTES, **(headers or {})})


def runs(server):
    return ask(server, "/api/runs", limit=1000).json["runs"]


def find(server, run, wait_s=harness.WAIT_S):
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        for one in runs(server):
            if one["id"] == run and one["state"] in ("ready", "partial", "failed"):
                return one
        time.sleep(0.05)
    raise AssertionError(f"{run} does not appear")


def leftovers(server):
    return [path for path in server.place.cache.glob("tmp/*/*") if not path.name.startswith(".")]


def with_place(test, *arguments):
    place = harness.Place()
    try:
        place.sample("step_500")
        server = place.serve(*arguments)
        server.port = int(re.search(r"ssh -L (\d+)|:(\d+)", server.said)[0].split()[-1].lstrip(":"))
        test(server)
        assert server.stop() == 0
    finally:
        place.close()


def a_file_becomes_a_run_and_goes_again(server):
    reply = bring(server, name="../../a b/<b>host.xplane.pb", modified_ms=1600000000000)
    assert reply.status == 201, reply.body
    found = openapi.faults(reply.json, {"$ref": "#/components/schemas/Uploaded"})
    assert not found, found
    assert (reply.json["file"], reply.json["name"], reply.json["bytes"]) == ("<b>host.xplane.pb", "<b>host", len(SAMPLE))
    run = find(server, reply.json["run"])
    assert run["state"] == "ready" and run["uploaded"] and run["modified_at"] == "2020-09-13T12:26:40Z", run
    given = next(one for one in runs(server) if one["name"] == RUN)
    assert not given["uploaded"] and given["slice_count"] == run["slice_count"]
    raw = ask(server, "/api/trace", run=run["id"], format="raw")
    assert raw.body == SAMPLE
    assert ask(server, "/api/upload").json["bytes"] == len(SAMPLE)
    refused = ask(server, "/api/upload", method="DELETE", run=given["id"])
    assert refused.status == 403 and refused.json["type"] == "not-uploaded"
    gone = ask(server, "/api/upload", method="DELETE", run=run["id"])
    assert gone.status == 204 and gone.body == b""
    assert all(one["id"] != run["id"] for one in runs(server))
    time.sleep(1)  # the watch has seen it
    assert all(one["id"] != run["id"] for one in runs(server)), "a deleted run is not kept as gone"
    assert not list((server.place.cache / "uploads").iterdir()) and not leftovers(server)
    assert ask(server, "/api/upload", method="DELETE", run=run["id"]).status == 404
    assert ask(server, "/api/upload").json["bytes"] == 0


def the_same_name_twice(server):
    first, second = (bring(server, name="twice.pb").json for _ in range(2))
    assert (first["name"], second["name"]) == ("twice", "twice-2") and first["run"] != second["run"]
    for one in (first, second):
        find(server, one["run"])
        assert ask(server, "/api/upload", method="DELETE", run=one["run"]).status == 204


def a_folder_is_one_run(server):
    first = bring(server, name="a.xplane.pb", batch="step_9", path="plugins/profile/09_30/a.xplane.pb")
    second = bring(server, name="b.xplane.pb", batch="step_9", path="plugins/profile/09_30/b.xplane.pb")
    assert (first.status, second.status) == (201, 201), (first.body, second.body)
    assert first.json["dir"] == "step_9/plugins/profile/09_30" and first.json["run"] == second.json["run"]
    until = time.monotonic() + harness.WAIT_S
    while find(server, first.json["run"])["file_count"] != 2:
        assert time.monotonic() < until, "both files in one run"
        time.sleep(0.1)
    assert find(server, first.json["run"])["name"] == "step_9"
    for what, status, query in (("twice", 409, {"batch": "step_9", "path": "plugins/profile/09_30/a.xplane.pb"}),
                                ("a way up", 400, {"batch": "step_9", "path": "../a.xplane.pb"}), ("half a place", 400, {"batch": "step_9"}), ("the other", 400, {"path": "a"})):
        refused = bring(server, name="a.xplane.pb", **query)
        assert refused.status == status, (what, refused.body)
    assert not leftovers(server)
    assert ask(server, "/api/upload", method="DELETE", run=first.json["run"]).status == 204
    assert not list((server.place.cache / "uploads").iterdir())


def what_is_no_profile_is_not_kept(server):
    for what, content, words in (("text", b"hello", "Text"), ("nothing", b"", "empty"), ("an image", b"\x89PNG\r\n\x1a\n" + bytes(99), ""),
                                 ("a page", b"<!doctype html><script>alert(1)</script>", ""), ("noise", os.urandom(5000), "")):
        reply = bring(server, content)
        assert reply.status == 415 and reply.json["type"] == "not-a-profile" and words in reply.json["detail"], (what, reply.body)
        assert len(reply.json["detail"]) > 10, what
    assert not list((server.place.cache / "uploads").iterdir()) and not leftovers(server)


def chunks(server):
    pieces = [SAMPLE[at:at + 10000] for at in range(0, len(SAMPLE), 10000)]
    reply = ask(server, "/api/upload", method="POST", body=iter(pieces), headers=BYTES, name="chunks.pb")
    assert reply.status == 201 and reply.json["bytes"] == len(SAMPLE), reply.body
    find(server, reply.json["run"])
    assert ask(server, "/api/upload", method="DELETE", run=reply.json["run"]).status == 204


def chunks_that_break_off(server):
    """All bytes of a profile, and no end: whether more was to come nobody knows."""
    head = "POST /api/upload?name=a.pb HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\nX-Jviewd-CSRF: 1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as wire:
        wire.sendall(head.encode() + b"%x\r\n" % len(SAMPLE) + SAMPLE + b"\r\n")
        wire.shutdown(socket.SHUT_WR)
        answer = wire.recv(4096)
    assert answer.startswith(b"HTTP/1.1 400"), answer
    until = time.monotonic() + 10
    while leftovers(server) and time.monotonic() < until:
        time.sleep(0.05)
    assert not leftovers(server) and not list((server.place.cache / "uploads").iterdir())
    assert ask(server, "/api/upload").json["bytes"] == 0


def a_client_that_leaves_leaves_nothing(server):
    head = f"POST /api/upload?name=a.pb HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: {len(SAMPLE)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as wire:
        wire.sendall(head.encode() + SAMPLE[:1000])
        harness.until("the file to be begun", lambda: leftovers(server))
    harness.until("nothing to be left of it", lambda: not leftovers(server))
    assert not list((server.place.cache / "uploads").iterdir())
    assert ask(server, "/api/upload").json["bytes"] == 0


def limits(_):
    def test(server):
        said = ask(server, "/api/upload").json
        assert (said["allowed"], said["file_bytes_max"], said["all_bytes_max"]) == (True, 300 << 10, 480 << 10), said
        large = bring(server, bytes(400 << 10))
        assert large.status == 413 and "--upload-max" in large.json["detail"], large.body
        much = ask(server, "/api/upload", method="POST", body=iter([bytes(100 << 10)] * 4), headers=BYTES, name="a")
        assert much.status == 413, much.body
        first = bring(server)
        assert first.status == 201, first.body
        second = bring(server, SAMPLE + bytes(20 << 10))
        assert second.status == 507 and "--upload-quota" in second.json["detail"], second.body
        assert ask(server, "/api/upload", method="DELETE", run=find(server, first.json["run"])["id"]).status == 204
        assert bring(server).status == 201

    with_place(test, "--upload-max", "300K", "--upload-quota", "480K")


def kept_over_a_restart(_):
    place = harness.Place()
    try:
        place.sample("step_500")
        server = place.serve()
        server.port = int(server.url.rsplit(":", 1)[1])
        run = bring(server).json["run"]
        find(server, run)
        assert server.stop() == 0
        server = place.serve()
        server.port = int(server.url.rsplit(":", 1)[1])
        assert find(server, run)["uploaded"]
        assert server.stop() == 0
        done = place.jviewd("list", "--profile-dir", place.profiles, "--cache-dir", place.cache)
        assert "step_500" in done.stdout and "brought" not in done.stdout, done.stdout
    finally:
        place.close()


def refused(reply, words):
    assert reply.status == 403 and reply.json["type"] == "uploads-off" and words in reply.json["detail"], reply.body


def off_where_others_may_look(_):
    runtime = pathlib.Path(harness.tempfile.mkdtemp(prefix="jview-run-"))
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)

    def by(server):
        return {"Authorization": "Bearer " + (runtime / "jviewd" / f"token-{server.port}").read_text()}

    def off(server):
        assert ask(server, "/api/upload", headers=by(server)).json["allowed"] is False
        refused(bring(server, headers=by(server)), "--upload-max")
        refused(ask(server, "/api/upload", method="DELETE", run="latest", headers=by(server)), "--upload-max")

    def roles(server):
        bearer = by(server)
        code = re.search(r"launch/[0-9a-f]{64}", server.said)[0]
        cookie = {"Cookie": ask(server, "/" + code).headers["Set-Cookie"].split(";")[0]}
        ours = {"Origin": f"http://127.0.0.1:{server.port}"}
        for who, headers, want in (("nobody", {}, 401), ("wrong", {"Authorization": "Bearer x"}, 401), ("cookie", cookie, 403),
                                   ("another site with the cookie", {**cookie, "X-Jviewd-CSRF": "1", "Origin": "http://evil.example"}, 403),
                                   ("the page", {**cookie, **ours, "X-Jviewd-CSRF": "1"}, 201), ("bearer", bearer, 201)):
            reply = bring(server, headers=headers)
            assert reply.status == want, (who, reply.status, reply.body)
            if want == 201:
                find_by = {"headers": bearer}
                until = time.monotonic() + 30
                while time.monotonic() < until:
                    listed = ask(server, "/api/run", run=reply.json["run"], **find_by)
                    if listed.status == 200:
                        break
                    time.sleep(0.1)
            gone = ask(server, "/api/upload", method="DELETE", run=reply.json.get("run", "latest"), headers=headers).status
            assert gone == (204 if want == 201 else want), (who, gone)

    try:
        with_place(off, "--auth", "token", "--bind", "0.0.0.0")
        with_place(lambda server: refused(bring(server), "--upload-max"), "--public-url", "https://profiles.example.org")
        with_place(roles, "--auth", "token", "--bind", "0.0.0.0", "--upload-max", "10M")
        with_place(lambda server: refused(bring(server), "--upload-max 0"), "--upload-max", "0")
    finally:
        os.environ.pop("XDG_RUNTIME_DIR")
        harness.shutil.rmtree(runtime)


def framing(_):
    def policy(server, path):
        return re.search(r"frame-ancestors ([^;]*);", ask(server, path).headers["Content-Security-Policy"])[1]

    def denied(server):
        assert policy(server, "/?embed=1") == "'none'" == policy(server, "/")

    def allowed(server):
        assert policy(server, "/?run=a&embed=1") == "http://localhost:8888 https://lab.example.org"
        for path in ("/", "/?run=a", "/?embed=2", "/api/runs", "/nothing?embed=1"):
            assert policy(server, path) == "'none'", path
        frame = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
        assert ask(server, "/?embed=1", headers=frame).status == 200
        assert ask(server, "/", headers=frame).status == 403

    with_place(denied)
    with_place(allowed, "--embed-origin", "http://localhost:8888", "--embed-origin", "https://lab.example.org")
    place = harness.Place()
    try:
        for odd in ("*", "localhost", "http://a; script-src *", "http://a b", "http://a/b", "'self'", "http://a,http://b"):
            done = place.jviewd("--profile-dir", place.profiles, "--cache-dir", place.cache, "--port", "0", "--embed-origin", odd)
            assert done.returncode == 2 and "--embed-origin" in done.stderr, (odd, done.returncode, done.stderr)
    finally:
        place.close()


if __name__ == "__main__":
    common.main([a_file_becomes_a_run_and_goes_again, the_same_name_twice, a_folder_is_one_run, what_is_no_profile_is_not_kept, chunks, chunks_that_break_off,
                 a_client_that_leaves_leaves_nothing, limits, kept_over_a_restart, off_where_others_may_look, framing])
