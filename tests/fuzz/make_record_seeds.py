#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_record: payloads of frames, behind a first byte of 1 (see fuzz_record.c)."""

import pathlib

ABOUT, TEXT, CLOCK, RANGE, OPEN, THREAD, CATEGORY, GATE, LOSS, END = range(1, 11)
SAMPLER, STACK_TEXT, STACK, SAMPLE, TASK = range(19, 24)
SEEDS = pathlib.Path(__file__).resolve().parent / "seeds/record"


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def rows(*rows):
    out = varint(len(rows)) + varint(len(rows[0]) if rows else 0)
    for column in zip(*rows):
        before = 0
        for value in column:
            out += zigzag(value - before)
            before = value
    return out


def texts(first, *words):
    return varint(first) + varint(len(words)) + b"".join(varint(len(word)) + word.encode() for word in words)


def seed(name, *frames):
    body = b"".join(bytes([kind]) + len(payload).to_bytes(2, "little") + payload for kind, payload in frames)
    (SEEDS / name).write_bytes(b"\1" + body)


NAMES = (TEXT, texts(1, "train", "step", "load", "\ufeffna\u00efve"))
RANGES = (RANGE, rows((468, 3000, 9000, 0, 3, 7, 0xFF00FF00, 0, 0, 0, 0), (468, 2000, 11000, 1, 2, 0, 0, 0, 2, -4, 0),
                      (466, 5000, 5000, 0, 4, 0, 0, 2, 0, 0, 0), (466, 4000, 12000, 0, 4, 0, 0, 1, 1, 5, 468)))

if __name__ == "__main__":
    SEEDS.mkdir(parents=True, exist_ok=True)
    seed("ranges", (ABOUT, texts(0, "host", "h", "program", "python3", "env RANK", "3")), NAMES, RANGES,
         (THREAD, rows((468, 1))), (CATEGORY, rows((0, 7, 2))), (LOSS, rows((0, 12, 1, 2))), (END, rows()))
    seed("killed", NAMES, (OPEN, rows((466, 1000, 8000, 0, 2, 0, 0, 0, 0, 0, 0))), RANGES, (GATE, rows((1, 1, 1))))
    seed("clocks", (CLOCK, rows((3000000, 1000003000000, 7), (2, 2, 2))), NAMES, RANGES)
    seed("samples", (SAMPLER, rows((0, 100), (1, 199))), (STACK_TEXT, texts(1, "main", "train.py", "libm.so")),
         (STACK, rows((1, 0, 1, 2, 40, 0), (2, 1, 1, 2, 12, 0), (3, 2, 0, 0, 0, 3))), (TASK, rows((468, 1))),
         (SAMPLE, rows((1005, 468, 2, 0, 10, 9), (2005, 468, 3, 1, 5, -1), (3005, 466, 0, 0, 1, 0))), (END, rows()))
    (SEEDS / "raw").write_bytes(b"JVSPOOL1" + bytes(56))
