#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which rule fires on which profile: prints the table, or compares it with findings_expected.txt.

  findings_table.py            compares; 77 where $JVIEW_CORPUS names no profiles
  findings_table.py --write    writes the table anew, to be read before it is committed
  findings_table.py --say      prints the sentences as well

A line of the table is a profile and the rules that fire on it, each with its number of findings. The
last lines name the rules that no profile triggers: what they say was only seen in tests.
"""
import pathlib
import sys

import profiles

TABLE = pathlib.Path(__file__).with_name("findings_expected.txt")
HEAD = """# rule x profile: what fires where; a rule that is not named in a line does not fire there.
# Written by findings_table.py --write, checked by truth_findings.py.
"""


def fired(server, run, failures, say):
    status, reply = server.get("api/findings", run=run["id"], limit=1000)
    if status != 200:
        return {}  # a run without a timeline
    for note in reply["notes"]:
        if note["kind"] == "rule-failed":
            failures.append(f"{run['name']}: {note['message']}")
    ret = {}
    for row in reply["rows"]:
        ret[row["rule"]] = ret.get(row["rule"], 0) + 1 + row["more_count"]
        if say:
            print(f"    {row['rank']:3} {row['rule']} [{row['severity']} {row['confidence']}] win {row['win_ps']} {row['win_share']}\n        {row['text']}\n        -> {row['remedy']}")
            for proof in row["evidence"]:
                print("          ", {key: value for key, value in proof.items() if value is not None and key != "run"})
    return ret


def documented_rules(source):
    """{rule that docs/findings.md lists: its last column says that a real profile triggers it}"""
    lines = source.read_text().splitlines()
    return {line.split("`")[1]: not line.rstrip(" |").rpartition(" | ")[2].startswith("never") for line in lines if line.startswith("| `")}


def table(say=False):
    """(lines, failures)"""
    lines, failures, seen = [], [], set()
    for name, root in profiles.roots().items():
        with profiles.served(root) as server:
            for run in server.runs():
                if say:
                    print(f"{name}/{run['name']}")
                rules = fired(server, run, failures, say)
                seen |= set(rules)
                if rules:
                    words = " ".join(rule if count == 1 else f"{rule}({count})" for rule, count in sorted(rules.items()))
                    lines.append(f"{name}/{run['name']}: {words}")
                else:
                    lines.append(f"{name}/{run['name']}: -")
    known = documented_rules(pathlib.Path(__file__).parents[2] / "docs/findings.md")
    failures += [f"docs/findings.md has no row for {rule}" for rule in sorted(seen - set(known))]
    failures += [f"docs/findings.md: {rule} was {'' if rule in seen else 'never '}seen" for rule, says in sorted(known.items()) if says != (rule in seen)]
    lines += [f"never: {rule}" for rule in sorted(set(known) - seen)]
    return lines, failures


def compare(lines):
    wanted = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    gone, new = [line for line in wanted if line not in lines], [line for line in lines if line not in wanted]
    return [f"- {line}" for line in gone] + [f"+ {line}" for line in new]


def main():
    if not profiles.roots():
        print("skipped: JVIEW_CORPUS names no directory of profiles")
        return profiles.SKIPPED
    lines, failures = table("--say" in sys.argv)
    if "--write" in sys.argv:
        TABLE.write_text(HEAD + "\n".join(lines) + "\n")
        print(f"{TABLE.name}: {len(lines)} lines")
    elif "--say" not in sys.argv:
        failures += compare(lines)
    for failure in failures:
        print(failure)
    print(f"{len(lines)} lines, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
