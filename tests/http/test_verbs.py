#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verbs asked of a run that nobody has read yet, and words that are no verbs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time

import common  # noqa: F401  (finds the harness)
import harness
from common import RUN

HOSTILE = "cold \x1b[2J cache"


def fresh(place, *words, code=0, **options):
    """With nothing in the cache, as the first command of a person."""
    shutil.rmtree(place.cache, ignore_errors=True)
    done = place.jviewd(*words, "--cache-dir", place.cache, **options)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def notes_tell_what_people_and_the_run_say(place):
    place.sample(RUN)
    run, data = place.profiles / RUN, place.dir / "data"
    keep = ["--data-dir", data]
    said = fresh(place, "notes", run, *keep).stdout
    assert "This run has no notes." in said and "Nothing is known to be missing" in said, said
    place.jviewd("note", "add", run, HOSTILE, "--start", "1ms", "--end", "2ms", "--cache-dir", place.cache, *keep)
    place.jviewd("note", "tag", run, "pinned", "--cache-dir", place.cache, *keep)
    (run / "jview.json").write_text(json.dumps({"step": 1000, "tags": ["nightly"]}))
    harness.age(run / "jview.json")
    said = fresh(place, "notes", run, *keep).stdout
    assert "cold  [2J cache" in said and "\x1b" not in said and "1.000" in said, said
    assert "tags: pinned" in said and '"nightly"' in said and "step 1000" in said, said
    body = fresh(place, "notes", run, "--format", "json", *keep).stdout
    assert json.loads(body)["rows"][0]["text"] == HOSTILE, body
    # What a run says of itself: a cut-off file has a note, which is there although nothing was read before.
    cut = place.profiles / "step_1500"
    place.sample("step_1500")
    file = next(cut.rglob("*.xplane.pb"))
    file.write_bytes(file.read_bytes()[:-40000])
    for other in cut.rglob("*.json.gz"):
        other.unlink()
    harness.age(file)
    said = fresh(place, "notes", cut, *keep).stdout
    assert "the run itself:\n  " in said and "Nothing is known to be missing" not in said, said


def an_overview_says_why_it_has_no_mfu(place):
    place.sample(RUN)
    said = " ".join(fresh(place, "overview", place.profiles / RUN).stdout.split())
    assert "MFU is not known: the profile does not say which device this is." in said, said
    assert "MFU is" not in said.split("Measured on")[0], said


def files_of_a_run_that_was_not_read_yet_are_written(place):
    place.sample(RUN)
    for words in (["extract", place.profiles / RUN, "--format", "files"], [place.profiles / RUN, "--extract"]):
        out = place.dir / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = fresh(place, *words, "-o", out)
        traces = [json.loads(path.read_text()) for path in out.iterdir()]
        assert traces and traces[0]["traceEvents"], (words, done.stderr)
    fresh(place, "extract", "nothing", "--format", "files", "--profile-dir", place.profiles, code=3)


def a_word_that_names_nothing_starts_no_server(place):
    for word, nearest in (("oberview", "overview"), ("serv", "serve"), ("prunne", "prune"), ("notes2", "notes")):
        done = fresh(place, word, code=2)
        assert f'"{word}"' in done.stderr and f'"{nearest}"' in done.stderr and done.stdout == "", (word, done.stderr)


def a_list_that_ends_before_all_is_read_leaves_none_in_a_queue(place):
    """Each of its files is a process, so two thousand take longer than a list waits."""
    for number in range(2000):
        path = place.profiles / f"t{number:04}.pt.trace.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"traceEvents": [{"ph": "X", "ts": 1, "dur": number + 1, "name": "f", "pid": 1, "tid": 1}]}))
        harness.age(path)
    done = fresh(place, "list", place.profiles, "--limit", "2000")
    assert "not indexed yet, and nothing is indexing them" in done.stderr, done.stderr
    assert "queued" not in done.stdout and "not read" in done.stdout, done.stdout[-2000:]


def a_question_beyond_the_budget_of_memory_is_told_at_once(place):
    place.sample(RUN)
    environment = {**os.environ, "JVIEWD_MEMORY_MAX": "1M"}
    began = time.monotonic()
    done = fresh(place, "top", place.profiles / RUN, code=4, env=environment)
    assert "all requests together may use 1 MiB (--memory-max): raise --memory-max" in done.stderr, done.stderr
    assert done.stdout == "" and time.monotonic() - began < 20, (done.stdout, time.monotonic() - began)
    fresh(place, "top", place.profiles / RUN, env={**environment, "JVIEWD_MEMORY_MAX": "1G"})


def what_is_not_understood_is_named(place):
    place.sample(RUN)
    for words in (["--wrong"], ["--threads", "many"], ["a.pb", "b.pb"]):
        done = place.jviewd("index", *words)
        assert done.returncode == 2 and f"does not understand {words[-1]}" in done.stderr, (words, done.stderr)
    for view in ("steps", "devices", "idle", "gaps"):
        said = fresh(place, "steps", place.profiles / RUN, "--step", "99", "--view", view, code=3).stderr
        assert "no step has that number" in said, (view, said)


def flags_that_are_none_have_a_nearest_one(place):
    done = fresh(place, "serve", "--prot", "8081", code=2)
    assert "there is no flag --prot; the nearest is --port" in done.stderr, done.stderr
    done = fresh(place, "serve", "--memory-max", "3x", code=2)
    assert '"3x": a size is a whole number of bytes, or a number with K, M, G or T' in done.stderr, done.stderr


def readers(place):
    """The verbs that ask an endpoint, by --help of all."""
    listed = place.jviewd("--help").stdout.split("Other verbs")[1]
    return [verb for verb in re.findall(r"^  ([a-z]+) +\S", listed, re.M) if verb not in ("open", "collect", "capture", "index", "doctor", "prune", "export", "plan", "fleet")]


def each_verb_tells_its_flags_and_examples(place):
    place.sample(), place.sample("step_500")
    for verb in readers(place):
        told = place.jviewd(verb, "--help").stdout
        assert told == place.jviewd("help", verb).stdout, verb
        assert max(map(len, told.split("Flags (")[1].splitlines())) <= 88, verb
        untold = [line for line in told.splitlines() if re.fullmatch(r"  --\S+( \S+)? *", line)]
        assert not untold, (verb, "nothing is said of", untold)
        examples = re.findall(r"^  jviewd (.*)$", told.split("Flags (")[0], re.M)
        assert len(examples) >= (1 if verb == "mcp" else 3), (verb, examples)
        for example in examples:
            words = shlex.split(example.split(" > ")[0])
            assert words[0] == verb, example
            if verb == "mcp" or "--profile-dir" in words:
                continue
            where = [] if verb == "completion" else ["--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data"]
            done = place.jviewd(*words, *where, cwd=place.dir)
            assert done.returncode != 2, (example, done.stderr)


def a_reader_that_leaves_early_is_no_failure(place):
    place.sample()
    words = [RUN, "--profile-dir", place.profiles, "--cache-dir", place.cache, "--limit", "10000"]
    for form in ("table", "csv", "md", "json"):
        line = f'"$0" slices "$@" --format {form} | head -n 1; exit "${{PIPESTATUS[0]}}"'
        done = subprocess.run(["bash", "-c", line, harness.program(), *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr and done.stdout, (form, done)
    with open("/dev/full", "w") as full:
        done = subprocess.run([harness.program(), "slices", *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4 and "No space left" in done.stderr, done


def answers_to_people_are_sentences(place):
    """What-if is a sentence and a table; a frame in focus has callers and callees; nothing escapes Markdown."""
    place.sample(RUN)
    keep = ["--profile-dir", place.profiles, "--cache-dir", place.cache]

    def said(*words, code=0):
        done = place.jviewd(*words, *keep)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    whatif = said("whatif", RUN, "--scale", "kind:compute=0.5")
    assert re.match(r"A step would take \S+ ms instead of \S+ ms: \S+ ms less \(\S+ %\)\. Most of its critical path would be ", whatif), whatif
    assert re.search(r"^Step +Host +Now +Predicted +Mostly$", whatif, re.M) and "steps[0]" not in whatif, whatif
    assert said("whatif", RUN).startswith("A step would take ") and "as it does now" in said("whatif", RUN)
    assert json.loads(said("whatif", RUN, "--format", "json"))["steps"]
    focus = said("flame", RUN, "--focus", "mlp")
    assert re.search(r"% +mlp\n\nCallers\n.*\n\nCallees\n", focus, re.S), focus
    assert "no frame of this flame graph has that name" in said("flame", RUN, "--focus", "no such frame", code=3)
    for verb in ("transfers", "memory", "compiles"):
        assert "\\" not in said(verb, RUN), verb
    assert "RUN is the name of a run" in said("top", code=2)


def notes_of_a_run_are_shown_without_other_words(place):
    place.sample()
    words = ["--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data"]
    assert place.jviewd("note", "add", RUN, "kept", *words).returncode == 0
    done = place.jviewd("note", "show", RUN, *words)
    assert done.returncode == 0 and "kept" in done.stdout and not done.stderr, done


if __name__ == "__main__":
    harness.main([what_is_not_understood_is_named, a_reader_that_leaves_early_is_no_failure, answers_to_people_are_sentences, notes_of_a_run_are_shown_without_other_words,
                  each_verb_tells_its_flags_and_examples, notes_tell_what_people_and_the_run_say, files_of_a_run_that_was_not_read_yet_are_written, an_overview_says_why_it_has_no_mfu,
                  a_word_that_names_nothing_starts_no_server, a_list_that_ends_before_all_is_read_leaves_none_in_a_queue,
                  a_question_beyond_the_budget_of_memory_is_told_at_once, flags_that_are_none_have_a_nearest_one])
