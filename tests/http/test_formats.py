#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every route that declares `format`: the same rows as JSON, CSV and Markdown."""

import csv
import io

import common
import openapi
from common import RUN, ask

LISTS = ("rows", "tracks", "runs", "top", "findings")
ASKED = {"/api/search": {"q": "dot"}, "/api/compare": {"runs": "step_500,step_1000"}, "/api/diff": {"a": "step_500", "b": RUN},
         "/api/slices": {"limit": 20}}
LIMITED = 20


def routes():
    """GET routes whose format is json, csv and md, with the parameters they take."""
    for path, methods in sorted(openapi.PAGE["paths"].items()):
        parameters = [openapi.resolve(one) for one in methods.get("get", {}).get("parameters", [])]
        words = next((one["schema"].get("enum", []) for one in parameters if one["name"] == "format"), [])
        if {"json", "csv", "md"} <= set(words):
            yield path, {one["name"] for one in parameters}


def questions():
    for path, names in routes():
        asked = dict(ASKED.get(path, {}))
        if "run" in names and not asked.get("a"):
            asked["run"] = RUN
        if "limit" in names:
            asked["limit"] = LIMITED
        yield path, asked


def rows_are_as_many(server):
    compared = []
    for path, asked in questions():
        if path == "/api/slices":
            asked["track"] = ask(server, "/api/tracks", run=RUN).json["tracks"][2]["id"]
        whole = ask(server, path, **asked)
        if whole.status != 200:
            continue
        lists = [whole.json[name] for name in LISTS if isinstance(whole.json.get(name), list)]
        if not lists or path == "/api/compare":  # a line a figure and run, a column a run
            continue
        lines = list(csv.reader(io.StringIO(ask(server, path, format="csv", **asked).text)))
        marked = [line for line in ask(server, path, format="md", **asked).text.splitlines() if line.startswith("|")]
        count = len(lists[0])
        assert len(lines) - 1 == count, (path, asked, len(lines) - 1, count)
        assert max(len(marked) - 2, 0) == count, (path, asked, len(marked) - 2, count)
        compared.append(path)
    assert len(compared) >= 10 and "/api/tracks" in compared, compared


def leaves(value, field=""):
    """Every field that is no list or object with something in it."""
    parts = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    if not parts:
        yield field, value
    for key, part in parts:
        yield from leaves(part, f"{field}[{key}]" if isinstance(value, list) else f"{field}.{key}" if field else key)


def what_is_one_thing_is_told_by_its_fields(server):
    track = next(one["id"] for one in ask(server, "/api/tracks", run=RUN).json["tracks"] if one["slice_count"])
    one = ask(server, "/api/slices", run=RUN, track=track, limit=1).json["rows"][0]["id"]
    for path, asked in (("/api/run", {}), ("/api/slice", {"id": one})):
        whole = ask(server, path, run=RUN, **asked).json
        rows = list(csv.reader(io.StringIO(ask(server, path, run=RUN, format="csv", **asked).text)))
        want = dict(leaves(whole))
        assert rows[0] == ["field", "value"] and [field for field, _ in rows[1:]] == list(want), (path, rows[:3])
        for field, value in rows[1:]:
            if isinstance(want[field], int) and not isinstance(want[field], bool):
                assert value == str(want[field]), (path, field, value)
        marked = ask(server, path, run=RUN, format="md", **asked).text.splitlines()
        assert marked[0] == "| field | value |" and len(marked) == len(rows) + 1, (path, marked[:3])


if __name__ == "__main__":
    common.main([rows_are_as_many, what_is_one_thing_is_told_by_its_fields])
