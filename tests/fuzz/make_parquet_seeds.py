#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_parquet_seeds.py DIR: small flat Parquet tables, written here from the format's description: for tests and the fuzzer.

Each holds the columns "Name" (text or null), "Projected Start" (int64), "Projected Duration" (int64), "Lvl" (double or null):
  one    1000  5  0.5
  null   2000  6  null
  two    3000  7  1.5
  one    4000  8  2.5
"""

import gzip
import pathlib
import struct
import sys

ROWS = [(b"one", 1000, 5, 0.5), (None, 2000, 6, None), (b"two", 3000, 7, 1.5), (b"one", 4000, 8, 2.5)]
COLUMNS = [(b"Name", 6, True), (b"Projected Start", 2, False), (b"Projected Duration", 2, False), (b"Lvl", 5, True)]
NONE, SNAPPY, GZIP = 0, 1, 2
PLAIN, RLE, DICTIONARY = 0, 3, 8
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def fields(*items):
    """(id, type, encoded) ... as a Thrift struct."""
    out, last = b"", 0
    for number, kind, value in items:
        out += bytes([(number - last) << 4 | kind]) + value
        last = number
    return out + b"\0"


def binary(value):
    return varint(len(value)) + value


def listed(kind, values):
    head = bytes([len(values) << 4 | kind]) if len(values) < 15 else bytes([0xf0 | kind]) + varint(len(values))
    return head + b"".join(values)


def snappy(data):
    """Literals of 60 bytes, and one copy where the data repeats itself at once."""
    out, at = varint(len(data)), 0
    while at < len(data):
        if at >= 8 and data[at:at + 8] == data[at - 8:at]:
            out += bytes([1 | (8 - 4) << 2, 8])
            at += 8
            continue
        piece = data[at:at + 8]
        out += bytes([(len(piece) - 1) << 2]) + piece
        at += len(piece)
    return out


def packed(data, codec):
    return {NONE: lambda: data, SNAPPY: lambda: snappy(data), GZIP: lambda: gzip.compress(data, mtime=0)}[codec]()


def plain(values, kind):
    if kind == 6:
        return b"".join(struct.pack("<I", len(value)) + value for value in values)
    return b"".join(struct.pack("<q" if kind == 2 else "<d", value) for value in values)


def bits(values, width):
    """One group of packed bits."""
    number = sum(value << at * width for at, value in enumerate(values))
    return varint((len(values) + 7) // 8 << 1 | 1) + number.to_bytes((len(values) + 7) // 8 * width, "little")


def chunk(column, codec, dictionary, version, offset):
    name, kind, optional = COLUMNS[column]
    cells = [row[column] for row in ROWS]
    values = [cell for cell in cells if cell is not None]
    levels = bits([cell is not None for cell in cells], 1) if optional else b""
    pages, dictionary_offset = b"", 0
    encoding, content = PLAIN, plain(values, kind)
    if dictionary:
        words = sorted(set(values))
        entries = plain(words, kind)
        head = fields((1, I32, zigzag(2)), (2, I32, zigzag(len(entries))), (3, I32, zigzag(len(packed(entries, codec)))),
                      (7, STRUCT, fields((1, I32, zigzag(len(words))), (2, I32, zigzag(PLAIN)))))
        dictionary_offset = offset
        pages = head + packed(entries, codec)
        width = max(1, (len(words) - 1).bit_length())
        encoding, content = DICTIONARY, bytes([width]) + bits([words.index(value) for value in values], width)
    data_offset = offset + len(pages)
    if version == 1:
        content = (struct.pack("<I", len(levels)) + levels if optional else b"") + content
        body = packed(content, codec)
        about = (5, STRUCT, fields((1, I32, zigzag(len(cells))), (2, I32, zigzag(encoding)), (3, I32, zigzag(RLE)), (4, I32, zigzag(RLE))))
        sizes = len(content), len(body)
    else:
        body = levels + packed(content, codec)
        about = (8, STRUCT, fields((1, I32, zigzag(len(cells))), (2, I32, zigzag(len(cells) - len(values))), (3, I32, zigzag(len(cells))),
                                   (4, I32, zigzag(encoding)), (5, I32, zigzag(len(levels))), (6, I32, zigzag(0))))
        sizes = len(levels) + len(content), len(body)
    pages += fields((1, I32, zigzag(0 if version == 1 else 3)), (2, I32, zigzag(sizes[0])), (3, I32, zigzag(sizes[1])), about) + body
    facts = [(1, I32, zigzag(kind)), (2, LIST, listed(I32, [zigzag(encoding)])), (3, LIST, listed(BINARY, [binary(name)])),
             (4, I32, zigzag(codec)), (5, I64, zigzag(len(cells))), (6, I64, zigzag(len(pages))), (7, I64, zigzag(len(pages))),
             (9, I64, zigzag(data_offset))]
    if dictionary:
        facts.append((11, I64, zigzag(dictionary_offset)))
    return pages, fields((2, I64, zigzag(offset)), (3, STRUCT, fields(*facts)))


def table(codec, dictionary, version):
    out, chunks = b"PAR1", []
    for column in range(len(COLUMNS)):
        pages, facts = chunk(column, codec, dictionary, version, len(out))
        out += pages
        chunks.append(facts)
    schema = [fields((4, BINARY, binary(b"schema")), (5, I32, zigzag(len(COLUMNS))))]
    schema += [fields((1, I32, zigzag(kind)), (3, I32, zigzag(int(optional))), (4, BINARY, binary(name))) for name, kind, optional in COLUMNS]
    group = fields((1, LIST, listed(STRUCT, chunks)), (2, I64, zigzag(len(out))), (3, I64, zigzag(len(ROWS))))
    footer = fields((1, I32, zigzag(2)), (2, LIST, listed(STRUCT, schema)), (3, I64, zigzag(len(ROWS))), (4, LIST, listed(STRUCT, [group])),
                    (6, BINARY, binary(b"a test")))
    return out + footer + struct.pack("<I", len(footer)) + b"PAR1"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, codec in (("none", NONE), ("snappy", SNAPPY), ("gzip", GZIP)):
        for dictionary in (False, True):
            for version in (1, 2):
                kind = "dictionary" if dictionary else "plain"
                (folder / f"{name}-{kind}-{version}").write_bytes(table(codec, dictionary, version))


if __name__ == "__main__":
    main()
