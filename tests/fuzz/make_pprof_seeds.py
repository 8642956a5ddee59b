#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_pprof_seeds: writes small pprof profiles for fuzz_pprof into seeds/pprof.

Device memory with labels; CPU samples with inlined frames, addresses and mappings; types, labels
and ids that do not fit; one that is cut off before its strings.
"""

import pathlib

from make_xspace_seeds import field, varint

OUT = pathlib.Path(__file__).resolve().parent / "seeds" / "pprof"


def packed(number, values):
    return field(number, b"".join(varint(value) for value in values))


def strings(*texts):
    return b"".join(field(6, text) for text in ("",) + texts)


def value_type(number, kind, unit):
    return field(number, field(1, kind) + field(2, unit))


def sample(locations, values, *labels):
    return field(2, packed(1, locations) + packed(2, values) + b"".join(field(3, label) for label in labels))


def location(ident, *lines, mapping=0, address=0):
    return field(4, field(1, ident) + field(2, mapping) + field(3, address) +
                 b"".join(field(4, field(1, function) + field(2, line)) for function, line in lines))


def function(ident, name, path):
    return field(5, field(1, ident) + field(2, name) + field(4, path))


MEMORY = (value_type(1, 1, 2) + value_type(1, 3, 4) +
          sample([1, 2], [2, 4096], field(1, 5) + field(2, 6), field(1, 7) + field(2, 8)) +
          sample([3, 2], [1, -1], field(1, 5) + field(2, 9)) +
          location(1, (1, 87)) + location(2, (2, 12)) + location(3, (3, 5)) +
          function(1, 10, 11) + function(2, 12, 13) + function(3, 14, 11))
MEMORY_STRINGS = strings("allocations", "count", "space", "bytes", "kind", "buffer", "device", "gpu:0",
                         "executable", "apply_primitive", "dispatch.py", "main", "train.py", "compile")
CPU = (field(9, 1537130863468834518) + field(10, 2000) + value_type(1, 1, 2) + value_type(11, 1, 2) + field(12, 10) +
       field(13, 3) + field(14, 1) + field(3, field(1, 7) + field(2, 0x400000) + field(4, 0x1000) + field(5, 4)) +
       function(900, 5, 6) + function(901, 7, 6) +
       location(100, (901, 3), (900, 44), mapping=7, address=0x400123) + location(101, mapping=7, address=0x400456) +
       field(2, field(1, 101) + field(1, 100) + field(2, 10) + field(3, field(1, 3) + field(3, 77) + field(4, 2))) +
       strings("cpu", "nanoseconds", "comment", "/usr/lib/libc.so.6", "outer", "a.cc", "inlined"))
ODD = (value_type(1, 1, 1) * 2 + sample([1, 99, 1, 1], [5]) + sample([], [1, 2, 3]) + location(1, (55, 1), (55, -1)) +
       location(-1, address=-1, mapping=-1) + sample([-1], [-1, -1]) + function(3, 99, 99) + b"\x12\x02\x0a\x09")

if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for name, data in {"memory": MEMORY + MEMORY_STRINGS, "cpu": CPU, "odd": ODD, "cut": MEMORY + MEMORY_STRINGS[:9]}.items():
        (OUT / f"{name}.pb").write_bytes(data)
