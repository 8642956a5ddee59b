#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the cache that are cut under a server that has them mapped: no signal ends it, and what is asked is answered from a new index."""

import json
import os
import threading
import urllib.request

import harness

RUN = "step_1500"
QUESTIONS = [  # over every reader of maps: tables, slices, levels, args, programs, streams
    ("/api/slices", {}), ("/api/search", {"q": "a"}), ("/api/flame", {}), ("/api/top", {"by": "name"}),
    ("/api/overview", {}), ("/api/tracks", {}), ("/api/hlo", {}), ("/api/steps", {}), ("/api/findings", {}),
    ("/api/trace", {"format": "chrome"}), ("/api/transfers", {}), ("/api/counters", {})]


def serve(place):
    """What a question had by malloc when it was left stays taken (base/lost.h): that is no leak to be told."""
    return place.serve(env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"})


def mapped(place, suffix):
    return [path for path in place.cache.rglob("*" + suffix) if path.stat().st_size > 0]


def rows(body):
    return {key: value for key, value in body.items() if key != "notes"} if isinstance(body, dict) else body


def ask(server, question):
    path, query = question
    return server.fetch(path, run=RUN, wait_ms=30000, **query)


def cut_under(place, suffix, size):
    """Each question in turn is the first that finds its file cut; its answer is that of the whole one."""
    place.sample(RUN)
    server = serve(place)
    server.until_settled()
    sound = {question[0]: ask(server, question) for question in QUESTIONS}
    told = 0
    for number, question in enumerate(QUESTIONS):
        # Another question's path through the kept answers would answer from memory: each is asked once more, in a window.
        for path in mapped(place, suffix):
            os.truncate(path, size)
        varied = (question[0], {**question[1], "limit": 900 + number} if question[0] in ("/api/slices", "/api/search", "/api/top", "/api/transfers") else question[1])
        status, _, body = ask(server, varied)
        assert server.process.poll() is None, (question, "the server ended", server.process.returncode)
        assert status in (200, 503) or status == sound[question[0]][0], (question, status, body)
        if status == 200 and isinstance(body, dict):
            told += any(note["kind"] == "index-remade" for note in body.get("notes", []))
        again, _, after = ask(server, varied)
        assert again == sound[question[0]][0], (question, again, after)
        if varied == question:
            assert rows(after) == rows(sound[question[0]][2]), question
    assert server.stop() == 0
    return told


def a_segment_is_cut_under_the_server(place):
    assert cut_under(place, ".seg", 100) > 0, "no question told of it"


def a_segment_is_cut_in_its_middle(place):
    cut_under(place, ".seg", 8192)


def an_attribution_is_cut_under_the_server(place):
    cut_under(place, ".attr", 100)


def many_at_once_find_it_cut(place):
    """16 clients ask while the file is cut again and again."""
    place.sample(RUN)
    server = serve(place)
    server.until_settled()
    sound = rows(ask(server, ("/api/top", {"by": "name", "limit": 1000}))[2])
    seen, over = [], threading.Event()

    def client(number):
        turn = 0
        while not over.is_set():
            turn += 1
            try:
                status, _, body = ask(server, ("/api/top", {"by": "name", "limit": 1000, "start_ps": -number * 1000 - turn}))
            except OSError as error:
                status, body = 0, str(error)
            seen.append((status, len(body.get("rows", [])) if status == 200 else body))

    clients = [threading.Thread(target=client, args=(number,)) for number in range(16)]
    for one in clients:
        one.start()
    for size in (100, 5000, 0, 9000, 100, 20000):
        for path in mapped(place, ".seg"):
            try:
                os.truncate(path, min(size, path.stat().st_size))
            except FileNotFoundError:
                pass
        threading.Event().wait(0.5)
    over.set()
    for one in clients:
        one.join()
    assert server.process.poll() is None, ("the server ended", server.process.returncode)
    wrong = [answer for answer in seen if answer[0] not in (200, 503) or answer[0] == 200 and answer[1] != len(sound["rows"])]
    assert not wrong, wrong[:3]
    assert server.stop() == 0


def sql_finds_it_cut(place):
    place.sample(RUN)
    server = serve(place)
    server.until_settled()
    words = "select name, count(*) as n, sum(self_ps) as t from ops group by name order by name"

    def query(number):
        request = urllib.request.Request(f"{server.url}/api/sql?run={RUN}&wait_ms=30000", json.dumps({"query": words + " limit %d" % (1000 + number)}).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)["rows"]

    sound = query(0)
    assert len(sound) > 5, sound
    for number, suffix in enumerate((".seg", ".attr", ".seg")):
        for path in mapped(place, suffix):
            os.truncate(path, 100)
        assert query(number + 1) == sound, suffix
    assert server.stop() == 0


def the_catalogs_shared_memory_is_cut(place):
    """SQLite maps catalog.sqlite-shm: what is cut of it is an index of the WAL, made anew."""
    place.sample(RUN)
    server = serve(place)
    server.until_settled()
    shm = mapped(place, "catalog.sqlite-shm")
    if not shm:
        raise harness.Skip("SQLite keeps no -shm")
    os.truncate(shm[0], 0)
    for _ in range(3):
        server.answers(RUN)
    place.sample("step_500")
    server.until_state("step_500", "ready")
    server.answers("step_500")
    assert server.process.poll() is None
    assert server.stop() == 0
    names = set(serve(place).until_settled())
    assert names == {RUN, "step_500"}, names


def a_deleted_attribution_is_made_again(place):
    """A segment whose attribution is gone would answer as if the run had no ops."""
    place.sample(RUN)
    server = serve(place)
    server.until_settled()
    sound = rows(ask(server, ("/api/top", {"by": "name", "limit": 1000}))[2])
    assert server.stop() == 0
    for path in mapped(place, ".attr"):
        path.unlink()
    server = serve(place)
    status, _, body = ask(server, ("/api/top", {"by": "name", "limit": 1000}))
    assert status == 200 and rows(body) == sound, (status, body.get("rows", body) if isinstance(body, dict) else body)
    assert mapped(place, ".attr"), "it was not made again"
    assert server.stop() == 0


if __name__ == "__main__":
    harness.main([a_segment_is_cut_under_the_server, a_segment_is_cut_in_its_middle, an_attribution_is_cut_under_the_server,
                  many_at_once_find_it_cut, sql_finds_it_cut, the_catalogs_shared_memory_is_cut, a_deleted_attribution_is_made_again])
