# SPDX-License-Identifier: Apache-2.0
"""What a compiled module's memory could spare, reckoned from its HLO proto alone: for truth_firings.py.

  HloProto 1 module, 3 buffer assignment
  module   3 computations, 4 shape of the program, 6 entry, 7 schedule, 8 which outputs lie in inputs
  buffers  1 values (id, size, place, color), 3 allocations, 4 simulations of the heap

Donation is told by shapes of the program's inputs and outputs, not by buffers. The heap is told only where
simulations speak of everything temporary: `Heap.is_told`.
"""
import collections
import re

import xplane_reader as wire

INSIDE = ("while", "call", "conditional", "async-start")  # what they run stands before them
CHEAP = set("abs add and bitcast bitcast-convert broadcast ceil clamp compare concatenate constant convert copy cosine divide exponential "
            "exponential-minus-one floor get-tuple-element iota is-finite log log-plus-one logistic maximum minimum multiply negate not or "
            "pad parameter power reduce-precision remainder reshape reverse round-nearest-afz round-nearest-even rsqrt select shift-left "
            "shift-right-arithmetic shift-right-logical sign sine slice dynamic-slice sqrt subtract tanh transpose tuple xor".split())
BYTES = {1: 1, 2: 1, 6: 1, 3: 2, 7: 2, 10: 2, 16: 2, 4: 4, 8: 4, 11: 4, 5: 8, 9: 8, 12: 8, 15: 8, 18: 16}  # of an element, by type
TUPLE = 13
THREAD_LOCAL, INPUT, OUTPUT, CONSTANT = FIXED = 3, 5, 7, 12  # of an allocation


def programs(path):
    """{program's number: HLO proto} of a file."""
    data, ret = wire.load(path), {}
    for span in wire.message(data).get(1, ()):
        plane = wire.message(data, *span)
        names = {key: wire.text(data, wire.last(value, 2, None)) for key, value in wire.table(data, plane.get(5, ())).items()}
        for metadata in wire.table(data, plane.get(4, ())).values():
            stats = {name.lower().replace(" ", "_"): value for name, _, value in (wire.stat(data, item, names) for item in metadata.get(5, ()))}
            if stats.get("hlo_proto"):
                named = re.search(r"\((\d+)\)$", wire.text(data, wire.last(metadata, 2, None)))
                ret[stats.get("program_id", int(named.group(1)) if named else 0) & wire.MASK] = stats["hlo_proto"].encode("latin-1")
    return ret


class Reader:
    def __init__(self, blob):
        self.blob = blob

    def message(self, span):
        return wire.message(self.blob, *span) if span else {}

    def text(self, fields, number):
        return wire.text(self.blob, wire.last(fields, number, None))

    def numbers(self, fields, number):
        """Repeated, packed or not."""
        out = []
        for value in fields.get(number, ()):
            if not isinstance(value, tuple):
                out.append(wire.signed(value))
                continue
            at, end = value
            while at < end:
                one, at = wire.unsigned(self.blob, at, end)
                out.append(wire.signed(one))
        return out

    def leaves(self, span, index=()):
        """(index, (type, sizes)) of the arrays of a shape."""
        shape = self.message(span)
        if wire.last(shape, 2) != TUPLE:
            yield index, (wire.last(shape, 2), tuple(self.numbers(shape, 3)))
            return
        for i, part in enumerate(shape.get(4, ())):
            yield from self.leaves(part, (*index, i))


def size_of(shape):
    size = BYTES.get(shape[0], 0)
    for dimension in shape[1]:
        size *= dimension
    return size


class Heap:
    def __init__(self, blob):
        self.read = read = Reader(blob)
        proto = read.message((0, len(blob)))
        self.module, self.buffers = read.message(wire.last(proto, 1, None)), read.message(wire.last(proto, 3, None))
        self.name, self.has_buffers, self.donation_bytes = read.text(self.module, 1), 3 in proto, self.spare_outputs()
        self.instructions, self.computations = {}, {}
        for span in self.module.get(3, ()):
            computation = read.message(span)
            inside = [self.instruction(one) for one in computation.get(2, ())]
            self.computations[wire.last(computation, 5)] = [one["id"] for one in inside]
            self.instructions.update({one["id"]: one for one in inside})
        self.by_name = {one["name"]: one["id"] for one in self.instructions.values()}
        if self.has_buffers:
            self.order = self.flatten()
            self.replay()

    def instruction(self, span):
        fields = self.read.message(span)
        return {"name": self.read.text(fields, 1), "opcode": self.read.text(fields, 2), "id": wire.last(fields, 35),
                "operands": self.read.numbers(fields, 36), "called": self.read.numbers(fields, 38)}

    def spare_outputs(self):
        """Bytes of outputs in shapes of inputs, where neither is already the other."""
        read, program = self.read, self.read.message(wire.last(self.module, 4, None))
        inputs = {(number, *index): shape for number, span in enumerate(program.get(1, ())) for index, shape in read.leaves(span)}
        outputs = dict(read.leaves(wire.last(program, 2, None)))
        for span in read.message(wire.last(self.module, 8, None)).get(1, ()):
            entry = read.message(span)
            outputs.pop(tuple(read.numbers(entry, 1)), None)
            inputs.pop((wire.last(entry, 2), *read.numbers(entry, 3)), None)
        spare, wanted = collections.Counter(inputs.values()), collections.Counter(outputs.values())
        return sum(min(count, spare[shape]) * size_of(shape) for shape, count in wanted.items())

    def flatten(self):
        """{instruction: position}"""
        schedule, seen, order = {}, set(), {}
        for key, fields in wire.table(self.read.blob, self.read.message(wire.last(self.module, 7, None)).get(1, ())).items():
            schedule[key] = self.read.numbers(fields, 1)

        def place(computation):
            seen.add(computation)
            for id in schedule.get(computation) or self.computations[computation]:
                one = self.instructions[id]
                for called in one["called"] if one["opcode"] in INSIDE else ():
                    if called not in seen:
                        place(called)
                order[id] = len(order)

        place(wire.last(self.module, 6))
        return order

    def replay(self):
        """Lives of temporary values: [made by, bytes, first position, last position], and what is there all the time."""
        read, self.lives, self.until, changes = self.read, [], {}, []
        values, temporary, told, level = {}, {}, set(), 0
        for span in self.buffers.get(1, ()):
            value = read.message(span)
            place = read.message(wire.last(value, 3, None))
            values[wire.last(value, 1)] = (wire.last(value, 2), wire.last(place, 4) or self.by_name.get(read.text(place, 2)), wire.last(value, 4))
        for span in self.buffers.get(3, ()):
            block = read.message(span)
            parts = [read.message(part) for part in block.get(9, ())]
            if wire.last(block, 8):
                continue  # another memory
            if not any(wire.last(block, number) for number in FIXED):
                temporary.update({wire.last(part, 1): wire.last(block, 1) for part in parts})
                continue
            if not wire.last(block, THREAD_LOCAL) or wire.last(block, INPUT) or wire.last(block, OUTPUT):
                level += wire.last(block, 2)
            if parts:  # it is there all the time
                largest = max(parts, key=lambda part: wire.last(part, 3))
                self.until[values[wire.last(largest, 1)][1]] = len(self.order) - 1
        for trace in self.buffers.get(4, ()):
            self.follow(read.message(trace), values, temporary, told, changes)
        self.is_told = told == set(temporary.values())
        changes.sort(key=lambda change: change[0])
        peak, self.alive, alive, self.peak_position = level, set(), set(), None
        for position, life, begins in changes:
            level += self.lives[life][1] * (1 if begins else -1)
            (alive.add if begins else alive.discard)(life)
            if level > peak:
                peak, self.alive, self.peak_position = level, set(alive), position
        self.peak_bytes = peak

    def follow(self, trace, values, temporary, told, changes):
        """One simulation: 0 begins, 1 ends, 2 lies where another one does."""
        users, root, life, position = collections.Counter(), {}, {}, 0
        for span in trace.get(1, ()):
            event = self.read.message(span)
            kind, value = wire.last(event, 1), wire.last(event, 2)
            position = max(position, self.order.get(self.by_name.get(self.read.text(event, 4)), 0))
            if value not in temporary or values[value][2]:
                continue
            told.add(temporary[value])
            if kind == 0:
                root[value] = value
            elif kind == 2:
                if wire.last(event, 5) not in temporary:
                    continue
                root[value] = root[wire.last(event, 5)]
            at = root[value]
            users[at] += -1 if kind == 1 else 1
            if kind == 1 and users[at] == 0:
                self.lives[life[at]][3] = position
                changes.append((position, life[at], False))
            elif kind != 1 and users[at] == 1:
                life[at] = len(self.lives)
                self.lives.append([values[value][1], values[at][0], position, len(self.order) - 1])
                changes.append((position, life[at], True))

    def is_cheap(self, id):
        one = self.instructions[id]
        inside = [other for called in one["called"] for other in self.computations[called]] if one["opcode"] == "fusion" else [id]
        return bool(inside) and one["opcode"] != "parameter" and all(self.instructions[other]["opcode"] in CHEAP for other in inside)

    def source(self, id):
        while self.instructions[id]["opcode"] in ("bitcast", "get-tuple-element"):
            id = self.instructions[id]["operands"][0]
        return id

    def again_bytes(self):
        """Of what is alive at the peak: made cheaply and long before, used long after, from what lives as long anyway."""
        until, total = dict(self.until), 0
        for maker, _, _, last in self.lives:
            until[maker] = max(until.get(maker, 0), last)
        for maker, size, first, last in (self.lives[life] for life in self.alive):
            if size * 200 < self.peak_bytes - 199 or min(self.peak_position - first, last - self.peak_position) < 8:
                continue
            sources = [self.source(operand) for operand in self.instructions[maker]["operands"]]
            if (last - first >= len(self.order) // 10 and self.is_cheap(maker) and
                    all(self.instructions[one]["opcode"] == "constant" or until.get(one, 0) >= last for one in sources)):
                total += size
        return total
