# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: the Python that has pyarrow and DuckDB, the harness, and rows as REST has them.

    need("duckdb")    this Python has these modules, or $JVIEWD_FLEET_PYTHON, or build/fleet; else the test is skipped, and says so
"""

import importlib.util
import json
import os
import pathlib
import sys
import urllib.request

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests/faults"), str(TOP / "api/python")]
os.environ["PYTHONPATH"] = str(TOP / "api/python")
import harness  # noqa: E402


def need(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    other = os.environ.pop("JVIEWD_FLEET_PYTHON", None) or str(TOP / "build/fleet/bin/python")
    if missing and os.access(other, os.X_OK) and not os.environ.get("JVIEWD_FLEET_TRIED"):
        os.environ["JVIEWD_FLEET_TRIED"] = "1"
        os.execv(other, [other, *sys.argv])
    if missing:
        print(f"skipped: {sys.executable} has no {' nor '.join(missing)}; ./dev test fleet gets it where there is a network")
        sys.exit(77)
    os.environ["JVIEWD_PYTHON"] = sys.executable


# Where REST says what a table says: path, what is asked, the member that holds the rows.
REST = {
    "ops": ("/api/top", {"by": "op"}, "rows"),
    "names": ("/api/top", {"by": "name"}, "rows"),
    "scopes": ("/api/top", {"by": "scope"}, "rows"),
    "modules": ("/api/top", {"by": "module"}, "rows"),
    "steps": ("/api/steps", {}, "rows"),
    "gaps": ("/api/steps", {"view": "gaps"}, "rows"),
    "kernels": ("/api/kernels", {"by": "kernel"}, "rows"),
    "roofline": ("/api/roofline", {}, "rows"),
    "collectives": ("/api/collectives", {}, "rows"),
    "compiles": ("/api/compiles", {"by": "compile"}, "rows"),
    "transfers": ("/api/transfers", {"by": "transfer"}, "rows"),
    "threads": ("/api/threads", {}, "rows"),
    "memory": ("/api/memory", {}, "allocators"),
    "tracks": ("/api/tracks", {}, "tracks"),
    "hosts": ("/api/hosts", {}, "rows"),
    "findings": ("/api/findings", {}, "rows"),
}
KINDS = ("compute", "communication", "copy", "host", "input", "compile", "other", "idle")


def rest_rows(server, run, table):
    """None: REST says of this run that there is no such thing."""
    path, query, member = REST[table]
    rows, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        if table != "memory":  # whose allocators are few
            more["limit"] = 10000
        status, _, body = server.fetch(path, run=run, wait_ms=60000, **query, **more)
        if status != 200 or member not in body:
            return None
        rows += body[member]
        cursor = body.get("next")
        if not cursor:
            return rows


def sql_rows(server, run, table):
    """None: there are more than SQL answers with."""
    body = ask_sql(server, run, f"select * from {table}")
    return None if body["row_count"] is None else body["rows"]


def ask_sql(server, run, query):
    request = urllib.request.Request(server.url + f"/api/sql?run={run}&limit=100000&timeout_ms=60000", method="POST",
                                     data=json.dumps({"query": query}).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def plain(value):
    """As a table has it: truths are 0 and 1, a list is a text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return " ".join(map(str, value))
    return value


def as_table(row, columns):
    """REST's row in the columns of the table: kinds are a column each."""
    kinds = {f"{part['kind']}_ps": part["self_ps"] for part in row.get("breakdown") or []}
    return tuple(plain(row.get(name, kinds.get(name))) for name in columns)


def sort_key(row):
    return tuple((value is None, str(type(value)), value if value is not None else 0) for value in row)


def equal(left, right):
    """Whole numbers and texts as they are; a double is the same double."""
    return sorted(left, key=lambda row: str(row)) == sorted(right, key=lambda row: str(row))
