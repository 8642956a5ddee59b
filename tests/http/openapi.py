# SPDX-License-Identifier: Apache-2.0
"""api/openapi.yaml as a judge of replies. Stricter than the page itself: what a reply holds and its
schema does not name is a fault too."""

import json
import pathlib

import yaml_subset

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = yaml_subset.read((ROOT / "api/openapi.yaml").read_text())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def resolve(node):
    while "$ref" in node:
        target = PAGE
        for part in node["$ref"][2:].split("/"):
            target = target[part]
        node = target
    return node


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, where="$"):
    """Every difference, as sentences."""
    schema = resolve(schema)
    if "oneOf" in schema:
        return min((faults(value, one, where) for one in schema["oneOf"]), key=len)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        return [f"{where} is {json.dumps(value)[:60]}, not {' or '.join(types)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} is {value!r}, none of {schema['enum']}")
    if is_type(value, "number"):
        if value < schema.get("minimum", value):
            found.append(f"{where} is {value}, below {schema['minimum']}")
        if value > schema.get("maximum", value):
            found.append(f"{where} is {value}, above {schema['maximum']}")
    if isinstance(value, list):
        for index, item in enumerate(value[:200]):
            found += faults(item, schema.get("items", {}), f"{where}[{index}]")
    if isinstance(value, dict) and "object" in types:
        found += [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
        others = schema.get("additionalProperties", False)
        for name, item in value.items():
            if name in schema.get("properties", {}):
                found += faults(item, schema["properties"][name], f"{where}.{name}")
            elif others is False and "properties" in schema:
                found.append(f"{where}.{name} is not in the page")
            elif isinstance(others, dict):
                found += faults(item, others, f"{where}.{name}")
    return found


def schema_of(path, status=200):
    replies = PAGE["paths"][path].get("get", PAGE["paths"][path].get("post"))["responses"]
    reply = resolve(replies.get(str(status), replies.get("default")))
    content = reply["content"]
    return content.get("application/json", content.get("application/problem+json"))["schema"]


def examples():
    """(path, file name) of every example."""
    for path, methods in PAGE["paths"].items():
        for method in methods.values():
            content = method["responses"].get("200", {}).get("content", {}).get("application/json", {})
            for example in content.get("examples", {}).values():
                yield path, ROOT / "api" / example["externalValue"]


def check(value, path, status=200):
    found = faults(value, schema_of(path, status))
    assert not found, f"{path}: " + "; ".join(found[:5])
