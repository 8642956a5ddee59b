#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flame graphs against sources that know nothing of ours, where they lie beside $JVIEW_CORPUS:

  captures/*            scope, source line and Python calls of every op of CPU captures, from xplane_reader
                        and a decoder of HLO protos of its own: each leaf of each tree, to the picosecond
  golden/*/tables.json  XProf's op profile by program, category and provenance, where it has device time
"""
import collections
import json
import os
import pathlib
import sys
import tempfile

import manifest
import xplane_reader as wire
from test_kernels import ask

CAPTURES = ("train-steps", "control-flow", "multi-device", "transfers-idle", "recompiles")
GOLDEN = {
    "tpu-inference-4chip": "tpu-inference-4chip",
    "gpu-mi300x-jax-conv": "gpu-mi300x-jax-conv",
    "gpu-mi300x-jax08-conv": "gpu-mi300x-jax08/plugins/profile/conv",
    "gpu-mi300x-jax08-gemm": "gpu-mi300x-jax08/plugins/profile/gemm",
}
PACKAGES = ("/site-packages/", "/dist-packages/", "/lib/python3")


class Module:
    """Where each instruction of one HLO proto comes from."""

    def __init__(self, blob):
        self.blob = blob
        module = wire.message(blob, *wire.last(wire.message(blob), 1))
        tables = wire.message(blob, *wire.last(module, 17, (0, 0)))
        self.files, self.functions = ([wire.text(blob, span) for span in tables.get(number, ())] for number in (1, 2))
        self.locations, self.frames = ([wire.message(blob, *span) for span in tables.get(number, ())] for number in (3, 4))
        self.computations, self.instructions = {}, {}
        for span in module.get(3, ()):
            computation = wire.message(blob, *span)
            inside = [self.read(one) for one in computation.get(2, ())]
            self.computations[wire.last(computation, 5)] = (inside, wire.last(computation, 6))
            self.instructions.update({one["name"]: one for one in inside})

    def read(self, span):
        fields = wire.message(self.blob, *span)
        about = wire.message(self.blob, *wire.last(fields, 7, (0, 0)))
        called = fields.get(38, [])
        if called and isinstance(called[0], tuple):  # packed
            called = self.numbers(called[0])
        return {"name": wire.text(self.blob, wire.last(fields, 1, None)), "opcode": wire.text(self.blob, wire.last(fields, 2, None)),
                "id": wire.last(fields, 35), "called": called, "operands": self.operands(fields), "scope": wire.text(self.blob, wire.last(about, 2, None)),
                "file": wire.text(self.blob, wire.last(about, 3, None)), "line": wire.last(about, 4), "frame": wire.last(about, 15)}

    def operands(self, fields):
        given = fields.get(36, [])
        return self.numbers(given[0]) if given and isinstance(given[0], tuple) else given

    def sources(self, with_events):
        """{op: the ops whose values it uses, through instructions that leave no events}"""
        by_id = {one["id"]: one for one in self.instructions.values()}

        def found(one, seen):
            for number in one["operands"]:
                other = by_id.get(number)
                if other is None or number in seen:
                    continue
                seen.add(number)
                if other["name"] in with_events:
                    yield other["name"]
                else:
                    yield from found(other, seen)

        return {name: set(found(one, set())) for name, one in self.instructions.items() if name in with_events}

    def numbers(self, span):
        at, out = span[0], []
        while at < span[1]:
            number, at = wire.unsigned(self.blob, at, span[1])
            out.append(number)
        return out

    def calls(self, frame):
        """(function, file, line), the innermost first."""
        out = []
        while frame and len(out) < 100:
            fields = self.frames[frame - 1]
            place = self.locations[wire.last(fields, 1) - 1]
            out.append((self.functions[wire.last(place, 2) - 1], self.files[wire.last(place, 1) - 1], wire.last(place, 3)))
            frame = wire.last(fields, 2)
        return out

    def source(self, name):
        one = self.instructions.get(name)
        calls = self.calls(one["frame"]) if one else []
        own = [call for call in calls if not any(part in call[1] for part in PACKAGES) and not call[1].startswith("<")]
        if calls:
            return "%s:%d" % (own or calls)[0][1:]
        return "%s:%d" % (one["file"], one["line"]) if one and one["file"] else "(no source)"

    def stack(self, name):
        one = self.instructions.get(name)
        frame = one["frame"] if one else 0
        if one and not frame and one["opcode"] == "fusion" and one["called"]:
            inside, root = self.computations[one["called"][0]]
            framed = [other for other in inside if other["frame"]]
            frame = next((other["frame"] for other in framed if other["id"] == root), framed[-1]["frame"] if framed else 0)
        return self.calls(frame)


def programs_of(path):
    data, ret = wire.load(path), {}
    for span in wire.message(data).get(1, ()):
        plane = wire.message(data, *span)
        names = {key: wire.text(data, wire.last(value, 2, None)) for key, value in wire.table(data, plane.get(5, ())).items()}
        for metadata in wire.table(data, plane.get(4, ())).values():
            stats = {name: value for name, _, value in (wire.stat(data, item, names) for item in metadata.get(5, ()))}
            blob = next((value for name, value in stats.items() if name.lower().replace(" ", "_") == "hlo_proto"), None)
            if blob:
                ret[stats["program_id"]] = Module(blob.encode("latin-1"))
    return ret


def elements(scope):
    """At each slash outside of brackets."""
    out, depth, begin = [], 0, 0
    for at, letter in enumerate(scope):
        depth += (letter in "([") - (letter in ")]" and depth > 0)
        if letter == "/" and depth == 0:
            out.append(scope[begin:at])
            begin = at + 1
    return out + [scope[begin:]] if scope[begin:] else out


def ops_of(path, programs):
    """(op, module's name, program, length up to the partner that ends it, or to the first use of its value before that)"""
    ends, ops, executions = {}, [], collections.defaultdict(list)
    for plane in wire.read(path)["planes"]:
        for line in plane["lines"]:
            for event in line["events"]:
                stats = {name: value for name, _, value in event["stats"]}
                end = event["begin_ps"] + event["dur_ps"]
                if "hlo_op" in stats:
                    ops.append((stats, event["begin_ps"], end))
                elif "_c" in stats and stats.get("_ct", 0) == 0:
                    ends[stats["_c"]] = end
    for stats, begin, end in ops:
        if "_p" in stats and stats.get("_pt", 0) == 0:
            end = max(end, ends.get(stats["_p"], end))
        key = stats.get("program_id"), stats.get("run_id"), stats.get("device_ordinal")
        executions[key].append([begin, end, stats["hlo_op"], stats["hlo_module"]])
    for (program, *_), events in executions.items():
        uses = programs[program].sources({event[2] for event in events}) if program in programs else {}
        last = {}
        for event in sorted(events, key=lambda event: event[0]):
            for source in uses.get(event[2], ()):
                if source in last:
                    last[source][1] = max(last[source][0], min(last[source][1], event[0]))
            last[event[2]] = event
        for begin, end, op, module in events:
            yield op, module, program, end - begin


def plain(module):
    """jit_f(36) -> jit_f: programs of one name are one in both."""
    return module if module.startswith("(") else module.split("(")[0]


def wanted_leaves(path):
    programs, ret = programs_of(path), {by: collections.Counter() for by in ("scope", "source", "stack")}
    nothing = Module.__new__(Module)
    nothing.instructions = {}
    for op, name, program, length in ops_of(path, programs):
        module = programs.get(program, nothing)
        scope = module.instructions[op]["scope"] if op in module.instructions else ""
        calls = ["%s (%s:%d)" % (function, file.rsplit("/", 1)[-1], line) for function, file, line in reversed(module.stack(op))]
        ret["scope"][(name, *[part or "(empty)" for part in elements(scope)], op)] += length
        ret["source"][(module.source(op), op)] += length
        ret["stack"][(*(calls or ["(no Python stack)"]), op)] += length
    return ret


def leaves(node, path=()):
    """{names below the root: own weight}"""
    ret = collections.Counter()
    for child in node["children"]:
        below = (*path, child["name"])
        if child["self_ps"]:
            ret[below] += child["self_ps"]
        ret.update(leaves(child, below))
    return ret


def flame(cache, path, by, weight):
    return ask(cache, "flame", str(path), "--by", by, "--weight", weight, "--limit", "20000")


def check_capture(directory, cache):
    [path] = directory.rglob("*.xplane.pb")
    ask(cache, "list", str(path))
    for by, wanted in wanted_leaves(path).items():
        reply = flame(cache, path, by, "time")
        got = leaves(reply["root"])
        if by in ("scope", "module"):
            got = sum((collections.Counter({(plain(leaf[0]), *leaf[1:]): length}) for leaf, length in got.items()), collections.Counter())
        wanted = collections.Counter({leaf: length for leaf, length in wanted.items() if length})
        manifest.equal(directory.name, f"root by {by}", reply["root"]["total_ps"], sum(wanted.values()))
        for leaf in sorted(set(got) | set(wanted)):
            manifest.equal(directory.name, f"by {by}: {';'.join(leaf)}", got[leaf], wanted[leaf])
        yield len(wanted)


NOT_OURS = ("IDLE",)


def leaves_of_profile(rows):
    """{path: time} of XProf's tree; equal instructions stand below a group of theirs, and one that alone is one is named so."""
    ret = collections.Counter()
    rows = [row for row in rows if row["time_ps"]]  # what is fused has none
    for row, behind in zip(rows, rows[1:] + [{"depth": 0}]):
        path = [part for part in row["path"][1:] if not part.endswith(" and its duplicate(s)")]
        if behind["depth"] <= row["depth"] and path and path[0] not in NOT_OURS:
            ret[(plain(path[0]), *path[1:])] += row["time_ps"]
    return ret


def category(name):
    """Ours say what a custom call calls."""
    return name.split(" ")[0] if name.startswith("custom-call ") else name


def without_category(path):
    return (*path[:-2], path[-1])


def check_op_profile(name, path, tables, cache):
    ask(cache, "list", str(path))
    told, count = json.loads(tables.read_text()), 0
    for by, key in (("module", "program"), ("scope", "provenance")):
        wanted, found, left_out = leaves_of_profile(told[f"op_profile_by_{key}"]), collections.Counter(), 0
        if by == "scope":
            wanted = sum((collections.Counter({without_category(leaf): length}) for leaf, length in wanted.items()), collections.Counter())
        for leaf, length in leaves(flame(cache, path, by, "self")["root"]).items():
            leaf = (plain(leaf[0]), category(leaf[1]), *leaf[2:]) if by == "module" else (plain(leaf[0]), *leaf[1:])
            # XProf's profile knows instructions only: kernels and copies of no program are ours alone.
            if leaf[0] == "(no module)" or (by == "scope" and leaf[0] not in {one[0] for one in wanted}):
                left_out += length
            else:
                found[leaf] += length
        for leaf in sorted(set(found) | set(wanted)):
            if abs(found[leaf] - wanted[leaf]) > 1000 * max(1, 1e-9 * wanted[leaf]):  # its sums are of doubles
                manifest.failures.append(f"{name}: op profile by {key}: {';'.join(leaf)}: {found[leaf]}, XProf says {wanted[leaf]}")
        print(f"{name}: by {key} {len(wanted)} leaves; of no program, and not in XProf's: {left_out} ps")
        count += len(wanted)
    return count


def main():
    corpus = os.environ.get("JVIEW_CORPUS")
    if not corpus:
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return manifest.SKIPPED
    corpus, compared = pathlib.Path(corpus), 0
    with tempfile.TemporaryDirectory() as cache:
        for name in CAPTURES:
            directory = corpus.parent / "captures" / name
            if directory.is_dir():
                compared += sum(check_capture(directory, cache))
        for name, place in GOLDEN.items():
            tables = corpus.parent / "golden" / name / "tables.json"
            if tables.is_file():
                compared += check_op_profile(name, corpus / place, tables, cache)
    for failure in manifest.failures[:40]:
        print(failure)
    print(f"{compared} figures of flame graphs, {len(manifest.failures)} differences")
    return 1 if manifest.failures else 0


if __name__ == "__main__":
    sys.exit(main())
