# SPDX-License-Identifier: Apache-2.0
"""Writes small XSpace files (*.xplane.pb): planes, lines and events by name.

    space = Space()
    space.plane("/host:CPU").event("python", "train", start_ns, end_ns, step_num=3)
"""


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
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


class Plane:
    def __init__(self, name):
        self.name, self.lines, self.names, self.stats = name, {}, {}, {}

    def event(self, line, name, start, end, **stats):
        """Times in nanoseconds; a stat is a number or a text."""
        self.lines.setdefault(line, []).append((start, end, self.number(self.names, name), stats))

    @staticmethod
    def number(table, name):
        return table.setdefault(name, len(table) + 1)

    def stat(self, name, value):
        body = field(1, self.number(self.stats, name)) + (field(4, value) if isinstance(value, int) else field(5, value))
        return field(4, body)

    def bytes(self, number):
        body = field(1, number) + field(2, self.name)
        for index, (line, events) in enumerate(self.lines.items(), 1):
            inside = field(1, index) + field(2, line) + field(3, 1_700_000_000 * 10**9)
            for start, end, name, stats in sorted(events, key=lambda event: (event[0], -event[1])):
                told = b"".join(self.stat(key, value) for key, value in stats.items())
                inside += field(4, field(1, name) + field(2, start * 1000) + field(3, (end - start) * 1000) + told)
            body += field(3, inside)
        for number, table in ((4, self.names), (5, self.stats)):
            body += b"".join(field(number, field(1, ident) + field(2, field(1, ident) + field(2, name))) for name, ident in table.items())
        return field(1, body)


class Space:
    def __init__(self):
        self.planes = {}

    def plane(self, name):
        return self.planes.setdefault(name, Plane(name))

    def bytes(self):
        return b"".join(plane.bytes(number) for number, plane in enumerate(self.planes.values(), 1)) + field(4, "host")
