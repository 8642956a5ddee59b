#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""answers.py OLD NEW [DIR...]: do two builds of jviewd answer alike, byte for byte?

Both serve each DIR (tests/samples if none is given) from a fresh cache, and are asked in turn: every GET of the old
build's openapi.yaml over each run, SQL, MCP, the verbs of the command line, and `jviewd index` of the files. Every
difference is printed with its first byte; the exit code is 1 if there is any, 2 if nothing could be compared.

  --limit N      runs of a DIR (8), and files of it that are indexed; chosen by --seed
  --no-segments  the bytes of segments and bundles may differ; what index says of a file may not
  --only WORD    only questions whose text holds WORD
  --keep DIR     writes both bodies of a difference there

Normalised, for it differs by nature (NORMAL below): ports, directories of caches and data, the program's version,
the versions of the segment and of the rules that name kinds, figures of /metrics. Of heads, the status, the content's
type and its file name are compared; ETag and Date are not. Not asked: what changes something (POST and DELETE), the page
and its assets, /api/openapi, event streams, and files of traces and bundles beyond BODY_MAX.
"""

import argparse
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "http")]
import answers_questions as questions  # noqa: E402
import yaml_subset  # noqa: E402

NORMAL = [(re.compile(pattern), with_) for pattern, with_ in (
    (rb"(localhost|127\.0\.0\.1):\d+", rb"\1:PORT"),
    (rb"jviewd \d+\.\d+\.\d+[^\s\"<]*", b"jviewd VERSION"),
    (rb"segments-[0-9.]+", b"segments-VERSION"),
    (rb'"(segment_version|kind_rules_version)": ?\d+', rb'"\1":0'),
)]
METRIC = re.compile(rb"(?m)^(jviewd_\S+) \S+$")
HEADS = ("Content-Type", "Content-Disposition", "X-Jviewd-Answer")
BODY_MAX = 256 << 20
WAIT_S, MEASURED_S = 600, 60
AROUND = 60  # bytes shown on each side of the first difference

VERBS = {  # verb: operands besides the run, None where it takes none
    "list": None, "trend": None, "overview": [], "findings": [], "top": [], "kernels": [], "roofline": [], "steps": [],
    "hosts": [], "collectives": [], "compiles": [], "transfers": [], "flame": [], "memory": [], "hlo": [], "notes": [],
    "slices": [], "search": ["a"], "sql": ["select name, count(*), sum(dur_ps) from slices group by name order by name"],
    "diff": ["NEIGHBOUR"], "compare": ["NEIGHBOUR"], "check": ["--baseline", "NEIGHBOUR"], "extract": ["-o", "-"]}
VERBS_NOT_ASKED = {"open", "collect", "capture", "index", "doctor", "prune", "export", "plan", "fleet", "baseline", "note", "mcp", "bundle", "completion"}


class Build:
    """One binary with a cache, a data directory and a home of its own."""

    def __init__(self, binary, place):
        self.binary, self.place, self.server, self.wire = str(pathlib.Path(binary).resolve()), place, None, None
        place.mkdir()
        self.env = {"PATH": os.environ.get("PATH", ""), "HOME": str(place), "LC_ALL": "C.UTF-8"}
        self.keep = ["--cache-dir", str(place / "cache"), "--data-dir", str(place / "data")]

    def serve(self, directory):
        self.server = subprocess.Popen([self.binary, "serve", str(directory), "--port", "0", *self.keep],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.env)
        for line in self.server.stdout:
            if line.strip().startswith("open "):
                url = urllib.parse.urlsplit(line.split()[1])
                self.wire = http.client.HTTPConnection("127.0.0.1", url.port, timeout=WAIT_S)
            if line.strip().startswith("cache "):
                return
        sys.exit(f"{self.binary} did not start a server")

    def settle(self):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if self.ask(questions.get("/readyz"))[0] == 200:
                runs = json.loads(self.ask(questions.get("/api/runs", limit=10000))[2])["runs"]
                jobs = json.loads(self.ask(questions.get("/api/jobs"))[2])["jobs"]
                if not jobs and not any(run["state"] in ("queued", "indexing", "writing") for run in runs):
                    return runs
            time.sleep(0.2)
        sys.exit(f"{self.binary} did not settle within {WAIT_S} s")

    def ask(self, question):
        """(status, heads, body)"""
        method, path, query, body = question
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        heads = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} if body else {}
        for again in (True, False):  # the server closes what was idle for a while
            try:
                self.wire.request(method, target, body=json.dumps(body) if body else None, headers=heads)
                reply = self.wire.getresponse()
                said = reply.read(BODY_MAX)
                if not reply.isclosed():
                    self.wire.close()
                return reply.status, [reply.getheader(name) for name in HEADS], said
            except (http.client.HTTPException, OSError) as error:
                self.wire.close()
                if not again:
                    return 0, [], f"no answer: {type(error).__name__}".encode()

    def stop(self):
        self.wire.close()
        self.server.send_signal(signal.SIGTERM)
        self.server.wait()

    def run(self, *words, cwd=None):
        """(exit code, nothing, what it wrote)"""
        done = subprocess.run([self.binary, *words], capture_output=True, env=self.env, cwd=cwd or self.place, timeout=WAIT_S)
        return done.returncode, [], done.stdout + b"\n--- stderr ---\n" + done.stderr

    def normal(self, text):
        text = text.replace(str(self.place).encode(), b"PLACE").replace(self.binary.encode(), b"jviewd")
        for pattern, with_ in NORMAL:
            text = pattern.sub(with_, text)
        return text


class Tally:
    def __init__(self, options):
        self.options, self.asked, self.answered, self.differ, self.unalike = options, 0, 0, 0, {}

    def look(self, what, kind, pair, good):
        """pair: (code, heads, body) of the old and the new build."""
        self.asked += 1
        self.answered += pair[0][0] in good
        if pair[0] == pair[1]:
            return
        self.differ += 1
        self.unalike[kind] = self.unalike.get(kind, 0) + 1
        if self.differ <= self.options.show:
            print(f"DIFFERS {what}\n  {apart(*pair)}", flush=True)
        if self.options.keep:
            for name, answer in zip(("old", "new"), pair):
                pathlib.Path(self.options.keep, f"{self.differ:04}.{name}").write_bytes(answer[2])


def apart(old, new):
    if old[:2] != new[:2]:
        return f"{old[0]} {old[1]} | {new[0]} {new[1]}"
    shorter = min(len(old[2]), len(new[2]))
    at = next((index for index in range(shorter) if old[2][index] != new[2][index]), shorter)
    around = [repr(answer[2][max(0, at - AROUND):at + AROUND])[1:] for answer in (old, new)]
    return f"first at byte {at} of {len(old[2])}, {len(new[2])}:\n    {around[0]}\n    {around[1]}"


def text_of(question):
    method, path, query, body = question
    return f"{method} {path} {urllib.parse.urlencode(query, safe=':,/()*')} {json.dumps(body) if body else ''}".strip()


def ask_all(builds, tally, generator):
    """Puts a generator's questions to both builds; the old one's answers go back into it."""
    body = None
    while True:
        try:
            question = generator.send(body)
        except StopIteration:
            return
        answers = [build.ask(question) for build in builds]
        body = answers[0][2]
        what = text_of(question)
        if tally.options.only and tally.options.only not in what:
            continue
        binary = question[1] in ("/api/tiles", "/api/bundle") or question[2].get("format") in ("raw", "xplane", "perfetto")
        pair = [(status, heads, said if binary else build.normal(said))
                for build, (status, heads, said) in zip(builds, answers)]
        if question[1] == "/metrics":
            pair = [(status, heads, METRIC.sub(rb"\1", said)) for status, heads, said in pair]
        if question[1] == "/api/trace":
            pair = [(status, heads + [hashlib.sha256(said).hexdigest()[:12]], said) for status, heads, said in pair]
        tally.look(what, question[1], pair, {200})


def ask_verbs(builds, tally, directory, runs, chosen):
    """The verbs of the old build's --help, each in a process of its own over the cache that its server left."""
    told = re.findall(r"(?m)^  (\w+) {1,12}\S", builds[0].run("--help")[2].decode().split("Other verbs")[-1])
    verbs = [verb for verb in told if verb not in VERBS_NOT_ASKED]

    def both(*words, place=True):
        where = ["--profile-dir", str(directory)] if place else []
        what = " ".join(("jviewd", *words))
        if tally.options.only and tally.options.only not in what:
            return
        answers = [build.run(*words, *where, *(build.keep if place else [])) for build in builds]
        pair = [(code, heads, build.normal(said)) for build, (code, heads, said) in zip(builds, answers)]
        tally.look(what, "jviewd " + words[0], pair, {0, 1})

    for verb in told:
        if verb != "collect":  # a program of its own
            both(verb, "--help", place=False)
    for shell in ("bash", "zsh", "fish"):
        both("completion", shell, place=False)
    for number, run in enumerate(chosen):
        neighbour = neighbours_of(run, runs)[:1] or [run["id"]]
        for verb in verbs:
            operands = VERBS.get(verb, [])
            if operands is None and number:
                continue
            words = [neighbour[0] if word == "NEIGHBOUR" else word for word in operands or []]
            for form in ("table", "json", "csv", "md") if number == 0 and verb not in ("extract", "check") else (None,):
                both(verb, *([] if operands is None else [run["id"]]), *words, *(["--format", form] if form else []))


def ask_index(builds, tally, files):
    """Segments, attributions and what is said of a file."""
    for file in files:
        what = f"jviewd index {file}"
        if tally.options.only and tally.options.only not in what:
            continue
        said, made = [], []
        for build in builds:
            out = build.place / "index"
            out.mkdir()
            code, heads, text = build.run("index", str(file), "--out", str(out / "seg"))
            said.append((code, heads, build.normal(text)))
            made.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
            shutil.rmtree(out)
        tally.look(what, "jviewd index", said, {0})
        for name in sorted({*made[0], *made[1]}) if tally.options.segments else []:
            pair = [(0 if name in files_ else 2, [], files_.get(name, b"")) for files_ in made]
            tally.look(f"{what}: {name}", "index " + name, pair, {0})


def neighbours_of(run, runs):
    """The runs of the same directory that stand next to it in the list, else any next one."""
    at = next(index for index, other in enumerate(runs) if other["id"] == run["id"])
    around = [runs[index] for index in (at + 1, at - 1, at + 2) if 0 <= index < len(runs) and index != at]
    return [other["id"] for other in around if other["state"] in ("ready", "partial")][:2]


def until_measured(builds):
    """Figures of a trend are measured behind the readers' backs: until both have as many, or for so long."""
    count = "POST", "/api/sql", {}, {"query": "select count(*), count(value) from metrics"}
    end = time.monotonic() + MEASURED_S
    while builds[0].ask(count)[2] != builds[1].ask(count)[2] and time.monotonic() < end:
        time.sleep(1)


def compare(builds, directory, tally):
    dice, options = random.Random(tally.options.seed), tally.options
    runs = []
    for build in builds:
        build.serve(directory)
        runs.append(build.settle())
    ready = [run for run in runs[0] if run["state"] in ("ready", "partial")]
    chosen = dice.sample(ready, min(options.limit, len(ready)))
    page = builds[0].ask(questions.get("/api/openapi"))[2].decode()
    paths = questions.paths_of(yaml_subset.read(page))
    for run in chosen:
        began, asked, differ = time.monotonic(), tally.asked, tally.differ
        ask_all(builds, tally, questions.of_run(paths, run, neighbours_of(run, runs[0]), dice, options.segments))
        print(f"{run['name'][:60]}: {tally.asked - asked} questions, {tally.differ - differ} differ, "
              f"{time.monotonic() - began:.1f} s", flush=True)
    until_measured(builds)
    ask_all(builds, tally, questions.of_all(paths))
    for build in builds:
        build.stop()
    if options.verbs:
        ask_verbs(builds, tally, directory, runs[0], chosen)
    files = sorted(path for path in pathlib.Path(directory).rglob("*") if path.is_file())
    ask_index(builds, tally, dice.sample(files, min(options.limit, len(files))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("directories", nargs="*", default=[str(HERE.parent / "samples")])
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=30, help="differences that are printed")
    parser.add_argument("--only")
    parser.add_argument("--keep")
    parser.add_argument("--segments", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--verbs", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_intermixed_args()
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    tally = Tally(options)
    for directory in options.directories:
        place = pathlib.Path(tempfile.mkdtemp(prefix="answers-"))
        builds = [Build(options.old, place / "old"), Build(options.new, place / "new")]
        try:
            compare(builds, pathlib.Path(directory).resolve(), tally)
        finally:
            for build in builds:
                if build.server and build.server.poll() is None:
                    build.server.kill()
                    build.server.wait()
            shutil.rmtree(place)
    print(f"{tally.asked} questions ({tally.answered} answered, {tally.asked - tally.answered} refused alike or not): "
          f"{tally.differ} differ" + "".join(f"\n  {count} {kind}" for kind, count in sorted(tally.unalike.items())))
    sys.exit(2 if tally.answered == 0 else tally.differ > 0)


if __name__ == "__main__":
    main()
