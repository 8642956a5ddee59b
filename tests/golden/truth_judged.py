#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/sentences.md says what the program says: each first sentence that was judged there is that of a profile of $JVIEW_CORPUS or
of what lies beside it, word for word; and each row says that it was accepted. Each form of a first sentence, figures and names aside, has a row. Directories
before a file's name are left out."""
import pathlib
import re
import sys

import profiles

PAGE = pathlib.Path(__file__).parents[2] / "docs/sentences.md"


def without_directories(text):
    return re.sub(r"\S+/(?=\w+\.prof\b)", "", text)


def parts(text):
    return [part.strip().rstrip(".") for part in re.split(r"(?<=[a-z)%])\. (?=[A-Z0-9])", without_directories(text))]


def rows():
    """(profile, sentence, verdict)"""
    table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert table[0][:2] == ["profile", "the sentence"], table[0]
    return [(cells[0], cells[1], cells[-1]) for cells in table[1:]]


def form(sentence):
    """"A step takes T (± T; N steps, N cut off by the end of the recording excluded)" """
    text = re.sub(r"(is a memory snapshot), .*", r"\1", sentence[0])
    text = re.sub(r"[<>]?\d[\d.,]*(?: (ps|ns|µs|ms|s|min|h)\b)?", lambda number: "T" if number[1] else "N", text)
    return re.sub(r"\b(step|warm-up)s\b", r"\1", text)


def said_by(place):
    with profiles.served(place) as server:
        for run in server.runs():
            status, page = server.get("api/overview", run=run["id"])
            if status == 200:
                yield parts(page["sentence"])


def main():
    places = profiles.roots(cases=True)
    if not places:
        print("skipped: JVIEW_CORPUS names no directory")
        sys.exit(profiles.SKIPPED)
    said = [sentence for place in places.values() for sentence in said_by(place)]
    judged, failures = rows(), []
    for profile, sentence, verdict in judged:
        wanted = parts(sentence)
        if verdict != "accepted":
            failures.append(f"{profile}: {verdict}")
        if not any(other[0] == wanted[0] and all(part in other for part in wanted) for other in said):
            failures.append(f"{profile}: nothing says: {sentence}; but: {[other for other in said if other[0] == wanted[0]][:2]}")
    forms = {form(parts(sentence)) for _, sentence, _ in judged}
    for sentence in said:
        if form(sentence) not in forms:
            failures.append(f"nobody judged the form of: {sentence[0]}")
    total = re.search(r"^(\d+) profiles, all accepted", PAGE.read_text(), re.MULTILINE)
    if total is None or int(total[1]) != len(judged):
        failures.append(f"the page counts {total and total[1]} profiles, and has {len(judged)}")
    print("\n".join(failures))
    print(f"{len(judged)} judged sentences beside {len(said)} that are said, {len(failures)} differ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
