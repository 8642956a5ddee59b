#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""xprof.py PROFILE...: real profiles opened and asked, beside XProf; `./dev bench --xprof PROFILE...` runs it.

PROFILE is an *.xplane.pb (or .xz). JVIEWD_XPROF names a Python that has the package xprof; without it, or without a profile, a word
says that nothing was compared. Each tool starts as a fresh process on a copy of its own, dropped from the page cache:

  jviewd  from exec to the first screen of tiles: found, indexed with attribution, answered over HTTP
  XProf   its converter for the trace viewer, in a process of its own; the import of it is taken off

Then each table of XProf's beside the one that answers the same question:

  jviewd  in a server that has the run indexed and has done what it does unasked: the first answer, and the same once more
  XProf   a fresh process each, on a copy without its caches and again with them; its import is taken off the first

CPU seconds tell on a busy machine; memory is the peak of what cannot be dropped (RssAnon), of jviewd with the process that indexes.
"""

import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import Server

CONVERT = """
import sys
from xprof.convert import raw_to_tool_data
if len(sys.argv) > 1:
    options = {"trace_viewer_options": {"resolution": 4040}} if sys.argv[2] == "trace_viewer@" else {}
    data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], sys.argv[2], options)
    assert data, "XProf answered nothing"
"""
TABLES = {"overview_page": ("overview", {}), "input_pipeline_analyzer": ("steps", {}), "framework_op_stats": ("top", {"by": "op"}),
          "op_profile": ("top", {"by": "category"}), "hlo_stats": ("top", {"by": "op", "limit": 200}), "roofline_model": ("roofline", {}),
          "kernel_stats": ("kernels", {}), "memory_profile": ("memory", {}), "pod_viewer": ("hosts", {})}
# An answer of XProf that takes longer than this is to be met so many times faster; a cached one is not to be met slower.
LONG_S, TIMES, MEMORY_BYTES_MAX = 2, 25, 150e6


def copy_cold(profile, directory):
    """A copy as the profiler lays it, on the disk and out of the page cache."""
    path = pathlib.Path(directory) / "plugins/profile/2026_01_01_00_00_00/host.xplane.pb"
    path.parent.mkdir(parents=True)
    opened = lzma.open if profile.suffix == ".xz" else open
    with opened(profile, "rb") as source, open(path, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
        os.posix_fadvise(target.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def family(pid):
    """A process and all below it."""
    pids = [pid]
    for one in pids:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                pids += map(int, pathlib.Path(f"/proc/{one}/task/{task}/children").read_text().split())
        except OSError:
            pass
    return pids


class Peak:
    """The peak of RssAnon of a process and those below it, in bytes, while it runs."""

    def __init__(self, pid):
        self.pid, self.bytes, self.stop = pid, 0, False
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def sample(self):
        while not self.stop:
            total = 0
            for pid in family(self.pid):
                try:
                    match = re.search(r"RssAnon:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())
                    total += int(match[1]) * 1024 if match else 0
                except OSError:
                    pass
            self.bytes = max(self.bytes, total)
            time.sleep(0.004)

    def end(self):
        self.stop = True
        self.thread.join()
        return self.bytes


def cpu_of_children():
    times = os.times()
    return times.children_user + times.children_system


def open_with_jviewd(profile, directory):
    """(wall seconds, CPU seconds, peak bytes, events)"""
    path = copy_cold(profile, directory + "/profile")
    cpu = cpu_of_children()
    with Server(path.parents[3], directory + "/cache") as server:
        peak = Peak(server.process.pid)
        run = server.ready(3600)[0]
        detail = server.json("/api/run", run=run["id"])
        tracks = server.json("/api/tracks", run=run["id"])["tracks"]
        rows = [f"{track['id']}:{depth}" for track in sorted(tracks, key=lambda track: -track["slice_count"])
                for depth in range(track["depth_count"])][:60]
        level = max(0, (run["duration_ps"] // 1600).bit_length() - 1)
        offset, width = int(detail["hosts"][0]["offset_ps"]), 1024 << level
        status, body, _ = server.get("/api/tiles", {"Accept-Encoding": "zstd"}, run=run["id"], level=level,
                                     rows=",".join(rows), **{"from": -offset // width,
                                                             "to": (run["duration_ps"] - offset - 1) // width + 1})
        assert status == 200, body[:300]
        wall, memory = time.perf_counter() - server.started, peak.end()
    return wall, cpu_of_children() - cpu, memory, sum(track["slice_count"] for track in tracks)


def convert(python, *arguments):
    """(wall seconds, CPU seconds, peak bytes) of XProf's converter in a process; without arguments of its import alone."""
    cpu, begin = cpu_of_children(), time.perf_counter()
    process = subprocess.Popen([python, "-c", CONVERT, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = Peak(process.pid)
    code = process.wait()
    memory = peak.end()
    if code != 0:
        raise RuntimeError(f"XProf failed: {arguments}")
    return time.perf_counter() - begin, cpu_of_children() - cpu, memory


def open_with_xprof(python, profile, directory):
    """(wall seconds, CPU seconds, peak bytes), less what an import alone takes."""
    path = copy_cold(profile, directory)
    base, whole = convert(python), convert(python, path, "trace_viewer@")
    return whole[0] - base[0], whole[1] - base[1], whole[2]


def tables_of_jviewd(profile, directory):
    """{tool of XProf's: (CPU seconds of the first answer, of the same again)}, and the server's RssAnon behind all of them."""
    path = copy_cold(profile, directory + "/profile")
    with Server(path.parents[3], directory + "/cache") as server:
        run = server.ready(3600)[0]["id"]
        server.settle()
        spent = {}
        for tool, (table, query) in TABLES.items():
            both = []
            for _ in range(2):
                before = server.cpu_seconds()
                status, body, _ = server.get(f"/api/{table}", run=run, **query)
                assert status == 200, body[:300]
                both.append(server.cpu_seconds() - before)
            spent[tool] = both
        return spent, server.anonymous_bytes()


def compare_tables(python, profile, size):
    with tempfile.TemporaryDirectory(prefix="jviewd-xprof-") as directory:
        ours, memory = tables_of_jviewd(profile, directory)
    print(f"tables.{size}.jviewd.memory {memory / 1e6:.0f} MB <={MEMORY_BYTES_MAX / 1e6:.0f} {'ok' if memory <= MEMORY_BYTES_MAX else 'short'}",
          flush=True)
    base = convert(python)[1]
    for tool, (first, again) in ours.items():
        with tempfile.TemporaryDirectory(prefix="jviewd-xprof-") as directory:
            path = copy_cold(profile, directory)
            try:
                cold, cached = convert(python, path, tool)[1] - base, convert(python, path, tool)[1]
            except RuntimeError:
                print(f"tables.{size}.{tool} jviewd {1000 * first:.1f} ms, XProf has no answer", flush=True)
                continue
        ok = (cold <= LONG_S or cold / first >= TIMES) and first <= cached
        print(f"tables.{size}.{tool} jviewd {1000 * first:.1f} ms, again {1000 * again:.1f} ms; XProf {1000 * cold:.0f} ms, cached "
              f"{1000 * cached:.0f} ms; {cold / first:.0f} and {cached / first:.1f} times as fast {'ok' if ok else 'short'}", flush=True)


def main(profiles):
    python = os.environ.get("JVIEWD_XPROF")
    if not python or not profiles:
        print("xprof: nothing compared: set JVIEWD_XPROF to a Python that has xprof, and name *.xplane.pb files")
        return
    for name in profiles:
        profile = pathlib.Path(name)
        with tempfile.TemporaryDirectory(prefix="jviewd-xprof-") as directory:
            wall, cpu, memory, events = open_with_jviewd(profile, directory)
        with tempfile.TemporaryDirectory(prefix="jviewd-xprof-") as directory:
            their_wall, their_cpu, their_memory = open_with_xprof(python, profile, directory)
        size = f"{events / 1e6:.1f}M"
        print(f"first_open.{size}.jviewd wall {wall:.2f} s, CPU {cpu:.2f} s, memory {memory / 2**20:.0f} MiB")
        print(f"first_open.{size}.xprof wall {their_wall:.2f} s, CPU {their_cpu:.2f} s, memory {their_memory / 2**20:.0f} MiB")
        print(f"first_open.{size}.times_faster wall {their_wall / wall:.1f}, CPU {their_cpu / cpu:.1f}, "
              f"less memory {their_memory / memory:.1f}", flush=True)
        compare_tables(python, profile, size)


if __name__ == "__main__":
    main(sys.argv[1:])
