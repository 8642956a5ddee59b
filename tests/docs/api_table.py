#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of endpoints in docs/api.md, made of api/openapi.yaml: `api_table.py --write` puts it there, without it the table is printed."""

import sys

import blocks

sys.path.insert(0, str(blocks.ROOT / "tests" / "http"))
import openapi  # noqa: E402

PAGE = blocks.ROOT / "docs/api.md"
BEGIN, END = "<!-- made by tests/docs/api_table.py --write -->\n", "<!-- to here -->\n"


def values(schema):
    """What may be given, in few words."""
    schema = openapi.resolve(schema)
    if "enum" in schema:
        told = " ".join(str(value) for value in schema["enum"])
        return told if "default" not in schema or len(schema["enum"]) == 1 else f"{told}; {schema['default']} unless given"
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = f"{low:,} to {high:,}" if low is not None and high is not None else f"from {low:,}" if low is not None else ""
    default = f"{schema['default']} unless given" if "default" in schema else ""
    return "; ".join(part for part in (bounds, default) if part)


def cell(text):
    return text.replace("|", "\\|")


def shared():
    """Parameters of many endpoints, told once."""
    return openapi.PAGE["components"]["parameters"]


def names(parameters):
    """The parameters of an endpoint: bold what must be given, in brackets what may be."""
    ret = []
    for parameter in parameters:
        about = openapi.resolve(parameter)
        if about["in"] == "query":
            told = "" if "$ref" in parameter else values(about["schema"])
            ret.append(f"`{about['name']}`" + ("!" if about.get("required") else "") + (f" ({told})" if told else ""))
    return ", ".join(ret) or "–"


def endpoint_rows():
    for path, methods in openapi.PAGE["paths"].items():
        for method, about in methods.items():
            yield f"| `{method.upper()} {path}` | {cell(about['summary'])} | {cell(names(about.get('parameters', [])))} |\n"


def parameter_rows():
    for about in shared().values():
        told = ". ".join(part.rstrip(".") for part in (about.get("description", ""), values(about["schema"])) if part)
        if about["in"] == "query":
            yield f"| `{about['name']}` | {cell(told) or '–'} |\n"


def table():
    return (BEGIN + "\n| endpoint | answers | parameters (`!`: must be given) |\n|---|---|---|\n" + "".join(endpoint_rows())
            + "\nParameters that many of them take:\n\n| parameter | |\n|---|---|\n" + "".join(parameter_rows()) + "\n" + END)


def parts():
    """The page before the table, the table as it stands there, the page behind it."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    now, end, behind = rest.partition(END)
    assert end, f"{PAGE} has no place for the table: {BEGIN}{END}"
    return before, BEGIN + now + END, behind


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        before, _, behind = parts()
        PAGE.write_text(before + table() + behind)
    else:
        print(table(), end="")
