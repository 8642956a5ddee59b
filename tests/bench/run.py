#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [PATTERN | first [PROFILE...] | --xprof PROFILE... | --web [PROFILE|- [PART,...]]]: the figures of docs/performance.md, one a line: name value unit goal ok|short.

Each group makes its own profiles from a seed below build/bench and is measured in one sitting on one
machine; figures of a busy machine are ratios within one run. A short figure is measured again, up to three
times, and the best counts. Exits 1 when one stays short.
"""

import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import first
import made_pprof
from server import BINARY, ROOT, Server

BIN = BINARY.parent / "tests"
WORK = ROOT / "build/bench"
EVENTS = 10_000_000


class Figure:
    """A measured value with its goal: at least, or at most."""

    def __init__(self, name, value, unit, at_least=None, at_most=None):
        self.name, self.value, self.unit, self.at_least, self.at_most = name, value, unit, at_least, at_most

    def ok(self):
        return ((self.at_least is None or self.value >= self.at_least) and
                (self.at_most is None or self.value <= self.at_most))

    def better(self, other):
        return self.value > other.value if self.at_least is not None else self.value < other.value

    def line(self):
        goal = f">={self.at_least:g}" if self.at_least is not None else f"<={self.at_most:g}" if self.at_most is not None else "-"
        return f"{self.name} {self.value:.4g} {self.unit} {goal} {'ok' if self.ok() else 'short'}"


def profile(shape, events, suffix):
    """A made profile, once per size."""
    path = WORK / f"{shape}-{events}-{suffix}" / f"made.{suffix}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"tmp.{suffix}")
        subprocess.run([BIN / "make_profile", shape, "--events", str(events), "--seed", "1", "-o", temporary],
                       check=True, stdout=subprocess.DEVNULL)
        temporary.rename(path)
    return path


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def index(path, segment, threads=1):
    """(CPU seconds, wall seconds, peak of RssAnon) of `jviewd index`."""
    segment.unlink(missing_ok=True)
    begin = time.perf_counter()
    process = subprocess.Popen([BINARY, "index", path, "--threads", str(threads), "--out", segment],
                               stdout=subprocess.DEVNULL)
    peak = 0
    while True:
        try:
            text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            match = re.search(r"RssAnon:\s*(\d+)", text)
            peak = max(peak, int(match.group(1)) * 1024 if match else 0)
        except FileNotFoundError:
            pass
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = status
            if status:
                raise RuntimeError(f"index of {path} failed")
            return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, peak
        time.sleep(0.003)


def group_ingest():
    """XPlane to segment against a bare wire walk of the same bytes."""
    for shape in ("gpu", "cpu"):
        out = subprocess.run([BIN / "bench_ingest", f"{shape}:{EVENTS}"], check=True, capture_output=True, text=True).stdout
        share = re.search(r"([\d.]+) % of the walk", out)
        size = re.search(r"segment .* ([\d.]+) B an event", out)
        yield Figure(f"ingest.{shape}.share_of_walk", float(share[1]), "%", at_least=27)
        yield Figure(f"ingest.{shape}.size", float(size[1]), "B", at_most=35)
    path = profile("gpu", EVENTS, "xplane.pb")
    cpu, wall, peak = index(path, pathlib.Path("/dev/shm/jviewd-bench.seg"))
    _, wall_of_two, peak_of_two = index(path, pathlib.Path("/dev/shm/jviewd-bench.seg"), threads=2)
    yield Figure("index.xplane.10M.cpu", cpu, "s", at_most=1.3)
    yield Figure("index.xplane.10M.two_threads", wall / wall_of_two, "times as fast", at_least=1.6)
    yield Figure("index.xplane.10M.memory", max(peak, peak_of_two) / 2**20, "MiB", at_most=64)


def group_json():
    """Chrome JSON .gz to segment, against isa-l's inflate of the same file."""
    path = profile("gpu", EVENTS, "trace.json.gz")
    cpu, wall, peak = index(path, pathlib.Path("/dev/shm/jviewd-bench.seg"))
    yield Figure("index.json.10M.cpu", cpu, "s", at_most=7)
    yield Figure("index.json.10M.memory", peak / 2**20, "MiB", at_most=256)


def windows(run, zoom, count, rng):
    span = max(1024, int(run["duration_ps"] * zoom))
    for _ in range(count):
        begin = rng.randrange(max(1, run["duration_ps"] - span))
        yield begin, begin + span


def tile_query(detail, rows, begin, end):
    """The tiles that a screen of 1,600 px over [begin, end) asks for."""
    level = max(0, ((end - begin) // 1600).bit_length() - 1)
    offset = int(detail["hosts"][0]["offset_ps"])
    width = 1024 << level
    return {"level": level, "from": (begin - offset) // width, "to": (end - offset - 1) // width + 1, "rows": rows}


def screen_rows(server, run, count):
    tracks = server.json("/api/tracks", run=run["id"])["tracks"]
    rows = []
    for track in sorted(tracks, key=lambda track: -track["slice_count"]):
        for depth in range(track["depth_count"]):
            rows.append(f"{track['id']}:{depth}")
    return ",".join(rows[:count])


def group_serve():
    """A run of 10 M events: opened again, drawn, asked."""
    directory = profile("gpu", EVENTS, "xplane.pb").parent
    cache = WORK / "cache"
    with Server(directory, cache) as server:
        server.ready()
    with Server(directory, cache) as server:
        run = server.ready()[0]
        detail = server.json("/api/run", run=run["id"])
        rows = screen_rows(server, run, 60)
        query = tile_query(detail, rows, 0, run["duration_ps"])
        status, _, first = server.get("/api/tiles", run=run["id"], **query)
        yield Figure("serve.first_tiles", first * 1000, "ms", at_most=50)
        rng, times, sizes = random.Random(7), [], []
        for zoom in (1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6):
            for begin, end in windows(run, zoom, 25, rng):
                status, body, seconds = server.get("/api/tiles", {"Accept-Encoding": "zstd"}, run=run["id"],
                                                   **tile_query(detail, rows, begin, end))
                assert status == 200, body[:300]
                times.append(seconds)
                sizes.append(len(body))
        yield Figure("serve.screen.p99", quantile(times, 0.99) * 1000, "ms", at_most=15)
        yield Figure("serve.screen.p50", statistics.median(times) * 1000, "ms")
        yield Figure("serve.screen.bytes", max(sizes) / 1000, "kB", at_most=850)
        for name, zoom, goal in (("whole", None, 5), ("half", 0.5, 20), ("tenth", 0.1, 10)):
            times = []
            # Each question is another one: small replies are kept.
            for turn, (begin, end) in enumerate(windows(run, zoom or 1, 30, rng)):
                bounds = {} if zoom is None else {"start_ps": begin, "end_ps": end}
                times.append(server.get("/api/top", run=run["id"], by="name", limit=5 + turn, **bounds)[2])
            yield Figure(f"serve.top_by_name.{name}", statistics.median(times) * 1000, "ms", at_most=goal)
        server.settle()
        yield Figure("serve.overview.first", server.get("/api/overview", run=run["id"])[2] * 1000, "ms", at_most=150)
        times = [server.get("/api/top", run=run["id"], by="scope", limit=5 + turn)[2] for turn in range(10)]
        yield Figure("serve.top_by_scope", statistics.median(times) * 1000, "ms", at_most=50)
        times = [server.get("/api/search", run=run["id"], q="fusion", limit=50 + turn)[2] for turn in range(10)]
        yield Figure("serve.search", statistics.median(times) * 1000, "ms", at_most=20)
        yield Figure("serve.memory", server.anonymous_bytes() / 2**20, "MiB", at_most=150)


TABLES = ["findings", "overview", "steps", "hosts", "compiles", "transfers", "collectives", "roofline", "memory",
          *(f"top?by={by}" for by in ("op", "kernel", "category", "name", "module", "scope", "source", "track",
                                      "device", "annotation", "api", "host")),
          *(f"kernels?by={by}" for by in ("kernel", "variant", "annotation")),
          *(f"flame?by={by}" for by in ("scope", "source", "stack", "track", "host"))]
TABLE_GOALS = {"overview": 150, "findings": 300}
# Of the run, and what a table, and what the overview and findings of it may take.
WINDOWS = {"half": (0.5, 60, 150), "tenth": (0.1, 25, 60), "hundredth": (0.01, 25, 30)}


def cpu_of_question(server, path, **query):
    """Milliseconds of CPU of all threads."""
    before = server.cpu_seconds()
    status, body, _ = server.get(f"/api/{path}", **query)
    assert status == 200, body[:300]
    return 1000 * (server.cpu_seconds() - before)


def cpu_of_whole(server, path, **query):
    """Of the second asking, of another part of the table: an equal reply is kept."""
    for turn in range(2):
        part = {"overview": {}, "memory": {}, "findings": {"limit": 200}, "flame": {"limit": 20000}}.get(path, {"limit": 50 + turn})
        spent = cpu_of_question(server, path, **query, **part)
    return spent


def cpu_of_window(server, run, path, share, **query):
    """Of the second of two windows that nobody has asked for, in this bench or an earlier one: answers are kept, also on disk. The
    first meets the pages that the second needs."""
    rng, span = random.SystemRandom(), int(run["duration_ps"] * share)
    for _ in range(2):
        start = rng.randrange(max(1, run["duration_ps"] - span))
        spent = cpu_of_question(server, path, run=run["id"], start_ps=start, end_ps=start + span, **query)
    return spent


def group_tables():
    """Every table over 10 M events, CPU of all threads: of the whole run as it was prepared, and of windows that are new."""
    for shape in ("gpu", "cpu", "tpu"):
        with Server(profile(shape, EVENTS, "xplane.pb").parent, WORK / f"cache-tables-{shape}") as server:
            run = server.ready()[0]
            server.settle()
            # As made: a window around all is another question with the same answer.
            around = {"start_ps": -random.SystemRandom().randrange(1, 1 << 40), "end_ps": 2 * run["duration_ps"]}
            for path in ("overview", "findings"):
                yield Figure(f"tables.{shape}.{path}.made", cpu_of_question(server, path, run=run["id"], **around), "ms of CPU")
            for table in TABLES:
                path, _, by = table.partition("?by=")
                by, name = ({"by": by} if by else {}), f"tables.{shape}.{table.replace('?by=', '.')}"
                yield Figure(f"{name}.whole", cpu_of_whole(server, path, run=run["id"], **by), "ms of CPU",
                             at_most=TABLE_GOALS.get(path, 100))
                for part, (share, at_most, of_advice) in WINDOWS.items():
                    yield Figure(f"{name}.{part}", cpu_of_window(server, run, path, share, **by), "ms of CPU",
                                 at_most=of_advice if path in TABLE_GOALS else at_most)


def group_first(profiles=()):
    """The first answer of a file that was never seen, as a share of xprof-rs's; of three made files and of those that are named."""
    program = first.rival()
    if program is None:
        return
    made = {shape: profile(shape, EVENTS // 2, "xplane.pb") for shape in ("gpu", "cpu", "tpu")}
    for name, path in {**made, **{first.name_of(path): path for path in profiles}}.items():
        for (what, measure), (ours, theirs) in first.compare(path, program, WORK).items():
            unit = f"times ({ours:.2f} of {theirs:.2f} s)" if measure != "memory" else f"times ({ours / 2**20:.0f} of {theirs / 2**20:.0f} MiB)"
            goal = {"wall": 0.6 if what == "overview" else 0.4, "cpu": 0.8, "memory": 0.2}[measure]
            yield Figure(f"first.{name}.{what}{'' if measure == 'wall' else '.' + measure}", ours / theirs, unit, at_most=goal)


def group_diff():
    """Two runs of 10 M events compared by a server that has both open, as CPU of all threads."""
    tree = WORK / "diff-10000000"
    for seed in "12":
        path = tree / f"step_{seed}" / "plugins/profile/one/made.xplane.pb"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([BIN / "make_profile", "gpu", "--events", str(EVENTS), "--seed", seed, "-o", path.with_name("tmp")], check=True,
                       stdout=subprocess.DEVNULL)
        path.with_name("tmp").rename(path)
    with Server(tree, WORK / "cache-diff") as server:
        server.ready()
        server.settle()
        yield Figure("diff.two_of_10M", cpu_of_whole(server, "diff", a="step_1", b="step_2"), "ms of CPU", at_most=500)


def cpu_of_sql(server, run, query, times):
    """CPU seconds of a query: the server's and those of all processes that answer, those that start meanwhile with them."""
    server.post("/api/sql", {"query": query}, run=run)  # opens what the others ask again
    before = server.family_cpu_seconds()
    for turn in range(1, times + 1):
        server.post("/api/sql", {"query": query + " " * turn}, run=run)
    return (server.family_cpu_seconds() - before) / times


def group_sql_views():
    """A view of SQL against the endpoint of the same rows, in one server."""
    with Server(profile("gpu", EVENTS, "xplane.pb").parent, WORK / "cache-tables-gpu") as server:
        run = server.ready()[0]["id"]
        server.settle()
        for view, path, query in (("ops", "top", {"by": "op"}), ("names", "top", {"by": "name"}), ("steps", "steps", {})):
            rest = []
            for turn in range(21):  # each another question: small replies are kept
                before = server.cpu_seconds()
                server.json(f"/api/{path}", run=run, limit=40 + turn, **query)
                rest.append(1000 * (server.cpu_seconds() - before))
            rest = statistics.median(rest)
            spent = 1000 * cpu_of_sql(server, run, f"select * from {view} limit 50", 100)
            yield Figure(f"sql.{view}", spent, "ms of CPU")
            yield Figure(f"sql.{view}.of_rest", spent / rest, "times", at_most=2)


def group_screen():
    """A full screen of 60 rows at 10 M events, warm and out of the page cache."""
    # Planes of several files stand behind one another in one: four times eight devices and a host.
    path = WORK / "wide-10000000" / "made.xplane.pb"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path.with_name("tmp"), "wb") as whole:
            for seed in "1234":
                part = path.with_name("part")
                subprocess.run([BIN / "make_profile", "gpu", "--events", str(EVENTS // 4), "--devices", "8", "--seed", seed,
                                "-o", part], check=True, stdout=subprocess.DEVNULL)
                whole.write(part.read_bytes())
                part.unlink()
        path.with_name("tmp").rename(path)
    cache = WORK / "cache-wide"
    with Server(path.parent, cache) as server:
        run = server.ready()[0]
        detail = server.json("/api/run", run=run["id"])
        rows = screen_rows(server, run, 60)
        assert rows.count(",") == 59
        rng, times, cpu, sizes = random.Random(7), [], [], []
        for zoom in (1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6):
            for begin, end in windows(run, zoom, 25, rng):
                before = server.cpu_seconds()
                status, body, seconds = server.get("/api/tiles", {"Accept-Encoding": "zstd"}, run=run["id"],
                                                   **tile_query(detail, rows, begin, end))
                assert status == 200, body[:300]
                times.append(seconds)
                cpu.append(server.cpu_seconds() - before)
                sizes.append(len(body))
        yield Figure("screen.60_rows.p99", quantile(times, 0.99) * 1000, "ms", at_most=15)
        yield Figure("screen.60_rows.cpu.p99", quantile(cpu, 0.99) * 1000, "ms", at_most=15)
        yield Figure("screen.60_rows.bytes", max(sizes) / 1000, "kB", at_most=850)
    cold = []
    for zoom in (1, 0.1, 0.01, 1e-4):
        # What is mapped cannot be dropped, so each screen is the first of a fresh server.
        with Server(path.parent, cache) as server:
            server.ready()
            for segment in cache.glob("segments-*/*/*"):
                with open(segment, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            begin, end = next(windows(run, zoom, 1, rng))
            cold.append(server.get("/api/tiles", {"Accept-Encoding": "zstd"}, run=run["id"],
                                   **tile_query(detail, rows, begin, end))[2])
    yield Figure("screen.60_rows.cold", max(cold) * 1000, "ms", at_most=100)


def group_tiles():
    """Screens of 60 rows, summaries of 40 tracks and hits over 10 M slices, without a server."""
    out = subprocess.run([BIN / "bench_tiles"], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        match = re.match(r"(tiles\.\S+) ([\d.]+) (\S+) (?:<=([\d.]+)|-)", line)
        yield Figure(match[1], float(match[2]), match[3], at_most=float(match[4]) if match[4] else None)


def group_nsys():
    """An SQLite export of Nsight Systems becomes a trace, as a share of a bare SELECT's rate over the same columns."""
    out = subprocess.run([BIN / "bench_nsys"], check=True, capture_output=True, text=True).stdout
    found = dict(line.split() for line in out.splitlines())
    yield Figure("nsys.rows", float(found["decode_rows_per_s"]), "rows/s")
    yield Figure("nsys.share_of_select", float(found["share"]), "", at_least=0.5)


def group_hlo():
    """A module of 40,000 instructions becomes a trace, against a bare walk of its fields."""
    out = subprocess.run([BIN / "bench_hlo"], check=True, capture_output=True, text=True).stdout
    found = dict(line.split() for line in out.splitlines())
    yield Figure("hlo.decode", float(found["decode_mb_per_s"]), "MB/s")
    yield Figure("hlo.share_of_walk", float(found["share"]), "", at_least=0.25)


def group_pprof():
    """100,000 samples of pprof become a segment: the program's start, unpacking and writing included."""
    path = WORK / "pprof-100000" / "made.prof"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made_pprof.write(path.with_name("tmp.prof"), 100_000)
        path.with_name("tmp.prof").rename(path)
    cpu = min(index(path, WORK / "pprof.segment")[0] for _ in range(5))
    yield Figure("pprof.100k_samples.cpu", 1000 * cpu, "ms", at_most=100)


def group_load():
    """A small JSON reply under load, as a share of an empty handler's rate."""
    with Server(ROOT / "tests/samples", WORK / "cache-samples") as server:
        server.ready()

        def rate(path):
            out = subprocess.run(["wrk", "-t1", "-c16", "-d3s", f"http://127.0.0.1:{server.port}{path}"],
                                 capture_output=True, text=True).stdout
            return float(re.search(r"Requests/sec:\s*([\d.]+)", out)[1])

        empty, small = rate("/healthz"), rate("/api/run?run=step_1000")
        yield Figure("load.empty_handler", empty, "1/s")
        yield Figure("load.small_reply", small / empty, "share", at_least=0.5)


def group_start():
    """10,000 indexed runs: started, and walked again when nothing changed."""
    tree = WORK / "tree"
    if not (tree / "done").exists():
        shutil.rmtree(tree, ignore_errors=True)
        for number in range(10000):
            session = tree / f"group_{number // 100:03d}/step_{number:05d}/plugins/profile/2026_01_01_00_00_00"
            session.mkdir(parents=True)
            write_tiny_profile(session / "host.xplane.pb", number)
        (tree / "done").write_text("")
    cache = WORK / "cache-tree"
    with Server(tree, cache) as server:
        server.ready(1800)
    with Server(tree, cache) as server:
        while server.get("/readyz")[0] != 200:
            time.sleep(0.005)
        yield Figure("start.10k_runs", time.perf_counter() - server.started, "s", at_most=1)


def write_tiny_profile(path, number):
    """The smallest XPlane with one event, told apart by its time: XSpace > XPlane > XLine > XEvent."""
    def varint(value):
        out = b""
        while value >= 128:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])

    def field(key, body):
        return bytes([key << 3 | 2]) + varint(len(body)) + body

    event = b"\x08\x01\x10" + varint(1000 + number) + b"\x18" + varint(5000)
    meta = field(4, b"\x08\x01" + field(2, b"\x08\x01" + field(2, b"work")))
    path.write_bytes(field(1, field(2, b"/host:CPU") + field(3, b"\x08\x01" + field(2, b"python") + field(4, event)) + meta))


def group_scan():
    """10,000 run directories of three files, looked at: against a bare walk with a stat of each."""
    out = subprocess.run([BIN / "bench_scan", WORK / "tree-3"], check=True, capture_output=True, text=True).stdout
    walk, first, again = (float(number) for number in re.findall(r"[\d.]+", out))
    yield Figure("scan.10k_runs.first", first / walk, "walks", at_most=3)
    yield Figure("scan.10k_runs.again", again / walk, "walks", at_most=1.5)


def sql_table(server, run):
    """A tenth of a million slices, ten times, as a table of SQLite; in its page cache."""
    rows = json.loads(server.post("/api/sql", {"query": "select * from slices limit 100000"}, run=run, limit=100000))["rows"]
    rows = [tuple(row.values()) for row in rows]
    table = sqlite3.connect(":memory:")
    table.execute("create table slices(run text, host text, track text, track_name text, depth integer, id text, start_ps integer, "
                  "end_ps integer, dur_ps integer, self_ps integer, name text, kind text, flags text, parent text)")
    for _ in range(10):
        table.executemany("insert into slices values(" + ",".join("?" * 14) + ")", rows)
    return table, 10 * len(rows)


def group_sql():
    """Queries over 10 M slices, as CPU, against the same over a table of SQLite, in turn."""
    with Server(profile("gpu", EVENTS, "xplane.pb").parent, WORK / "cache-tables-gpu") as server:
        run = server.ready()[0]["id"]
        server.settle()
        table, count = sql_table(server, run)
        for name, query in (("sum", "select count(*), sum(dur_ps) from slices"),
                            ("group", "select name, count(*), sum(dur_ps) from slices group by name"),
                            ("like", "select count(*) from slices where name like '%1%' and dur_ps > 1000")):
            ours, theirs = [], []
            for _ in range(3):
                ours.append(cpu_of_sql(server, run, query, 1))
                begin = time.thread_time()
                table.execute(query).fetchall()
                theirs.append((time.thread_time() - begin) / count * EVENTS)
            yield Figure(f"sql.{name}.rate", EVENTS / min(ours) / 1e6, "M rows/s", at_least=2.5)
            yield Figure(f"sql.{name}.of_sqlite", min(theirs) / min(ours), "times as fast", at_least=3)
        # What is told of a sum, a table that hands out one constant bounds: the rest are SQLite's own steps.
        out = subprocess.run([BIN / "bench_sql"], check=True, capture_output=True, text=True).stdout
        constant, own = (float(number) for number in re.findall(r"([\d.]+) ns", out))
        yield Figure("sql.sum.most_of_sqlite", own / constant, "times as fast")


GROUPS = [group_scan, group_ingest, group_json, group_tiles, group_nsys, group_hlo, group_pprof, group_serve, group_tables, group_diff, group_screen, group_load, group_start, group_sql,
          group_sql_views, group_first]


def web(profiles):
    """The browser's figures, over 10 M slices on 200 tracks; beside XProf for the profile that is named."""
    path = WORK / f"gpu-99-{EVENTS}" / "made.xplane.pb"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name("made.tmp")
        subprocess.run([BIN / "make_profile", "gpu", "--devices", "99", "--events", str(EVENTS), "-o", temporary], check=True,
                       stdout=subprocess.DEVNULL)
        temporary.rename(path)
    return subprocess.run(["node", ROOT / "tests/e2e/bench.mjs", path, *profiles],
                          env={**os.environ, "JVIEWD": str(BINARY)}).returncode


def main():
    if sys.argv[1:2] == ["--xprof"]:
        sys.exit(subprocess.run([sys.executable, pathlib.Path(__file__).with_name("xprof.py"), *sys.argv[2:]]).returncode)
    if sys.argv[1:2] == ["--web"]:
        sys.exit(web(sys.argv[2:]))
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    WORK.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:2] == ["first"]:
        figures = list(group_first([pathlib.Path(path) for path in sys.argv[2:]]))
        print(*(figure.line() for figure in figures), sep="\n")
        sys.exit(not all(figure.ok() for figure in figures))
    best = {}
    for group in GROUPS:
        if not pattern.search(group.__name__):
            continue
        names = []
        for _ in range(3):
            for figure in group():
                names.append(figure.name)
                if figure.name not in best or figure.better(best[figure.name]):
                    best[figure.name] = figure
            if all(best[name].ok() for name in names):
                break
        for name in dict.fromkeys(names):
            print(best[name].line(), flush=True)
    sys.exit(not all(figure.ok() for figure in best.values()))


if __name__ == "__main__":
    main()
