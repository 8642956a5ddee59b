#!/usr/bin/env python3
"""Verbs asked of a run that nobody has read yet, and words that are no verbs."""

import json
import os
import shutil
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
    assert "Nobody wrote a note on this run." in said and "lacks nothing" in said, said
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
    assert "the run itself:\n  " in said and "lacks nothing" not in said, said


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
    assert "not read yet: nothing is indexing them" in done.stderr, done.stderr
    assert "queued" not in done.stdout and "not read" in done.stdout, done.stdout[-2000:]


def a_question_beyond_the_budget_of_memory_is_told_at_once(place):
    place.sample(RUN)
    environment = {**os.environ, "JVIEWD_MEMORY_MAX": "1M"}
    began = time.monotonic()
    done = fresh(place, "top", place.profiles / RUN, code=4, env=environment)
    assert "questions may take 1 MiB together (--memory-max): a larger --memory-max lets it in" in done.stderr, done.stderr
    assert done.stdout == "" and time.monotonic() - began < 20, (done.stdout, time.monotonic() - began)
    fresh(place, "top", place.profiles / RUN, env={**environment, "JVIEWD_MEMORY_MAX": "1G"})


def flags_that_are_none_have_a_nearest_one(place):
    done = fresh(place, "serve", "--prot", "8081", code=2)
    assert "there is no flag --prot; the nearest is --port" in done.stderr, done.stderr
    done = fresh(place, "serve", "--memory-max", "3x", code=2)
    assert '"3x": a size is a whole number of bytes, or one with K, M, G or T behind it' in done.stderr, done.stderr


if __name__ == "__main__":
    harness.main([notes_tell_what_people_and_the_run_say, files_of_a_run_that_was_not_read_yet_are_written,
                  a_word_that_names_nothing_starts_no_server, a_list_that_ends_before_all_is_read_leaves_none_in_a_queue,
                  a_question_beyond_the_budget_of_memory_is_told_at_once, flags_that_are_none_have_a_nearest_one])
