#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run of many files: all of them are told in the end, also where the last ones follow each other at once, and its answers are kept."""

import common
import harness
from common import good

HOSTS = 70
DIRECTORY = "many/plugins/profile/2026_11_26_12_00_00"


def lay(place):
    """One profile as that of many hosts: their names alone make them differ (XSpace.hostnames)."""
    (source,) = (harness.SAMPLES / "step_500").rglob("*.xplane.pb")
    directory = place.profiles / DIRECTORY
    directory.mkdir(parents=True)
    for number in range(HOSTS):
        name = f"host{number:03}"
        path = directory / f"{name}.xplane.pb"
        path.write_bytes(source.read_bytes() + bytes([0x22, len(name)]) + name.encode())
        harness.age(path)


def all_hosts_are_told(server):
    lay(server.place)
    seen = set()

    def is_ready():
        run = next((run for run in good(server, "/api/runs", limit=100).json["runs"] if run["name"].startswith("many")), None)
        if run is not None:
            seen.add(len(good(server, "/api/run", run=run["id"]).json["hosts"]))
        return run is not None and run["state"] == "ready"

    harness.until("many hosts", is_ready)
    run = next(run for run in good(server, "/api/runs", limit=100).json["runs"] if run["name"].startswith("many"))
    detail = good(server, "/api/run", run=run["id"]).json
    assert sorted(host["name"] for host in detail["hosts"]) == [f"host{number:03}" for number in range(HOSTS)], detail["hosts"]
    assert {file["state"] for file in detail["files"]} == {"ready"} and len(detail["files"]) == HOSTS
    assert detail["slice_count"] % HOSTS == 0 and max(seen) == HOSTS, (detail["slice_count"], seen)


def what_was_answered_is_kept(server):
    first = good(server, "/api/overview", run="many").body
    kept = [path for path in server.place.cache.rglob("*") if path.is_file() and path.relative_to(server.place.cache).parts[0] == "answers"]
    assert kept, "no answer is kept"
    assert good(server, "/api/overview", run="many").body == first


if __name__ == "__main__":
    common.main([all_hosts_are_told, what_was_answered_is_kept])
