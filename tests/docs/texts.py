#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of texts: every sentence of the sources that somebody may read, a line each, its numbers filled in.

  texts.py [WORD...]      prints them: place, tab, text; of files whose path holds a WORD

A sentence is a literal, neighbours joined as the compiler does, of three words or more. Conversions become an example of
their kind: %s is NAME, a count 3, a share 54.1. What is a statement of SQL, a pattern or a program's flags is left out.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
C_FOLDERS = ("server", "collector")
WEB = "web/src"
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<char>\'(?:[^\'\\\n]|\\.)*\')|(?P<name>\bPRI[a-zA-Z0-9]+\b)|(?P<space>\s+)|(?P<other>[^\s"\'/]+|/)',
    re.S,
)
WEB_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`|>([^<>{}=;]*[a-z][^<>{}=;]*)(?=[<{])|\}([^<>{}=;()]*[a-z][^<>{}=;()]*)(?=<)', re.S)
CONVERSION = re.compile(r"%%|%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?([diouxXfgeEGscp])")
PATTERN = re.compile(r"\b(?:SELECT|INSERT|CREATE|DELETE|UPDATE|PRAGMA|WHERE|VALUES|FROM|JOIN)\b|^[-\w]+=|[{}<>|]{2}|\(\?|\\\\|^/")
WORDS = re.compile(r"[A-Za-z]{2,}")


def unescaped(text):
    return re.sub(r"\\(.)", lambda found: {"n": " ", "t": " "}.get(found[1], found[1]), text)


def filled(text):
    """An example of each conversion."""

    def example(found):
        kind = found[1]
        if kind is None:
            return "%"
        return "NAME" if kind in "sc" else "54.1" if kind in "fgeEG" else "1f" if kind in "xXp" else "3"

    return CONVERSION.sub(example, text)


def c_texts(path):
    """(line, text): literals, neighbours joined; a format macro between two is a number."""
    source, joined, begin = path.read_text(), None, 0
    for found in TOKEN.finditer(source):
        kind = found.lastgroup
        if kind == "text":
            if joined is None:
                joined, begin = "", source.count("\n", 0, found.start()) + 1
            joined += found["text"][1:-1]
        elif kind == "name" and joined is not None:
            joined += "d"
        elif joined is not None and kind not in ("space", None):
            yield begin, joined
            joined = None


def web_texts(path):
    source = path.read_text()
    for found in WEB_TEXT.finditer(source):
        text = next((group for group in found.groups() if group), None)
        if text:
            yield source.count("\n", 0, found.start()) + 1, re.sub(r"\s+", " ", re.sub(r"\$\{[^{}]*\}", "NAME", text)).strip()


def files(folder, *endings):
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings and "node_modules" not in path.parts]


def is_sentence(text, words=3):
    return len(WORDS.findall(text)) >= words and " " in text.strip() and not PATTERN.search(text)


def texts():
    """(place, text) of the whole product."""
    for folder in C_FOLDERS:
        for path in files(folder, ".c", ".h"):
            for line, text in c_texts(path):
                if is_sentence(text):
                    yield f"{path.relative_to(ROOT)}:{line}", filled(unescaped(text))
    for path in files(WEB, ".ts", ".tsx"):
        for line, text in web_texts(path):
            if is_sentence(text, 2):
                yield f"{path.relative_to(ROOT)}:{line}", unescaped(text)


def main():
    words = sys.argv[1:]
    for place, text in texts():
        if not words or any(word in place for word in words):
            print(f"{place}\t{text}")


if __name__ == "__main__":
    main()
