# SPDX-License-Identifier: Apache-2.0
"""A CPU profile of pprof for measuring: made_pprof.write(path, samples). The same bytes in every run.

Samples of a call tree of 40,000 places, 14 calls deep on average, in random order: the worst there is, since profilers
write neighbours together; each has a label for its thread."""
import gzip
import random

FUNCTIONS, LOCATIONS, PLACES, FILES, THREADS, DEPTH_MAX = 3000, 9000, 40000, 97, 16, 64


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def call_tree(rng):
    """(parent, location) of each place: long branches with some that begin anywhere."""
    tree = [(-1, 1)]
    while len(tree) < PLACES:
        first = max(0, len(tree) - 4000) if rng.random() < 0.8 else 0
        tree.append((rng.randrange(first, len(tree)), rng.randrange(1, LOCATIONS + 1)))
    return tree


def stack(tree, place):
    found = []
    while place >= 0 and len(found) < DEPTH_MAX:
        place, location = tree[place]
        found.append(location)
    return found


def write(path, samples):
    rng = random.Random(1)
    tree = call_tree(rng)
    texts = ["", "samples", "count", "cpu", "nanoseconds", "thread"]
    functions = len(texts)
    texts += [f"package.module_{number % FILES}.function_{number}" for number in range(FUNCTIONS)]
    files = len(texts)
    texts += [f"/home/user/package/module_{number}.py" for number in range(FILES)]
    threads = len(texts)
    texts += [f"thread-{number}" for number in range(THREADS)]
    out = [field(1, field(1, 1) + field(2, 2)), field(1, field(1, 3) + field(2, 4))]
    for _ in range(samples):
        locations = b"".join(varint(location) for location in stack(tree, rng.randrange(PLACES)))
        label = field(1, 5) + field(2, threads + rng.randrange(THREADS))
        out.append(field(2, field(1, locations) + field(2, varint(1) + varint(10_000_000)) + field(3, label)))
    for number in range(1, LOCATIONS + 1):
        line = field(1, 1 + number % FUNCTIONS) + field(2, number % 500)
        out.append(field(4, field(1, number) + field(3, 4096 + number * 16) + field(4, line)))
    for number in range(FUNCTIONS):
        out.append(field(5, field(1, number + 1) + field(2, functions + number) + field(4, files + number % FILES)))
    out += [field(6, text) for text in texts]
    with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) as packed:
        packed.write(b"".join(out))
