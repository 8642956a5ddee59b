#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_perfetto_seeds: writes small Perfetto traces for fuzz_perfetto into seeds/perfetto.

Every field of an event that the decoder knows, nested arguments, interned texts and their
clearing, clocks in deltas, counters in deltas, flows, phases of the old JSON, a packed bundle.
"""

import pathlib
import zlib

from make_xspace_seeds import field, varint

OUT = pathlib.Path(__file__).resolve().parent / "seeds" / "perfetto"


def fixed64(number, value):
    return varint(number << 3 | 1) + value.to_bytes(8, "little")


def packet(*members, sequence=1):
    return field(1, b"".join(members) + field(10, sequence))


def clocks(*readings):
    return packet(field(6, b"".join(field(1, b"".join(field(number, value) for number, value in reading.items()))
                                    for reading in readings)))


def descriptor(uuid, *members):
    return packet(field(60, field(1, uuid) + b"".join(members)))


def event(at, kind, track, *members, around=b""):
    return packet(field(8, at) + around + field(11, field(9, kind) + field(11, track) + b"".join(members)))


INTERNED = field(12, field(1, field(1, 1) + field(2, "cat")) + field(2, field(1, 1) + field(2, "step")) +
                 field(3, field(1, 1) + field(2, "key")) + field(4, field(1, 1) + field(2, "a.py") + field(3, "f") + field(4, 7)) +
                 field(20, field(1, 1) + field(2, "log")) + field(29, field(1, 1) + field(2, "text")))
ARGS = b"".join(field(4, field(10, "k") + value) for value in (
    field(2, 1), field(3, 5), field(4, -5), field(5, 0.5), field(6, "t"), field(7, 99), field(9, "{}"), field(17, 1),
    field(11, field(10, "a") + field(4, 1)) + field(11, field(1, 1) + field(12, field(6, "x"))),
    field(8, field(1, 1) + field(2, "d") + field(3, field(1, 2) + field(4, field(5, 1))))))
TRACKS = (clocks({1: 6, 2: 1000}, {1: 1, 2: 500000}, {1: 64, 2: 5, 3: 1, 4: 10}) +
          descriptor(7, field(3, field(1, 42) + field(6, "p"))) +
          descriptor(8, field(5, 7), field(4, field(1, 42) + field(2, 43) + field(5, "t"))) +
          descriptor(9, field(5, 8), field(2, "c"), field(8, field(3, 3) + field(4, 1024) + field(5, 1))) +
          descriptor(10, field(5, 7), field(2, "custom")))
EVENTS = (event(1010, 1, 8, field(10, 1), field(3, 1), ARGS, fixed64(47, 5), field(34, 1), around=INTERNED + field(13, 1)) +
          event(1015, 3, 10, field(23, "i"), field(21, field(1, 1) + field(2, 1)), fixed64(48, 5), field(52, 3)) +
          event(1020, 2, 8, field(5, field(1, 1))) + event(1030, 4, 9, field(30, 3)) + event(1040, 4, 9, field(44, 0.5)) +
          event(2, 3, 8, field(31, 9), field(12, 4), around=field(58, 64)))
OLD = (packet(field(44, field(1, 1) + field(2, 2) + field(6, 1000)), field(13, 1)) +
       b"".join(packet(field(11, field(1, 10) + field(23, "n") + field(6, field(2, ord(phase)) + field(3, 5) + field(11, 9) + field(8, 4) + field(13, 2))))
                for phase in "XBEbnesSTFiM"))
REST = (packet(field(2, field(1, field(1, 42) + field(3, "/bin/p")) + field(2, field(1, 43) + field(2, "t")))) +
        packet(field(1, b"")) + packet(field(42, 1) + field(13, 2) + field(11, b"")))

if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    seeds = {"events": TRACKS + EVENTS, "old": OLD, "rest": REST + TRACKS, "packed": packet(field(50, zlib.compress(TRACKS + EVENTS))),
             "cut": (TRACKS + EVENTS)[:-7]}
    for name, data in seeds.items():
        (OUT / f"{name}.pftrace").write_bytes(data)
