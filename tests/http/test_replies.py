#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replies: their schemas, pages that join, the same numbers in every format, tags, encodings."""

import csv
import gzip
import io
import json
import re

import common
import harness
import openapi
from common import RUN, ask, good
from questions import ids, questions


def replies_match_the_page(server):
    for path, query in questions(server).items():
        openapi.check(good(server, path, **query).json, path)


def every_run_matches_the_page(server):
    for run in good(server, "/api/runs").json["runs"]:
        for path in ("/api/run", "/api/tracks", "/api/overview", "/api/steps", "/api/flame", "/api/memory"):
            openapi.check(good(server, path, run=run["id"]).json, path)
        for by in ("op", "name", "kernel", "api", "category", "module", "scope", "source", "host", "device", "track",
                   "annotation"):
            openapi.check(good(server, "/api/top", run=run["name"], by=by).json, "/api/top")


def examples_match_the_page(server):
    for path, file in openapi.examples():
        openapi.check(json.loads(file.read_text()), path)


def problems_match_the_page(server):
    for query, status in (({"run": "nothing"}, 404), ({}, 400), ({"run": RUN, "limit": 0}, 400)):
        reply = ask(server, "/api/top", **query)
        assert reply.status == status and reply.headers["Content-Type"] == "application/problem+json", reply.body
        openapi.check(reply.json, "/api/top", status)


def pages(server, path, member, limit, **query):
    rows, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = good(server, path, limit=limit, **query, **more).json
        assert len(page[member]) <= limit
        rows += page[member]
        cursor = page["next"]
        if cursor is None:
            assert len(rows) == page["row_count"], (path, len(rows), page["row_count"])
            return rows


def pages_join(server):
    track = ids(server)["track"]
    for path, member, limit, query in (
            ("/api/runs", "runs", 1, {}),
            ("/api/tracks", "tracks", 3, {"run": RUN}),
            ("/api/top", "rows", 7, {"run": RUN}),
            ("/api/top", "rows", 7, {"run": RUN, "by": "name", "sort": "name"}),
            ("/api/steps", "rows", 2, {"run": RUN}),
            ("/api/slices", "rows", 997, {"run": RUN, "track": track}),
            ("/api/slices", "rows", 501, {"run": RUN, "track": track, "sort": "-dur_ps"}),
            ("/api/search", "rows", 33, {"run": RUN, "q": "execute"}),
            ("/api/flows", "rows", 499, {"run": RUN})):
        parts = pages(server, path, member, limit, **query)
        whole = pages(server, path, member, 10000, **query)
        assert parts == whole, (path, query, len(parts), len(whole))
        if "id" in whole[0]:
            assert len({json.dumps(row) for row in whole}) == len(whole), path


def slices_are_all_there(server):
    for track in good(server, "/api/tracks", run=RUN).json["tracks"]:
        rows = pages(server, "/api/slices", "rows", 10000, run=RUN, track=track["id"])
        assert len(rows) == track["slice_count"], track
        assert sum(row["dur_ps"] for row in rows) == track["duration_sum_ps"], track
        assert [row["start_ps"] for row in rows] == sorted(row["start_ps"] for row in rows)


def slices_by_name_are_those_of_a_scan(server):
    name = ids(server)["op"]
    indexed = pages(server, "/api/slices", "rows", 100, run=RUN, name=name)
    tracks = [track["id"] for track in good(server, "/api/tracks", run=RUN).json["tracks"] if not track["derived"]]
    scanned = pages(server, "/api/slices", "rows", 100, run=RUN, name=name, track=",".join(tracks))
    assert indexed == scanned and indexed
    row = next(row for row in good(server, "/api/top", run=RUN, by="name", q=name, limit=10000).json["rows"]
               if row["name"] == name)
    assert row["count"] == len(indexed) and row["total_ps"] == sum(one["dur_ps"] for one in indexed)


def a_window_cuts(server):
    track = ids(server)["track"]
    rows = pages(server, "/api/slices", "rows", 10000, run=RUN, track=track)
    from_ps, to_ps = rows[len(rows) // 3]["start_ps"], rows[len(rows) // 2]["start_ps"]
    inside = [row for row in rows if row["start_ps"] < to_ps
              and (row["start_ps"] + row["dur_ps"] > from_ps or (row["dur_ps"] == 0 and row["start_ps"] == from_ps))]
    asked = pages(server, "/api/slices", "rows", 10000, run=RUN, track=track, start_ps=from_ps, end_ps=to_ps)
    assert asked == inside, (len(asked), len(inside))


def search_counts_agree(server):
    reply = good(server, "/api/search", run=RUN, q="ExEcUtE", limit=10).json
    assert reply["row_count"] > 10
    assert reply["row_count"] == sum(track["count"] for track in reply["tracks"]) == sum(reply["density"]["counts"])
    op = ids(server)["op"]
    by_arg = pages(server, "/api/search", "rows", 1000, run=RUN, q=f"hlo_op={op}")
    by_arg_too = pages(server, "/api/search", "rows", 1000, run=RUN, q=f"arg.hlo_op={op}")
    assert by_arg and by_arg == by_arg_too
    for row in by_arg[:5]:
        args = good(server, "/api/slice", run=RUN, id=row["id"]).json["args"]
        assert {"name": "hlo_op", "value": op} in [{"name": arg["name"], "value": arg["value"]} for arg in args]


def search_terms_hold_at_once(server):
    """Every term against all slices of the run, looked at one by one."""
    slices = pages(server, "/api/slices", "rows", 10000, run=RUN)
    tracks = {track["id"]: track for track in good(server, "/api/tracks", run=RUN).json["tracks"]}

    def track_holds(row, text):
        track = tracks[row["track"]]
        while track is not None:
            if text in track["name"].lower():
                return True
            track = tracks.get(track["parent"])
        return False

    def found(q):
        return {row["id"] for row in pages(server, "/api/search", "rows", 1000, run=RUN, q=q)}

    def expected(holds):
        return {row["id"] for row in slices if holds(row)}

    middle = sorted(row["dur_ps"] for row in slices)[len(slices) // 2]
    last = min(tracks.values(), key=lambda track: abs(track["slice_count"] - 500))["name"].lower()
    op = ids(server)["op"]
    assert found("EXECUTE") == expected(lambda row: "execute" in row["name"].lower())
    assert found(f"dur>{middle}ps") == expected(lambda row: row["dur_ps"] > middle) != set()
    assert found(f"dur>={middle}ps dur<=1ms") == expected(lambda row: middle <= row["dur_ps"] <= 10**9) != set()
    assert found(f'track:"{last}"') == expected(lambda row: track_holds(row, last)) != set()
    assert found(f'e track:"{last}" dur>1us') == expected(
        lambda row: "e" in row["name"].lower() and row["dur_ps"] > 10**6 and track_holds(row, last)) != set()
    of_op = found(f"hlo_op={op}")
    assert found(f"hlo_op={op} dur>{middle}ps") == {row["id"] for row in slices if row["id"] in of_op and row["dur_ps"] > middle}
    scope = good(server, "/api/slice", run=RUN, id=min(of_op)).json["scope"]
    assert found(f'hlo_op={op} scope:"{scope}"') == of_op and not found(f"hlo_op={op} scope:no-such-scope")
    assert found("host:no-such-host execute") == set()
    reply = good(server, "/api/search", run=RUN, q="execute", density="track", limit=1).json
    assert all(sum(track["counts"]) == track["count"] for track in reply["tracks"])
    assert [sum(counts) for counts in zip(*(track["counts"] for track in reply["tracks"]))] == reply["density"]["counts"]
    assert ask(server, "/api/search", run=RUN, q="dur>soon").status == 400


def mates_lie_in_their_histogram(server):
    longest = max(pages(server, "/api/slices", "rows", 10000, run=RUN, name="train"), key=lambda row: row["dur_ps"])
    mates = good(server, "/api/slice", run=RUN, id=longest["id"]).json["mates"]
    durations = [row["dur_ps"] for row in pages(server, "/api/slices", "rows", 10000, run=RUN, name="train")]
    bounds, counts = mates["histogram"]["bounds_ps"], mates["histogram"]["counts"]
    assert bounds == sorted(bounds) and bounds[0] == min(durations) and bounds[-1] == max(durations)
    assert counts == [sum(low <= dur < high or (high == bounds[-1] and dur == high) for dur in durations) for low, high in zip(bounds, bounds[1:])]


def flat(value):
    """A JSON cell as CSV writes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else json.dumps(value)
    return "'" + text if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def csv_says_the_same(server):
    for path, query in (("/api/top", {"limit": 10000}), ("/api/top", {"limit": 100, "by": "name"}),
                        ("/api/slices", {"limit": 100}), ("/api/search", {"q": "exec", "limit": 100})):
        rows = json.loads(good(server, path, run=RUN, **query).body, parse_float=lambda text: text)["rows"]
        reply = good(server, path, run=RUN, format="csv", **query)
        assert reply.headers["Content-Type"].startswith("text/csv")
        assert reply.body.count(b"\r\n") >= len(rows) + 1
        table = list(csv.DictReader(io.StringIO(reply.text, newline="")))
        assert len(table) == len(rows)
        for row, line in zip(rows, table):
            for key, text in line.items():
                value = row[key]
                if isinstance(value, list):
                    value = " ".join(value)
                if isinstance(value, str) and re.fullmatch(r"-?\d+\.?\d*(e[-+]?\d+)?", value) and text == value:
                    continue
                assert text == flat(value), (path, key, text, value)


def steps_as_csv(server):
    rows = good(server, "/api/steps", run=RUN).json["rows"]
    table = list(csv.DictReader(io.StringIO(good(server, "/api/steps", run=RUN, format="csv").text, newline="")))
    for row, line in zip(rows, table, strict=True):
        assert int(line["dur_ps"]) == row["dur_ps"] == sum(part["self_ps"] for part in row["breakdown"])
        for part in row["breakdown"]:
            assert int(line[part["kind"] + "_ps"]) == part["self_ps"]


def markdown_says_the_same(server):
    rows = good(server, "/api/top", run=RUN, limit=20).json["rows"]
    lines = good(server, "/api/top", run=RUN, limit=20, format="md").text.splitlines()
    heads = [cell.strip() for cell in lines[0].strip("|").split("|")]
    column = next(index for index, head in enumerate(heads) if head.lower().startswith("self"))
    unit = {"s": 1e12, "ms": 1e9, "us": 1e6, "ns": 1e3, "ps": 1}[re.search(r"\((.*)\)", heads[column])[1]]
    for row, line in zip(rows, lines[2:], strict=False):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        assert cells[0].replace("\\", "") == row["name"], (cells, row["name"])
        assert abs(float(cells[column]) * unit - row["self_ps"]) <= 0.06 * unit, (cells[column], row["self_ps"])


def asked_twice(server, path, query):
    """An answer, and what its tag is answered. What the server prepares may change the catalog in between, and with it
    the tags of what depends on it: then once more."""
    for _ in range(10):
        first = good(server, path, **query)
        again = ask(server, path, headers={"If-None-Match": first.headers["ETag"]}, **query)
        if again.headers["ETag"] == first.headers["ETag"]:
            break
    return first, again


def tags_save_work(server):
    for path, query in questions(server).items():
        if path in ("/api/jobs", "/api/upload", "/api/capture"):
            continue
        first, again = asked_twice(server, path, query)
        tag = first.headers["ETag"]
        assert re.fullmatch(r'W/"[0-9a-f]{32}"', tag), (path, tag)
        assert again.status == 304 and again.body == b"" and again.headers["ETag"] == tag, (path, again.status)
        assert again.headers["Content-Security-Policy"]
        other = ask(server, path, headers={"If-None-Match": 'W/"0"'}, **query)
        assert other.status == 200 and other.body == first.body, path
    assert good(server, "/api/top", run=RUN).headers["ETag"] != good(server, "/api/top", run=RUN, limit=1).headers["ETag"]


def head_is_a_get_without_body(server):
    for path, query in questions(server).items():
        get, head = good(server, path, **query), ask(server, path, method="HEAD", **query)
        assert head.status == 200 and head.body == b"", path
        assert head.headers["Content-Length"] == str(len(get.body)), path


def encodings(server):
    plain = good(server, "/api/top", run=RUN, limit=10000)
    assert len(plain.body) > 16384 and "Content-Encoding" not in plain.headers
    for accept, coding in (("gzip", "gzip"), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"), ("GZIP;q=0.5", "gzip"),
                           ("gzip;q=0", None), ("gzip;q=0.000, zstd;q=0", None), ("br", None), ("", None)):
        reply = ask(server, "/api/top", run=RUN, limit=10000, headers={"Accept-Encoding": accept})
        assert reply.headers.get("Content-Encoding") == coding, (accept, reply.headers.get("Content-Encoding"))
        assert reply.headers["Vary"] == "Accept-Encoding"
        if coding == "gzip":
            assert gzip.decompress(reply.body) == plain.body
        if coding == "zstd":
            assert reply.body[:4] == b"\x28\xb5\x2f\xfd" and len(reply.body) < len(plain.body) / 3
    small = ask(server, "/api/jobs", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in small.headers


def asked_again_is_the_same(server):
    """Bodies at once; heads as soon as nothing is written to the catalog any more, whose tag they bear."""
    def differ(path, accept, query):
        replies = [ask(server, path, headers={"Accept-Encoding": accept}, **query) for _ in range(3)]
        assert len({reply.body for reply in replies}) == 1, path
        heads = [{(key, value) for key, value in reply.headers.items() if key != "Date"} for reply in replies]
        return set.union(*heads) - set.intersection(*heads)

    for accept in ("", "gzip", "zstd"):
        for path, query in questions(server).items():
            found = differ(path, accept, query)
            assert {key for key, _ in found} <= {"ETag"}, (path, found)
            assert not found or not (found := differ(path, accept, query)), (path, found)


def kept_replies_follow_the_files(_):
    place = harness.Place()
    try:
        path = place.sample(RUN)
        server = place.serve()
        server.port = int(server.url.rsplit(":", 1)[1])
        before = server.until_settled()[RUN]["content_id"]
        old = good(server, "/api/top", run=RUN, limit=1)
        assert good(server, "/api/top", run=RUN, limit=1).body == old.body
        other = next((harness.SAMPLES / "step_1500").rglob("*.xplane.pb"))
        path.write_bytes(other.read_bytes())
        harness.age(path, 30)
        harness.until("the new content", lambda: server.runs()[RUN]["content_id"] not in (None, before))
        new = good(server, "/api/top", run=RUN, limit=1)
        assert new.body != old.body and new.headers["ETag"] != old.headers["ETag"]
        assert server.stop() == 0
    finally:
        place.close()


def run_is_found_by_every_name(server):
    run = good(server, "/api/run", run=RUN).json
    for name in (run["id"], run["content_id"], "step_1000", "1000"):
        assert good(server, "/api/run", run=name).json["id"] == run["id"], name
    latest = good(server, "/api/run", run="latest").json["id"]
    assert latest == good(server, "/api/runs", limit=1).json["runs"][0]["id"]
    assert good(server, "/api/run", run="latest-1").json["id"] == good(server, "/api/runs").json["runs"][1]["id"]
    problem = ask(server, "/api/run", run="step_100").json
    assert "step_1000" in problem["nearest"], problem


def traces_are_whole(server):
    chrome = json.loads(good(server, "/api/trace", run=RUN, format="chrome").body)
    packed = good(server, "/api/trace", run=RUN)
    assert json.loads(gzip.decompress(packed.body)) == chrome
    assert packed.headers["Content-Disposition"] == f'attachment; filename="{RUN}.json.gz"'
    count = good(server, "/api/run", run=RUN).json["slice_count"]
    events = [event for event in chrome["traceEvents"] if event["ph"] in "Xi"]
    assert len(events) == count, (len(events), count)
    lines = good(server, "/api/trace", run=RUN, format="csv").text.splitlines()
    assert len(lines) == count + 1
    file = next(file for file in good(server, "/api/run", run=RUN).json["files"] if file["state"] == "ready")
    raw = good(server, "/api/trace", run=RUN, format="raw")
    assert len(raw.body) == file["bytes"]
    assert raw.body == (server.place.profiles / file["path"]).read_bytes()


def flame_in_three_forms(server):
    def own(node):
        return node["self_ps"] + sum(own(child) for child in node["children"])

    root = good(server, "/api/flame", run=RUN).json["root"]
    assert own(root) == root["total_ps"] > 0
    folded = good(server, "/api/flame", run=RUN, format="folded").text.splitlines()
    total_ns = sum(int(line.rsplit(" ", 1)[1]) for line in folded)
    assert abs(total_ns * 1000 - root["total_ps"]) <= 1000 * len(folded)
    scope = good(server, "/api/flame", run=RUN, format="speedscope").json
    profile = scope["profiles"][0]
    assert len(profile["samples"]) == len(profile["weights"]) > 0
    assert abs(sum(profile["weights"]) * 1000 - root["total_ps"]) < 1e-6 * root["total_ps"]


def events_tell_the_runs(server):
    import socket
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
        wire.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = b""
        while got.count(b"event: run") < 3 or b"event: progress" not in got:
            got += wire.recv(65536)
    assert b"Content-Type: text/event-stream" in got


if __name__ == "__main__":
    common.main([replies_match_the_page, every_run_matches_the_page, examples_match_the_page, problems_match_the_page,
                 pages_join, slices_are_all_there, slices_by_name_are_those_of_a_scan, a_window_cuts,
                 search_counts_agree, search_terms_hold_at_once, mates_lie_in_their_histogram,
                 csv_says_the_same, steps_as_csv, markdown_says_the_same, tags_save_work,
                 head_is_a_get_without_body, encodings,
                 asked_again_is_the_same, kept_replies_follow_the_files, run_is_found_by_every_name, traces_are_whole,
                 flame_in_three_forms, events_tell_the_runs])
