# SPDX-License-Identifier: Apache-2.0
"""The YAML that api/openapi.yaml is written in: block maps and lists by indentation, flow maps and
lists on one line, plain and quoted scalars, folded text (>-), comments on lines of their own."""


class Flow:
    """One value in flow style: {a: 1, b: [x, 'y']}."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def spaces(self):
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def peek(self):
        self.spaces()
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self, wanted):
        if self.peek() != wanted:
            raise ValueError(f"expected {wanted} at {self.at} of {self.text}")
        self.at += 1

    def quoted(self, quote):
        end = self.text.index(quote, self.at + 1)
        value = self.text[self.at + 1:end]
        self.at = end + 1
        return value

    def plain(self, stops):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in stops:
            if self.text.startswith(": ", self.at):
                break
            self.at += 1
        return self.text[start:self.at].strip()

    def key(self):
        first = self.peek()
        return self.quoted(first) if first in "'\"" else self.plain(",}]:")

    def value(self):
        first = self.peek()
        if first == "{":
            return self.map()
        if first == "[":
            return self.list()
        if first and first in "'\"":
            return self.quoted(first)
        return scalar(self.plain(",}]"))

    def map(self):
        ret = {}
        self.take("{")
        while self.peek() != "}":
            key = self.key()
            self.take(":")
            ret[key] = self.value()
            if self.peek() == ",":
                self.at += 1
        self.take("}")
        return ret

    def list(self):
        ret = []
        self.take("[")
        while self.peek() != "]":
            ret.append(self.value())
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != "]":
                raise ValueError(f"expected , or ] at {self.at} of {self.text}")
        self.take("]")
        return ret


def scalar(text):
    words = {"true": True, "false": False, "null": None, "": None}
    if text in words:
        return words[text]
    try:
        return int(text)
    except ValueError:
        return text


def inline(text):
    if text[0] in "{['\"":
        flow = Flow(text)
        value = flow.value()
        if flow.peek():
            raise ValueError(f"more than one value: {text}")
        return value
    return scalar(text)


class Block:
    def __init__(self, text):
        self.lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines()
                      if line.strip() and not line.lstrip().startswith("#")]
        self.at = 0

    def folded(self, indent):
        words = []
        while self.at < len(self.lines) and self.lines[self.at][0] > indent:
            words.append(self.lines[self.at][1])
            self.at += 1
        return " ".join(words)

    def list(self, indent):
        ret = []
        while self.at < len(self.lines) and self.lines[self.at][0] == indent and self.lines[self.at][1].startswith("- "):
            text = self.lines[self.at][1][2:]
            self.at += 1
            key, _, rest = text.partition(": ")
            ret.append({key: inline(rest)} if text[0] not in "{[" and rest else inline(text))
        return ret

    def value(self, indent):
        if self.lines[self.at][1].startswith("- "):
            return self.list(indent)
        ret = {}
        while self.at < len(self.lines) and self.lines[self.at][0] == indent:
            text = self.lines[self.at][1]
            self.at += 1
            if text.startswith("'"):
                key, rest = text[1:].split("'", 1)
                rest = rest[1:].strip()
            else:
                key, _, rest = text.partition(": ") if ": " in text else (text[:-1], "", "")
            if rest == ">-":
                ret[key] = self.folded(indent)
            elif rest:
                ret[key] = inline(rest)
            elif self.at < len(self.lines) and self.lines[self.at][0] > indent:
                ret[key] = self.value(self.lines[self.at][0])
            else:
                ret[key] = None
        return ret


def read(text):
    return Block(text).value(0)
