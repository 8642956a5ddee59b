#!/usr/bin/env python3
"""xprof.py PROFILE...: the first open of real profiles, beside XProf's; `./dev bench --xprof PROFILE...` runs it.

PROFILE is an *.xplane.pb (or .xz). JVIEWD_XPROF names a Python that has the package xprof; without it, or without a profile, a word
says that nothing was compared. Each tool starts as a fresh process on a copy of its own, dropped from the page cache:

  jviewd  from exec to the first screen of tiles: found, indexed with attribution, answered over HTTP
  XProf   its converter for the trace viewer, in a process of its own; the import of it is taken off

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
    options = {"trace_viewer_options": {"resolution": 4040}}
    data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "trace_viewer@", options)
    assert data, "XProf answered nothing"
"""


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


def open_with_xprof(python, profile, directory):
    """(wall seconds, CPU seconds, peak bytes), less what an import alone takes."""
    path = copy_cold(profile, directory)
    spent = []
    for arguments in ([], [str(path)]):
        cpu, begin = cpu_of_children(), time.perf_counter()
        process = subprocess.Popen([python, "-c", CONVERT, *arguments], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        peak = Peak(process.pid)
        if process.wait() != 0:
            raise RuntimeError(f"XProf failed on {profile}")
        spent.append((time.perf_counter() - begin, cpu_of_children() - cpu, peak.end()))
    base, whole = spent
    return whole[0] - base[0], whole[1] - base[1], whole[2]


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


if __name__ == "__main__":
    main(sys.argv[1:])
