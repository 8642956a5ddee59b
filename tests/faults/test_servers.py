#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starting, ending, and living beside one another."""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import urllib.request

from harness import NOBODY, SAMPLES, main, make_profile, program, until


def serves_the_samples(place):
    for name in ("step_500", "step_1000", "step_1500"):
        place.sample(name)
    server = place.serve()
    runs = server.until_settled()
    assert sorted(runs) == ["step_1000", "step_1500", "step_500"], runs
    assert all(run["state"] == "ready" for run in runs.values()), runs
    for name in runs:
        server.answers(name)
    names = [run["name"] for run in server.fetch("/api/runs")[2]["runs"]]
    assert names == ["step_1500", "step_1000", "step_500"], names


def ends_with_0(place):
    place.sample()
    for number in (signal.SIGTERM, signal.SIGINT):
        server = place.serve()
        server.until_settled()
        assert server.stop(number) == 0
    assert not place.leftovers(), place.leftovers()
    assert not list((place.cache / "tmp").iterdir())


def ends_while_indexing(place):
    make_profile(place.session("large"))
    server = place.serve()
    child = server.child()
    assert server.stop() == 0
    assert not pathlib.Path(f"/proc/{child}").exists()
    assert not place.leftovers(), place.leftovers()
    assert not list((place.cache / "tmp").iterdir())


def port_in_use(place):
    server = place.serve()
    port = server.url.rsplit(":", 1)[1]
    second = place.jviewd(place.profiles, "--port", port, "--cache-dir", place.dir / "other")
    assert second.returncode == 5, second
    assert str(server.process.pid) in second.stderr and "jviewd" in second.stderr, second.stderr


def port_auto_goes_on(place):
    server = place.serve()
    other = subprocess.Popen([program(), str(place.profiles), "--port", "auto", "--cache-dir", str(place.cache)],
                             stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in other.stdout if "open " in line)
        assert line.split()[1].rstrip("/") != server.url
    finally:
        other.terminate()
        assert other.wait(30) == 0
        other.stdout.close()


def restart_reads_nothing_again(place):
    for name in ("step_500", "step_1000"):
        place.sample(name)
    server = place.serve()
    before = server.until_settled()
    stamps = {path: path.stat().st_ino for path in place.segments()}
    assert len(stamps) == 2
    assert server.stop() == 0
    server = place.serve()
    after = server.until_settled()
    assert {name: run["content_id"] for name, run in before.items()} == \
        {name: run["content_id"] for name, run in after.items()}
    assert {path: path.stat().st_ino for path in place.segments()} == stamps
    assert " slices, " not in server.words(), server.words()
    server.answers()


def a_copy_is_not_decoded_again(place):
    place.sample("step_1000")
    server = place.serve()
    first = server.until_settled()["step_1000"]
    place.sample("step_1000", to="elsewhere/step_1000")
    until("the copy", lambda: server.runs().get("elsewhere/step_1000", {}).get("state") == "ready")
    copy = server.runs()["elsewhere/step_1000"]
    assert copy["content_id"] == first["content_id"] and copy["id"] != first["id"]
    assert copy["slice_count"] == first["slice_count"]
    assert len(place.segments()) == 1


def a_question_goes_first(place):
    for seed in range(1, 4):
        make_profile(place.session(f"large_{seed}"), events=150000, seed=seed)
    for path in place.sample("step_500").parent.iterdir():
        os.utime(path, (1000000000, 1000000000))
    server = place.serve("--workers", "1")
    server.child()
    status, headers, body = server.top("step_500", wait_ms=0)
    assert status == 503 and headers["Retry-After"] and body["type"].endswith("indexing"), (status, body)
    server.answers("step_500")
    assert any(run["state"] == "queued" for run in server.runs().values()), "the question came last"
    server.until_settled()


def two_servers_on_one_cache(place):
    for name in ("step_500", "step_1000", "step_1500"):
        place.sample(name)
    first, second = place.serve(), place.serve()
    a, b = first.until_settled(), second.until_settled()
    assert {n: r["content_id"] for n, r in a.items()} == {n: r["content_id"] for n, r in b.items()}
    assert all(run["state"] == "ready" for run in [*a.values(), *b.values()])
    assert first.top("step_1000")[2]["rows"] == second.top("step_1000")[2]["rows"]
    table = place.jviewd("top", "step_1000", "--profile-dir", place.profiles, "--cache-dir", place.cache,
                         "--format", "json")
    assert table.returncode == 0, table
    assert first.stop() == 0
    second.answers()
    assert second.stop() == 0
    third = place.serve()
    assert all(run["state"] == "ready" for run in third.until_settled().values())


def two_servers_and_commands_at_once(place):
    """All read the same new runs and write notes; the one that may write the catalog is killed: nothing is lost, one answer."""
    names, common = ("step_500", "step_1000", "step_1500"), ("--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data")
    first, second = place.serve(), place.serve()
    for name in names:
        place.sample(name)
    def add(server, text):
        body = json.dumps({"run": "step_1000", "text": text}).encode()
        request = urllib.request.Request(server.url + "/api/notes", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return text if reply.status in (200, 201) else None
    def command(text):
        return text if place.jviewd("note", "add", "step_1000", text, *common).returncode == 0 else None
    def answered(name):
        return json.loads(place.jviewd("top", name, *common, "--format", "json").stdout)["rows"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        rows = {name: pool.submit(answered, name) for name in names}
        for server in (first, second):
            server.until_state("step_1000", "ready")
        notes = [pool.submit(add, (first, second)[i % 2], f"served {i}") for i in range(8)]
        notes += [pool.submit(command, f"typed {i}") for i in range(4)]
        written = {note.result() for note in notes}
    assert len(written) == 12 and None not in written, written
    first.process.kill()
    first.process.wait()
    assert {row["text"] for row in second.fetch("/api/notes", run="step_1000")[2]["rows"]} == written
    second.until_settled()
    for name in names:
        assert second.top(name)[2]["rows"] == rows[name].result() == answered(name), name
    assert second.stop() == 0


def a_command_beside_a_server(place):
    place.sample()
    command = subprocess.Popen([program(), "top", "step_1000", "--profile-dir", str(place.profiles), "--cache-dir",
                                str(place.cache), "--format", "json"], stdout=subprocess.DEVNULL)
    server = place.serve()
    server.until_settled()
    server.answers()
    assert command.wait(60) == 0


def known_as_tensorboard(place):
    place.sample()
    link = place.dir / "tensorboard"
    link.symlink_to(pathlib.Path(program()).resolve())
    server = place.serve("--logdir", str(place.profiles), root=False, argv0=str(link))
    server.until_settled()
    server.answers()


def directory_without_a_flag(place):
    place.sample()
    server = place.serve(root=False, env={"XAX_PROFILE_DIR": str(place.profiles)})
    assert "XAX_PROFILE_DIR" in server.said, server.said
    server.until_settled()
    server.answers()
    (place.dir / "runs").mkdir()
    place.profiles.rename(place.dir / "runs/profiles")
    clean = {"XAX_PROFILE_DIR": "", "PROFILE_DIR": ""}
    server = place.serve(root=False, cwd=place.dir, env=clean)
    server.until_settled()
    server.answers()


def usage_errors(place):
    for arguments in (["--prot"], ["--port", "x"], ["--auth", "maybe"], ["index"], ["index", "file"],
                      ["top"], ["--config", "/nonexistent/config"]):
        done = place.jviewd(*arguments, cwd=place.dir)
        expected = (2, 3) if arguments[0] == "--config" else (2,)
        assert done.returncode in expected and done.stderr.startswith("jviewd"), (arguments, done)


def commands_without_a_server(place):
    place.sample()
    options = ["--profile-dir", place.profiles, "--cache-dir", place.cache]
    assert "step_1000" in place.jviewd("list", *options).stdout
    assert place.jviewd("top", "step_1000", *options).returncode == 0
    assert place.jviewd("top", place.profiles / "step_1000", "--cache-dir", place.cache).returncode == 0
    for arguments in (["list", "nowhere"], ["top", "nothing", *options]):
        done = place.jviewd(*arguments, cwd=place.dir)
        assert done.returncode == 3 and done.stderr.startswith("jviewd: "), done
    listed = place.jviewd(place.profiles, "--list-only", "--cache-dir", place.cache)
    assert listed.returncode == 0 and "trainer-0.xplane.pb" in listed.stdout, listed
    target = place.dir / "plain"
    done = place.jviewd(place.profiles, "--extract", "-o", target, "--cache-dir", place.cache)
    assert done.returncode == 0, done
    files = list(target.iterdir())
    assert len(files) == 1 and json.loads(files[0].read_text())["traceEvents"], files
    done = place.jviewd(place.profiles, "--extract", "--cache-dir", place.cache, env={**os.environ, "TMPDIR": str(place.dir)})
    assert done.returncode == 0 and str(place.dir / "jviewd-") in done.stdout + done.stderr, done


def what_could_not_be_read_is_listed_so(place):
    """Also by who only lists: what is small is read by then."""
    place.sample()
    found = next(place.profiles.rglob("*.xplane.pb"))
    session = place.profiles / "cut/plugins/profile/once"
    session.mkdir(parents=True)
    (session / found.name).write_bytes(found.read_bytes()[:20000])
    os.utime(session / found.name, (1.6e9, 1.6e9))  # nobody writes it any more
    options = ["--profile-dir", place.profiles, "--cache-dir", place.cache, "--format", "json"]
    state = lambda: {run["name"]: run["state"] for run in json.loads(place.jviewd("list", *options).stdout)["runs"]}
    assert place.jviewd("overview", "cut", *options).returncode != 0
    assert state() == {"cut": "failed", "step_1000": "ready"}, state()


def closed_descriptors(place):
    place.sample()
    out = place.dir / "x.seg"
    file = next(place.profiles.rglob("*.xplane.pb"))
    done = subprocess.run(f'"{program()}" index "{file}" --out "{out}" 0<&- 1>&- 2>&-', shell=True)
    assert done.returncode == 0 and out.exists()


if __name__ == "__main__":
    main([serves_the_samples, ends_with_0, ends_while_indexing, port_in_use, port_auto_goes_on,
          restart_reads_nothing_again, a_copy_is_not_decoded_again, a_question_goes_first, two_servers_on_one_cache, two_servers_and_commands_at_once,
          a_command_beside_a_server, known_as_tensorboard, directory_without_a_flag, usage_errors, commands_without_a_server,
          what_could_not_be_read_is_listed_so, closed_descriptors])
