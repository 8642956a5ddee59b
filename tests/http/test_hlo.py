#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/api/hlo: list, text, tables, one instruction; joined with what the ops table says."""

import csv
import io

import common
import openapi
from common import RUN, ask, good


def hlo(server, **query):
    reply = good(server, "/api/hlo", run=RUN, **query).json
    openapi.check(reply, "/api/hlo")
    return reply


def module_of(server):
    return hlo(server)["modules"][0]


def pages(server, **query):
    rows, cursor = [], None
    while True:
        page = hlo(server, **query, **({"cursor": cursor} if cursor else {}))
        rows += page["rows"]
        cursor = page["next"]
        if cursor is None:
            assert len(rows) == page["row_count"], (query, len(rows), page["row_count"])
            return rows


def the_list_agrees_with_the_run(server):
    programs = good(server, "/api/run", run=RUN).json["programs"]
    modules = hlo(server)["modules"]
    assert {(module["name"], module["program_id"], module["fingerprint"], module["instruction_count"]) for module in modules} == \
        {(program["name"], program["id"], program["fingerprint"], program["instruction_count"]) for program in programs}


def every_instruction_has_a_line(server):
    module = module_of(server)
    lines = pages(server, module=module["key"], limit=500)
    assert [row["line"] for row in lines] == list(range(1, len(lines) + 1))
    named = [row["instruction"] for row in lines if row["instruction"] is not None]
    assert len(named) == len(set(named)) == module["instruction_count"]
    assert lines[0]["text"].startswith("HloModule " + module["name"])
    whole = good(server, "/api/hlo", run=RUN, module=module["key"], format="txt").text
    assert whole == "".join(row["text"] + "\n" for row in lines)


def tables_agree_with_one_another(server):
    module = module_of(server)["key"]
    computations = pages(server, module=module, view="computations", limit=30)
    instructions = pages(server, module=module, view="instructions", limit=300)
    assert sum(row["instruction_count"] for row in computations) == len(instructions)
    assert [row["entry"] for row in computations].count(True) == 1
    of_one = pages(server, module=module, computation=computations[0]["name"])
    assert len(of_one) == computations[0]["instruction_count"]
    dots = pages(server, module=module, q="dot", limit=7)
    assert {row["name"] for row in dots} == {
        row["name"] for row in instructions
        if any("dot" in (row[part] or "").lower() for part in ("name", "opcode", "scope", "source"))}
    assert pages(server, module=module, view="buffers", limit=9)


def times_are_those_of_the_ops(server):
    module = module_of(server)
    lines = {row["instruction"]: row for row in pages(server, module=module["key"], limit=2000)}
    ops = good(server, "/api/top", run=RUN, by="op", module=module["name"], limit=10000).json["rows"]
    assert ops
    for op in ops:
        line = lines[op["name"]]
        assert (line["self_ps"], line["execution_count"]) == (op["self_ps"], op["count"]), (op, line)
    assert sum(op["self_ps"] for op in ops) == module["self_ps"]
    entry = next(row for row in pages(server, module=module["key"], view="computations", limit=1000) if row["entry"])
    assert entry["self_ps"] > 0


def one_instruction(server):
    module = module_of(server)["key"]
    fusion = next(row for row in pages(server, module=module, q="fusion", limit=2000) if row["opcode"] == "fusion")
    known = hlo(server, module=module, instruction=fusion["name"])["instruction"]
    assert known["computation"] == fusion["computation"] and known["line"] == fusion["line"]
    assert [called["name"] for called in known["called"]]
    text = hlo(server, module=module, line=known["line"], limit=1)["rows"][0]["text"]
    assert known["text"] in text and f"calls=%{known['called'][0]['name']}" in text
    operand = next(one for one in known["neighbours"] if one["distance"] == -1)
    back = hlo(server, module=module, instruction=operand["name"])["instruction"]
    assert any(one["name"] == fusion["name"] and one["distance"] == 1 for one in back["neighbours"])
    assert all(operand["name"] in one["operands"] for one in back["neighbours"] if one["distance"] == 1)
    inside = hlo(server, module=module, computation=known["called"][0]["name"])["rows"][0]["name"]
    callers = hlo(server, module=module, instruction=inside)["instruction"]["callers"]
    assert fusion["name"] in [caller["name"] for caller in callers]


def names_find_the_module(server):
    module = module_of(server)
    for word in (module["key"], module["name"], module["fingerprint"]):
        assert hlo(server, module=word, limit=1)["module"]["key"] == module["key"]
    for query, status in (({"module": "nothing"}, 404), ({"module": module["key"], "instruction": "nothing"}, 404),
                          ({"module": module["key"], "computation": "nothing"}, 404), ({"document": "nothing"}, 404),
                          ({"format": "txt"}, 400), ({"module": module["key"], "line": 0}, 400)):
        reply = ask(server, "/api/hlo", run=RUN, **query)
        assert reply.status == status, (query, reply.status, reply.body)
        openapi.check(reply.json, "/api/hlo", status)


def csv_has_the_same_rows(server):
    module = module_of(server)["key"]
    for query in ({}, {"module": module, "limit": 40}, {"module": module, "view": "buffers"}):
        rows = hlo(server, **query)
        rows = rows.get("rows", rows.get("modules"))
        table = list(csv.DictReader(io.StringIO(good(server, "/api/hlo", run=RUN, format="csv", **query).text)))
        assert len(table) == len(rows)
        for column in table[0]:
            for row, line in zip(rows, table):
                want = "" if row[column] is None else {True: "true", False: "false"}.get(row[column], str(row[column])) \
                    if isinstance(row[column], bool) else str(row[column])
                assert line[column] in (want, "'" + want), (column, line[column], want)


if __name__ == "__main__":
    common.main([the_list_agrees_with_the_run, every_instruction_has_a_line, tables_agree_with_one_another,
                 times_are_those_of_the_ops, one_instruction, names_find_the_module, csv_has_the_same_rows])
