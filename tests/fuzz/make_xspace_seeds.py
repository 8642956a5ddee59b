#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_xspace_seeds: writes small XSpace files for fuzz_xspace into seeds/xspace.

Every field that the decoder knows, every type of stat, GPU, TPU and CPU planes, a program, clocks
near and far, sums, counters, memory events, flows.
"""

import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE / "seeds" / "xspace"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def stat(ident, number, value):
    return field(1, ident) + field(number, value)


def event(ident, offset, duration, *stats):
    return field(4, field(1, ident) + field(2, offset) + field(3, duration) +
                 b"".join(field(4, item) for item in stats))


def line(ident, name, timestamp, *events):
    return field(3, field(1, ident) + field(2, name) + field(3, timestamp) + b"".join(events))


def named(number, names):
    return b"".join(field(number, field(1, ident) + field(2, field(1, ident) + field(2, name)))
                    for ident, name in names.items())


def plane(name, *parts):
    return field(1, field(1, 1) + field(2, name) + b"".join(parts))


STATS = {1: "hlo_op", 2: "program_id", 3: "_pt", 4: "_p", 5: "_ct", 6: "_c", 7: "_a", 8: "flow",
         9: "correlation_id", 10: "fusion.1", 11: "allocator_name", 12: "allocation_bytes",
         13: "value", 14: "profile_start_time", 15: "Hlo Proto"}


def program():
    metadata = field(1, "dot") + field(2, "jit(f)/layer/dot") + field(3, "a.py") + field(4, 7)
    one = field(1, "fusion.1") + field(2, "fusion") + field(7, metadata) + field(11, "kLoop")
    two = field(1, "x") + field(2, "custom-call") + field(28, "gemm") + field(7, field(15, 1))
    frames = field(1, "b.py") + field(3, field(1, 1) + field(3, 9)) + field(4, field(1, 1))
    module = field(1, "jit_f") + field(3, field(2, one) + field(2, two)) + field(17, frames)
    entry = field(1, 1) + field(2, "jit_f(3)") + field(5, stat(15, 6, field(1, module)))
    return plane("/host:metadata", field(4, field(1, 1) + field(2, entry)), named(5, STATS))


def cpu(timestamp=5):
    events = [event(1, 0, 50, stat(4, 4, 7), stat(3, 4, 15), stat(1, 5, "text")),
              event(2, 10, 20, stat(1, 7, 10), stat(2, 4, 3), stat(13, 2, 0.5)),
              event(2, 20, 40, stat(6, 4, 7), stat(5, 4, 15), stat(13, 6, b"\xff")),
              event(3, 30, 0, stat(11, 7, 10), stat(12, 3, 256)), event(9, -5, -5, stat(99, 7, 98)),
              field(4, field(1, 1) + field(3, 100) + field(5, 4))]
    return plane("/host:CPU", line(1, "python", timestamp, *events), line(1, "", timestamp),
                 line(-3, "python", timestamp, event(1, 0, 5), field(11, "main")),
                 named(4, {1: "outer", 2: "fusion.1", 3: "MemoryAllocation"}), named(5, STATS))


def gpu():
    return plane("/device:GPU:0", line(7, "Stream #7(Kernel)", 5, event(1, 0, 9, stat(9, 3, 4))),
                 line(2**63 - 1, "_counters_", 5, event(2, 0, 0, stat(13, 3, 4))),
                 line(0xdeadbeef, "Steps", 5, event(1, 0, 9)), named(4, {1: "gemm", 2: "sm"}),
                 named(5, STATS), field(6, stat(13, 4, -1)))


def tpu():
    return plane("/device:TPU:1 SparseCore 0", line(3, "XLA Ops", 0, event(2**40, 2**50, 9)),
                 line(4, "Async XLA Ops", 0, event(2**40, 1, 9, stat(7, 4, 1)),
                      event(2**40, 2, 9, stat(8, 3, 0xAF << 56 | 7))),
                 named(4, {2**40: "%fusion.1 = f32[] fusion()"}), named(5, STATS))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    environment = plane("Task Environment", field(6, stat(14, 3, 1795000000 * 10**9)),
                        named(5, STATS))
    seeds = {"all": program() + cpu() + gpu() + tpu() + environment + field(2, "an error") +
             field(3, "a warning") + field(4, "host"),
             "unix": cpu(1700000000 * 10**9) + gpu(), "gpu": gpu(), "tpu": tpu(),
             "twice": cpu() + cpu(), "program": program(), "cut": (cpu() + gpu())[:-40],
             "lengths": field(1, b"\x12\x02ab\x1a" + varint(2**63) + b"\x22")}
    for name, seed in seeds.items():
        (OUT / (name + ".pb")).write_bytes(seed)


if __name__ == "__main__":
    main()
