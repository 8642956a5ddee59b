# SPDX-License-Identifier: Apache-2.0
"""One question an endpoint, as the examples and the schemas ask it."""

from common import RUN, good


def ids(server):
    tracks = good(server, "/api/tracks", run=RUN).json["tracks"]
    busiest = max(tracks, key=lambda track: track["slice_count"])
    counters = [track["id"] for track in tracks if track["kind"] == "counter"]
    hit = good(server, "/api/search", run=RUN, q="hlo_op=", limit=1).json["rows"]
    op = good(server, "/api/top", run=RUN, limit=1).json["rows"][0]["name"]
    slices = good(server, "/api/slices", run=RUN, name=op, limit=1).json["rows"] or hit
    return {"track": busiest["id"], "counter": counters[0] if counters else None, "slice": slices[0]["id"], "op": op}


def questions(server):
    """{path: query}; small pages, for people read them."""
    known = ids(server)
    ret = {
        "/api/runs": {"limit": 2},
        "/api/run": {"run": RUN},
        "/api/tracks": {"run": RUN, "limit": 4},
        "/api/slices": {"run": RUN, "track": known["track"], "limit": 2},
        "/api/slice": {"run": RUN, "id": known["slice"]},
        "/api/flows": {"run": RUN, "limit": 2},
        "/api/chain": {"run": RUN, "slice": known["slice"], "limit": 2},
        "/api/search": {"run": RUN, "q": known["op"], "limit": 1},
        "/api/top": {"run": RUN, "limit": 2},
        "/api/op": {"run": RUN, "name": known["op"], "step": "counted", "limit": 2},
        "/api/kernels": {"run": RUN, "limit": 2},
        "/api/roofline": {"run": RUN, "limit": 2},
        "/api/steps": {"run": RUN, "limit": 2},
        "/api/critical": {"run": RUN, "limit": 2},
        "/api/hosts": {"run": RUN, "limit": 2},
        "/api/diff": {"a": "step_500", "b": RUN, "limit": 2},
        "/api/check": {"run": RUN, "baseline": "step_500", "max": "step_time=1s"},
        "/api/trend": {},
        "/api/compare": {"runs": "step_500,step_1000,step_1500", "ops": 2},
        "/api/compiles": {"run": "step_1500", "by": "compile", "limit": 2},
        "/api/collectives": {"run": "step_1500", "limit": 2},
        "/api/transfers": {"run": RUN, "by": "transfer", "limit": 2},
        "/api/threads": {"run": RUN, "limit": 2},
        "/api/op_tree": {"run": RUN, "limit": 6},
        "/api/overview": {"run": RUN},
        "/api/findings": {"run": RUN, "limit": 2},
        "/api/flame": {"run": RUN, "limit": 8},
        "/api/memory": {"run": RUN},
        "/api/oom": {"run": RUN, "limit": 10},
        "/api/hlo": {"run": RUN},
        "/api/jobs": {},
        "/api/tables": {},
        "/api/upload": {},
        "/api/capture": {},
    }
    if known["counter"]:
        ret["/api/counters"] = {"run": RUN, "track": known["counter"], "px": 4}
    return ret
