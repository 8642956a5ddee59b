#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jviewd prune: says what may go, deletes only what it was told to, and never what is pinned."""

import shutil

import harness

DAY_S = 86400


def prune(place, *arguments, code=0):
    done = place.jviewd("prune", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data", *arguments)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def told(words):
    """{run: what is said of it}"""
    lines = [line for line in words.splitlines() if " d  " in line]
    return {line.split()[-1]: " ".join(line.split(" d  ")[1].split()[:-1]) for line in lines}


def sample(place, name, days):
    """A run is as old as its newest file."""
    place.sample("step_500", name)
    for path in (place.profiles / name).rglob("*"):
        harness.age(path, days * DAY_S)


def runs(place, days):
    """Runs of that age each, read once."""
    for name, age in days.items():
        sample(place, name, age)
    server = place.serve()
    server.until_settled()
    for name in days:
        assert server.top(name, wait_ms=30000)[0] == 200, name
    assert server.stop() == 0


def nothing_goes_unasked(place):
    runs(place, {"old": 40, "new": 1})
    before = sorted(path for path in place.profiles.rglob("*"))
    assert set(told(prune(place)).values()) == {"no: no limit was given"}
    words = prune(place, "--older-than", "30d")
    assert told(words) == {"old": "yes", "new": "no: not that old"}, words
    assert "Nothing was deleted: --delete would remove 1 run" in words, words
    assert sorted(path for path in place.profiles.rglob("*")) == before


def pinned_and_baselines_stay(place):
    runs(place, {"a": 1, "b": 2, "c": 3})
    common = ("--profile-dir", place.profiles, "--cache-dir", place.cache, "--data-dir", place.dir / "data")
    assert place.jviewd("note", "tag", "c", "pinned", *common).returncode == 0
    words = prune(place, "--keep", "0", "--delete")
    # The runs are copies of one content, so that all of them are pinned.
    assert told(words) == {"a": "no: pinned", "b": "no: pinned", "c": "no: pinned"}, words
    assert place.jviewd("note", "untag", "c", "pinned", *common).returncode == 0
    assert place.jviewd("baseline", "set", "main", "a", *common).returncode == 0
    assert set(told(prune(place, "--keep", "0", "--delete")).values()) == {"no: a baseline"}
    assert place.jviewd("baseline", "remove", "main", *common).returncode == 0
    stranger = place.profiles / "c" / "notes.txt"
    stranger.write_text("mine")
    words = prune(place, "--keep", "1", "--delete")
    assert told(words) == {"a": "no: among the newest", "b": "yes", "c": "yes"} and "2 runs deleted" in words, words
    assert (place.profiles / "a").exists() and not (place.profiles / "b").exists()
    assert stranger.read_text() == "mine" and not list((place.profiles / "c").rglob("*.pb"))


def what_is_gone_takes_no_place(place):
    runs(place, {"a": 1, "b": 2, "c": 3, "d": 4})
    size = sum(path.stat().st_size for path in (place.profiles / "b").rglob("*") if path.is_file())
    shutil.rmtree(place.profiles / "a")
    want = {"b": "no: among the newest", "c": "yes", "d": "yes"}
    assert told(prune(place, "--keep", "1")) == want, prune(place, "--keep", "1")
    words = prune(place, "--max-size", str(2 * size))
    assert told(words) == {"b": "no: it fits", "c": "no: it fits", "d": "yes"}, words


def what_lies_beside_stays_and_counts_not(place):
    sample(place, "new", 1)
    sample(place, "old", 40)
    beside = []
    for name in ("new", "old"):
        session = next((place.profiles / name).rglob("*.pb")).parent
        for file, text in (("results.json", '{"loss": 2.5}'), ("notes.txt", "mine"), ("weights.zip", "PK" + "x" * 5000000)):
            beside.append(session / file)
            beside[-1].write_text(text)
            harness.age(beside[-1], (1 if name == "new" else 40) * DAY_S)
    server = place.serve()
    server.until_settled()
    assert server.stop() == 0
    words = prune(place, "--max-size", "1M")
    assert told(words) == {"new": "no: it fits", "old": "no: it fits"}, words
    words = prune(place, "--older-than", "30d", "--delete")
    assert told(words) == {"new": "no: not that old", "old": "yes"}, words
    assert not list((place.profiles / "old").rglob("*.pb")) and all(path.exists() for path in beside), words


def what_was_not_read_stays(place):
    sample(place, "unread", 90)
    assert "may be pinned" in told(prune(place, "--older-than", "1d", "--delete"))["unread"]


def without_the_user_database_nothing_goes(place):
    runs(place, {"old": 40})
    (place.dir / "data").mkdir(exist_ok=True)
    (place.dir / "data/user.db").write_bytes(b"no database " * 20)
    words = prune(place, "--keep", "0", "--delete", code=4)
    assert "not known" in words and (place.profiles / "old").exists(), words


def words_that_are_none_are_refused(place):
    for arguments in (("--keep", "x"), ("--older-than", "30"), ("--max-size", "-1"), ("--force",), ("a", "b")):
        assert "jviewd prune [DIR]" in prune(place, *arguments, code=2), arguments


harness.main([nothing_goes_unasked, pinned_and_baselines_stay, what_is_gone_takes_no_place,
              what_lies_beside_stays_and_counts_not, what_was_not_read_stays,
              without_the_user_database_nothing_goes, words_that_are_none_are_refused])
