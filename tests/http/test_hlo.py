#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/api/hlo: list, text, tables, one instruction; joined with what the ops table says."""

import csv
import io
import pathlib

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


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Of a protobuf message: number and value, bytes where it is not a number."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def all_of(data, *path):
    """Every value below these numbers, one level each."""
    values = [data]
    for number in path:
        values = [value for one in values for found, value in fields(one) if found == number]
    return values


def ids(message, number):
    found = []
    for value in all_of(message, number):
        at = 0
        while isinstance(value, bytes) and at < len(value):
            one, at = varint(value, at)
            found.append(one)
        if not isinstance(value, bytes):
            found.append(value)
    return found


def modules_of_the_profile():
    """{name: {computation: {instruction: (opcode, operands, called computations)}}} of the HLO protos in the sample, by an own
    reader: XSpace 1 planes, 4 event metadata { 2 value { 5 stats { 6 bytes } } }; HloProto 1 module; its computations 3, of them
    instructions 2: name 1, opcode 2, id 35, operands 36, called 38."""
    (file,) = (pathlib.Path(__file__).resolve().parent.parent / "samples" / RUN).rglob("*.xplane.pb")
    modules = {}
    for blob in all_of(file.read_bytes(), 1, 4, 2, 5, 6):
        for module in all_of(blob, 1):
            computations = all_of(module, 3)
            named = {all_of(one, 5)[0]: all_of(one, 1)[0].decode() for one in computations}
            found = {}
            for computation in computations:
                instructions = all_of(computation, 2)
                names = {all_of(one, 35)[0]: all_of(one, 1)[0].decode() for one in instructions}
                found[all_of(computation, 1)[0].decode()] = {
                    all_of(one, 1)[0].decode(): (all_of(one, 2)[0].decode(), [names[i] for i in ids(one, 36)], [named[i] for i in ids(one, 38)])
                    for one in instructions}
            modules[all_of(module, 1)[0].decode()] = found
    return modules


def graph_of(server, module, **query):
    graph = hlo(server, module=module, view="graph", **query)["graph"]
    names = [node["name"] for node in graph["nodes"]]
    assert len(set(names)) == len(names)
    operands = {name: [] for name in names}
    for edge in graph["edges"]:
        assert edge["operand"] >= len(operands[names[edge["to"]]]), "by operand"
        operands[names[edge["to"]]].append(names[edge["from"]])
    return graph, operands


def the_graph_is_that_of_the_proto(server):
    module = module_of(server)
    proto = modules_of_the_profile()[module["name"]]
    assert sum(len(one) for one in proto.values()) == module["instruction_count"]
    times = {row["instruction"]: row["self_ps"] for row in pages(server, module=module["key"], limit=2000) if row["self_ps"] is not None}
    fusions = {}
    for name, instructions in proto.items():
        graph, operands = graph_of(server, module["key"], computation=name)
        assert {node["name"]: (node["opcode"], operands[node["name"]], node["calls"]) for node in graph["nodes"]} == instructions, name
        assert {node["self_ps"] for node in graph["nodes"] if node["name"] not in times} <= {None}
        known = [times[node["name"]] for node in graph["nodes"] if node["name"] in times]
        assert graph["node_self_ps"] == (sum(known) if known else None)
        fusions |= {one: called for one, (opcode, _, called) in instructions.items() if opcode == "fusion"}
    assert module["fusion_count"] == len(fusions)
    entry, _ = graph_of(server, module["key"])
    assert entry["computations"][0]["entry"] and entry["center"] is None
    fusion = next(node["name"] for node in entry["nodes"] if node["opcode"] == "fusion")
    inside, _ = graph_of(server, module["key"], inside=fusions[fusion][0])
    clusters = {one["name"]: one for one in inside["computations"]}
    assert inside["nodes"][clusters[fusions[fusion][0]]["caller"]]["name"] == fusion and clusters[fusions[fusion][0]]["fused"]
    assert len(inside["nodes"]) == len(entry["nodes"]) + len(proto[fusions[fusion][0]])


def hops_of_the_graph(server):
    """Who is around an instruction, by a walk over the proto: operands of operands, users of users."""
    module = module_of(server)
    instructions = next(one for one in modules_of_the_profile()[module["name"]].values() if len(one) > 100)
    users = {name: [user for user, (_, operands, _) in instructions.items() if name in operands] for name in instructions}
    for center in list(instructions)[10::25]:
        for hops in (1, 2, 3):
            around = {center}
            for step in (lambda name: instructions[name][1], lambda name: users[name]):
                edge = {center}
                for _ in range(hops):
                    edge = {next_ for name in edge for next_ in step(name)}
                    around |= edge
            graph, _ = graph_of(server, module["key"], instruction=center, hops=hops, limit=10000)
            assert {node["name"] for node in graph["nodes"]} == around and graph["nodes"][0]["name"] == graph["center"] == center, (center, hops)
            cut, _ = graph_of(server, module["key"], instruction=center, hops=hops, limit=2)
            assert len(cut["nodes"]) == min(2, len(around)) and (cut["left_out"] > 0) == (len(around) > 2), (center, hops)
    few = hlo(server, module=module["key"], view="graph", limit=3)["graph"]
    assert few["nodes"] == [] and few["left_out"] > 100, "a computation is there as a whole or not at all"
    for query, status in (({"instruction": "nothing"}, 404), ({"computation": "nothing"}, 404), ({"inside": "nothing"}, 404),
                          ({"hops": 9}, 400), ({"format": "csv"}, 400)):
        assert ask(server, "/api/hlo", run=RUN, module=module["key"], view="graph", **query).status == status, query


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
                 times_are_those_of_the_ops, one_instruction, the_graph_is_that_of_the_proto, hops_of_the_graph,
                 names_find_the_module, csv_has_the_same_rows])
