#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles of other people that lie beside $JVIEW_CORPUS, against what their raw events say.

  t4        TensorFlow 2 on a GPU: each layer takes what the kernels take whose annotation names it, as an independent reader sums
            them; the line "TensorFlow Ops", which counts from a layer's first kernel to its last, is there as it was recorded
"""
import collections
import os
import pathlib
import sys

import manifest
import profiles
import truth_case_table
import xplane_reader

LAYER = "gradient_tape/sequential/conv2d_1/Conv2D/Conv2DBackpropFilter"
LAYER_RECORDED_PS = 846_552_000  # the line's own event


def by(server, run, **query):
    status, page = server.get("api/top", run=run["id"], limit=10000, **query)
    if status != 200:
        raise SystemExit(f"{query}: {status} {page}")
    return page["rows"]


def layers(path):
    """Of streams: {annotation's outermost level: time}; of the derived line: (name, time) of each event."""
    kernels, line = collections.Counter(), collections.Counter()
    for plane in xplane_reader.read(path)["planes"]:
        for one in plane["lines"] if plane["name"].startswith("/device:GPU") else ():
            for event in one["events"]:
                levels = [value for key, _, value in event["stats"] if key == "level 0"]
                if one["name"].startswith("Stream") and levels and levels[0]:
                    kernels[levels[0]] += event["dur_ps"]
                elif one["name"] == "TensorFlow Ops":
                    line[event["name"], event["dur_ps"]] += 1
    return kernels, line


def check_t4(root):
    path = next(root.rglob("*.xplane.pb"))
    kernels, line = layers(path)
    manifest.equal("t4", "the layer on the line", line["Conv2DBackpropFilter", LAYER_RECORDED_PS], 1)
    stated = list(truth_case_table.doubles(next(root.rglob("*.tensorflow_stats.pb")).read_bytes()))
    own_us = kernels[f"{LAYER}:Conv2DBackpropFilter"] / 1e6
    manifest.equal("t4", "TensorFlow's own table has the kernels' sum", any(abs(one - own_us) < 1e-6 for one in stated), True)
    manifest.equal("t4", "and not the line's", any(abs(one - LAYER_RECORDED_PS / 1e6) < 1e-6 for one in stated), False)
    with profiles.served(root) as server:
        run = server.runs()[0]
        ops = {row["name"]: row["total_ps"] for row in by(server, run, by="op")}
        for name, total_ps in kernels.items():
            manifest.equal("t4", name, ops.get(name), total_ps)
        scopes = {row["name"]: row["total_ps"] for row in by(server, run, by="scope")}
        manifest.equal("t4", f"scope {LAYER}", scopes.get(LAYER), kernels[f"{LAYER}:Conv2DBackpropFilter"])
        categories = {row["name"]: row["total_ps"] for row in by(server, run, by="category")}
        wanted = sum(total_ps for name, total_ps in kernels.items() if name.endswith(":Conv2DBackpropFilter"))
        manifest.equal("t4", "all of that type", categories.get("Conv2DBackpropFilter"), wanted)
        _, tracks = server.get("api/tracks", run=run["id"])
        ids = [track["id"] for track in tracks["tracks"] if track["name"] == "TensorFlow Ops"]
        _, slices = server.get("api/slices", run=run["id"], track=ids[0], limit=10000)
        recorded = collections.Counter((row["name"], row["dur_ps"]) for row in slices["rows"])
        manifest.equal("t4", "the recorded line", recorded, line)


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    cases = pathlib.Path(corpus).parent / "cases" if corpus else None
    if cases is None or not cases.is_dir():
        print("skipped: no cases beside $JVIEW_CORPUS")
        return manifest.SKIPPED
    check_t4(cases / "steps/t4-212610")
    for failure in manifest.failures:
        print(failure)
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
