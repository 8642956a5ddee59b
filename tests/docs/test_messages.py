#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/troubleshooting.md quotes, this program says: each text in double quotes stands in the sources, "..." for what varies.

What others say (JAX, TensorBoard, ssh, CUPTI) stands in italics or as code, never in double quotes; the few headings that quote them are
listed in OTHERS. Kinds of notes and names of rules that stand as code in the tables are looked for as well, and so is what stands as
code in the first column of OURS, sections whose messages are all our own. The changelog names the version of the index.
"""

import re
import sys

import blocks

PAGE = "docs/troubleshooting.md"
SOURCES = ("server", "collector", "api/python", "web/src")
OTHERS = {"No trace data collected", "empty profile", "empty trace", "too large", "Permission denied", "address in use"}
OURS = ("`jviewd capture`", "The cache and the notes")
LITERALS = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def said():
    """Every literal of the sources, neighbours joined as the compiler does, placeholders as "...", in one text."""
    whole = []
    for folder in SOURCES:
        for path in sorted((blocks.ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".py", ".ts", ".tsx") and "node_modules" not in path.parts:
                text = re.sub(r'"\s*(PRI\w+)\s*"', "", path.read_text())
                text = re.sub(r'(?<!\\)"\s*\n?\s*"', "", text)
                whole += LITERALS.findall(text)
                whole += re.findall(r"'((?:[^'\\\n]|\\.)*)'", text) if path.suffix in (".ts", ".tsx") else []
    joined = "\n".join(whole).replace('\\"', '"').replace("\\n", " ")
    return re.sub(r"%[-.*0-9]*(?:ll|z|l)?[a-zA-Z]", "...", joined)


def quoted(page):
    """(line, text) of each pair of double quotes in running text, without what stands as code."""
    inside = False
    for number, line in enumerate((blocks.ROOT / page).read_text().splitlines(), 1):
        inside ^= line.startswith("```")
        if inside or line.startswith("```"):
            continue
        for text in re.findall(r'"([^"]+)"', re.sub(r"`[^`]*`", "", line)):
            yield number, text


def kinds(page):
    """Kinds of notes: code in the first column of the table of notes."""
    table = (blocks.ROOT / page).read_text().split("## Notes beside the numbers", 1)[1].split("\n## ", 1)[0]
    for line in table.splitlines():
        if line.startswith("| `"):
            yield from re.findall(r"`([\w-]+)`", line.split("|")[1])


def said_as_code(page):
    """What stands as code in the first column of the sections of OURS."""
    for section in OURS:
        for line in (blocks.ROOT / page).read_text().split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0].splitlines():
            if line.startswith("| "):
                yield from re.findall(r"`([^`]+)`", line.split("|")[1])


def index_version():
    headers = "\n".join(path.read_text() for path in sorted((blocks.ROOT / "server").rglob("*.h")))
    return ".".join(re.search(rf"\b{name}_VERSION = (\d+)", headers)[1] for name in ("SEGMENT", "KIND_RULES", "ATTRIBUTION"))


def main():
    text, faults, count = said(), [], 0
    for line, quote in quoted(PAGE):
        count += 1
        parts = [part.strip(" ,.;:") for part in quote.split("...")]
        if quote not in OTHERS and any(part not in text for part in parts if len(part) > 3):
            faults.append(f'{PAGE}:{line}: "{quote}": nothing says so')
    for kind in kinds(PAGE):
        count += 1
        if not re.search(rf"^{kind}$", text, re.M):
            faults.append(f"{PAGE}: `{kind}`: no note is of that kind")
    for quote in said_as_code(PAGE):
        count += 1
        if any(part.strip() not in text for part in re.split(r"\.\.\.|HOST:PORT", quote)):
            faults.append(f"{PAGE}: `{quote}`: nothing says so")
    if f"index {index_version()}," not in (blocks.ROOT / "docs/CHANGELOG.md").read_text():
        faults.append(f"docs/CHANGELOG.md: the index is of version {index_version()}")
    print("\n".join(faults) or f"{count} messages")
    sys.exit(1 if faults else 0)


main()
