# SPDX-License-Identifier: Apache-2.0
"""What there is to ask of one run, made from api/openapi.yaml and from what the run itself holds.

A generator yields questions and is sent the body of each reply: names, ids and cursors of later questions come
from earlier answers. A question is (method, path, query, body).
"""

import itertools
import json

SQL_TABLES = ("slices derived_slices ops names scopes modules steps gaps kernels roofline collectives compiles "
              "transfers memory tracks hosts runs metrics columns").split()
CROSSED = ("view", "by", "weight")  # parameters that choose the table: each with each
NOT_VARIED = {"run", "a", "b", "runs", "wait_ms", "limit", "cursor", "format", "sort", "baseline", "file"}
REQUIRED = {"/api/search": ["q"]}
PAGE, SHORT_PAGE = 200, 7
OWN = {"/api/tiles", "/api/trace", "/api/bundle", "/api/hlo", "/api/slice", "/api/chain", "/api/counters", "/api/check",
       "/api/diff", "/api/compare", "/api/memory"}  # asked by a function of their own below


def get(path, /, **query):
    return "GET", path, {name: value for name, value in query.items() if value is not None}, None


def parsed(body):
    try:
        return json.loads(body)
    except (ValueError, UnicodeDecodeError):
        return {}


def rows_of(body):
    reply = parsed(body)
    for key in ("rows", "modules", "runs", "tracks"):
        if isinstance(reply.get(key), list) and reply[key]:
            return [row for row in reply[key] if isinstance(row, dict)]
    return []


def first(rows, key):
    return next((row[key] for row in rows if row.get(key) not in (None, "")), None)


def known_of(run):
    """What parameters may be set to: {parameter: [values]}, from the run's own tables."""
    id, known = run["id"], {}
    tracks = rows_of((yield get("/api/tracks", run=id, limit=10000)))
    busy = sorted(tracks, key=lambda track: -track["slice_count"])[:3]
    known["rows"] = [track for track in tracks if track.get("slice_count")]
    known["counters"] = [track["id"] for track in tracks if track["kind"] == "counter"][:3]
    known["track"] = [track["id"] for track in busy[:2]]
    known["host"] = run["hosts"][:1]
    known["device"] = ["0"]
    for parameter, path, key, query in (("name", "/api/top", "name", {}), ("module", "/api/top", "name", {"by": "module"}),
                                        ("scope", "/api/top", "name", {"by": "scope", "depth": 1}),
                                        ("rule", "/api/findings", "rule", {}),
                                        ("annotation", "/api/kernels", "name", {"by": "annotation"}),
                                        ("allocator", "/api/memory", "allocator", {"view": "peak"})):
        value = first(rows_of((yield get(path, run=id, limit=20, **query))), key)
        known[parameter] = [value] if isinstance(value, str) else []
    steps = [row["step"] for row in rows_of((yield get("/api/steps", run=id, limit=20))) if isinstance(row.get("step"), int)]
    known["step"] = [str(steps[0])] + ([f"{steps[1]}-{steps[-1]}"] if len(steps) > 2 else []) if steps else ["1"]
    known["q"] = [known["name"][0][:4]] if known["name"] else ["a"]
    known["focus"] = known["name"]
    known["step_regex"] = ["train|[Ss]tep|PjitFunction"]
    known["depth"] = ["2"]
    known["min_self_ps"] = known["min_dur_ps"] = ["1000000"]
    duration = run.get("duration_ps") or 0
    known["window"] = (duration // 4, duration // 4 * 3)
    slices = rows_of((yield get("/api/slices", run=id, limit=5, sort="-self_ps")))
    for track in known["track"]:
        slices += rows_of((yield get("/api/slices", run=id, track=track, limit=3, sort="-dur_ps")))
    known["slice"] = list(dict.fromkeys(row["id"] for row in slices))[:8]
    return known


def table(path, parameters, run, known, dice):
    """One endpoint: its formats, each parameter alone, tables crossed, a window and steps, pages, orders."""
    base = {"run": run["id"], "limit": PAGE if "limit" in parameters else None}
    base.update((name, known[name][0]) for name in REQUIRED.get(path, []))
    for form in ["json"] + [form for form in parameters.get("format", []) if form != "json"]:
        yield get(path, **base, format=form if "format" in parameters else None)
    for name in sorted(set(parameters) - NOT_VARIED - set(CROSSED)):
        for value in parameters[name] or known.get(name, []):
            yield get(path, **{**base, name: value})
    chosen = [name for name in CROSSED if name in parameters]
    for values in itertools.product(*([None, *parameters[name]] for name in chosen)):
        one = dict(base, **dict(zip(chosen, values)))
        if sum(value is not None for value in values) > 2:
            continue
        reply = yield get(path, **one)
        if parsed(reply).get("status", 200) != 200:
            continue
        if "start_ps" in parameters:
            yield get(path, **one, start_ps=known["window"][0], end_ps=known["window"][1])
        if "step" in parameters:
            yield get(path, **one, step=known["step"][-1])
        rows = rows_of(reply)
        if not rows:
            continue
        if "sort" in parameters and not parameters["sort"]:
            for column in dice.sample(sorted(set(rows[0]) - {"reasons"}), min(2, len(rows[0]) - 1)):
                yield get(path, **one, sort=dice.choice(("", "-")) + column)
        if "cursor" in parameters:
            page = parsed((yield get(path, **dict(one, limit=SHORT_PAGE))))
            if page.get("next"):
                yield get(path, **dict(one, limit=SHORT_PAGE), cursor=page["next"])


def slices(run, known):
    id = run["id"]
    for slice in known["slice"]:
        for form in ("json", "csv", "md"):
            yield get("/api/slice", run=id, id=slice, format=form)
        yield get("/api/chain", run=id, slice=slice, limit=100)
        yield get("/api/flows", run=id, slice=slice)
    for name in known["name"]:
        yield get("/api/slices", run=id, name=name, limit=PAGE)
        yield get("/api/search", run=id, q=f'name:"{name}" dur>1us', limit=PAGE)
    for track in known["counters"]:
        yield get("/api/counters", run=id, track=track)
        yield get("/api/counters", run=id, track=track, px=7, start_ps=known["window"][0], end_ps=known["window"][1])


def tiles(run, known):
    by_host = {}
    for track in known["rows"]:
        by_host.setdefault(track.get("host"), []).append(track)
    for tracks in list(by_host.values())[:4]:
        rows = ",".join(f"{track['id']}:0-{min(track['depth_count'], 4) - 1},{track['id']}:s" for track in tracks[:24])
        for level in (18, 26, 30, 34, 40):
            yield get("/api/tiles", run=run["id"], level=level, **{"from": 0, "to": 16}, rows=rows)


def hlo(run):
    id = run["id"]
    modules = rows_of((yield get("/api/hlo", run=id, limit=PAGE)))
    for module in modules[:3]:
        of = {"run": id, "module": module["key"]}
        for view in ("text", "computations", "instructions", "buffers"):
            for form in ("json", "csv"):
                rows = rows_of((yield get("/api/hlo", **of, view=view, limit=PAGE, format=form)))
            rows = rows_of((yield get("/api/hlo", **of, view=view, limit=SHORT_PAGE)))
            if view == "instructions":
                for row in rows[:3]:
                    yield get("/api/hlo", **of, instruction=row.get("name"))
            if view == "computations" and rows:
                yield get("/api/hlo", **of, view="instructions", computation=rows[0].get("name"))
        yield get("/api/hlo", **of, format="txt")
        yield get("/api/hlo", **of, line=20)
        yield get("/api/hlo", **of, q="fusion")
        for document in module.get("documents", [])[:2]:
            yield get("/api/hlo", **of, document=document.get("key"))


def memory(run, known):
    id, window = run["id"], {"start_ps": known["window"][0], "end_ps": known["window"][1]}
    for form in ("json", "csv", "md"):
        yield get("/api/memory", run=id, format=form)
        yield get("/api/memory", run=id, view="timeline", format=form, **window)
    for allocator in known["allocator"]:
        yield get("/api/memory", run=id, view="timeline", allocator=allocator)
        yield get("/api/memory", run=id, view="peak", allocator=allocator)
    for by in ("owner", "op", "scope", "shape", "category", "allocation"):
        yield get("/api/memory", run=id, view="peak", by=by, limit=PAGE)
        yield get("/api/memory", run=id, view="peak", by=by, limit=PAGE, at_ps=known["window"][1])
    for query in ({}, {"buffers": "all"}, {"space": 1}, {"position": 3}, {"format": "csv"}):
        for module in [None, *known["module"]]:
            yield get("/api/memory", run=id, view="heap", module=module, limit=PAGE, **query)
    reply = parsed((yield get("/api/memory", run=id, view="pprof", limit=PAGE)))
    held = reply.get("snapshots", [])
    snapshots = [one["name"] for one in held][:3] or [None]
    types = sorted({type["name"] for one in held for type in one["types"]}) or [None]
    for by in ("owner", "function", "source", "frame", "device", "kind"):
        for type in types:
            yield get("/api/memory", run=id, view="pprof", by=by, type=type, limit=PAGE)
        yield get("/api/memory", run=id, view="pprof", by=by, snapshot=snapshots[0], base=snapshots[-1], limit=PAGE)


def files(run, segments):
    for form in ("perfetto", "chrome", "csv", "xplane", "raw"):
        yield get("/api/trace", run=run["id"], format=form)
    yield get("/api/trace", run=run["id"], format="chrome", start_ps=0, end_ps=(run.get("duration_ps") or 0) // 2)
    if segments:
        yield get("/api/bundle", run=run["id"])


def others(run, neighbours):
    id = run["id"]
    for other in neighbours:
        for by in (None, "op", "scope", "module", "category", "source", "kind"):
            yield get("/api/diff", a=id, b=other, by=by, limit=PAGE)
        yield get("/api/diff", a=id, b=other, format="md")
        for form in ("json", "text", "md", "junit"):
            yield get("/api/check", run=id, baseline=other, format=form)
        yield get("/api/check", run=id, baseline=other, metric="step_time,memory_peak,compile_time")
    yield get("/api/check", run=id, max="step_time=1s,memory_peak=1GiB")
    for form in ("json", "csv", "md"):
        yield get("/api/compare", runs=",".join([id, *neighbours]), ops=30, format=form)


def sql(run):
    for name in SQL_TABLES:
        body = {"query": f"select * from {name} limit {PAGE}"}
        yield "POST", "/api/sql", {"run": run["id"], "format": "json"}, body
    count = {"query": "select count(*), sum(dur_ps), min(start_ps), max(start_ps), sum(self_ps) from slices"}
    yield "POST", "/api/sql", {"run": run["id"], "format": "csv"}, count


def mcp(run, known, neighbours):
    def call(method, **params):
        return "POST", "/mcp", {}, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    tools = parsed((yield call("tools/list"))).get("result", {}).get("tools", [])
    have = {"run": run["id"], "q": known["q"][0], "query": "select count(*) from slices", "a": run["id"],
            "b": neighbours[0] if neighbours else run["id"], "id": (known["slice"] or ["0"])[0],
            "baseline": neighbours[0] if neighbours else None, "runs": ",".join([run["id"], *neighbours])}
    for tool in tools:
        needs = tool["inputSchema"].get("required", [])
        fields = [name for name in tool["inputSchema"].get("properties", {}) if name in needs or name == "run"]
        if tool.get("annotations", {}).get("readOnlyHint", True):
            yield call("tools/call", name=tool["name"], arguments={name: have[name] for name in fields if have.get(name)})


def of_run(paths, run, neighbours, dice, segments):
    """All questions of a run; paths is {path: {parameter: [enumerated values]}} of the GET endpoints."""
    known = yield from known_of(run)
    for path, parameters in paths.items():
        if "run" in parameters and path not in OWN:
            yield from table(path, parameters, run, known, dice)
    yield from slices(run, known)
    yield from tiles(run, known)
    yield from hlo(run)
    yield from memory(run, known)
    yield from others(run, neighbours)
    yield from files(run, segments)
    yield from sql(run)
    yield from mcp(run, known, neighbours)


def of_all(paths):
    """What is asked without a run."""
    for path in ("/api/runs", "/api/trend", "/api/baselines", "/api/notes", "/api/jobs", "/api/upload", "/api/capture",
                 "/healthz", "/readyz", "/metrics"):
        for form in paths.get(path, {}).get("format") or [None]:
            yield get(path, format=form)
    for sort in ("name", "-duration_ps", "step_median_ps"):
        yield get("/api/runs", sort=sort, limit=10000)
    for metric in ("step_p95", "share_idle", "memory_peak", "compile_time", "utilisation"):
        yield get("/api/trend", metric=metric, names="all", limit=1000)
    for name in ("runs", "metrics", "steps", "columns"):
        yield "POST", "/api/sql", {}, {"query": f"select * from {name} limit {PAGE}"}
    yield get("/api/top", run="no such run")
    yield get("/api/source", file="none.py")


def paths_of(page):
    """{path: {parameter: [enumerated values]}} of the GETs of a parsed openapi.yaml."""
    shared, ret = page["components"]["parameters"], {}
    for path, methods in page["paths"].items():
        if "get" not in methods:
            continue
        ret[path] = {}
        for parameter in methods["get"].get("parameters", []):
            if "$ref" in parameter:
                parameter = shared[parameter["$ref"].rsplit("/", 1)[1]]
            ret[path][parameter["name"]] = [str(value) for value in parameter["schema"].get("enum", [])]
    return ret
