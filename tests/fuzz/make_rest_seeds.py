#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of what is no profile: messages of agents, jview.json, command lines, requests, archives, bundles, kept tables, and edits
of catalogs and attributions."""

import io
import json
import pathlib
import struct
import tarfile
import zipfile

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds"
LONG_AGO = (2026, 1, 1, 0, 0, 0)


def put(target, seeds):
    (SEEDS / target).mkdir(parents=True, exist_ok=True)
    for name, seed in seeds.items():
        (SEEDS / target / name).write_bytes(seed if isinstance(seed, bytes) else seed.encode())


def message(method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def call(tool, **arguments):
    return message("tools/call", name=tool, arguments=arguments)


def agents():
    run = {"run": "latest"}
    return {
        "hello": message("initialize", protocolVersion="2025-06-18") + "\n" + message("ping") + "\n" + message("tools/list"),
        "not_asked": '{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n[{}]\n{',
        "ids": '{"jsonrpc":"2.0","id":"a","method":"ping"}\n{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n{"jsonrpc":"2.0","id":null,"method":"x"}',
        "runs": call("list_runs", limit=3) + "\n" + call("overview", **run),
        "top": call("top", **run, by="scope", limit=2) + "\n" + call("top", **run, max_tokens=200),
        "wrong": call("top") + "\n" + call("top", run=7) + "\n" + call("top", **run, by="nothing") + "\n" + call("nothing"),
        "others": "\n".join(call(tool, **run) for tool in ("findings", "steps", "memory", "collectives", "kernels")),
        "explain": call("explain_op", **run, name="fusion.1") + "\n" + call("diff", a="latest", b="step_1"),
        "search": call("search", **run, q="a\\u0000b") + "\n" + call("slices", **run, track="0"),
        "cursor": call("top", **run, cursor="x") + "\n" + call("critical_path", **run) + "\n" + call("whatif", **run),
    }


def abouts():
    whole = {"name": "wide mlp", "step": 1000, "commit": "4f0c9b5", "commit_time": 1795253400, "tags": ["nightly"], "notes": ["batch 64"],
             "metrics": {"loss": 2.31, "n": 3}}
    return {"whole": json.dumps(whole), "nothing": "{}", "list": "[]", "texts": json.dumps({"name": "\u0000\u2028", "tags": [""] * 32}),
            "numbers": '{"step":9007199254740992,"metrics":{"a":1e308,"b":-0.0,"c":5e-324}}', "twice": '{"step":1,"step":2}', "cut": '{"name":"a',
            "wrong": '{"commit_time":-1}'}


def lines(*words):
    return "\n".join(words)


def flags():
    return {
        "serve": lines("serve", "a", "--port", "0", "--bind", "127.0.0.1", "--auth", "token", "--ui", "none"),
        "server": lines("serve", "--profile-dir", "a", "--cache-bytes", "10G", "--workers", "4", "--base-path", "/proxy/8080", "--allow-capture=a:1,b:2"),
        "limits": lines("serve", "--memory-max", "512M", "--upload-max", "1T", "--upload-quota=1K", "--public-url", "https://a.example/b"),
        "help": lines("serve", "--help"),
        "top": lines("top", "latest", "--by", "scope", "--start", "1.5ms", "--end", "2s", "--limit=3", "--format", "csv"),
        "diff": lines("diff", "a@step=3", "b@1-2", "--by", "module"),
        "check": lines("check", "a", "--baseline", "main", "--max", "step_p95=10ms"),
        "note": lines("note", "add", "a", "text", "--start", "0", "--end", "1us"),
        "sql": lines("sql", "latest", "SELECT 1"),
        "slices": lines("slices", "a", "--track", "3", "--start-ps", "-5", "-o", "x.csv"),
        "wrong": lines("top", "--no-such-flag"),
        "many": lines("compare", "a", "b", "c", "d", "--profile-dir", "x", "--logdir=y"),
        "whatif": lines("whatif", "a", "--halve", "matmul", "--without", "idle"),
    }


def request(head, body=b""):
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def requests():
    host = "Host: localhost"
    chunked = b"5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n"
    get = request(["GET /api/top?run=a HTTP/1.1", host])
    return {
        "get": get,
        "pipeline": get * 3,
        "post": request(["POST /api/notes HTTP/1.1", host, "Content-Type: application/json", "Content-Length: 2"], b"{}") + get,
        "chunked": request(["POST /api/sql HTTP/1.1", host, "Transfer-Encoding: chunked", "Expect: 100-continue"], chunked) + get,
        "two": request(["POST / HTTP/1.1", host, "Content-Length: 2", "Transfer-Encoding: chunked"], b"{}"),
        "folded": request(["GET / HTTP/1.1", host, "X: a", " b"]),
        "nameless": request(["GET / HTTP/1.1", ": x", host]),
        "bare": b"GET / HTTP/1.1\nHost: localhost\n\n",
        "old": request(["GET / HTTP/1.0"]) + request(["POST / HTTP/1.0", "Transfer-Encoding: chunked"], chunked),
        "options": request(["OPTIONS * HTTP/1.1", host, "X:\t a \t"]),
        "lengths": request(["POST / HTTP/1.1", host, "Content-Length: 0000000000000000000000000002"], b"ab"),
        "signed": request(["POST / HTTP/1.1", host, "Content-Length: +2"], b"ab"),
        "coded": request(["POST / HTTP/1.1", host, "Transfer-Encoding: gzip, chunked"], chunked),
        "extension": request(["POST / HTTP/1.1", host, "Transfer-Encoding: chunked"], b"5;a=b\r\nhello\r\n0\r\n\r\n"),
        "high": request(["GET /\x80 HTTP/1.1", host]),
        "blank": request(["GET  / HTTP/1.1", "Host : localhost"]),
    }


def tar(*files, **links):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, body in files:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        for name, to in links.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, to
            archive.addfile(info)
    return out.getvalue()[:-8192] + bytes(1024)


def packed(*files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in files:
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), body, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def trees():
    deep = "plugins/profile/1/host.xplane.pb"
    return {
        "tar": tar((deep, b"\x0a\x03\x12\x01a"), ("b", b"")), "tar_links": tar(("a", b"x"), b="a", c="/etc/passwd"),
        "tar_up": tar(("../a", b"x")), "tar_root": tar(("/a", b"x")), "tar_long": tar(("d/" * 60 + "a", b"x")), "tar_twice": tar(("a", b"x"), ("a", b"y")),
        "zip": packed((deep, b"\x0a\x03\x12\x01a"), ("b/", b"")), "zip_up": packed(("../a", b"x")), "zip_twice": packed(("a", b"x"), ("A", b"y")),
        "zip_zeros": packed(("a", bytes(4096))), "zip_blank": packed(("a\\b", b"x"), ("c\x01", b"")),
    }


def manifest(**changes):
    blob = {"name": "raw/0/h.xplane.pb", "bytes": 5, "hash": "0" * 32}
    member = {"host": "h", "path": "h.xplane.pb", "part": "timeline", "bytes": 5, "content": "1" * 32,
              "segment": {**blob, "name": "segments/0"}, "raw": blob}
    told = {"run": "step_500", "content_id": "c0", "program": "jviewd 0.1.0", "about": {"step": 7}, "tags": ["pinned"],
            "notes": [{"text": "a", "start_ps": -1, "end_ps": 2, "changed_ns": 3, "track": "0.1"}]}
    whole = {"bundle": 1, "program": "jviewd 0.1.0", "segment_version": 6, "kind_rules_version": 10, "said": told, "members": [member]}
    return {**whole, **changes}


def bundles():
    whole = manifest()
    file = [("jviewd-bundle.json", json.dumps(whole)), ("segments/0", b"jview"), ("raw/0/h.xplane.pb", b"\x0a\x03\x12\x01a")]
    return {
        "manifest": "m" + json.dumps(whole), "manifest_none": "m" + json.dumps(manifest(members=[])), "manifest_newer": "m" + json.dumps(manifest(bundle=2)),
        "said": "s" + json.dumps(whole["said"]), "said_none": 's{"run":"","content_id":"","program":"","about":null,"tags":[],"notes":[]}',
        "file": b"f" + packed(*file), "file_bare": b"f" + packed(file[0]), "file_none": b"f" + packed(file[1]),
    }


def kept():
    """kept_cells.h: counts, words, values, breakdowns, order, ends, kinds, inexact, texts."""
    texts = [b"{\"run\":1", b"op", b"device", b"self_ps", b"Self", b"name", b"Name", b"b", b"a", b"kind", b"why", b"h"]
    columns = [3, 4, 2, 1, 5, 6, 0, 1]  # key, title, unit, by default
    words = [0, 1, 2, 7, 8, 2, 1, 2, *columns, 1, 3, 1, 9, 0, 10, 11, 1, 0]
    values, kinds = [5, 7, (1 << 64) - 3, 8], [2, 1, 2, 1]
    ends, text = [], b""
    for one in texts:
        text += one + b"\0"
        ends.append(len(text))

    def table(rows):
        counts = (len(words), rows * 2, 0, rows, len(ends), len(text))
        return (struct.pack("<6Q", *counts) + struct.pack(f"<{len(words)}Q", *words) + struct.pack(f"<{rows * 2}Q", *values[:rows * 2]) +
                struct.pack(f"<{rows}I", *reversed(range(rows))) + struct.pack(f"<{len(ends)}I", *ends) + bytes(kinds[:rows * 2]) + bytes(rows) + text)

    return {"two_rows": table(2), "one_row": table(1), "no_row": table(0), "cut": table(2)[:-5]}


def edits(*edits):
    return b"".join(struct.pack("<BBHQ", *edit) for edit in edits)


def catalog_edits(*edits):
    return b"".join(struct.pack("<BBHH6s", width, 0, offset, page, value.to_bytes(6, "little")) for width, offset, page, value in edits)


def attributions():
    rows = {f"part_{part}": edits((part, 4, 0, 0xffffffff), (part, 4, 40, 3)) for part in range(15)}
    return {"sound": b"", "counts": edits((14, 4, 48, 1)), "far": edits((0, 8, 24, 1 << 62), (0, 8, 32, 1 << 62), (4, 8, 16, (1 << 63) - 1)), **rows}


def catalogs():
    return {"sound": b"", "cut": catalog_edits((0, 0, 3, 0)), "version": catalog_edits((4, 60, 0, 0xff000000)),
            "cells": catalog_edits(*((2, 3, page, 0xffff) for page in range(1, 9))), "types": catalog_edits(*((6, 4000, page, 0x0102030405) for page in range(1, 12)))}


if __name__ == "__main__":
    for target, seeds in (("mcp", agents()), ("about", abouts()), ("flags", flags()), ("request", requests()), ("tree", trees()), ("bundle", bundles()),
                          ("kept", kept()), ("attribution", attributions()), ("catalog", catalogs())):
        put(target, seeds)
