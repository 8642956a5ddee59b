#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest_hlo.py TRACE_DUMP: every HLO proto of $JVIEW_CORPUS holds what its manifest counts, once in the trace's tables and
once when the kept blob is read whole; every text of a dump has its lines, and as many computations and instructions as a
pattern finds in it; numbers of buffers and operands equal those of an own reader of the wire."""
import lzma
import os
import pathlib
import re
import sys

import manifest

COMPUTATION = re.compile(r"^(?:ENTRY )?%?[^\s=(]+ \(.*\{$", re.M)
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = ", re.M)
UNKNOWN, AFTER = 0, 3


def content(path):
    data = (pathlib.Path(os.environ["JVIEW_CORPUS"]) / path).read_bytes()
    return lzma.decompress(data) if path.endswith(".xz") else data


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def numbers(value):
    if isinstance(value, int):
        return 1
    count = at = 0
    while at < len(value):
        _, at = varint(value, at)
        count += 1
    return count


def counted(data):
    """operands, calls and parts of the buffer assignment, by walking the wire."""
    sums = dict.fromkeys(("operands", "called", "buffers", "allocations", "assigned", "heap_traces"), 0)
    for number, part in fields(data):
        for inner, value in fields(part):
            if number == 1 and inner == 3:
                for field, message in fields(value):
                    for name, item in fields(message) if field == 2 else ():
                        if name in (36, 38):
                            sums["operands" if name == 36 else "called"] += numbers(item)
            elif number == 3 and inner in (1, 3, 4):
                sums[{1: "buffers", 3: "allocations", 4: "heap_traces"}[inner]] += 1
                if inner == 3:
                    sums["assigned"] += sum(field == 9 for field, _ in fields(value))
    return sums


def check_proto(path, facts, got):
    manifest.equal(path, "format", got["format"], "hlo-proto")
    manifest.equal(path, "modules", len(got["modules"]), 1)
    module = got["modules"][0]
    manifest.equal(path, "module", module["name"], facts["module"])
    manifest.equal(path, "entry", module.get("entry"), facts["entry"])
    manifest.equal(path, "buffer assignment", module["buffers"], facts["buffer_assignment"])
    for reader in (module, module["whole"]):
        manifest.equal(path, "computations", reader["computations"], facts["computations"])
        manifest.equal(path, "instructions", reader["instructions"], facts["instructions"])
    for name, count in {**counted(content(path)), "lost": 0, "damaged": 0}.items():
        manifest.equal(path, name, module["whole"][name], count)
    number = re.search(r"module_(\d+)\.|\((\d+)\)", path.rsplit("/", 1)[-1])
    manifest.equal(path, "number", int(module["id"]), int(number[1] or number[2]))
    manifest.equal(path, "stage", module["stage"], AFTER if facts["buffer_assignment"] else UNKNOWN)


def check_text(path, facts, got):
    """Files of a dump; the manifest calls them texts."""
    if got["format"] == "xla-dump":
        manifest.equal(path, "documents", len(got["documents"]), 1)
        manifest.equal(path, "lines", got["documents"][0][0], facts["lines"])
        manifest.equal(path, "bytes", got["documents"][0][1], len(content(path)))
        return
    manifest.equal(path, "format", got["format"], "hlo-text")
    text, module = content(path).decode(), got["modules"][0]
    manifest.equal(path, "lines", module["whole"]["lines"], facts["lines"])
    manifest.equal(path, "name", module["name"], re.match(r"HloModule ([^\s,]+)", text)[1])
    manifest.equal(path, "computations", module["computations"], len(COMPUTATION.findall(text)))
    manifest.equal(path, "instructions", module["instructions"], len(INSTRUCTION.findall(text)))
    manifest.equal(path, "lost", module["whole"]["lost"], 0)
    manifest.equal(path, "damaged", module["whole"]["damaged"], 0)


def is_dump(path):
    return path.rsplit("/", 1)[-1].startswith("module_")


if __name__ == "__main__":
    code = manifest.run(sys.argv[1], "hlo-proto", check_proto)
    if code != manifest.SKIPPED:
        code |= manifest.run(sys.argv[1], "text", check_text, is_dump)
    sys.exit(code)
