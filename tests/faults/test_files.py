#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may be wrong with a profile directory and its files, and what may happen to them meanwhile."""

import os
import shutil
import signal
import socket
import struct
import time
import zipfile

from harness import NOBODY, SAMPLES, Skip, age, main, make_profile, until


def file_of(server, run, end=""):
    return next(file for file in server.run(run)["files"] if file["path"].endswith(end))


def fails(server, name, *words):
    run = server.until_state(name, "failed")
    said = f'{run["error"]} {file_of(server, name).get("error")}'
    for word in words:
        assert word in said, (word, said)
    status, headers, body = server.top(name)
    assert status == 422 and "problem" in headers["Content-Type"] and run["error"] in body["detail"], (status, body)


def missing_directory_fills_live(place):
    place.profiles.rmdir()
    server = place.serve()
    server.until_scanned()
    status, _, body = server.fetch("/api/runs")
    assert status == 200 and body["runs"] == [], body
    place.profiles.mkdir()
    place.sample()
    server.until_state("step_1000", "ready")


def empty_directory_fills_live(place):
    server = place.serve()
    server.until_scanned()
    assert server.runs() == {}
    place.sample()
    server.until_state("step_1000", "ready")
    server.answers()


def polling_sees_as_much(place):
    server = place.serve("--poll")
    server.until_scanned()
    place.sample()
    server.until_state("step_1000", "ready", seconds=30)


def empty_file(place):
    place.sample()
    place.file("empty", b"")
    server = place.serve()
    fails(server, "empty", "0 bytes")
    server.answers()


def a_file_of_holes(place):
    """It takes no room to make and hours to read; it is refused by name, and others are read meanwhile."""
    place.sample()
    path = place.session("holes")
    with open(path, "wb") as file:
        file.write(b"\x0a\x04abcd")
        file.truncate(1 << 40)
    age(path)
    server = place.serve()
    fails(server, "holes", "the file is sparse")
    server.answers()


def a_run_that_is_asked_for_has_a_place_of_its_own(place):
    """While the one place there is belongs to a file that takes long, a question is answered."""
    path = place.session("slow")
    make_profile(path, events=3000000)
    server = place.serve("--workers", "1")
    until("the long one to begin", lambda: any(run["name"] == "slow" and run["state"] == "indexing"
                                               for run in server.fetch("/api/runs")[2]["runs"]), 60)
    place.sample("step_500")
    until("the other to be seen", lambda: len(server.fetch("/api/runs")[2]["runs"]) == 2, 60)
    status, _, body = server.fetch("/api/top", run="step_500", limit=1, wait_ms=60000)
    assert status == 200, body
    slow = next(run for run in server.fetch("/api/runs")[2]["runs"] if run["name"] == "slow")
    assert slow["state"] == "indexing", "the long one was too short to tell"


def text_in_a_pb(place):
    place.sample()
    place.file("text", b"Traceback (most recent call last):\n  nothing to see\n" * 50)
    server = place.serve()
    fails(server, "text", "hostA.xplane.pb")
    assert file_of(server, "text")["state"] in ("ignored", "failed")
    server.answers()


def wrong_extension(place):
    """Content tells the format, whatever the name says."""
    xplane = next((SAMPLES / "step_1000").rglob("*.xplane.pb")).read_bytes()
    place.file("renamed", b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "ts": 3, "dur": 4, "name": "a"}]}')
    other = place.profiles / "bench/worker.trace.json"
    other.parent.mkdir(parents=True)
    other.write_bytes(xplane)
    age(other)
    server = place.serve()
    assert server.until_state("renamed", "ready")["formats"] != ["xplane"]
    run = server.until_state("bench/worker", "ready")
    assert run["formats"] == ["xplane"], run


def one_bad_host_of_two(place):
    good = next((SAMPLES / "step_1000").rglob("*.xplane.pb")).read_bytes()
    place.file("two", good, "hostA")
    place.file("two", b"\xff" * 1000, "hostB")
    server = place.serve()
    run = server.until_state("two", "partial", "ready")
    states = {file["host"]: file["state"] for file in server.run("two")["files"]}
    assert states["hostA"] == "ready" and states["hostB"] in ("failed", "ignored"), states
    assert run["hosts"] == ["hostA"], run
    server.answers("two")


def copy_stands_in(place):
    """Where the xplane cannot be read, its trace.json.gz is shown."""
    xplane = place.sample()
    json = next(place.profiles.rglob("*.trace.json.gz"))
    server = place.serve()
    server.until_settled()
    assert file_of(server, "step_1000", ".json.gz")["state"] == "covered"
    server.stop()
    xplane.write_bytes(b"\xff" * 5000)
    age(xplane)
    server = place.serve()
    server.until_settled()
    assert file_of(server, "step_1000", ".json.gz")["state"] in ("ready", "partial"), server.run("step_1000")
    assert json.exists()


def a_copy_that_came_first_counts_no_more(place):
    """One host is one host, whichever of its two files is read first: slices and rows are those of the better one."""
    whole = place.sample(to="whole")
    copied = next(whole.parent.glob("*.trace.json.gz"))
    folder = place.profiles / "late" / whole.parent.relative_to(place.profiles / "whole")
    folder.mkdir(parents=True)
    shutil.copy2(copied, folder / copied.name)
    server = place.serve()
    server.until_settled()
    assert file_of(server, "late", ".json.gz")["state"] in ("ready", "partial"), server.run("late")
    shutil.copy2(whole, folder / whole.name)
    age(folder / whole.name)
    until("the better file", lambda: any(file["path"].endswith(".xplane.pb") and file["state"] == "ready"
                                         for file in server.run("late")["files"]))
    server.until_settled()
    sound, late = server.run("whole"), server.run("late")
    assert file_of(server, "late", ".json.gz")["state"] == "covered"
    assert (len(late["hosts"]), late["slice_count"]) == (len(sound["hosts"]), sound["slice_count"]) == (1, sound["slice_count"]), late["hosts"]
    assert server.top("late")[2]["row_count"] == server.top("whole")[2]["row_count"]


def unreadable(place):
    if os.getuid() != 0:
        user = None
    else:
        user = NOBODY
    place.sample()
    place.cache.mkdir()
    if user is not None:
        os.chown(place.cache, user, user)
    secret = place.file("secret", b"x" * 100)
    secret.chmod(0)
    closed = place.sample("step_500", to="closed/step_500").parents[3]
    closed.chmod(0)
    place.undo.append(lambda: closed.chmod(0o755))
    server = place.serve(user=user, env={"HOME": "/nonexistent"})
    fails(server, "secret", "permission")
    server.answers()
    notes = server.fetch("/api/runs")[2]["notes"]
    assert any("closed" in note["message"] for note in notes), notes


def things_that_are_no_files(place):
    place.sample()
    directory = place.session("odd").parent
    os.mkfifo(directory / "fifo.xplane.pb")
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(directory / "s.xplane.pb"))
    (directory / "dir.xplane.pb").mkdir()
    try:
        os.mknod(directory / "zero.xplane.pb", 0o644 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pass
    server = place.serve()
    runs = server.until_settled()
    assert "odd" not in runs or runs["odd"]["state"] == "failed", runs
    server.answers()
    sock.close()


def caches_of_xprof(place):
    """XProf leaves files beside a profile, some of them empty: no run is partial for that."""
    directory = place.sample().parent
    for name, content in {"ALL_HOSTS.smart_suggestion.pb": b"", "NO_HOST.dcn_collective_stats.pb": b"", "NO_MODULE.hlo_proto.pb": b"",
                          "h.smart_suggestion.pb": b"\n\t\n\x04rule\x12\x01t", "ALL_HOSTS.op_stats_v2.pb": b"\n\x02\x1a\x00",
                          "cache_version.txt": b"2.24.2", "h.SSTABLE": b""}.items():
        (directory / name).write_bytes(content)
        age(directory / name)
    server = place.serve()
    assert server.until_settled()["step_1000"]["state"] == "ready", server.run("step_1000")
    files = {file["path"].rsplit("/", 1)[1]: file for file in server.run("step_1000")["files"]}
    for name in os.listdir(directory):
        if "xplane" not in name and "trace.json" not in name:
            assert files[name]["state"] == "ignored" and "can be deleted" in files[name]["error"], files[name]
    (directory / "jit_f(1).hlo_proto.pb").write_bytes(b"")
    age(directory / "jit_f(1).hlo_proto.pb")
    server.until_state("step_1000", "partial")


def recordings_of_other_programs(place):
    """Each is a line with its sentence, wherever it lies; what is no recording is none."""
    for name, content in {"prog.cpu": struct.pack("<5Q", 0, 3, 0, 10000, 0) + bytes(80),
                          "flame.speedscope.json": b'{"$schema": "x", "profiles": [], "shared": {}}',
                          "7_results.db": b"SQLite format 3\0 CREATE TABLE rocpd_info_node_0a",
                          "config/a.json": b'{"a": 1}', "model.pb": b"\xde\xad\xbe\xef", "users.sqlite": b"SQLite format 3\0 CREATE TABLE users",
                          "train/events.out.tfevents.1.vm": b"x"}.items():
        path = place.profiles / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        age(path)
    with zipfile.ZipFile(place.profiles / "logdir.zip", "w") as archive:
        archive.writestr("plugins/profile/S/h.xplane.pb", b"x")
        archive.writestr("plugins/profile/S/i.xplane.pb", b"x")
    age(place.profiles / "logdir.zip")
    server = place.serve()
    runs = until("four runs", lambda: len(server.until_settled()) == 4 and server.runs())
    words = " ".join(run["error"] for run in runs.values())
    assert all(part in words for part in ("`pprof prog.cpu`", "speedscope.app", "`rocpd convert -i 7_results.db", "unpack it")), runs
    notes = server.fetch("/api/runs")[2]["notes"]
    assert [note["kind"] for note in notes] == ["no-profile"] and "tensorboard --logdir" in notes[0]["message"], notes
    server.stop()
    listed = place.jviewd("list", place.profiles, "--cache-dir", place.cache)
    assert listed.returncode == 0 and "`pprof prog.cpu`" in listed.stderr and "tfevents" in listed.stderr, listed
    place.sample()
    server = place.serve()
    server.until_state("step_1000", "ready")
    assert server.fetch("/api/runs")[2]["notes"] == [], "beside a profile the rest needs no word"


def links(place):
    """None is followed unless asked, and then wherever it leads; a directory counts once."""
    target = place.sample()
    outside = place.dir / "outside"
    outside.mkdir()
    good = next((SAMPLES / "step_500").rglob("*.xplane.pb"))
    (outside / "hostA.xplane.pb").write_bytes(good.read_bytes())
    age(outside / "hostA.xplane.pb")
    (place.profiles / "linked").symlink_to(outside)
    (place.profiles / "loop").symlink_to(place.profiles)
    (place.profiles / "step_1000" / "again").symlink_to("..")
    (place.profiles / "dangling.xplane.pb").symlink_to("/nonexistent")
    place.session("passwd").symlink_to("/etc/passwd")
    alias = place.session("alias")
    alias.symlink_to(os.path.relpath(target, alias.parent))
    server = place.serve()
    runs = server.until_settled()
    assert {name for name, run in runs.items() if run["state"] != "failed"} == {"step_1000"}, runs
    server.stop()
    server = place.serve("--follow-symlinks")
    runs = server.until_settled()
    assert {name for name, run in runs.items() if run["state"] == "ready"} == {"step_1000", "alias", "linked"}, runs
    assert runs["alias"]["slice_count"] == runs["step_1000"]["slice_count"]
    assert runs["passwd"]["state"] == "failed", runs["passwd"]
    assert server.fetch("/api/trace", run="passwd", format="raw")[0] != 200
    assert any("broken symbolic link" in note["message"] for note in server.fetch("/api/runs")[2]["notes"])


def links_that_change(place):
    """A link to a directory comes, goes and leads elsewhere; what a file became meanwhile is not handed out."""
    place.sample()
    elsewhere = place.dir / "elsewhere"
    good = next((SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    (elsewhere / "run").mkdir(parents=True)
    (elsewhere / "run/hostA.xplane.pb").write_bytes(good)
    age(elsewhere / "run/hostA.xplane.pb")
    server = place.serve("--follow-symlinks")
    server.until_settled()
    link = place.profiles / "nfs"
    link.symlink_to(elsewhere)
    server.until_state("nfs/run", "ready")
    status, _, body = server.fetch("/api/trace", run="nfs/run", format="raw")
    assert status == 200 and body == good, status
    server.process.send_signal(signal.SIGSTOP)
    (elsewhere / "run/hostA.xplane.pb").unlink()
    (elsewhere / "run/hostA.xplane.pb").symlink_to("/etc/passwd")
    server.process.send_signal(signal.SIGCONT)
    status, _, body = server.fetch("/api/trace", run="nfs/run", format="raw")
    assert status != 200 and b"root:" not in (body if isinstance(body, bytes) else b""), (status, body)
    link.unlink()
    until("the run to go", lambda: server.runs().get("nfs/run", {"state": "gone"})["state"] == "gone")
    server.answers()


def links_are_told_of(place):
    """Where nothing else lies there."""
    (place.profiles / "nfs").symlink_to("/nonexistent")
    server = place.serve()
    server.until_scanned()
    notes = server.fetch("/api/runs")[2]["notes"]
    assert len(notes) == 1 and "--follow-symlinks" in notes[0]["message"] and "nfs" in notes[0]["message"], notes


def odd_names(place):
    good = next((SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    names = ["a b", "ü%2F", "'; DROP TABLE runs; --", "-rf", "\U0001f600", "q?run=&x#", "x" * 200]
    for name in names:
        place.file(name, good, "ho'st--x")
    bad = os.fsencode(place.profiles) + b"/\xff\xfe/plugins/profile/2026_11_21_09_30_00"
    os.makedirs(bad)
    with open(bad + b"/h.xplane.pb", "wb") as file:
        file.write(good)
    os.utime(bad + b"/h.xplane.pb", (1, 1))
    server = place.serve()
    runs = server.until_settled()
    assert set(names) <= set(runs) and len(runs) == len(names) + 1, set(runs)
    assert all(run["state"] == "ready" for run in runs.values()), runs
    for name, run in runs.items():
        assert server.top(run["id"])[0] == 200
        assert server.run(name)["id"] == run["id"], name


def paused(place, events=300000):
    """A server whose indexing process stands still with the file mapped; and that process."""
    path = place.session("large")
    make_profile(path, events=events)
    server = place.serve()
    child = server.child()
    until("the file to be mapped", lambda: str(path) in open(f"/proc/{child}/maps").read())
    os.kill(child, signal.SIGSTOP)
    return server, child, path


def replaced_while_indexed(place):
    server, child, path = paused(place)
    new = path.with_suffix(".new")
    facts = make_profile(new, events=20000, seed=9)
    age(new, 30)
    os.rename(new, path)
    os.kill(child, signal.SIGCONT)
    until("the new file", lambda: server.runs()["large"]["state"] == "ready" and
          server.run("large")["files"][0]["bytes"] == path.stat().st_size)
    expected = server.runs()["large"]["content_id"]
    server.stop()
    for segment in place.segments():
        segment.unlink()
    (place.cache / "catalog.sqlite").unlink()
    fresh = place.serve()
    assert fresh.until_settled()["large"]["content_id"] == expected, facts


def truncated_while_indexed(place):
    place.sample()
    server, child, path = paused(place)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size // 2)
    os.kill(child, signal.SIGCONT)
    run = server.until_state("large", "ready", "partial", "failed")
    assert server.run("large")["files"][0]["bytes"] == path.stat().st_size, run
    server.answers()


def removed_while_indexed(place):
    place.sample()
    server, child, path = paused(place)
    path.unlink()
    os.kill(child, signal.SIGCONT)
    until("the run to go", lambda: server.runs().get("large", {"state": "gone"})["state"] == "gone")
    server.answers()
    until("no job", lambda: not server.fetch("/api/jobs")[2]["jobs"])


def rewritten_while_indexed(place):
    """Same size, other bytes: what was read was no one file, so it is read again."""
    server, child, path = paused(place)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.kill(child, signal.SIGCONT)
    run = server.until_state("large", "ready", "partial", "failed")
    if run["state"] != "failed":
        done = place.jviewd("index", path, "--out", place.dir / "fresh.seg")
        assert server.run("large")["hosts"] and f'"content":"' in done.stdout
    assert "changed while it was read" in server.words() or len(place.segments()) == 1


def grows_and_is_shown(place):
    """A file that is appended to without end is shown as it is, every ten seconds at most."""
    event = '{{"ph": "X", "pid": 1, "tid": 2, "ts": {}, "dur": 4, "name": "e{}"}},\n'
    path = place.profiles / "growing.trace.json"
    path.write_text('{"traceEvents": [\n')
    server = place.serve()
    states, counts, written = set(), set(), 0
    end = time.monotonic() + 26
    while time.monotonic() < end:
        with open(path, "a") as file:
            for _ in range(20):
                file.write(event.format(10 * written, written % 7))
                written += 1
        run = server.runs().get("growing")
        if run:
            states.add(run["state"])
            counts.add(run["slice_count"])
        time.sleep(0.4)
    readings = server.words().count(" slices, ")
    assert "writing" in states and "failed" not in states, states
    assert 1 <= readings <= 3 and len(counts - {None, 0}) >= 1, (readings, counts)
    assert server.top("growing", by="name")[0] == 200
    with open(path, "a") as file:
        file.write(event.format(10 * written, 1).rstrip(",\n") + "]}")
    run = until("all of it", lambda: (run := server.runs()["growing"])["state"] == "ready" and run)
    assert run["slice_count"] == written + 1 and run["badges"] == [], (run, written)


def comes_while_written(place):
    """Written in pieces within a second: read once, when it is whole."""
    whole = next((SAMPLES / "step_1000").rglob("*.xplane.pb")).read_bytes()
    server = place.serve()
    server.until_scanned()
    path = place.session("written")
    for i in range(10):
        with open(path, "ab") as file:
            file.write(whole[len(whole) * i // 10:len(whole) * (i + 1) // 10])
        time.sleep(0.15)
    run = server.until_state("written", "ready")
    assert run["badges"] == [] and server.words().count(" slices, ") == 1, server.words()


def goes_and_comes_back(place):
    path = place.sample()
    server = place.serve()
    before = server.until_settled()["step_1000"]
    away = place.dir / "away"
    (place.profiles / "step_1000").rename(away)
    server.until_state("step_1000", "gone")
    assert path.exists() is False
    away.rename(place.profiles / "step_1000")
    after = server.until_state("step_1000", "ready")
    assert after["id"] == before["id"] and after["content_id"] == before["content_id"]
    assert server.words().count(" slices, ") == 1


def deep_and_wide(place):
    place.sample()
    deep = place.profiles
    for i in range(60):
        deep = deep / f"d{i}"
    deep.mkdir(parents=True)
    for i in range(2000):
        (place.profiles / f"empty_{i}").mkdir()
    server = place.serve()
    server.until_settled()
    server.answers()


if __name__ == "__main__":
    main([missing_directory_fills_live, empty_directory_fills_live, polling_sees_as_much, empty_file, a_file_of_holes,
          a_run_that_is_asked_for_has_a_place_of_its_own, text_in_a_pb,
          wrong_extension, one_bad_host_of_two, copy_stands_in,
          a_copy_that_came_first_counts_no_more, unreadable, things_that_are_no_files, caches_of_xprof, recordings_of_other_programs,
          links, links_that_change, links_are_told_of, odd_names,
          replaced_while_indexed, truncated_while_indexed, removed_while_indexed, rewritten_while_indexed,
          grows_and_is_shown, comes_while_written, goes_and_comes_back, deep_and_wide])
