#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Right after a capture: commands wait until its files rest, and say what for; servers are not idle before they looked."""

import json
import os
import pathlib
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import harness  # noqa: E402
import make_zip_seeds  # noqa: E402


def trace_of(sample="step_1000"):
    return next((harness.SAMPLES / sample).rglob("*.xplane.pb"))


def write(path, source=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((source or trace_of()).read_bytes())


def ask(place, *words, code=0):
    started = time.monotonic()
    done = place.jviewd(*words, "--cache-dir", place.cache, "--data-dir", place.dir / "data")
    assert done.returncode == code, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout, done.stderr, time.monotonic() - started


def a_capture_of_this_moment_is_waited_for(place):
    write(place.session("step_7"))
    out, err, took_s = ask(place, "top", "latest", "--limit", "2", "--profile-dir", place.profiles)
    assert len(out.splitlines()) >= 3, out
    assert err.count("waiting for step_7/plugins/profile/2026_11_21_09_30_00/hostA.xplane.pb") == 1, err
    assert 1 < took_s < 30, took_s
    out, err, took_s = ask(place, "top", "latest", "--limit", "2", "--profile-dir", place.profiles)
    assert err == "", err


def so_is_an_archive_whose_name_promises_nothing(place):
    archive = place.dir / "new.zip"
    with zipfile.ZipFile(archive, "w") as into:
        into.write(trace_of(), "hostA.xplane.pb")
    for words in (("overview", archive), ("list", archive)):
        place.cache = place.dir / ("cache-" + words[0])
        archive.touch()
        out, err, _ = ask(place, *words)
        assert "new" in out or "step" in out.lower(), out
        assert "waiting for new.zip" in err, err


def the_newest_run_may_be_one_that_is_not_listed_yet(place):
    place.sample("step_500")
    with zipfile.ZipFile(place.profiles / "newer.zip", "w") as into:
        into.write(trace_of("step_1500"), "hostA.xplane.pb")
    _, err, _ = ask(place, "overview", "latest", "--profile-dir", place.profiles)
    assert "waiting for newer.zip" in err, err
    out, _, _ = ask(place, "list", "--profile-dir", place.profiles, "--format", "json")
    assert {run["name"]: run["state"] for run in json.loads(out)["runs"]}["newer"] == "ready", out[:300]


def files_at_rest_are_not_waited_for(place):
    place.sample("step_500")
    (place.profiles / "young.json").write_text("[]")
    _, err, _ = ask(place, "top", "step_500", "--limit", "1", "--profile-dir", place.profiles)
    assert "young" not in err, err


def a_second_host_that_comes_later_is_waited_for(place):
    harness.age(place.session("step_7", "hostA").parent)
    write(place.session("step_7", "hostA"))
    harness.age(place.session("step_7", "hostA"))
    write(place.session("step_7", "hostB"))
    out, _, _ = ask(place, "hosts", "step_7", "--format", "json", "--profile-dir", place.profiles)
    assert "hostB" in out, out[:500]


def notes_and_baselines_of_a_young_run_are_written_once_it_is_read(place):
    write(place.session("step_7"))
    _, err, _ = ask(place, "baseline", "set", "main", "step_7", "--profile-dir", place.profiles)
    assert "waiting for" in err, err


def a_post_says_how_long_it_waits(place):
    server = place.serve()
    server.until_scanned()
    write(place.session("step_7"))
    harness.until("the run", lambda: "step_7" in server.runs())
    import urllib.request
    import urllib.error
    request = urllib.request.Request(server.url + "/api/notes?wait_ms=50", method="POST",
                                     headers={"Content-Type": "application/json"},
                                     data=json.dumps({"run": "step_7", "text": "x", "id": None}).encode())
    started = time.monotonic()
    try:
        with urllib.request.urlopen(request) as reply:
            raise AssertionError(reply.read())
    except urllib.error.HTTPError as error:
        assert error.code == 503 and time.monotonic() - started < 1.5, (error.code, time.monotonic() - started)
    request.full_url = server.url + "/api/notes"
    with urllib.request.urlopen(request) as reply:
        note = json.load(reply)
    request.data = json.dumps({"run": "step_7", "text": "y", "id": note["id"]}).encode()
    with urllib.request.urlopen(request) as reply:
        assert json.load(reply)["id"] == note["id"]


def a_server_scans_until_it_has_looked(place):
    for number in range(40):
        (place.profiles / f"d{number}").mkdir()
    server = place.serve()
    state, ready = [], 503
    while ready != 200:
        state.append(server.fetch("/api/runs")[2]["scan"]["state"])
        ready = server.fetch("/readyz")[0]
        assert ready == 200 or state[-1] == "scanning", (state, ready)
    harness.until("the end of the scan", lambda: server.fetch("/api/runs")[2]["scan"]["state"] == "idle")


def a_question_during_the_first_scan_waits_for_its_end(place):
    """A place of so many directories that its scan is under way when the server already answers."""
    for number in range(20000):
        os.makedirs(place.profiles / f"d{number % 100}" / f"e{number}")
    place.sample("step_1000", to="zz/step_1000")
    server = place.serve()
    state = server.fetch("/api/runs")[2]["scan"]["state"]
    code, _, answer = server.fetch("/api/run?run=step_1000&wait_ms=1")
    assert code == 200 or (code, answer["type"]) == (503, "indexing") and "first scan is under way" in answer["detail"], (state, code, answer)
    code, _, answer = server.fetch("/api/run?run=step_1000")
    assert code == 200 and "step_1000" in answer["name"], (code, answer)
    code, _, answer = server.fetch("/api/run?run=nosuch")
    assert code == 404, (code, answer)


def jax_directory(place):
    """A table of ranges, one of them a compilation with work on the GPU."""
    columns = [(name, 6 if name == b"Name" else 2, name == b"Name") for name in
               (b"Name", b"Projected Start", b"Projected Duration", b"Orig Start", b"Orig Duration", b"PID", b"TID")]
    rows = [(b"TSL:XlaCompile:#module=jit_f,program_id=1#", 10, 20, 1, 19, 7, 8)]
    directory = place.profiles / "pax"
    (directory / "nvtx_gpu_proj_trace").mkdir(parents=True)
    with make_zip_seeds.other_columns(columns, rows):
        (directory / "nvtx_gpu_proj_trace/trace.parquet").write_bytes(
            make_zip_seeds.make_parquet_seeds.table(make_zip_seeds.make_parquet_seeds.NONE, False, 1))
    (directory / "thread-metadata.parquet").write_bytes(make_zip_seeds.threads(0))
    for file in directory.rglob("*.parquet"):
        harness.age(file)
    return directory


REPORTS = [(b"Start (ns),End (ns),Duration (ns),Name,PID,TID\n" + b"".join(
    b"%d,%d,%d,TSL:XlaCompile:#module=jit_f%d#,7,8\n" % (at, at + 5, 5, at) for at in range(0, 10 * count, 10))) for count in (3, 4)]


def a_report_beside_a_table_is_read_whenever_it_comes(place):
    """The table alone has 1 compilation and says that others may be missing; the report has 3, later 4."""
    directory = jax_directory(place)

    def compiles():
        out, _, _ = ask(place, "compiles", "pax", "--format", "json", "--by", "compile", "--profile-dir", place.profiles)
        notes, _, _ = ask(place, "overview", "pax", "--profile-dir", place.profiles)
        return json.loads(out)["row_count"], "Only ranges with work on a device" in notes

    assert compiles() == (1, True), compiles()
    for report in REPORTS:
        (directory / "report_nvtx_pushpop_trace.csv").write_bytes(report)
        harness.age(directory / "report_nvtx_pushpop_trace.csv")
        assert compiles() == (report.count(b"\n") - 1, False), compiles()


def a_server_reads_it_too(place):
    directory = jax_directory(place)
    server = place.serve()

    def compiles():
        code, _, answer = server.fetch("/api/compiles?run=pax&by=compile")
        return answer["row_count"] if code == 200 else code

    harness.until("the table", lambda: compiles() == 1)
    for report in REPORTS:
        (directory / "report_nvtx_pushpop_trace.csv").write_bytes(report)
        harness.until("the report", lambda: compiles() == report.count(b"\n") - 1)


if __name__ == "__main__":
    harness.main([a_capture_of_this_moment_is_waited_for, so_is_an_archive_whose_name_promises_nothing,
                  the_newest_run_may_be_one_that_is_not_listed_yet, files_at_rest_are_not_waited_for,
                  a_second_host_that_comes_later_is_waited_for,
                  notes_and_baselines_of_a_young_run_are_written_once_it_is_read, a_post_says_how_long_it_waits,
                  a_server_scans_until_it_has_looked, a_question_during_the_first_scan_waits_for_its_end,
                  a_report_beside_a_table_is_read_whenever_it_comes, a_server_reads_it_too])
