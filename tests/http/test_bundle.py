#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run as one file: opened elsewhere it answers the same, byte for byte; what was written of it comes along;
whatever is wrong with it is said."""

import contextlib
import io
import json
import re
import sqlite3
import sys
import zipfile

import common
import harness
from common import RUN, ask, good

QUESTIONS = ["/api/overview", "/api/top", "/api/top?by=kernel", "/api/top?by=scope", "/api/steps", "/api/findings",
             "/api/flame", "/api/kernels", "/api/tracks", "/api/search?q=dot", "/api/hlo", "/api/memory",
             "/api/collectives", "/api/transfers", "/api/compiles", "/api/hosts", "/api/roofline"]


def open_place(name, content, *arguments):
    """A server over a directory of its own that holds one bundle."""
    place = harness.Place()
    path = place.profiles / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    harness.age(path)
    server = place.serve(*arguments)
    server.port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    server.until_settled()
    return place, server


def close(place, server):
    assert server.stop() == 0
    words = harness.sanitizer_words(place)
    assert not words, words
    place.close()


def nameless(answer):
    """Without the run's id, which is that of its place."""
    return re.sub(rb'"r[0-9a-f]{16}"', b'"r"', answer)


def body(server, question, run):
    path, _, query = question.partition("?")
    reply = ask(server, path, run=run, **dict(pair.split("=") for pair in query.split("&") if pair))
    assert reply.status in (200, 404), (question, reply.status, reply.body[:300])
    return nameless(reply.body)


def bundle(server, run=RUN, **query):
    reply = good(server, "/api/bundle", run=run, **query)
    assert reply.headers["Content-Disposition"].endswith('.jvz"'), reply.headers
    return reply.body


def same_answers(server, made, name, run=RUN):
    place, other = open_place(name, made)
    opened = name.rsplit("/", 1)[-1].removesuffix(".jvz")
    for question in QUESTIONS:
        ours, theirs = body(server, question, run), body(other, question, opened)
        at = next((i for i, (one, two) in enumerate(zip(ours, theirs)) if one != two), 0)
        assert ours == theirs, f"{question}: {ours[max(0, at - 100):at + 100]} {theirs[max(0, at - 100):at + 100]}"
    tracks = [one["id"] for one in good(server, "/api/tracks", run=run).json["tracks"] if one["slice_count"]]
    for track in tracks:
        query = {"track": track, "limit": 200}
        ours, theirs = good(server, "/api/slices", run=run, **query), good(other, "/api/slices", run=opened, **query)
        assert nameless(ours.body) == nameless(theirs.body), track
    told = good(server, "/api/run", run=run).json
    shown = good(other, "/api/run", run=opened).json
    for key in ("content_id", "epoch_ns", "duration_ps", "hosts", "device_count", "framework", "formats", "slice_count",
                "step_count", "step_median_ps", "badges"):
        ours, theirs = (one.get("run", one)[key] if key in one.get("run", one) else one[key] for one in (told, shown))
        assert ours == theirs, (key, ours, theirs)
    return place, other


def another_machine_gives_the_same_answers(server):
    close(*same_answers(server, bundle(server), RUN + ".jvz"))


def any_zip_program_reads_it(server):
    with zipfile.ZipFile(io.BytesIO(bundle(server, raw="yes"))) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        manifest = json.loads(archive.read("jviewd-bundle.json"))
        raw = next((harness.SAMPLES / RUN).rglob("*.xplane.pb")).read_bytes()
        assert names[0] == "jviewd-bundle.json" and archive.read(manifest["members"][0]["raw"]["name"]) == raw
    assert bundle(server) == bundle(server), "equal runs make equal bundles"


def edit(made, change=lambda manifest: None, **replaced):
    """The bundle with another manifest; as an attacker who can compute every checksum."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made)) as old, zipfile.ZipFile(out, "w") as new:
        manifest = json.loads(old.read("jviewd-bundle.json"))
        change(manifest)
        new.writestr("jviewd-bundle.json", json.dumps(manifest))
        for name in old.namelist()[1:]:
            if name.replace("/", "_") not in replaced:
                new.writestr(name, old.read(name))
        for name, content in replaced.items():
            new.writestr(name.replace("_", "/"), content)
    return out.getvalue()


def refused(made, word):
    place, server = open_place("bad.jvz", made)
    run = server.runs()["bad"]
    assert run["state"] == "failed" and word in run["error"], (word, run["state"], run["error"])
    close(place, server)


def what_is_wrong_is_said(server):
    made = bundle(server)

    def older(manifest):
        manifest["segment_version"] = 1
    refused(edit(made, older), "1.")
    refused(edit(made, older), "--raw")
    refused(edit(made, lambda manifest: manifest.update(bundle=2)), "newer jviewd")
    refused(edit(made, lambda manifest: manifest.pop("members")), '"members"')
    refused(edit(made, lambda manifest: manifest["members"][0]["segment"].update(hash="0" * 32)), "hash differs")
    refused(edit(made, lambda manifest: manifest["members"][0]["segment"].update(name="../../etc/passwd")), "manifest describes")
    refused(edit(made, lambda manifest: manifest["members"][0].update(content="0" * 32)), "another file")
    refused(made[:len(made) // 2], "truncated")
    flipped = bytearray(made)
    flipped[len(flipped) // 2] ^= 1
    refused(bytes(flipped), "segments/0")


def an_older_index_is_made_again(server):
    made = edit(bundle(server, raw="yes"), lambda manifest: manifest.update(kind_rules_version=1))
    close(*same_answers(server, made, RUN + ".jvz"))


def notes_and_tags_come_along(server):
    headers = {"Content-Type": "application/json"}
    for said in ({"run": RUN, "text": "cold </script>", "start_ps": 1000, "end_ps": 2000}, {"run": RUN, "tag": "pinned"}):
        assert ask(server, "/api/notes", method="POST", headers=headers, body=json.dumps(said)).status == 200
    place, other = open_place("sub/step_7.jvz", bundle(server))
    run = "sub/step_7"
    seen = good(other, "/api/notes", run=run).json
    assert [(row["id"], row["text"], row["start_ps"], row["origin"]) for row in seen["rows"]] == [
        (None, "cold </script>", 1000, "bundle")], seen
    assert [(tag["tag"], tag["origin"]) for tag in seen["tags"]] == [("pinned", "bundle")], seen
    assert good(other, "/api/notes").json["rows"] == [], "nothing is taken unasked"
    taken = {"run": run, "import": "bundle"}
    for _ in range(2):
        reply = ask(other, "/api/notes", method="POST", headers=headers, body=json.dumps(taken))
        assert reply.status == 200, reply.body
    seen = good(other, "/api/notes", run=run).json
    assert len(seen["rows"]) == 1 and seen["rows"][0]["id"] and seen["tags"][0]["origin"] == "here", seen
    again = bundle(other, run=run)
    assert ask(other, "/api/bundle", run=run, raw="yes").status == 400
    close(place, other)
    place, third = open_place("again.jvz", again)
    assert good(third, "/api/notes", run="again").json["rows"][0]["text"] == "cold </script>"
    close(place, third)


def what_is_written_later_is_in_the_next(server):
    headers = {"Content-Type": "application/json"}
    first = good(server, "/api/bundle", run=RUN)
    assert first.headers["ETag"] is None and first.headers["Cache-Control"] == "no-store", first.headers
    tag = good(server, "/api/run", run=RUN).headers["ETag"]
    note = {"run": RUN, "text": "written later"}
    assert ask(server, "/api/notes", method="POST", headers=headers, body=json.dumps(note)).status == 200
    for query in ({}, {"html": "yes"}):
        reply = ask(server, "/api/bundle", headers={"If-None-Match": tag}, run=RUN, **query)
        assert reply.status == 200 and reply.headers["ETag"] is None, (query, reply.status, reply.headers)
        assert reply.headers["Cache-Control"] == "no-store", reply.headers
    with zipfile.ZipFile(io.BytesIO(bundle(server))) as archive:
        assert b"written later" in archive.read("jviewd-bundle.json")


def a_run_of_two_hosts_is_one_file(server):
    place = harness.Place()
    sample = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    other_sample = next((harness.SAMPLES / "step_1000").rglob("*.xplane.pb")).read_bytes()
    place.file("both", sample, "hostA")
    place.file("both", other_sample, "hostB")
    (place.profiles / "both/jview.json").write_text(json.dumps({"step": 7, "notes": ["batch 64"]}))
    original = place.serve()
    original.port = int(original.url.rsplit(":", 1)[1].split("/")[0])
    original.until_settled()
    opened, second = same_answers(original, bundle(original, run="both"), "both.jvz", "both")
    assert good(second, "/api/notes", run="both").json["about"]["step"] == 7
    lost = sorted(opened.segments())[0]
    lost.unlink()
    assert good(second, "/api/top", run="both").json["rows"] or lost.exists()
    assert opened.leftovers() == [], opened.leftovers()
    close(opened, second)
    close(place, original)


def beside_the_run_it_was_made_of(server):
    place = harness.Place()
    place.sample()
    target = place.profiles / RUN / "plugins/profile"
    made = bundle(server)
    session = next(target.iterdir())
    for path in (place.profiles / f"{RUN}.jvz", session / "copy.jvz"):
        path.write_bytes(made)
        harness.age(path)
    other = place.serve()
    names = sorted(other.until_settled())
    assert f"{RUN}.jvz" in names and RUN in names and len(names) == 3, names
    figures_of_a_bundle_are_its_own(place, other)
    close(place, other)


def figures_of_a_bundle_are_its_own(place, other):
    """A bundle may claim to be any run: what is measured of it stands for nothing else."""
    def measured():
        told = good(other, "/api/trend", metric="step_p95").json
        return not any(note["kind"] == "not-measured" for note in told["notes"])

    other.port = int(other.url.rsplit(":", 1)[1].split("/")[0])
    harness.until("all to be measured", measured)
    with contextlib.closing(sqlite3.connect(f"file:{place.cache}/catalog.sqlite?mode=ro", uri=True)) as catalog:
        rows = catalog.execute("SELECT name, content_id, kept_id, (SELECT count(*) FROM metrics WHERE metrics.kept_id ="
                               " runs.kept_id AND metrics.name = 'step_p95') FROM runs").fetchall()
    assert len({content for _, content, _, _ in rows}) == 1, rows
    own = {name: kept for name, _, kept, figures in rows if figures == 1}
    assert len(own) == 3 and own[RUN] == rows[0][1] and own[f"{RUN}.jvz"] != own[RUN], rows


def a_browser_brings_it(server):
    reply = ask(server, "/api/upload", method="POST", headers={"Content-Type": "application/octet-stream"},
                body=bundle(server), name="brought.jvz")
    assert reply.status == 201 and reply.json["format"] == "jvz", reply.body
    harness.until("the run", lambda: ask(server, "/api/run", run=reply.json["run"]).status == 200)
    top = good(server, "/api/top", run=reply.json["run"]).json
    assert top["run"]["name"].startswith("brought") and top["rows"] == good(server, "/api/top", run=RUN).json["rows"]
    assert ask(server, "/api/upload", method="DELETE", run=reply.json["run"]).status == 204
    assert body(server, "/api/top", RUN), "what the profile's own index holds stays"


def a_page_that_stands_alone(server):
    headers = {"Content-Type": "application/json"}
    hostile = "</script><script>alert(1)</script>\u2028<!--"
    note = ask(server, "/api/notes", method="POST", headers=headers, body=json.dumps({"run": "step_1500", "text": hostile}))
    assert note.status == 200
    reply = good(server, "/api/bundle", run="step_1500", html="yes")
    page = reply.text
    assert len(reply.body) < 5_000_000 and page.count("</script>") == 2, (len(reply.body), page.count("</script>"))
    assert "default-src 'none'; script-src 'sha256-" in page and "\u2028" not in page.split("id=\"answers\"")[1].split("</script>")[0]
    inside = json.loads(re.search(r'id="answers">(.*?)</script>', page, re.S)[1])
    assert inside["answers"]["api/notes"]["body"]["rows"][0]["text"] == hostile
    for key, path, query in (("api/overview", "/api/overview", {}), ("api/top?by=op", "/api/top", {"by": "op", "limit": 500}),
                             ("api/top?by=scope", "/api/top", {"by": "scope", "limit": 500}),
                             ("api/steps", "/api/steps", {"limit": 1000}), ("api/flame?by=scope", "/api/flame", {"by": "scope", "limit": 2000})):
        assert inside["answers"][key]["body"] == good(server, path, run="step_1500", **query).json, key
    assert not any("not here" in words for words in inside["reduced"]), inside["reduced"]
    tree = inside["answers"]["api/flame?by=scope"]["body"]
    cut = any("flame graph's scopes" in words for words in inside["reduced"])
    assert cut == (tree["node_count"] < tree["node_count_all"]), inside["reduced"]
    levels = {one["level"] for one in inside["tiles"]}
    assert len(levels) >= 3 and any("merged" in words for words in inside["reduced"]), (levels, inside["reduced"])
    assert ask(server, "/api/bundle", run="step_1500", html="yes", raw="yes").status == 400


def the_command_line(server):
    place = server.place
    out = place.dir / "out"
    out.mkdir()
    arguments = ["bundle", RUN, "--profile-dir", place.profiles, "--cache-dir", place.dir / "cli-cache", "--data-dir", place.dir / "none"]
    done = place.jviewd(*arguments, cwd=out)
    assert done.returncode == 0 and (out / f"{RUN}.jvz").exists(), done.stderr
    assert place.jviewd(*arguments, cwd=out).returncode == 2, "nothing is written over unasked"
    assert place.jviewd(*arguments, "--raw", "-o", out / "raw.jvz").returncode == 0
    assert place.jviewd(*arguments, "--html", cwd=out).returncode == 0 and (out / f"{RUN}.html").exists()
    assert (out / "raw.jvz").stat().st_size > (out / f"{RUN}.jvz").stat().st_size
    top = place.jviewd("top", out / "raw.jvz", "--format", "json", "--cache-dir", place.dir / "other-cache")
    assert top.returncode == 0, top.stderr
    rows = good(server, "/api/top", run=RUN).json["rows"]
    assert json.loads(top.stdout)["rows"] == rows


if __name__ == "__main__":
    common.main([another_machine_gives_the_same_answers, any_zip_program_reads_it, what_is_wrong_is_said,
                 an_older_index_is_made_again, notes_and_tags_come_along,
                 what_is_written_later_is_in_the_next, a_run_of_two_hosts_is_one_file,
                 beside_the_run_it_was_made_of, a_browser_brings_it, a_page_that_stands_alone, the_command_line])
