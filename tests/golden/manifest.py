# SPDX-License-Identifier: Apache-2.0
"""What the tests of manifests share: each decodes every file of its format in $JVIEW_CORPUS and asserts every count that
$JVIEW_CORPUS/MANIFEST.json states of it, so that a number is never typed by hand."""
import json
import os
import pathlib
import subprocess

SKIPPED = 77
failures = []


def files(corpus, name):
    """(path, facts) of the files whose facts name this format."""
    for file in json.loads((corpus / "MANIFEST.json").read_text())["files"]:
        facts = file.get("facts") or {}
        if facts.get("format") == name:
            yield file["path"], facts


def equal(path, what, got, wanted):
    if got != wanted:
        failures.append(f"{path}: {what}: {got}, not {wanted}")


def dump(trace_dump, path):
    done = subprocess.run([trace_dump, str(path)], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        failures.append(f"{path}: {done.stderr.strip() or done.returncode}")
        return None
    return json.loads(done.stdout)


def run(trace_dump, name, check, wanted=lambda path: True):
    """Calls check(path, facts, what trace_dump says) for each file that is wanted; returns the exit code."""
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles with a MANIFEST.json")
        return SKIPPED
    corpus = pathlib.Path(corpus)
    count = 0
    for path, facts in files(corpus, name):
        if not wanted(path):
            continue
        got = dump(trace_dump, corpus / path)
        if got is not None:
            check(path, facts, got)
        count += 1
    if count == 0:
        failures.append(f"the manifest names no file of format {name}")
    for failure in failures:
        print(failure)
    print(f"{count} files of format {name}, {len(failures)} differences")
    return 1 if failures else 0
