#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link between the pages leads somewhere, and every path of the repository that they name is there."""

import subprocess
import sys

import blocks


def pages():
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=blocks.ROOT,
                         check=True, capture_output=True, text=True).stdout
    return [blocks.ROOT / name for name in out.splitlines() if (blocks.ROOT / name).exists()]


def faults(page):
    for link in blocks.links(page):
        if link.split(":")[0] in ("http", "https", "mailto"):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif fragment and fragment not in blocks.anchors(target):
            yield f"{link}: there is no such heading; there are {', '.join(sorted(blocks.anchors(target)))}"
    for path in blocks.named_paths(page):
        if not (blocks.ROOT / path).exists():
            yield f"`{path}`: there is no such file"


def main():
    found = [f"{page.relative_to(blocks.ROOT)}: {fault}" for page in pages() for fault in faults(page)]
    print("\n".join(found) or f"{len(pages())} pages, {sum(len(blocks.links(page)) for page in pages())} links")
    sys.exit(1 if found else 0)


main()
