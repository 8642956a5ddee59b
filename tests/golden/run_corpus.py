#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_corpus: holds the XSpace decoder against every readable profile there is.

  run_corpus.py TRACE_DUMP [DIR...]

Without DIR: the directory in $JVIEW_CORPUS, and the directory `captures` beside it; skipped with a
notice, and exit code 77, when the variable is not set.  Every *.xplane.pb, packed or not, is
compared by oracle.py, and where a facts.json (what JAX's own reader sees) stands above it, with
that as well.
"""

import json
import os
import pathlib
import sys

import oracle

PACKED = (".xplane.pb", ".xplane.pb.xz", ".xplane.pb.gz", ".xplane.pb.zst")


def facts_of(path):
    """What the nearest facts.json above says of a profile, or None."""
    for parent in path.parents:
        if (parent / "facts.json").is_file():
            told = json.loads((parent / "facts.json").read_text())["xplanes"]
            name = path.relative_to(parent).as_posix()
            return told.get(name) or told.get(name.removesuffix(".xz"))
    return None


def shown(name):
    """Names in facts.json are UTF-8, ours characters of the bytes' numbers."""
    return name.encode("latin-1").decode("utf-8", "replace")


def against_facts(report, facts):
    """(values compared, differences)"""
    found, wrong, values = {}, [], 1
    for track in report["tracks"]:
        for name, count, total, _ in track["names"]:
            sums = found.setdefault(shown(name), [0, 0])
            sums[0] += count
            sums[1] += total
    if report["slices"] != facts["events"]:
        wrong.append("facts.json: %d events, not %d" % (facts["events"], report["slices"]))
    for row in facts["top"]:
        values += 2
        if found.get(row["name"]) != [row["count"], row["total_ps"]]:
            wrong.append("facts.json: %r %s, not %s" % (
                row["name"], [row["count"], row["total_ps"]], found.get(row["name"])))
    programs = {int(ident): tuple(numbers) for _, ident, *numbers in report["programs"]}
    for proto in facts["hlo_protos"]:
        values += 3
        want = (proto["instructions"], proto["bytes"], proto["with_op_name"])
        if programs.get(int(proto["program_id"])) != want:
            wrong.append("facts.json: program %s %s, not %s" % (
                proto["program_id"], want, programs.get(int(proto["program_id"]))))
    return values, wrong


def profiles_in(directories):
    for directory in directories:
        for path in sorted(pathlib.Path(directory).rglob("*")):
            if path.name.endswith(PACKED) and path.is_file():
                yield path


def check(tool, path):
    values, wrong, report = oracle.compare(tool, str(path))
    facts = facts_of(path)
    if facts is not None:
        more, worse = against_facts(report, facts)
        values, wrong = values + more, wrong + worse
    return report["slices"], values, wrong


def main(argv):
    if not argv:
        print(__doc__, file=sys.stderr)
        return 2
    directories = argv[1:]
    if not directories:
        corpus = os.environ.get("JVIEW_CORPUS")
        if not corpus:
            print("JVIEW_CORPUS is not set: the corpus is not checked")
            return 77
        directories = [corpus, pathlib.Path(corpus).parent / "captures"]
    files = slices = compared = bad = unread = 0
    for path in profiles_in(directories):
        files += 1
        try:
            count, values, wrong = check(argv[0], path)
        except (oracle.Unread, oracle.xplane_reader.Malformed) as error:
            unread += 1
            print("%s: not read: %s" % (path, error))
            continue
        slices, compared, bad = slices + count, compared + values, bad + bool(wrong)
        for line in wrong[:5]:
            print("%s: %s" % (path, line))
    print("%d profiles, %d slices, %d values compared; %d differ, %d not read" % (
        files, slices, compared, bad, unread))
    return 1 if bad or files == unread else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
