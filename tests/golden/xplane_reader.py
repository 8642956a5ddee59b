# SPDX-License-Identifier: Apache-2.0
"""xplane_reader: an independent, slow and plain reader of XPlane files, to compare ours with.

Standard library only.  Everything is read into dictionaries first and summed afterwards; nothing
is shared with the program.  Texts are bytes seen as characters of the same number, because names
need not be UTF-8.

    begin = line.timestamp_ns * 1000 + event.offset_ps, in picoseconds
    self  = duration less the durations of direct children on the same track
An event is a child of the innermost earlier event whose closed interval contains it; earlier
means by (begin, longest first, order in the file).  Instants (duration 0) are nobody's parent,
and events that say `_a`, or lie on a device's line of asynchronous ops, are neither parent nor child.
"""

import gzip
import lzma
import struct

MASK = (1 << 64) - 1


class Malformed(ValueError):
    pass


def unsigned(data, at, end):
    if at < end and data[at] < 0x80:  # most are of one byte
        return data[at], at + 1
    value = 0
    for index in range(10):
        if at + index >= end:
            raise Malformed("number cut off at %d" % at)
        byte = data[at + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value & MASK, at + index + 1
    raise Malformed("number too long at %d" % at)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def message(data, at=0, end=None):
    """The fields of a message: {number: [value, ...]}, the number that came last at the end; a value of bytes is a pair
    (from, to)."""
    end = len(data) if end is None else end
    fields = {}
    while at < end:
        tag, at = (data[at], at + 1) if data[at] < 0x80 else unsigned(data, at, end)
        wire = tag & 7
        if wire == 0:
            value, at = unsigned(data, at, end)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            size, at = unsigned(data, at, end)
            value, at = (at, at + size), at + size
        elif wire == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise Malformed("wire type %d before %d" % (wire, at))
        if at > end or tag >> 3 == 0:
            raise Malformed("bad field before %d" % at)
        values = fields.pop(tag >> 3, None) or []
        values.append(value)
        fields[tag >> 3] = values
    return fields


def last(fields, number, otherwise=0):
    return fields[number][-1] if number in fields else otherwise


def text(data, span):
    return data[span[0]:span[1]].decode("latin-1") if span else ""


def table(data, entries):
    """A map field: {key: fields of the value}."""
    out = {}
    for span in entries:
        entry = message(data, *span)
        value = last(entry, 2, None)
        out[signed(last(entry, 1))] = message(data, *value) if value else {}
    return out


STAT_KINDS = {2: "double", 3: "uint64", 4: "int64", 5: "text", 6: "bytes", 7: "ref"}


def stat(data, span, names):
    """(name, type, value) of a stat; references are texts."""
    fields = message(data, *span)
    name = names.get(signed(last(fields, 1)), "stat %d" % signed(last(fields, 1)))
    for number in reversed(fields):  # one of them; of several the last counts
        kind = STAT_KINDS.get(number)
        if kind is None:
            continue
        value = fields[number][-1]
        if kind == "double":
            value = struct.unpack("<d", value)[0]
        elif kind == "int64":
            value = signed(value)
        elif kind in ("text", "bytes"):
            value = text(data, value)
        elif kind == "ref":
            value = names.get(signed(value), "stat %d" % signed(value))
        return name, kind, value
    return name, "none", None


def name_of(data, metadata):
    return text(data, last(metadata, 4, None)) or text(data, last(metadata, 2, None))


def says_async(stats):
    told = [value for name, kind, value in stats if name == "_a" and kind in ("int64", "uint64")]
    return told[-1:] not in ([], [0])


def on_device(plane):
    return plane.startswith(("/device:", "#Chip"))


def read_events(data, line, events, names, known, is_async):
    """`known`: stats by their bytes, which many events have in common."""
    begin = signed(last(line, 3)) * 1000
    out = []
    for span in line.get(4, ()):
        fields = message(data, *span)
        metadata = signed(last(fields, 1))
        stats = []
        for from_, to in fields.get(4, ()):
            item = data[from_:to]
            if item not in known:
                known[item] = stat(data, (from_, to), names)
            stats.append(known[item])
        place = [number for number in fields if number in (2, 5)]  # one of them: a time, or how often
        out.append({"name": events.get(metadata, "event %d" % metadata), "begin_ps": begin + signed(last(fields, 2)),
                    "offset_ps": signed(last(fields, 2)), "dur_ps": signed(last(fields, 3)), "stats": stats,
                    "aggregated": place[-1:] == [5],
                    "async": is_async or says_async(stats)})
    return out


def load(path):
    with open(path, "rb") as handle:
        data = handle.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:6] == b"\xfd7zXZ\x00":
        data = lzma.decompress(data)
    return data


def read(path):
    """{"hostnames", "planes": [{"name", "stats", "metadata_names", "lines": [{"id", "name",
    "events"}]}]}"""
    data = load(path)
    space = message(data)
    planes = []
    for span in space.get(1, ()):
        plane = message(data, *span)
        names = {key: text(data, last(value, 2, None))
                 for key, value in table(data, plane.get(5, ())).items()}
        events = {key: name_of(data, value) for key, value in table(data, plane.get(4, ())).items()}
        lines, known = [], {}
        for line_span in plane.get(3, ()):
            line = message(data, *line_span)
            name = text(data, last(line, 2, None))
            is_async = name == "Async XLA Ops" and on_device(text(data, last(plane, 2, None)))
            lines.append({
                "id": signed(last(line, 1)), "timestamp_ns": signed(last(line, 3)),
                "name": text(data, last(line, 11, None)) or name, "own_name": name, "shown_as": text(data, last(line, 11, None)),
                "events": read_events(data, line, events, names, known, is_async)})
        planes.append({"name": text(data, last(plane, 2, None)), "lines": lines,
                       "stats": [stat(data, item, names) for item in plane.get(6, ())]})
    return {"hostnames": [text(data, item) for item in space.get(4, ())], "planes": planes}


def self_times(events):
    """Self time of each event of one track, in their order."""
    order = sorted(range(len(events)),
                   key=lambda i: (events[i]["begin_ps"], -events[i]["dur_ps"], i))
    out = [event["dur_ps"] for event in events]
    stack = []
    for index in order:
        event = events[index]
        begin, end = event["begin_ps"], event["begin_ps"] + event["dur_ps"]
        if event["async"]:
            continue
        while stack and events[stack[-1]]["begin_ps"] + events[stack[-1]]["dur_ps"] < end:
            stack.pop()
        if stack:
            out[stack[-1]] -= event["dur_ps"]
        if event["dur_ps"] > 0:
            stack.append(index)
        assert begin <= end
    return out


ARG_TYPES = {"int64": 1, "uint64": 2, "double": 3, "text": 4, "ref": 4, "bytes": 5, "none": 7}


def text_sum(text_value):
    total = 0
    for character in text_value:
        total = (total * 31 + ord(character)) & MASK
    return total


def value_sum(kind, value):
    if kind == "double":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind in ("text", "ref", "bytes"):
        return text_sum(value)
    return 0 if value is None else value & MASK


def slices_of(space):
    """(plane, event) of all events that have a place on a timeline."""
    for plane in space["planes"]:
        for line in plane["lines"]:
            if line["name"] != "_counters_":
                for event in line["events"]:
                    if not event["aggregated"]:
                        yield plane, event


def args(space):
    """{(key, type number): [count, sum of values modulo 2^64]}"""
    out = {}
    for _, event in slices_of(space):
        for name, kind, value in event["stats"]:
            sums = out.setdefault((name, ARG_TYPES[kind]), [0, 0])
            sums[0] += 1
            sums[1] = (sums[1] + value_sum(kind, value)) & MASK
    return out


def arrows(space):
    """How many consumers have a producer, and how many memory events there are."""
    producers, consumers, memory = set(), [], 0
    for plane, event in slices_of(space):
        is_device = on_device(plane["name"])
        stats = {name: value & MASK for name, kind, value in event["stats"]
                 if kind in ("int64", "uint64")}
        if "_p" in stats:
            producers.add((stats.get("_pt", 0), stats["_p"]))
        if "_c" in stats:
            consumers.append((stats.get("_ct", 0), stats["_c"]))
        packed = stats.get("flow", 0)
        flow = (packed >> 58, packed >> 2 & (1 << 56) - 1)
        if packed & 2:
            producers.add(flow)
        if packed & 1:
            consumers.append(flow)
        if stats.get("correlation_id") and is_device:
            consumers.append(("launch", stats["correlation_id"]))
        elif stats.get("correlation_id"):
            producers.add(("launch", stats["correlation_id"]))
        memory += not is_device and event["name"] in ("MemoryAllocation", "MemoryDeallocation")
    return sum(flow in producers for flow in consumers), memory


def tracks(space):
    """{(plane, line id, line name): {"count", "sum_ps", "start_ps", "end_ps", "instants", "names":
    {name: [count, total, self]}}} of all lines with events that have a place in time."""
    joined = {}
    for plane in space["planes"]:
        for line in plane["lines"]:
            if line["name"] == "_counters_":
                continue
            key = (plane["name"], line["id"], line["name"])
            joined.setdefault(key, []).extend(
                event for event in line["events"] if not event["aggregated"])
    out = {}
    for key, events in joined.items():
        names = {}
        for event, self_ps in zip(events, self_times(events)):
            sums = names.setdefault(event["name"], [0, 0, 0])
            sums[0] += 1
            sums[1] += event["dur_ps"]
            sums[2] += self_ps
        out[key] = {
            "count": len(events), "names": names,
            "instants": sum(event["dur_ps"] == 0 for event in events),
            "sum_ps": sum(event["dur_ps"] for event in events),
            "start_ps": min((event["begin_ps"] for event in events), default=0),
            "end_ps": max((event["begin_ps"] + event["dur_ps"] for event in events), default=0)}
    return out
