#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Broken and hostile files: the indexer says what is wrong and ends by itself; the server serves on."""

import gzip
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import tempfile
import time
import zlib

from harness import SAMPLES, age, main, program

XPLANE = next((SAMPLES / "step_1000").rglob("*.xplane.pb"))
JSON_GZ = next((SAMPLES / "step_1000").rglob("*.trace.json.gz"))


def index(place, content, name="hostA.xplane.pb"):
    """(exit code, facts, words) of the indexer on these bytes."""
    path = place.dir / name
    path.write_bytes(content)
    done = place.jviewd("index", path, "--out", place.dir / "out.seg")
    assert done.returncode in (0, 3, 6), (done.returncode, done.stderr[-500:])
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["outcome"] in ("indexed", "ignored", "failed"), facts
    if facts["outcome"] != "indexed":
        assert facts["error"] and done.stderr.strip(), facts
    assert not list(place.dir.glob("*.tmp")), "half a segment is left"
    return done.returncode, facts, done.stderr


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def plane(*lines, name="/device:GPU:0", metadata=b""):
    return field(1, field(1, 1) + field(2, name) + b"".join(field(3, line) for line in lines) + metadata)


def event_name(number, name):
    return field(4, field(1, number) + field(2, field(1, number) + field(2, name)))


def event(metadata=1, offset_ps=0, duration_ps=1):
    return field(4, field(1, metadata) + field(2, offset_ps) + field(3, duration_ps))


def prefixes(place):
    """Some of every length; each is whole as far as it goes, or says what is missing."""
    for content, name in ((XPLANE.read_bytes(), "h.xplane.pb"), (JSON_GZ.read_bytes(), "h.trace.json.gz"),
                          (gzip.decompress(JSON_GZ.read_bytes()), "h.trace.json")):
        random_numbers = random.Random(7)
        for length in [0, 1, 2, 3, 10, len(content) - 1] + [random_numbers.randrange(len(content)) for _ in range(12)]:
            code, facts, _ = index(place, content[:length], name)
            if code == 0:
                assert facts["partial"] or facts["badges"] or facts["slice_count"] == 0, (name, length, facts)


def bit_flips(place):
    content = XPLANE.read_bytes()
    random_numbers = random.Random(11)
    for _ in range(40):
        changed = bytearray(content)
        changed[random_numbers.randrange(len(changed))] ^= 1 << random_numbers.randrange(8)
        index(place, bytes(changed))


def odd_planes(place):
    names = event_name(1, "a")
    huge = (1 << 63) - 1
    cases = {
        "lengths beyond the file": field(1, b"x" * 10)[:-5],
        "a varint of 2^63": plane(field(2, "l") + event(1, 1 << 63, 1 << 63), metadata=names),
        "the longest varint": b"\x08" + b"\xff" * 9 + b"\x01",
        "a varint without end": b"\x08" + b"\xff" * 30,
        "overflowing ends": plane(field(2, "l") + event(1, huge, huge), metadata=names),
        "negative times": plane(field(2, "l") + event(1, -5, -7), metadata=names),
        "no metadata": plane(field(2, "l") + event(99)),
        "ids twice": plane(field(1, 7) + event(), field(1, 7) + event(), metadata=names + names),
        "broken UTF-8": plane(field(2, b"\xff\xfe\xc0\x80") + event(), metadata=event_name(1, b"\xf0\x28\x8c")),
        "unknown fields": plane(field(2, "l") + event() + field(99, b"??"), metadata=names) + field(77, 1),
        "groups": plane(field(2, "l") + event(), metadata=names) + b"\x0b\x0c",
        "nothing but a plane": plane(),
    }
    for what, content in cases.items():
        code, facts, words = index(place, content)
        assert "Sanitizer" not in words, (what, words)


def nesting_without_end(place):
    deep = b""
    for _ in range(3000):
        deep = field(1, deep)
    index(place, deep)
    code, facts, words = index(place, b'{"traceEvents": [' + b"[" * 200000, "h.trace.json")
    index(place, b'{"traceEvents": [{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a","args":' + b'{"a":' * 100000,
          "h.trace.json")
    begins = b",".join(b'{"ph":"B","ts":%d,"pid":1,"tid":1,"name":"a"}' % i for i in range(50000))
    index(place, b'{"traceEvents": [' + begins + b"]}", "h.trace.json")


def a_million_tracks(place):
    lines = b"".join(field(3, field(1, i) + event()) for i in range(1000000))
    content = field(1, field(1, 1) + field(2, "/device:GPU:0") + lines + event_name(1, "a"))
    start = time.monotonic()
    code, facts, words = index(place, content)
    assert code in (0, 6) and time.monotonic() - start < 120, (code, words)


def gzip_oddities(place):
    whole = JSON_GZ.read_bytes()
    text = gzip.decompress(whole)
    code, facts, _ = index(place, whole, "h.trace.json.gz")
    slices = facts["slice_count"]
    assert code == 0 and slices > 0 and not facts["badges"], facts
    code, facts, _ = index(place, whole[:-8], "h.trace.json.gz")
    assert code == 0 and facts["slice_count"] == slices and facts["badges"], ("no trailer", facts)
    code, facts, _ = index(place, whole[:len(whole) // 2], "h.trace.json.gz")
    assert code == 0 and 0 < facts["slice_count"] < slices and facts["badges"], ("cut off", facts)
    code, facts, _ = index(place, whole + b"garbage behind the end", "h.trace.json.gz")
    assert facts["outcome"] == "indexed" and facts["slice_count"] == slices and facts["badges"], ("garbage", facts)
    middle = len(text) // 2
    members = gzip.compress(text[:middle]) + gzip.compress(text[middle:])
    code, facts, _ = index(place, members, "h.trace.json.gz")
    assert code == 0 and facts["slice_count"] == slices and not facts["badges"], ("two members", facts)
    changed = bytearray(whole)
    changed[-6] ^= 1
    code, facts, _ = index(place, bytes(changed), "h.trace.json.gz")
    assert facts["outcome"] == "failed" or facts["badges"], ("wrong sum", facts)
    code, facts, _ = index(place, gzip.compress(XPLANE.read_bytes()), "h.xplane.pb.gz")
    assert code == 0 and facts["format"] == "xplane", facts


def zstd_of_zeros(size):
    """A frame of runs of one byte: 128 KiB in four bytes."""
    block = 128 << 10
    frame = struct.pack("<IBB", 0xFD2FB528, 0x00, 0x38)  # a window of 128 KiB, size unknown
    return frame + b"".join(
        struct.pack("<I", block << 3 | 1 << 1 | (i == size // block - 1))[:3] + b"\0" for i in range(size // block))


def bombs(place):
    """Refused below 2 s and 64 MiB; a sanitized build is given more of both."""
    zeros = zlib.compressobj(9, zlib.DEFLATED, 31)
    member = zeros.compress(bytes(100 << 20)) + zeros.flush()
    cases = {
        "10 GB in 10 MB of gzip": (member * 100, "h.trace.json.gz"),
        "10 GB of gzip as an xplane": (member * 100, "h.xplane.pb.gz"),
        "10 GB in 320 kB of zstd": (zstd_of_zeros(10 << 30), "h.trace.json.zst"),
        "10 GB of zstd as an xplane": (zstd_of_zeros(10 << 30), "h.xplane.pb.zst"),
    }
    sanitized = b"__asan_init" in pathlib.Path(program()).resolve().read_bytes()
    for what, (content, name) in cases.items():
        path = place.dir / name
        path.write_bytes(content)
        start = time.monotonic()
        with open(place.dir / "words", "w+") as words:
            # The peak that wait4 tells is also that of the process that started it; a limit is the child's own.
            limit = None if sanitized else lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))
            process = subprocess.Popen([program(), "index", str(path), "--out", str(place.dir / "out.seg")],
                                       stdout=words, stderr=words, preexec_fn=limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            words.seek(0)
            assert process.returncode in (3, 6), (what, process.returncode, words.read())
        # CPU time: a busy machine makes no bomb.
        took = min(time.monotonic() - start, usage.ru_utime + usage.ru_stime)
        assert took < (30 if sanitized else 2), (what, took)
        assert not list(place.dir.glob("out.seg*")), what


def served_beside_all_of_them(place):
    place.sample()
    place.file("bomb", zstd_of_zeros(1 << 30))
    place.file("flipped", bytes(byte ^ 0x20 for byte in XPLANE.read_bytes()))
    place.file("half", XPLANE.read_bytes()[:50000])
    place.file("text", b"hello\n" * 1000)
    place.file("deep", b"\x0a\xff\xff\xff\xff\x0f" * 1000)
    server = place.serve()
    runs = server.until_settled()
    assert len(runs) == 6, runs
    for name, run in runs.items():
        assert run["state"] in ("ready", "partial", "failed"), run
        if run["state"] == "failed":
            assert run["error"], run
            assert server.top(name)[0] == 422
    server.answers()
    assert server.stop() == 0


if __name__ == "__main__":
    main([prefixes, bit_flips, odd_planes, nesting_without_end, a_million_tracks, gzip_oddities, bombs,
          served_beside_all_of_them])
