#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes api/examples/ from the samples' own replies; run it after a reply's shape has changed.

What no sample holds (a counter, a link) is written out below, in the shapes that api/openapi.yaml
gives and the tests hold the examples to.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
import common
import harness
import openapi
from questions import questions

WRITTEN = {
    "/api/counters": {
        "run": {"id": "r8f8ee17fc21b4a1c", "name": "step_1000"}, "track": "129e0822.9", "name": "bytes in use",
        "sample_count": 3, "start_ps": 0, "end_ps": 3000,
        "rows": [{"ts_ps": 0, "end_ps": 1500, "min": 0, "max": 4096, "first": 0, "last": 4096, "count": 2},
                 {"ts_ps": 1500, "end_ps": 3000, "min": 1024.5, "max": 4096, "first": 4096, "last": 1024.5, "count": 1}],
        "notes": []},
    "/api/source": {
        "file": "/home/user/project/model/layers.py", "root": "/home/user/project", "path": "model/layers.py", "modified_ns": 1795253400000000000, "line": 41,
        "first_line": 40, "lines": ["def mlp(params, x):", "    hidden = jnp.dot(x, params['up'])",
                                    "    return jnp.dot(jax.nn.gelu(hidden), params['down'])"], "line_count": 96},
    "/api/transfers": {
        "run": {"id": "r8f8ee17fc21b4a1c", "name": "step_1000"}, "by": "transfer", "total_ps": 69599683000, "row_count": 2,
        "next": None, "rows": [
            {"direction": "h2d", "name": "MemcpyH2D", "host": "trainer-0", "device": 0, "track": "129e0822.3",
             "stream": "Stream #7(MemcpyH2D)", "slice": "129e0822-685", "start_ps": 1534479000, "dur_ps": 67770000,
             "bytes": 802816, "bytes_per_s": 11846185627.859, "memory": "pinned", "blocking": False,
             "overlapped_ps": 4224000, "caller": "data_loading", "launch": "129e0822-436", "step": 1000, "reasons": {}},
            {"direction": "h2d", "name": "H2D Dispatch", "host": "trainer-0", "device": None, "track": "129e0822.5",
             "stream": "tf_XLAPjRtCpuClient", "slice": "129e0822-5188", "start_ps": 48079242000,
             "dur_ps": 69531913000, "bytes": None, "bytes_per_s": None, "memory": None, "blocking": None,
             "overlapped_ps": 0, "caller": None, "launch": None, "step": 1000,
             "reasons": {"device": "it is recorded on a thread of the host",
             "bytes": "the profile records no size of it", "bytes_per_s": "the profile records no size of it",
             "memory": "the profile does not say what memory of the host takes part",
             "blocking": "the profile does not link it to a call", "caller": "the profile does not link it to a call",
             "launch": "the profile does not link it to a call"}}],
        "notes": [], "approx": []},
    "/api/baselines": {
        "row_count": 1, "next": None, "rows": [
            {"name": "main", "run": "step_500", "id": "r2181169d79f2a9a1", "state": "ready", "set_at": "2026-11-21T14:00:00Z",
             "content_id": "c0d7ee0f6f1a4c1d8a6b2f0e9d3c5b7a1", "reasons": {}}],
        "notes": [], "approx": []},
    "/api/notes": {
        "about": {"path": "step_500/jview.json", "name": "wide mlp", "step": 500, "commit": "4f0c9b5", "tags": ["nightly"],
                  "notes": ["batch 64"], "metrics": [{"name": "loss", "value": 2.31}]},
        "tags": [{"tag": "pinned", "content_id": "c0d7ee0f6f1a4c1d8a6b2f0e9d3c5b7a1", "origin": "here"}], "row_count": 1, "next": None,
        "rows": [
            {"id": "7", "run": "step_500", "start_ps": 1200000000, "end_ps": 1900000000, "track": None,
             "text": "the cache was cold here", "changed_at": "2026-11-21T14:00:00Z", "origin": "here",
             "reasons": {"track": "the note belongs to no track"}}],
        "notes": [], "approx": []},
    "/api/links": {"id": "4f2kq9x0c7n8e3r5t1w6y2zabd", "path": "l/4f2kq9x0c7n8e3r5t1w6y2zabd",
                   "address": "?run=step_500&view=flame"},
    "/api/launch": {"path": "launch/4f0c9b5c1d7e0a3b2c6d8e9f00112233445566778899aabbccddeeff01234567"},
}


def shorten(value, most=24):
    """Long lists of numbers say nothing more to a reader."""
    if isinstance(value, dict):
        return {key: shorten(item, most) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item, most) for item in value[:most]]
    return value


def write(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    print(path)


def main():
    place = harness.Place()
    try:
        server = common.serve_samples(place)
        server.until_settled()
        asked = questions(server)
        for path, file in openapi.examples():
            if file.name in ("memory_pprof.json", "memory_peak.json", "memory_heap.json", "collectives.json"):
                continue  # replies about what no sample holds, kept as they came
            if path in WRITTEN:
                write(file, WRITTEN[path])
            elif path in asked:  # what is posted stays as it came
                write(file, shorten(common.good(server, path, **asked[path]).json))
        problem = common.ask(server, "/api/top", run="step_100")
        write(openapi.ROOT / "api/examples/problem.json", problem.json)
    finally:
        place.close()


if __name__ == "__main__":
    main()
