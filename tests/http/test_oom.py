#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jviewd oom: what a module needs against XLA's own sums, what a message and a snapshot tell, what is piped in."""

import json
import os
import pathlib
import pickle
import subprocess
import sys

import common
import harness
import openapi
from common import RUN, ask, good

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import made_snapshot as made  # noqa: E402

SEEDS = harness.TESTS / "fuzz" / "seeds" / "oom_report"


def module_of_the_sample(server):
    reply = good(server, "/api/oom", run=RUN, limit=1000, batch=64, remat="layer_").json
    openapi.check(reply, "/api/oom")
    now = {row["what"]: row["bytes"] for row in reply["rows"] if row["row_kind"] == "now"}
    assert now["all"] == reply["total_bytes"] == now["arguments"] + now["outputs"] + now["temporaries"], now
    heap = good(server, "/api/memory", run=RUN, view="heap", limit=1).json
    assert reply["module"] == heap["module"]
    assert now["temporaries"] == heap["temporary_bytes"] and now["arguments"] == heap["parameter_bytes"], (now, heap)
    held = [row["bytes"] for row in reply["rows"] if row["row_kind"] == "holder"]
    assert held == sorted(held, reverse=True) and held
    options = {row["what"]: row for row in reply["rows"] if row["row_kind"] == "option"}
    assert list(options) == ["donate", "half-batch", "remat", "bf16-arguments"]
    for row in options.values():
        assert (row["bytes"] is None) == ("Cannot be said" in row["text"]), row
        assert row["bytes"] is None or row["less_bytes"] == now["all"] - row["bytes"], row


def pages(server):
    first = good(server, "/api/oom", run=RUN, limit=7).json
    second = good(server, "/api/oom", run=RUN, limit=1, cursor=first["next"]).json
    assert second["rows"][0]["row_kind"] == "option" and len(first["rows"]) == 7
    assert good(server, "/api/oom", run=RUN, format="csv").text.startswith("row_kind,what,bytes,")


def refused(server):
    for query in ({"batch": 0}, {"module": "none"}, {"sort": "bytes"}):
        assert ask(server, "/api/oom", run=RUN, **query).status in (400, 404), query


def told(words, place, data=None):
    done = subprocess.run([harness.program(), "oom", *words, "--format", "json", "--cache-dir", place.dir / "oom-cache"], input=data,
                          capture_output=True, timeout=100, env={**os.environ, "TMPDIR": str(place.dir)})
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    openapi.check(reply, "/api/oom")
    assert reply["module"] is None
    return ({row["what"]: row["bytes"] for row in reply["rows"] if row["row_kind"] == "now"},
            [row for row in reply["rows"] if row["row_kind"] == "holder"])


def messages(server):
    for path in SEEDS.iterdir():
        harness.age(path)
    sums, holders = told([SEEDS / "gpu.txt"], server.place)
    assert sums["asked for"] == 16 << 30 and sums["arguments"] == 6 << 20, sums
    assert holders[0]["bytes"] == 16 << 30 and holders[0]["source"] == "/home/u/model.py:31", holders
    assert holders[0]["scope"] == "jit(step)/jit(main)/jvp(layer_0)", holders
    sums, holders = told([SEEDS / "torch.txt"], server.place)
    assert sums["asked for"] == 2 << 30 and not holders, (sums, holders)


def piped(server):
    before = set(server.place.dir.glob("jviewd-*"))
    sums, holders = told(["-"], server.place, (SEEDS / "tpu.log").read_bytes())
    assert sums["capacity"] == 16 << 30 and holders[0]["bytes"] == 32 << 30, (sums, holders)
    assert set(server.place.dir.glob("jviewd-*")) == before, "what was piped in is removed"


def what_it_is_not(server):
    path = server.place.dir / "passwd"
    path.write_text("root:x:0:0:root:/root:/bin/bash\n")
    harness.age(path)
    done = subprocess.run([harness.program(), "oom", path, "--cache-dir", server.place.dir / "oom-cache"], capture_output=True, text=True, timeout=100)
    assert done.returncode != 0
    assert done.stderr.startswith("jviewd: no message, snapshot, profile or module tells here who held memory: passwd: Text, not a profile."), done.stderr


def snapshots(server):
    snapshot, truth = made.make(steps=4, seed=8)
    path = server.place.dir / "a_snapshot.pickle"
    path.write_bytes(pickle.dumps(snapshot))
    harness.age(path)
    sums, holders = told([path], server.place)
    assert sums["GPU 0 memory: reserved_bytes.all.current"] == truth[0]["stats"]["reserved_bytes"]
    assert sum(row["bytes"] for row in holders) == truth[0]["peaks"]["requested_bytes"] == sums["stated holders"]
    assert all(row["source"].startswith("/home/user/model.py:") for row in holders), holders[:2]


if __name__ == "__main__":
    common.main([module_of_the_sample, pages, refused, messages, piped, what_it_is_not, snapshots])
