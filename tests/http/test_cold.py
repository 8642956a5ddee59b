#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles that `prune --compress` put away packed: the run stays what it was, under the eyes of a server that watches."""

import io
import json
import time
import zipfile

import common
import harness
from common import RUN, ask, good

DAY = 86400


def prune(place, *arguments):
    return place.jviewd("prune", place.profiles, "--compress", "--cache-dir", place.cache, "--data-dir", place.dir / "data", *arguments)


def a_run_stays_what_it_was(server):
    place = server.place
    for path in (place.profiles / RUN).rglob("*"):
        if path.is_file():
            harness.age(path, 3 * DAY)
    rested = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 2 * DAY))

    def is_read_again():
        run = good(server, "/api/run", run=RUN).json
        return run["state"] == "ready" and run["modified_at"] < rested

    harness.until("it to be read again", is_read_again)
    raw = next((place.profiles / RUN).rglob("*.xplane.pb"))
    whole, written = raw.read_bytes(), raw.stat().st_mtime_ns
    told, top, segments = good(server, "/api/run", run=RUN).json, good(server, "/api/top", run=RUN).json, place.segments()
    shown = prune(place)
    assert shown.returncode == 0 and "would be packed" in shown.stdout and "with --yes" in shown.stdout, (shown.stdout, shown.stderr)
    assert raw.read_bytes() == whole, "shown, not done"
    assert "not that old" in prune(place, "--older-than", "4d", "--yes").stdout and raw.exists()
    for wrong in (["--delete"], ["--max-size", "1G"]):
        assert prune(place, *wrong).returncode == 2 and raw.exists(), wrong
    done = prune(place, "--yes")
    packed = raw.with_name(raw.name + ".zst")
    assert done.returncode == 0 and "1 file packed" in done.stdout, (done.stdout, done.stderr)
    assert not raw.exists() and packed.stat().st_size < len(whole) / 2 and packed.stat().st_mtime_ns == written
    harness.until("the packed one", lambda: any(file["path"].endswith(".zst") and file["state"] == "ready"
                                                for file in good(server, "/api/run", run=RUN).json["files"]))
    now = good(server, "/api/run", run=RUN).json
    for key in ("id", "content_id", "name", "hosts", "slice_count", "step_median_ps", "started_at", "state"):
        assert now[key] == told[key], (key, told[key], now[key])
    assert good(server, "/api/top", run=RUN).json == top and place.segments() == segments, "nothing was made again"
    with zipfile.ZipFile(io.BytesIO(good(server, "/api/bundle", run=RUN, raw="yes").body)) as archive:
        member = json.loads(archive.read("jviewd-bundle.json"))["members"][0]
        assert archive.read(member["raw"]["name"]) == whole and member["path"].endswith(".xplane.pb"), member
    again = prune(place, "--yes")
    assert again.returncode == 0 and "0 files packed" in again.stdout, again.stdout


def another_machine_reads_it(server):
    place = harness.Place()
    packed = next((server.place.profiles / RUN).rglob("*.zst"))
    target = place.profiles / packed.relative_to(server.place.profiles)
    target.parent.mkdir(parents=True)
    target.write_bytes(packed.read_bytes())
    harness.age(target)
    lie = bytearray(packed.read_bytes())
    lie[-1] = ord("0") if lie[-1] != ord("0") else ord("1")
    other = place.profiles / "lie/plugins/profile/2026_01_01_00_00_00/h.xplane.pb.zst"
    other.parent.mkdir(parents=True)
    other.write_bytes(lie)
    harness.age(other)
    watching = place.serve()
    runs = watching.until_settled()
    assert runs["lie"]["state"] == "failed" and "the file that it says" in runs["lie"]["error"], runs["lie"]
    assert runs[RUN]["slice_count"] == good(server, "/api/run", run=RUN).json["slice_count"], runs[RUN]
    assert watching.stop() == 0
    place.close()


if __name__ == "__main__":
    common.main([a_run_stays_what_it_was, another_machine_reads_it])
