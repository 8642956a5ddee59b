# SPDX-License-Identifier: Apache-2.0
"""Trees of XSpace messages, made and changed by chance: each is a valid message with odd values.

    space = made(rng)            a tree: [(number, value), ...]; a value is an int, a float, bytes or a tree
    change(rng, space)           some of it doubled, dropped, moved, or given an odd value
    written(space)               its bytes
    read(data)                   and back
"""

import struct

SPACE, PLANE, LINE, EVENT, STAT, EVENT_ENTRY, STAT_ENTRY, EVENT_ABOUT, STAT_ABOUT = range(9)
TREES = {  # number of a field -> what its tree is
    SPACE: {1: PLANE}, PLANE: {3: LINE, 4: EVENT_ENTRY, 5: STAT_ENTRY, 6: STAT}, LINE: {4: EVENT}, EVENT: {4: STAT},
    STAT: {}, EVENT_ENTRY: {2: EVENT_ABOUT}, STAT_ENTRY: {2: STAT_ABOUT}, EVENT_ABOUT: {5: STAT}, STAT_ABOUT: {},
}
PLANES = ["/host:CPU", "/device:GPU:0", "/device:GPU:1", "/device:TPU:0", "/host:metadata", "#Chip0", "", "/device:CUSTOM:x", "Task Environment"]
LINES = ["python", "XLA Ops", "XLA Modules", "Steps", "Async XLA Ops", "Stream #7(Kernel)", "tf_XLAEigen/3", "", "a", "a"]
EVENTS = ["fusion.1", "dot.2", "train 3", "MemoryAllocation", "MemoryDeallocation", "copy-start.1", "%add.4 = f32[] add(a, b)", "", "\x00\xff", "n" * 300]
STATS = ["hlo_op", "program_id", "_pt", "_p", "_ct", "_c", "_a", "flow", "correlation_id", "step_num", "bytes_allocated", "x", "", "group_id",
         "profile_start_time"]
SMALL = [0, 1, 2, 3, 5, 10, 100, 1000, 999, 4096]
ODD = [-1, -1000, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 53, (1 << 61), (1 << 62) - 1, 1 << 62, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, 10**17, 10**18]
REALS = [0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 5e-324, 1e308, -7.25]


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def written(tree):
    out = bytearray()
    for number, value in tree:
        if isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            body = written(value) if isinstance(value, list) else value
            out += varint(number << 3 | 2) + varint(len(body)) + body
    return bytes(out)


def unsigned(data, at):
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return (value | data[at] << shift) & (1 << 64) - 1, at + 1


def read(data, what=SPACE):
    at, tree = 0, []
    while at < len(data):
        tag, at = unsigned(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = unsigned(data, at)
        elif wire == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        else:
            assert wire == 2, wire
            size, at = unsigned(data, at)
            value, at = bytes(data[at:at + size]), at + size
            if number in TREES[what]:
                value = read(value, TREES[what][number])
        tree.append((number, value))
    return tree


def number(rng):
    return rng.choice(ODD) if rng.random() < 0.06 else rng.choice(SMALL) * rng.choice([1, 1, 7, 1000])


def made_stat(rng, ids):
    ident = (1, rng.choice(ids) if rng.random() < 0.95 else rng.choice([0, 77, 1 << 40, -3]))
    kind = rng.randrange(2, 9)
    if kind == 8:
        return [ident]
    value = {2: rng.choice(REALS), 3: number(rng), 4: number(rng), 5: rng.choice(EVENTS).encode("latin-1"), 6: b"\x00\x01\xfe", 7: rng.choice(ids)}[kind]
    stat = [ident, (kind, value)]
    if rng.random() < 0.03:
        stat.append((3, 7))  # of two values the last one counts
    return stat


def made_event(rng, ids, stats):
    event = [(1, rng.choice(ids) if rng.random() < 0.97 else rng.choice([0, 99, 1 << 50]))]
    event.append((5, rng.choice([1, 3])) if rng.random() < 0.02 else (2, number(rng) if rng.random() < 0.5 else rng.randrange(2000)))
    if rng.random() < 0.95:
        event.append((3, 0 if rng.random() < 0.1 else number(rng) if rng.random() < 0.3 else rng.randrange(400)))
    event += [(4, made_stat(rng, stats)) for _ in range(rng.choice([0, 0, 1, 2, 5]))]
    return event


def made_line(rng, ident, ids, stats):
    line = [(1, ident), (2, rng.choice(LINES).encode())]
    if rng.random() < 0.8:
        line.append((3, rng.choice([0, 0, 1, 5, 1000]) if rng.random() < 0.9 else rng.choice(ODD)))
    line += [(4, made_event(rng, ids, stats)) for _ in range(rng.choice([0, 1, 2, 5, 30]))]
    return line + ([(11, b"shown")] if rng.random() < 0.05 else [])


def about(rng, entries, what, stats):
    tree = []
    for ident, name in entries:
        inside = [(1, ident), (2, name.encode("latin-1"))]
        if what == 4 and rng.random() < 0.1:
            inside.append((4, b"displayed"))
        if what == 4 and rng.random() < 0.1:
            inside.append((5, made_stat(rng, stats)))
        tree.append((what, [(1, ident), (2, inside)]))
    return tree


def made_plane(rng):
    names = [(index + 1 if rng.random() < 0.95 else rng.choice([1, 1 << 33, -5]), rng.choice(EVENTS)) for index in range(rng.randrange(1, 8))]
    stats = [(index + 1, rng.choice(STATS)) for index in range(rng.randrange(1, 12))]
    ids, stat_ids = [ident for ident, _ in names], [ident for ident, _ in stats]
    plane = [(1, rng.randrange(4)), (2, rng.choice(PLANES).encode())]
    plane += [(3, made_line(rng, index if rng.random() < 0.8 else rng.choice([0, 1, -1, 1 << 40]), ids, stat_ids)) for index in range(rng.randrange(4))]
    plane += about(rng, names, 4, stat_ids) + about(rng, stats, 5, stat_ids)
    return plane + [(6, made_stat(rng, stat_ids)) for _ in range(rng.randrange(2))]


def made(rng):
    return [(1, made_plane(rng)) for _ in range(rng.randrange(1, 4))] + ([(4, b"host")] if rng.random() < 0.7 else [])


def trees_of(tree, what=SPACE, found=None):
    """{what: [lists of that kind]} of all trees below."""
    found = {} if found is None else found
    found.setdefault(what, []).append(tree)
    for field, value in tree:
        if isinstance(value, list):
            trees_of(value, TREES[what][field], found)
    return found


def copy(value):
    return [(number, copy(inner)) for number, inner in value] if isinstance(value, list) else value


def odd_value(rng, value):
    if isinstance(value, float):
        return rng.choice(REALS)
    if isinstance(value, int):
        return rng.choice([rng.choice(ODD), number(rng), value + rng.choice([-1, 1, 1000])])
    return rng.choice([b"", value + b"x", b"\xff\x00", *(name.encode("latin-1") for name in PLANES + LINES + EVENTS + STATS)])


def change(rng, space):
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        found = trees_of(space)
        what = rng.choice(list(found))
        tree = rng.choice(found[what])
        if not tree:
            continue
        at = rng.randrange(len(tree))
        field, value = tree[at]
        deed = rng.randrange(5)
        if deed == 0:
            tree.insert(at, (field, copy(value)))
        elif deed == 1:
            del tree[at]
        elif deed == 2 and what in (PLANE, LINE, EVENT):
            tree.insert(rng.randrange(len(tree)), tree.pop(at))
        elif deed == 3 and isinstance(value, list):
            tree[at] = (field, copy(rng.choice(found[TREES[what][field]])))
        elif not isinstance(value, list):
            tree[at] = (field, odd_value(rng, value))
