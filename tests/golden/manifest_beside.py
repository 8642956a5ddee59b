#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_beside.py TRACE_DUMP: what a profile does not hold, the modules beside it tell, in a real jviewd.

Each directory of nsys-jax in $JVIEW_CORPUS holds its modules as files beside the table of ranges. Packed as the ZIP archive that
nsys-jax writes, the modules are inside of the profile: then the table of ranges must have the same scopes, sources and categories
with the same times."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import manifest

PARTS = ("dump/", "nvtx_gpu_proj_trace/", "thread-metadata", "system-metadata", "device-metadata")


def directories(corpus):
    for file in json.loads((corpus / "MANIFEST.json").read_text())["files"]:
        if file["path"].endswith("nvtx_gpu_proj_trace/trace.parquet"):
            yield corpus / pathlib.Path(file["path"]).parent.parent


def pack(directory, path):
    with zipfile.ZipFile(path, "w") as made:
        for file in sorted(directory.rglob("*")):
            name = str(file.relative_to(directory))
            if file.is_file() and name.startswith(PARTS):
                made.write(file, name)


def rows_of(jviewd, place, cache, by):
    """(name: [count, total]) of the table, and the kinds of its notes."""
    where = ["--profile-dir", str(place), "--cache-dir", cache]
    subprocess.run([jviewd, "list", *where], capture_output=True, timeout=600, check=True)
    found, notes, cursor = collections.Counter(), set(), []
    while True:
        done = subprocess.run([jviewd, "top", "latest", *where, "--by", by, "--limit", "10000", "--format", "json", *cursor],
                              capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            manifest.failures.append(f"{place}: top by {by}: {done.stderr.strip()}")
            return found, notes
        answer = json.loads(done.stdout)
        for row in answer["rows"]:
            found[row["name"], row["count"], row["total_ps"], row["p95_ps"]] += 1
        notes |= {note["kind"] for note in answer["notes"]}
        if not answer.get("next"):
            return found, notes
        cursor = ["--cursor", answer["next"]]


def scopes_of_sql(jviewd, place, cache):
    """The same of the view `scopes`: SQL sees what every other question does."""
    done = subprocess.run([jviewd, "sql", "latest", "select name, count, total_ps, p95_ps from scopes", "--profile-dir", str(place),
                           "--cache-dir", cache, "--limit", "100000", "--format", "json"], capture_output=True, text=True,
                          timeout=600)
    if done.returncode != 0:
        manifest.failures.append(f"{place}: sql: {done.stderr.strip()}")
        return collections.Counter(), set()
    answer = json.loads(done.stdout)
    return (collections.Counter((row["name"], row["count"], row["total_ps"], row["p95_ps"]) for row in answer["rows"]),
            {note["kind"] for note in answer["notes"]})


def compare(jviewd, directory, temporary):
    archive = temporary / "packed" / "a.zip"
    pack(directory, archive)
    os.utime(archive, (0, 0))  # or its name alone says too little to be listed at once
    for by in ("scope", "source", "category"):
        beside, notes = rows_of(jviewd, directory, str(temporary / "beside-cache"), by)
        inside, own = rows_of(jviewd, temporary / "packed", str(temporary / "inside-cache"), by)
        manifest.equal(directory.name, f"rows by {by}", len(beside), len(inside))
        manifest.equal(directory.name, f"{by} beside and not inside", dict(list((beside - inside).items())[:3]), {})
        manifest.equal(directory.name, f"{by} inside and not beside", dict(list((inside - beside).items())[:3]), {})
        manifest.equal(directory.name, "the note", ("scopes-from-beside" in notes, "scopes-from-beside" in own), (True, False))
    beside, _ = rows_of(jviewd, directory, str(temporary / "beside-cache"), "scope")
    asked, notes = scopes_of_sql(jviewd, directory, str(temporary / "beside-cache"))
    manifest.equal(directory.name, "scopes in SQL", dict(list((beside - asked).items())[:3]), {})
    manifest.equal(directory.name, "scopes in SQL alone", dict(list((asked - beside).items())[:3]), {})
    manifest.equal(directory.name, "the note in SQL", "scopes-from-beside" in notes, True)


def main():
    if not os.environ.get("JVIEW_CORPUS"):
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return manifest.SKIPPED
    jviewd = os.environ.get("JVIEWD") or str(pathlib.Path(sys.argv[1]).parent.parent / "jviewd")
    count = 0
    for directory in directories(pathlib.Path(os.environ["JVIEW_CORPUS"])):
        with tempfile.TemporaryDirectory() as temporary:
            (pathlib.Path(temporary) / "packed").mkdir()
            compare(jviewd, directory, pathlib.Path(temporary))
        count += 1
    if count == 0:
        manifest.failures.append("the manifest names no directory of nsys-jax")
    for failure in manifest.failures:
        print(failure)
    print(f"{count} directories, {len(manifest.failures)} differences")
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
