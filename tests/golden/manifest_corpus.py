#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file of the corpus opens, or is refused with the true reason, in a real server on all of it.

  manifest_corpus.py TRACE_DUMP      with $JVIEW_CORPUS; the program is $JVIEWD_DEV

What MANIFEST.json says a file is decides what the server must say of it: FORMATS below. Files whose
names promise nothing, which a scan passes by, are given to `jviewd index`, as if they were named.
For XPlanes the planes, lines and events are counted through the server's own tracks.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
import harness  # noqa: E402
import manifest  # noqa: E402

SETTLED_S = 800
OPENS = ("ready", "partial")
REFUSED = ("ignored",)

# What the manifest calls a format -> what must be said of it: states, format words, words of the reason.
TOOL = "the *.xplane.pb of the same session"
FORMATS = {
    "xplane": (OPENS, {"xplane"}, ""),
    "chrome-trace-json": (OPENS, {"chrome-json"}, ""),
    "hlo-proto": (OPENS, {"hlo-proto"}, ""),
    "nsys-sqlite": (OPENS, {"nsys-sqlite"}, ""),
    "pprof": (OPENS, {"pprof"}, ""),
    "perfetto-protobuf": (OPENS, {"perfetto"}, ""),
    "xplane-malformed": (REFUSED, {"mangled"}, "fetch the original again as binary"),
    "nsys-rep": (REFUSED, {"nsys-rep"}, "nsys export --type sqlite"),
    "tfevents": (REFUSED, {"tfevents"}, "tensorboard --logdir"),
    "xprof-sstable": (REFUSED, {"sstable"}, "can be deleted"),
    "KernelStatsDb": (REFUSED, {"kernel-stats"}, TOOL),
    "overview_page": (REFUSED, {"overview-page"}, TOOL),
    "input_pipeline": (REFUSED, {"input-pipeline"}, TOOL),
    "tensorflow_stats": (REFUSED, {"tensorflow-stats"}, TOOL),
    "memory-profile-json": (REFUSED, {"memory-profile-json"}, TOOL),
    "binary": (REFUSED, {"gperftools-cpu"}, "pprof"),
    "json": (REFUSED, {"json", "json-profile"}, ""),
    "text": (REFUSED, {"text", "gperftools-heap"}, ""),
    "parquet": (OPENS, {"parquet", "nsys-jax-ranges"}, ""),
    "zip": (OPENS, {"nsys-jax", "chrome-json"}, ""),
}
# The manifest calls "text" whatever is text; what XLA dumped and what nsys-jax exported is told by its name.
NAMED = (
    (re.compile(r"(^|/)module_\d+\."), (OPENS, {"hlo-text", "xla-dump"}, "")),
    (re.compile(r"\.csv\.xz$"), (REFUSED, {"nsys-jax-report"}, "it is read together with that table")),
)


def expected(path, facts):
    for pattern, row in NAMED:
        if facts["format"] == "text" and pattern.search(path):
            return row
    return FORMATS[facts["format"]]


def index(path):
    """(state, format, reason) of one file by itself."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([harness.program(), "index", str(path), "--out", f"{directory}/1.seg"],
                              capture_output=True, text=True, timeout=600)
    told = json.loads(done.stdout.splitlines()[-1])
    state = {"indexed": "partial" if told.get("partial") else "ready"}.get(told["outcome"], told["outcome"])
    return state, told.get("format"), told.get("error")


def files_of(server, corpus):
    """path -> (run, file) of all runs."""
    found = {}
    server.until_scanned()
    harness.until("every file to be read", lambda: not server.fetch("/api/jobs")[2]["jobs"] and all(
        run["state"] not in ("queued", "indexing", "writing") for run in server.runs().values()), SETTLED_S)
    for run in server.runs().values():
        _, _, whole = server.fetch("/api/run", run=run["id"])
        for file in whole["files"]:
            found[file["path"]] = (whole, file)
    return found


def check(path, facts, state, word, reason):
    states, words, remedy = expected(path, facts)
    if state not in states:
        manifest.failures.append(f"{path}: {state} ({reason}), not {' or '.join(states)}")
    if word not in words:
        manifest.failures.append(f"{path}: read as {word}, not {' or '.join(sorted(words))}")
    if state == "ignored" and (not reason or remedy not in reason):
        manifest.failures.append(f"{path}: the reason {reason!r} does not say {remedy!r}")


def check_xplane(server, path, facts, run, file):
    """Planes, lines and events by the server's own tracks of that host."""
    _, _, told = server.fetch("/api/tracks", run=run["id"])
    tracks = [track for track in told["tracks"] if track["host"] == file["host"]]
    parents = {track["id"]: track["parent"] for track in tracks}

    def top(track):
        while parents[track] is not None:
            track = parents[track]
        return track

    events, lines = {}, {}
    for track in tracks:
        plane = top(track["id"])
        events[plane] = events.get(plane, 0) + track["slice_count"]
        lines[plane] = lines.get(plane, 0) + (track["parent"] == plane and track["slice_count"] > 0)
    planes = {track["name"]: track["id"] for track in tracks if track["parent"] is None}
    manifest.equal(path, "events", sum(events.values()), facts["events"])
    for plane in facts["plane"]:
        if plane["events"] == 0:
            continue
        ours = planes.get(plane["name"])
        manifest.equal(path, plane["name"] + " events", events.get(ours), plane["events"])
        if lines.get(ours, 0) > plane["lines"]:
            manifest.failures.append(f"{path}: {plane['name']}: {lines[ours]} lines, not {plane['lines']}")


def check_all(server, corpus, files):
    found = files_of(server, corpus)
    for file in files:
        path, facts = file["path"], file["facts"]
        run, told = found.get(path, (None, None))
        if told is None or told["state"] == "covered":
            check(path, facts, *index(corpus / path))
        else:
            check(path, facts, told["state"], told["format"], told["error"])
        if facts["format"] == "xplane" and told is not None:
            check_xplane(server, path, facts, run, told)
        elif facts["format"] == "xplane":
            manifest.failures.append(f"{path}: no run of the server has it")


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    corpus = pathlib.Path(corpus)
    files = json.loads((corpus / "MANIFEST.json").read_text())["files"]
    place = harness.Place()
    try:
        check_all(place.serve(root=corpus), corpus, files)
    finally:
        place.close()
    for failure in manifest.failures:
        print(failure)
    print(f"{len(files)} files, {len(manifest.failures)} differences")
    return 1 if manifest.failures or not files else 0


sys.exit(main())
