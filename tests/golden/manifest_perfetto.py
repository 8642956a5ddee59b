#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_perfetto.py TRACE_DUMP: every Perfetto trace of $JVIEW_CORPUS is read as its manifest counts it, and as a reader of
its own counts the wire: packets, events by type, pairs of begins and ends on each track and how long they are, arguments,
samples of counters, arrows."""
import collections
import os
import pathlib
import sys

import manifest

CORPUS = pathlib.Path(os.environ.get("JVIEW_CORPUS", ""))
TYPES = {0: "UNSPECIFIED", 1: "SLICE_BEGIN", 2: "SLICE_END", 3: "INSTANT", 4: "COUNTER"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield number, value


def events_of(data):
    """(packets, [(time, ordinal, type, track, flows, annotations)]) in the order of time. Clocks: all tell nanoseconds."""
    packets = 0
    events = []
    for number, packet in fields(data):
        if number != 1:
            continue
        packets += 1
        members = dict(fields(packet))
        if 11 not in members:
            continue
        event = list(fields(members[11]))
        single = dict(event)
        counted = collections.Counter(key for key, _ in event)
        flows = [value for key, value in event if key in (47, 48)]
        events.append((members.get(8, 0), len(events), single.get(9, 0), single.get(11, 0), flows, counted[4]))
    return packets, sorted(events)


def pairs_of(events):
    """{track: [pairs, sum of their lengths]}, begins without an end."""
    found = collections.defaultdict(lambda: [0, 0])
    stacks = collections.defaultdict(list)
    for time, _, kind, track, _, _ in events:
        if kind == 1:
            stacks[track].append(time)
        elif kind == 2 and stacks[track]:
            found[track][0] += 1
            found[track][1] += time - stacks[track].pop()
    return found, sum(len(stack) for stack in stacks.values())


def check(path, facts, got):
    manifest.equal(path, "format", got["format"], "perfetto")
    manifest.equal(path, "packets", got["counts"].get("packets"), facts["packets"])
    for word, count in facts["track_events"].items():
        manifest.equal(path, word, got["counts"].get(f"track events {word}"), count)
    packets, events = events_of((CORPUS / path).read_bytes())
    manifest.equal(path, "packets on the wire", got["counts"].get("packets"), packets)
    kinds = collections.Counter(TYPES[event[2]] for event in events)
    manifest.equal(path, "events on the wire", {word: got["counts"].get(f"track events {word}", 0) for word in kinds}, dict(kinds))
    pairs, left_open = pairs_of(events)
    manifest.equal(path, "begins without an end", left_open, 0)
    ours = sorted((track["count"], track["sum_ps"]) for track in got["tracks"] if track["count"] > 0)
    manifest.equal(path, "pairs of each track", ours, sorted((count, 1000 * total) for count, total in pairs.values()))
    manifest.equal(path, "samples", got["samples"], kinds["COUNTER"])
    args = sum(count for key, _, count, _ in got["args"] if key not in ("cat", "source", "function"))
    manifest.equal(path, "annotations", args, sum(event[5] for event in events))
    uses = collections.Counter(flow for event in events for flow in event[4])
    manifest.equal(path, "arrows", got["flows"], sum(count - 1 for count in uses.values()))


if __name__ == "__main__":
    sys.exit(manifest.run(sys.argv[1], "perfetto-protobuf", check))
