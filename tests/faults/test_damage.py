#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the cache that are damaged on disk: every answer is the one of the sound cache, and says that it was made anew.

JVIEWD_DAMAGES is how many are tried (60), JVIEWD_DAMAGE_SEED which. Each damages one file (a flipped bit, 512 bytes zeroed, two pieces of
512 bytes swapped, a cut), and asks the command line one question.
"""

import json
import os
import random
import shutil
import subprocess

import harness

RUN = "step_1000"

SEED = int(os.environ.get("JVIEWD_DAMAGE_SEED", "20261126"))
ANSWER_S = 120
COUNT = int(os.environ.get("JVIEWD_DAMAGES", "60"))
TOLD = {"index-remade", "catalog"}  # notes of what was mended
QUESTIONS = [["list"]] + [[verb, RUN] for verb in (
    "overview", "top", "steps", "findings", "hlo", "transfers", "compiles", "hosts", "flame", "roofline")]


def flip(bytes_, dice):
    at = dice.choice([i for i, byte in enumerate(bytes_) if byte])
    bytes_[at] ^= 1 << dice.randrange(8)
    return bytes_


def zero(bytes_, dice):
    at = dice.randrange(len(bytes_))
    bytes_[at:at + 512] = bytes(len(bytes_[at:at + 512]))
    return bytes_


def swap(bytes_, dice):
    one, other = (dice.randrange(max(1, len(bytes_) - 512)) for _ in range(2))
    held = bytes_[one:one + 512], bytes_[other:other + 512]
    bytes_[one:one + 512], bytes_[other:other + 512] = held[1], held[0]
    return bytes_


def cut(bytes_, dice):
    return bytes_[:dice.randrange(len(bytes_))]


def told(place, question):
    """The answer, without the notes of TOLD, and which of these there were; an answer that is none is told as its words."""
    try:
        done = place.jviewd(*question, "--format", "json", "--profile-dir", place.profiles, "--cache-dir", place.cache,
                            "--data-dir", place.dir / "data", seconds=ANSWER_S)
    except subprocess.TimeoutExpired:
        return f"no answer within {ANSWER_S} s", set()
    if done.returncode != 0:
        return f"{done.returncode}: {done.stderr}", set()
    answer = json.loads(done.stdout)
    notes = {note["kind"] for note in answer.get("notes", [])} & TOLD
    if "notes" in answer:
        answer["notes"] = [note for note in answer["notes"] if note["kind"] not in TOLD]
    return answer, notes


def cached(place):
    return {path: path.read_bytes() for path in place.cache.rglob("*") if path.is_file() and path.stat().st_size > 0}


def restore(place, files):
    for path in list(place.cache.rglob("*")):
        if path.is_file() and path not in files:
            path.unlink()
    for path, bytes_ in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes_)


def no_answer_is_wrong(place):
    place.sample(RUN)
    dice, remade, wrong = random.Random(SEED), 0, []
    sound = {tuple(question): told(place, question)[0] for question in QUESTIONS}
    files = cached(place)
    assert {path.suffix for path in files} >= {".seg", ".attr", ".sqlite"}, files.keys()
    for number in range(COUNT):
        path, damage, question = dice.choice(sorted(files)), dice.choice([flip, flip, zero, swap, cut]), dice.choice(QUESTIONS)
        restore(place, files)
        path.write_bytes(damage(bytearray(files[path]), dice))
        answer, notes = told(place, question)
        if answer != sound[tuple(question)]:
            wrong.append((number, path.name, damage.__name__, " ".join(question), answer if isinstance(answer, str) else "other"))
            print("wrong:", *wrong[-1], flush=True)
        remade += "index-remade" in notes
    print(COUNT, "damages:", len(wrong), "wrong answers or refusals,", remade, "remade and told", flush=True)
    assert not wrong, wrong[:5]
    assert remade > 0 or COUNT < 60, "none was noticed: nothing was tried"
    restore(place, files)


def the_catalog_is_not_believed(place):
    """Bits of its rows, where a host's name stands: it would be another, and SQLite sees nothing."""
    place.sample(RUN)
    sound = {verb: told(place, [verb, RUN])[0] for verb in ("overview", "hosts")}
    name = sound["hosts"]["rows"][0]["host"].encode()
    files = cached(place)
    catalog = next(path for path in files if path.suffix == ".sqlite")
    places = [at for at in range(len(files[catalog])) if files[catalog].startswith(name, at)]
    assert places
    for number, at in enumerate(places):
        restore(place, files)
        bytes_ = bytearray(files[catalog])
        bytes_[at + 1] ^= 1
        catalog.write_bytes(bytes_)
        for verb, answer in sound.items():
            assert told(place, [verb, RUN])[0] == answer, (number, verb)


def a_server_heals_and_tells(place):
    """A byte of a segment is turned over before a server begins: the first answer is right, the second says no more of it."""
    place.sample(RUN)
    sound = told(place, ["top", RUN, "--by", "name", "--limit", "1000"])[0]
    files = cached(place)
    segment = next(path for path in files if path.suffix == ".seg")
    remade, tries = 0, 8
    for number in range(tries):
        bytes_ = bytearray(files[segment])
        bytes_[128 + number * (len(bytes_) - 256) // tries] ^= 255
        segment.write_bytes(bytes_)
        server = place.serve()
        first, again = (server.fetch("/api/top", run=RUN, by="name", limit=1000, wait_ms=30000)[2] for _ in range(2))
        assert first["rows"] == again["rows"] == sound["rows"]
        remade += any(note["kind"] == "index-remade" for note in first["notes"])
        assert not any(note["kind"] == "index-remade" for note in again["notes"]), again["notes"]
        assert server.stop() == 0
    print(remade, "of", tries, "were found while something was asked; others when the index was opened, or not read")


def without_its_files_it_is_refused(place):
    """Nothing is left to make the index from: 422 with the reason, or 404 where the damage is seen as the index is opened."""
    place.sample(RUN)
    server = place.serve()
    server.until_settled()
    sound = server.fetch("/api/overview", run=RUN, wait_ms=10000)[2]
    assert server.stop() == 0
    shutil.rmtree(place.profiles / RUN)
    files = cached(place)
    segment, seen = next(path for path in files if path.suffix == ".seg"), set()
    for number in range(8):
        restore(place, files)
        bytes_ = bytearray(files[segment])
        bytes_[128 + number * (len(bytes_) - 256) // 8] ^= 255
        segment.write_bytes(bytes_)
        server = place.serve()
        harness.until("the scan", lambda: server.fetch("/api/runs")[2]["runs"][:1] != [])
        status, _, body = server.fetch("/api/overview", run=RUN, wait_ms=2000)
        assert status in (200, 404, 422), (number, status, body)
        assert status != 200 or body["breakdown"] == sound["breakdown"], number
        assert status != 422 or "no longer exist" in body["detail"], body
        seen.add(status)
        assert server.stop() == 0
    assert 422 in seen, seen


def another_runs_attribution_is_not_taken(place):
    """The attributions of two runs change places."""
    names = ("step_500", "step_1500")
    for name in names:
        place.sample(name)
    sound = {name: told(place, ["top", name])[0] for name in names}
    files = {path: content for path, content in cached(place).items() if path.suffix == ".attr"}
    for path in files:
        path.write_bytes(files[next(other for other in files if other != path)])
    for name in names:
        answer, _ = told(place, ["top", name])
        assert answer == sound[name], name


if __name__ == "__main__":
    harness.main([no_answer_is_wrong, the_catalog_is_not_believed, a_server_heals_and_tells, without_its_files_it_is_refused, another_runs_attribution_is_not_taken])
