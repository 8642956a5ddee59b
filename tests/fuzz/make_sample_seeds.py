#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_sample: a ring of the kernel's records, a small ELF file, the memory of a Python of two versions, lines
of mappings and of code (see fuzz_sample.c)."""

import pathlib
import struct

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds/sample"
MEMORY = 0x10000000
LOST, COMM, FORK, SAMPLE, MMAP2 = 2, 3, 7, 9, 10
USER = 2**64 - 512


def record(kind, body, misc=0):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def ring():
    body = record(MMAP2, struct.pack("<II3QIIQQII", 466, 466, 0x400000, 0x1000, 0, 8, 1, 12, 0, 5, 2) + b"/usr/bin/python3\0")
    body += record(FORK, struct.pack("<4IQ", 468, 466, 468, 466, 9)) + record(LOST, struct.pack("<2Q", 1, 7))
    body += record(COMM, struct.pack("<II", 466, 466) + b"python3\0", 1 << 13)
    body += record(SAMPLE, struct.pack("<QIIQQQ5Q", 0x400010, 466, 467, 1000, 5000, 5, USER, 0x400010, 0x400020, 0x400031,
                                       0x400040))
    return body


def elf():
    names, strings = b"\0.PyRuntime\0", b"\0_PyRuntime\0main\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 1, 0, 1, 0x402000, 8) + struct.pack("<IBBHQQ", 12, 2, 0, 1, 0x401010, 4)
    places, body = [], b""
    for part in (symbols, strings, names):
        places.append(120 + len(body))
        body += part
    sections = bytes(64)
    for name, kind, address, index, link, entry in ((0, 2, 0, 0, 2, 24), (0, 3, 0, 1, 0, 0), (1, 3, 0x403000, 2, 0, 0)):
        size = len((symbols, strings, names)[index])
        sections += struct.pack("<II4QIIQQ", name, kind, 0, address, places[index], size, link, 0, 0, entry)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 120 + len(body), 0, 64, 56, 1, 64, 4, 3)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x401000, 0x401000, 0x1000, 0x1000, 0x1000) + body + sections


class Image:
    """Memory of a Python whose one thread runs outer, which calls inner."""

    def __init__(self):
        self.bytes = bytearray(0x2000)

    def put(self, at, value, count=8):
        self.bytes[at:at + count] = value.to_bytes(count, "little")

    def text(self, at, text):
        self.put(at + 16, len(text))
        self.put(at + 32, 1 << 2 | 1 << 5 | 1 << 6, 4)
        self.bytes[at + 48:at + 48 + len(text)] = text.encode()

    def code(self, at, name, layout):
        self.put(at + 8, MEMORY + 0x1000)
        self.put(at + layout["file"], MEMORY + 0x1800)
        self.put(at + layout["name"], MEMORY + name)
        self.put(at + layout["first"], 40, 4)
        self.put(at + layout["lines"], MEMORY + 0x1900)


OLD = {"version": 0x030A, "interpreters": 32, "threads": 8, "interpreter": 16, "frame": 24, "previous": 24, "code": 32,
       "at": 96, "file": 104, "name": 112, "first": 40, "lines": 120}
NEW = {"version": 0x030C, "interpreters": 40, "threads": 72, "interpreter": 16, "frame": 56, "previous": 8, "code": 0,
       "at": 56, "file": 112, "name": 128, "first": 68, "lines": 136}


def python(layout):
    image = Image()
    image.put(layout["interpreters"], MEMORY + 0x400)
    image.put(0x400 + layout["threads"], MEMORY + 0x600)
    image.put(0x600 + layout["interpreter"], MEMORY + 0x400)
    if layout is NEW:
        image.put(0x600 + 144, 468)
        image.put(0x600 + layout["frame"], MEMORY + 0x780)
        image.put(0x780, MEMORY + 0x800)
    else:
        image.put(0x600 + 176, MEMORY + 0x1A00 - 720)
        image.put(0x1A00, 468, 4)
        image.put(0x600 + layout["frame"], MEMORY + 0x800)
    for frame, code, above in ((0x800, 0xA00, MEMORY + 0x900), (0x900, 0xC00, 0)):
        image.put(frame + layout["previous"], above)
        image.put(frame + layout["code"], MEMORY + code)
        image.put(frame + layout["at"], MEMORY + code + 196 if layout is NEW else 2)
    image.code(0xA00, 0x1700, layout)
    image.code(0xC00, 0x1780, layout)
    for at, text in ((0x1700, "inner"), (0x1780, "outer"), (0x1800, "train.py")):
        image.text(at, text)
    image.put(0x1900 + 16, 4)
    image.bytes[0x1920:0x1924] = b"\x04\x00\x06\x02" if layout is OLD else b"\x81\x00\x81\x02"
    return struct.pack("<HHH", 0, 0x1000, layout["version"]) + bytes(image.bytes)


if __name__ == "__main__":
    SEEDS.mkdir(parents=True, exist_ok=True)
    body = ring()
    (SEEDS / "ring").write_bytes(b"\0" + struct.pack("<HH", len(body), 0) + body)
    turned = body[40:] + bytes(65536 - len(body)) + body[:40]
    (SEEDS / "ring_around").write_bytes(b"\0" + struct.pack("<HH", len(body), 65496) + turned)
    (SEEDS / "elf").write_bytes(b"\1" + elf())
    (SEEDS / "python_3_10").write_bytes(b"\2" + python(OLD))
    (SEEDS / "python_3_12").write_bytes(b"\2" + python(NEW))
    (SEEDS / "maps").write_bytes(b"\3" + b"7f12a000-7f12f000 r-xp 00002000 fd:01 1234   /usr/lib/a b.so\n"
                                 b"00400000-00401000 rw-p 00000000 00:00 0\n")
    for version in (0, 1, 3):
        (SEEDS / f"lines_3_1{version}").write_bytes(b"\4" + struct.pack("<BII", version, 100, 4)
                                                    + b"\xd9\x00\x00\xe8\x07\xf8\x04\x00\x06\x02")
