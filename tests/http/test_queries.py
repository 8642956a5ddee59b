#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad query strings, 400 kinds and more: each is refused with a sentence, none harms the server.

A kind is an endpoint, a parameter it declares, and a way to get that parameter wrong.
"""

import urllib.parse

import common
import openapi
from common import RUN, ask, good
from questions import questions

HUGE = 2**63
NUMBERS = ["", "abc", "1.5", "1e3", "0x10", "+5", " 5", "5 ", "5ms", "--1", "1,2", "٣", str(HUGE), str(-HUGE - 1), "9" * 40,
           "NaN", "true", "null", "[]", "1;2"]
LISTS = {"device": ["a", "1,b", "-1", "1.5", "99999999999", ",".join(["1"] * 257), "0x1"],
         "step": ["a", "5-3", "-", "1-", "-1", "1-2-3", "1.5", ",".join(["1"] * 257)],
         "track": ["a", "1", "00000000.0", "x.y", ".", "129e0822", ",".join(["a.0"] * 257)],
         "tracks": ["a", "1", "00000000.0"],
         "host": ["nobody", "a,b", "../../etc/passwd"]}
RAW = ["%", "%2", "%zz", "%00", "a%00b", "%u0041"]


def declared(path):
    for param in openapi.PAGE["paths"][path].get("get", {}).get("parameters", []):
        yield openapi.resolve(param)


def wrong_values(param):
    """(text, is it raw)"""
    schema, name = param["schema"], param["name"]
    if schema.get("type") == "integer":
        yield from NUMBERS
        if "minimum" in schema:
            yield str(schema["minimum"] - 1)
        if "maximum" in schema:
            yield str(schema["maximum"] + 1)
    elif "enum" in schema:
        yield from ["", "nothing", schema["enum"][0].upper() + "x", schema["enum"][0][:-1], "|".join(schema["enum"] * 2), " "]
    elif name in LISTS:
        yield from LISTS[name]
    if "maxLength" in schema and schema["maxLength"] < 8000:
        yield "x" * (schema["maxLength"] + 1)
    if name == "run":
        yield from ["nothing", "../..", "step_", "latest-999", "latest--1", "0" * 32, "\x01", "é", "run=run"]
    if name == "cursor":
        yield from ["n", "5", "n-1", "n5x", f"n{2**64}", f"n{HUGE}", "next"]
    if name == "sort" and "enum" not in schema:
        yield from ["nothing", "-", "--name", ",", "name;drop", "-nothing"]
    if name in ("id", "slice"):
        yield from ["nothing", "1", "129e0822-", "00000000-0", "-1", "x-y"]
    if name == "rows":
        yield from ["nothing", ":", "a:b", "00000000.0:0", ",".join(["a.0:0"] * 20)]


def kinds(server):
    """(path, name, query string)"""
    asked = questions(server)
    asked["/api/tiles"] = {"run": RUN, "level": 20, "from": 0, "to": 1, "rows": asked["/api/slices"]["track"] + ":0"}
    asked["/api/trace"] = {"run": RUN}
    asked["/api/table"] = {"run": RUN, "table": "steps"}
    asked.setdefault("/api/counters", {"run": RUN, "track": asked["/api/slices"]["track"]})
    for path, query in asked.items():
        for param in declared(path):
            others = {key: value for key, value in query.items() if key != param["name"]}
            base = urllib.parse.urlencode(others)
            for text in wrong_values(param):
                yield path, param["name"], f"{base}&{param['name']}={urllib.parse.quote(text)}"
            for raw in RAW:
                yield path, param["name"], f"{base}&{param['name']}={raw}"
            if param["name"] in query:
                again = urllib.parse.urlencode({param["name"]: query[param["name"]]})
                yield path, param["name"], f"{base}&{again}&{again}"
            if param.get("required"):
                yield path, param["name"], base
        base = urllib.parse.urlencode(query)
        for unknown in ("limt=5", "Run=a", "run%20=a", "=", "=a", "a", "sort_by=x", "%6cimit%31=5", "page=2", "_=1",
                        "callback=x", "access_token=x"):
            if unknown != "=":
                yield path, unknown, f"{base}&{unknown}"
        yield path, "many", base + "&a=1" * 65
        yield path, "long", base + "&a=" + "x" * 9000


def bad_queries_are_refused(server):
    count, wrong = 0, []
    for path, name, query in kinds(server):
        reply = ask(server, f"{path}?{query}")
        count += 1
        if reply.status not in (400, 404, 414, 422):
            wrong.append(f"{path}?{query[:200]} -> {reply.status} {reply.body[:80]}")
        elif reply.headers["Content-Type"] != "application/problem+json":
            wrong.append(f"{path}?{query[:200]} is no problem+json")
        elif not reply.json["detail"]:
            wrong.append(f"{path}?{query[:200]} says nothing")
    assert count >= 400, count
    assert not wrong, f"{len(wrong)} of {count}: " + "\n    ".join(wrong[:12])
    print(f"# {count} bad query strings")


def windows(server):
    for query in ({"start_ps": 5, "end_ps": 5}, {"start_ps": 6, "end_ps": 5}, {"start_ps": HUGE - 1}, {"end_ps": -HUGE}):
        for path in ("/api/top", "/api/slices", "/api/steps", "/api/overview", "/api/flame", "/api/memory", "/api/trace"):
            reply = ask(server, path, run=RUN, **query)
            assert reply.status == 400 and "window is empty" in reply.json["detail"], (path, query, reply.body[:200])


def extreme_windows_answer(server):
    for query in ({"start_ps": -HUGE, "end_ps": HUGE - 1}, {"start_ps": -HUGE, "end_ps": 1 - HUGE},
                  {"start_ps": HUGE - 2, "end_ps": HUGE - 1}, {"start_ps": -1, "end_ps": 0}):
        for path in ("/api/top", "/api/slices", "/api/steps", "/api/overview", "/api/flame", "/api/memory", "/api/trace",
                     "/api/search", "/api/flows"):
            more = {"q": "e"} if path == "/api/search" else {}
            assert ask(server, path, run=RUN, **query, **more).status == 200, (path, query)


def tiles_of_all_levels(server):
    track = questions(server)["/api/slices"]["track"]
    for level in range(53):
        for first in (0, -1, 5, -2**40, 2**40, -2**61, 2**61):
            reply = ask(server, "/api/tiles", run=RUN, level=level, to=first + 2, rows=f"{track}:0-1,{track}:s", **{"from": first})
            assert reply.status in (200, 400), (level, first, reply.body[:200])
            assert reply.status == 200 or "out of range" in reply.json["detail"], (level, first, reply.body[:200])
            assert reply.status == 200 or (abs(first) + 2) * 1024 * 2**level >= HUGE, (level, first)


def names_that_matter_are_echoed_safely(server):
    reply = ask(server, "/api/top", run='"><script>alert(1)</script>\r\nX: y')
    assert reply.status == 404 and reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "<script>" in reply.json["detail"] and reply.headers["Content-Type"] == "application/problem+json"


def still_serves(server):
    good(server, "/api/top", run=RUN)


if __name__ == "__main__":
    common.main([bad_queries_are_refused, windows, extreme_windows_answer, tiles_of_all_levels,
                 names_that_matter_are_echoed_safely, still_serves])
