#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/guide.md for continuous integration, word by word, with samples in place of profiles.

    origin/main  train.py writes step_500      the pull request  train.py writes step_1000, whose layer_1/mlp is slower
"""

import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import common  # noqa: F401  (finds the harness)
import harness

TOP = pathlib.Path(__file__).resolve().parents[2]
TRAIN = """import shutil, sys
assert sys.argv[1] == "--profile"
shutil.copytree({sample!r}, sys.argv[2])
"""


def recipes():
    """The steps of the workflow and the test, as the guide has them."""
    guide = (TOP / "docs" / "guide.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", guide, re.S | re.M)
    workflow = [text for word, text in blocks if word == "yaml" and "jviewd check" in text]
    test = [text for word, text in blocks if word == "python" and "def test_" in text and '"check"' in text]
    assert len(workflow) == 1 and len(test) == 1, "the guide has one recipe of each"
    return [step_of(text) for text in re.split(r"^- ", workflow[0], flags=re.M)[1:]], test[0]


def step_of(text):
    """`key: value` and `run: |` with its lines: all that the recipe uses of YAML."""
    step, lines = {}, text.split("\n")
    while lines:
        line = lines.pop(0)
        key, _, value = line.strip().partition(": ")
        if key == "run" and value == "|":
            block = []
            while lines and (lines[0].startswith("    ") or not lines[0].strip()):
                block.append(lines.pop(0)[4:])
            value = "\n".join(block)
        elif key != "run":
            value = value.partition(" #")[0].strip()
        if key:
            step[key] = value
    return step


def git(where, *words):
    author = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *author, *map(str, words)], cwd=where, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)


def checkout(place, of_main, of_request):
    """What actions/checkout leaves: the request's files, and origin/main."""
    origin, work = place.dir / "origin", place.dir / "work"
    origin.mkdir()
    git(origin, "init", "-q")
    for sample in (of_main, of_request):
        (origin / "train.py").write_text(TRAIN.format(sample=str(harness.SAMPLES / sample)) + f"# {sample == of_request}\n")
        git(origin, "add", "train.py")
        git(origin, "commit", "-q", "--allow-empty", "-m", sample)
        if sample == of_main:
            git(origin, "branch", "-f", "kept")
    git(origin, "checkout", "-q", "-b", "request")
    git(origin, "branch", "-f", "main", "kept")
    git(place.dir, "clone", "-q", "-b", "request", origin, work)
    return work


def surroundings(place):
    tools = place.dir / "bin"
    tools.mkdir()
    for name, target in (("python", sys.executable), ("jviewd", harness.program())):
        (tools / name).write_text(f'#!/bin/sh\nexec "{pathlib.Path(target).resolve() if name == "jviewd" else target}" "$@"\n')
        (tools / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(place.dir), "XDG_CACHE_HOME": str(place.dir / "cache"),
            "XDG_DATA_HOME": str(place.dir / "data"), "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(place.dir / "summary.md")}


def run_workflow(place, of_main, of_request):
    """Exit codes as GitHub's runner takes them: bash -e, with pipefail where the step says bash."""
    steps, _ = recipes()
    work, around, codes = checkout(place, of_main, of_request), surroundings(place), []
    for step in steps:
        if any(codes) and step.get("if") != "always()":
            continue
        flags = ["-eo", "pipefail"] if step.get("shell") == "bash" else ["-e"]
        done = subprocess.run(["bash", "--noprofile", "--norc", *flags, "-c", step["run"]], cwd=work, env=around, capture_output=True, text=True)
        codes.append(done.returncode)
    return work, around, codes, done


def the_readme_shows_the_guides_step(_):
    readme, steps = (TOP / "README.md").read_text(), recipes()[0]
    assert steps[1]["run"] in readme and "## In continuous integration" in readme, steps[1]


def the_workflow_fails_and_names_the_op_first(place):
    work, _, codes, last = run_workflow(place, "step_500", "step_1000")
    assert codes == [0, 1, 0], (codes, last.stdout, last.stderr)
    summary = (place.dir / "summary.md").read_text()
    assert re.match(r"### (runs/)?pr against (runs/)?base: regressed\n", summary), summary
    first = next(line for line in summary.splitlines() if line.startswith("1. "))
    assert re.search(r"\(.*layer_1.*/mlp/", first.replace("\\", "")), first
    suite = xml.etree.ElementTree.parse(work / "check.xml").getroot()[0]
    assert suite.get("failures") == "1" and "layer_1" in suite.find(".//failure").text.splitlines()[0], suite.attrib


def the_workflow_passes_where_nothing_changed(place):
    work, _, codes, last = run_workflow(place, "step_500", "step_500")
    assert codes == [0, 0, 0], (codes, last.stdout, last.stderr)
    assert ": regressed" not in (place.dir / "summary.md").read_text()
    assert xml.etree.ElementTree.parse(work / "check.xml").getroot()[0].get("failures") == "0"


def the_test_fails_and_names_the_op_first(place):
    _, test = recipes()
    around = surroundings(place)
    for request, fails in (("step_1000", True), ("step_500", False)):
        work = place.dir / request
        for name, sample in (("pr", request), ("base", "step_500")):
            place.sample(sample, to=work / "runs" / name)
        (work / "test_gate.py").write_text(test)
        done = subprocess.run(["python", "-c", "import test_gate; test_gate.test_step_time()"], cwd=work, env=around, capture_output=True, text=True)
        assert done.returncode == fails, done.stderr
        if fails:
            first = next(line for line in done.stderr.splitlines() if "slower: " in line)
            assert "AssertionError: pr against base: regressed" in done.stderr and "layer_1" in first and "/mlp/" in first, done.stderr


if __name__ == "__main__":
    harness.main([the_readme_shows_the_guides_step, the_workflow_fails_and_names_the_op_first, the_workflow_passes_where_nothing_changed,
                  the_test_fails_and_names_the_op_first])
