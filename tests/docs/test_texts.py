#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of texts, printed for review: every sentence of the sources, its numbers filled in. None escapes Markdown or tells history.

What is in the table, and how it is made: texts.py.
"""

import re
import sys

import texts

SIGNS = {
    r"\\[_*`]|\*\*": "no Markdown on a terminal",
    r"\bformerly\b|\bno longer supported\b|\bused to be\b": "what is so now",
}


def main():
    count, faults = 0, []
    for place, text in texts.texts():
        if not place.startswith(("server/", "collector/")):
            continue
        count += 1
        print(f"{place}\t{text}")
        faults += [f"{place}: {text!r}: {better}" for sign, better in SIGNS.items() if re.search(sign, text)]
    print("\n".join(faults + [f"{count} texts, {len(faults)} to be written again"]))
    sys.exit(1 if faults or count < 1500 else 0)


if __name__ == "__main__":
    main()
