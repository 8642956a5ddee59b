#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_torch_snapshot_seeds: writes small pickles for fuzz_torch_snapshot into seeds/torch_snapshot.

A history of two devices in three protocols, one without times, one whose records lie, one that calls, one cut off.
"""

import pathlib
import pickle
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import made_snapshot  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent / "seeds" / "torch_snapshot"
FRAMES = [{"name": "f", "filename": "a.py", "line": 3}, {"name": "main", "filename": "b.py", "line": -1}]
EVENTS = [{"action": action, "addr": 4096 + 512 * i, "size": 512, "stream": 0, "frames": FRAMES} for i, action in enumerate(
    ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "else"))]
EVENTS.append({"action": "oom", "device_free": 1 << 40, "size": 1 << 62, "stream": 7, "time_us": 5, "frames": []})


class Calls:
    def __reduce__(self):
        return print, ("called",)


def segment(**changes):
    return {"device": 0, "address": 4096, "total_size": 2 << 20, "stream": 0,
            "blocks": [{"size": 512, "requested_size": 4, "state": "active_allocated", "frames": FRAMES}], **changes}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    whole, _ = made_snapshot.make(steps=1, device_count=2, depth=1)
    for trace in whole["device_traces"]:
        del trace[24:-8]
    lies = {"segments": [segment(total_size=1 << 70), segment(address="x", blocks=[{"state": None, "size": -5}, 3]), segment(device=1 << 40)],
            "device_traces": [[dict(EVENTS[0], size=-(1 << 63)), dict(EVENTS[0], addr=1.5), dict(EVENTS[1], time_us=1 << 63)], [], None]}
    seeds = {f"whole_{protocol}": pickle.dumps(whole, protocol) for protocol in (2, 4)}
    seeds["no_times"] = pickle.dumps({"segments": [segment()], "device_traces": [EVENTS]})
    seeds["lies"] = pickle.dumps(lies)
    seeds["calls"] = pickle.dumps({"segments": [Calls()]})
    seeds["cut"] = seeds["whole_4"][:-900]
    for name, data in seeds.items():
        (OUT / f"{name}.pickle").write_bytes(data)


if __name__ == "__main__":
    main()
