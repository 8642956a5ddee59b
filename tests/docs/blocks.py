# SPDX-License-Identifier: Apache-2.0
"""Markdown as its reader uses it: the blocks one copies, the headings one is led to, the links one follows.

    ```            a shell block: lines to type
    ```console     a dialogue: "$ " before what is typed, then what comes back; "..." stands for any lines
    ```python      a program, or a part of one
    indented       a shell block too, where the page is listed in INDENTED
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHELL = ("", "sh", "bash")


class Block:
    def __init__(self, page, line, language, lines):
        self.page, self.line, self.language, self.lines = page, line, language, lines

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


class Command:
    """What is typed at once, and what the page shows of its output; None where it shows nothing."""

    def __init__(self, block, line, text):
        self.page, self.line, self.text, self.output = block.page, line, text, None

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def fenced(page):
    """Every fenced block of a page, in order."""
    ret, block, fence = [], None, None
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        opening = re.match(r"( *)```(\w*)$", line)
        if block is None and opening:
            fence, block = opening[1], Block(page, number + 1, opening[2], [])
        elif block is not None and line == fence + "```":
            ret.append(block)
            block = None
        elif block is not None:
            block.lines.append(line[len(fence):])
        elif opening is None and "```" in line:
            raise AssertionError(f"{page}:{number}: a fence stands on a line of its own, with one word at most")
    assert block is None, f"{page}:{block and block.line}: the block does not end"
    return ret


def indented(page):
    """Blocks by four spaces, outside of fences."""
    ret, inside, blank = [], False, True
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if line.strip().startswith("```"):
            inside = not inside
        if inside or not (line.startswith("    ") or (line == "" and ret and ret[-1].open)):
            if ret:
                ret[-1].open = False
        elif line == "" or not blank or line.startswith("    "):
            if blank and line and not (ret and ret[-1].open):
                ret.append(Block(page, number, "", []))
                ret[-1].open = True
            if ret and ret[-1].open:
                ret[-1].lines.append(line[4:])
        blank = line == ""
    return ret


def joined(lines, first):
    """(number, text): lines that end in a backslash, or open a here-document, go on."""
    end = None
    whole, start = [], first
    for number, line in enumerate(lines, first):
        if not whole:
            start = number
        whole.append(line)
        here = re.search(r"<<'?(\w+)'?", line)
        if end is None and here:
            end = here[1]
        elif end is not None and line == end:
            end = None
        if end is None and not line.endswith("\\"):
            yield start, "\n".join(whole)
            whole = []
    assert not whole, f"line {start} goes on beyond the block"


def commands(block):
    """What is typed in a block of the shell or a dialogue, in order."""
    ret = []
    if block.language == "console":
        for number, line in enumerate(block.lines, block.line):
            if line.startswith("$ "):
                ret.append(Command(block, number, line[2:]))
            else:
                assert ret, f"{block.page}:{number}: output before the first command"
                ret[-1].output = (ret[-1].output or []) + [line]
        for command in ret:
            command.output = command.output or []
    elif block.language in SHELL:
        for number, text in joined(block.lines, block.line):
            if text.startswith("$ "):
                text = text[2:]
            if text.strip() and not text.startswith("#"):
                ret.append(Command(block, number, text))
    return ret


def anchors(page):
    """What a link's fragment may name, as GitHub makes them of headings."""
    ret = set()
    for line in re.sub(r"(?ms)^```.*?^```", "", page.read_text()).splitlines():
        if line.startswith("#"):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            ret.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return ret


def prose(page):
    """A page without its blocks."""
    return re.sub(r"(?ms)^ *```.*?^ *```$", "", page.read_text())


def links(page):
    return re.findall(r"\]\(([^()\s]+)\)", prose(page))


def named_paths(page):
    """Paths of this repository that stand as code in running text."""
    return re.findall(r"`((?:api|collector|docker|docs|server|tests)/[\w./-]+)`", prose(page))
