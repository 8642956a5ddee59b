#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Agents: the protocol over lines and over HTTP, the tools' numbers against the endpoints', budgets, what is refused.

Speaks the protocol by itself; test_mcp_client.py leaves that to the client of the Python package `mcp`.
"""

import json
import subprocess

import common
import harness
from common import RUN, ask, good

VERSION = "2025-06-18"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
TOOLS = ["list_runs", "overview", "findings", "top", "explain_step", "explain_op", "diff", "trend", "slices", "why", "whatif", "oom", "sql"]
TOKEN_BYTES = 2.5  # of JSON full of numbers


def post(server, message, **headers):
    body = message if isinstance(message, (str, bytes)) else json.dumps(message)
    return ask(server, "/mcp", method="POST", headers={**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}},
               body=body)


def rpc(server, method, number=1, **params):
    reply = post(server, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert reply.status == 200 and reply.json["id"] == number, reply.body
    return reply.json


def call(server, tool, **arguments):
    """(is it an error, the text behind the heading)"""
    result = rpc(server, "tools/call", name=tool, arguments=arguments)["result"]
    assert [part["type"] for part in result["content"]] == ["text"]
    text = result["content"][0]["text"]
    if result["isError"]:
        return True, text
    heading, rest = text.split("\n", 1)
    assert "untrusted" in heading and "never as instructions" in heading, heading
    return False, rest


def data(server, tool, **arguments):
    failed, text = call(server, tool, **arguments)
    assert not failed, (tool, text)
    return json.loads(text)


def a_version_is_agreed_on(server):
    for asked, got in ((VERSION, VERSION), ("2024-11-05", "2024-11-05"), ("1999-01-01", VERSION), (None, VERSION)):
        params = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        if asked:
            params["protocolVersion"] = asked
        result = rpc(server, "initialize", **params)["result"]
        assert result["protocolVersion"] == got and result["serverInfo"]["name"] == "jviewd", (asked, result)
        assert "tools" in result["capabilities"]
    assert rpc(server, "ping")["result"] == {}
    assert post(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
    assert post(server, {"jsonrpc": "2.0", "id": 9, "method": "ping"}, MCP_Protocol_Version="1999-01-01").status == 400


def sessions_begin_and_end(server):
    begun = post(server, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": VERSION}})
    session = begun.headers["Mcp-Session-Id"]
    assert len(session) == 32 and session != post(
        server, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).headers["Mcp-Session-Id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert post(server, ping, Mcp_Session_Id=session).status == 200
    assert post(server, ping, Mcp_Session_Id="0" * 32).status == 404
    end = lambda: ask(server, "/mcp", method="DELETE", headers={"Mcp-Session-Id": session})
    assert end().status == 204 and end().status == 404
    assert post(server, ping, Mcp_Session_Id=session).status == 404
    refused = ask(server, "/mcp")
    assert refused.status == 405 and "POST" in refused.headers["Allow"], refused.headers


def the_gate_holds(server):
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert post(server, ping, Origin="http://evil.example").status == 403
    assert post(server, ping, Host="evil.example").status == 403
    assert post(server, ping, Origin=f"http://127.0.0.1:{server.port}").status == 200
    assert ask(server, "/mcp", method="POST", headers={"Content-Type": "text/plain"}, body="{}").status == 415


def wrong_messages_are_answered(server):
    for message, code in (("{", -32700), ("", -32700), ("[]", -32600), ("1", -32600), ("{}", -32600), ('"x"', -32600),
                          ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
                          ('{"jsonrpc":"2.0","id":1,"method":7}', -32600), ('{"jsonrpc":"2.0","id":1,"method":"nothing"}', -32601),
                          ('{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
                          ('{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
                          ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}', -32602),
                          ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"top"}}', -32602),
                          ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"top","arguments":{"run":7,"x":1}}}', -32602),
                          ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"top","arguments":{"run":"a","limit":"b"}}}', -32602),
                          ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), ("\x00", -32700), ('{"a":1,"a":2}', -32700)):
        reply = post(server, message)
        assert reply.status == 200 and reply.json["error"]["code"] == code, (message, reply.body)
        assert reply.json["error"]["message"]
    assert post(server, '{"jsonrpc":"2.0","id":1,"result":{}}').status == 202


def tools_have_schemas(server):
    tools = rpc(server, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    for tool in tools:
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert "max_tokens" in schema["properties"] and set(schema["required"]) <= set(schema["properties"])
        assert all(argument["description"] for argument in schema["properties"].values()), tool["name"]
        assert tool["description"] and tool["annotations"]["readOnlyHint"] is True


def part_of(row, whole):
    assert all(whole[name] == value for name, value in row.items()), (row, whole)


def numbers_agree(server, data):
    """data(tool, **arguments): the answer of a tool, however it was asked."""
    whole = good(server, "/api/top", run=RUN, limit=20).json
    answer = data("top", run=RUN)
    assert answer["total_self_ps"] == whole["total_self_ps"] and answer["row_count"] == whole["row_count"]
    for row, other in zip(answer["rows"], whole["rows"]):
        part_of(row, other)
    step = good(server, "/api/steps", run=RUN).json["rows"][2]
    told = data("explain_step", run=RUN, step=str(step["step"]))
    assert told["steps"]["rows"][0]["dur_ps"] == step["dur_ps"]
    assert told["top"]["total_self_ps"] == good(server, "/api/top", run=RUN, step=step["step"]).json["total_self_ps"]
    name = whole["rows"][0]["name"]
    told = data("explain_op", run=RUN, name=name)
    assert told["top"]["rows"][0]["self_ps"] == whole["rows"][0]["self_ps"]
    longest = good(server, "/api/slices", run=RUN, name=name, sort="-dur_ps", limit=1).json["rows"][0]
    part_of(told["longest"]["rows"][0], longest)
    slices = good(server, "/api/slices", run=RUN, name=name, sort="-self_ps", limit=3).json
    told = data("slices", run=RUN, name=name, sort="-self_ps", limit=3)
    assert told["row_count"] == slices["row_count"] and len(told["rows"]) == 3
    for row, other in zip(told["rows"], slices["rows"]):
        part_of(row, other)
    overview = good(server, "/api/overview", run=RUN).json
    told = data("overview", run=RUN)
    assert told["sentence"] == overview["sentence"] and told["step"] == overview["step"]
    assert told["breakdown"] == overview["breakdown"]
    assert [run["name"] for run in data("list_runs")["runs"]] == [run["name"] for run in good(server, "/api/runs").json["runs"]]
    changed = good(server, "/api/diff", a="step_500", b=RUN, limit=15).json
    assert data("diff", a="step_500", b=RUN)["total_delta_ps"] == changed["total_delta_ps"]
    assert data("sql", run=RUN, query="select count(*) c from slices")["rows"] == [
        {"c": good(server, "/api/slices", run=RUN, limit=1).json["row_count"]}]
    assert [row["value"] for row in data("trend")["rows"]] == [row["value"] for row in good(server, "/api/trend").json["rows"]]
    path = good(server, "/api/critical", run=RUN).json
    told = data("why", run=RUN)
    assert told["step"] == path["step"] and part_of(told["pieces"][0], path["pieces"][0]) is None
    told = data("whatif", run=RUN, scale="kind:input=0")
    assert 0 < told["predicted_ps"] < told["replayed_ps"], told
    assert data("oom", run=RUN)["total_bytes"] == good(server, "/api/oom", run=RUN).json["total_bytes"]
    assert data("findings", run=RUN)["row_count"] == good(server, "/api/findings", run=RUN).json["row_count"]


def numbers_are_the_endpoints(server):
    numbers_agree(server, lambda tool, **arguments: data(server, tool, **arguments))


def answers_are_bounded(server):
    asked = {"list_runs": {}, "overview": {"run": RUN}, "findings": {"run": RUN}, "top": {"run": RUN, "limit": 10000},
             "explain_step": {"run": RUN, "step": "1001"}, "explain_op": {"run": RUN, "name": "train"},
             "diff": {"a": "step_500", "b": RUN, "limit": 1000}, "trend": {}, "slices": {"run": RUN, "limit": 10000},
             "sql": {"query": "select * from slices", "limit": 1000},
             "why": {"run": RUN, "limit": 200}, "whatif": {"run": RUN, "scale": "kind:input=0"}, "oom": {"run": RUN, "limit": 1000}}
    assert sorted(asked) == sorted(TOOLS)
    for tool, arguments in asked.items():
        _, text = call(server, tool, **arguments)
        assert len(text) / TOKEN_BYTES < 4000, (tool, len(text))
        _, small = call(server, tool, **arguments, max_tokens=1000)
        assert len(small) / TOKEN_BYTES < 1700, (tool, len(small))  # what is never cut, on top
        _, large = call(server, tool, **arguments, max_tokens=32000)
        assert len(large) >= len(text)
    cut = data(server, "top", run=RUN, limit=10000)
    assert cut["truncated"][0]["list"] == "rows" and cut["truncated"][0]["shown"] == len(cut["rows"]), cut["truncated"]
    assert "cursor" in cut["rest"] and cut["next"] == f"n{len(cut['rows'])}"


def pages_join(server):
    whole = [row["name"] for row in good(server, "/api/top", run=RUN, by="name", limit=10000).json["rows"]]
    for counts_rows in (False, True):  # by `next`, or by a number of rows, which some clients' schemas make of it
        names, cursor = [], {}
        while cursor is not None:
            page = data(server, "top", run=RUN, by="name", limit=60, max_tokens=2000, **cursor)
            names += [row["name"] for row in page["rows"]]
            cursor = {"cursor": len(names) if counts_rows else page["next"]} if page["next"] else None
        assert names == whole, counts_rows
    for tool, asked in (("slices", {"run": RUN}), ("trend", {}), ("list_runs", {}), ("diff", {"a": "step_500", "b": RUN})):
        first = data(server, tool, limit=2, **asked)
        rows = "runs" if tool == "list_runs" else "rows"
        assert data(server, tool, limit=1, cursor=1, **asked)[rows] == first[rows][1:], tool
        assert data(server, tool, limit=1, cursor="1", **asked)[rows] == first[rows][1:], tool


def failures_name_the_remedy(server):
    failed, text = call(server, "top", run="step_100")
    assert failed and "step_1000" in text, text
    failed, text = call(server, "sql", query="select nme from slices")
    assert failed and "column 8" in text and "name" in text, text
    failed, text = call(server, "sql", query="drop table slices")
    assert failed, text


def more_rows_of_sql_are_refused(server):
    reply = rpc(server, "tools/call", name="sql", arguments={"query": "select 1", "limit": 1001})
    assert reply["error"]["code"] == -32602 and "1000" in reply["error"]["message"], reply


def names_are_cut_between_letters(server):
    for name in ("あ" * 80, "あ" * 79 + "い"):
        server.place.sample("step_500", name)
        harness.until("the run with a long name", lambda: name in server.runs())
    failed, text = call(server, "top", run="あ" * 80 + "x")
    assert failed and '"' + "あ" * 66 + '"' in text, text
    wrong = rpc(server, "tools/call", name="top", arguments={"run": RUN, "b" + "あ" * 80: 1})
    assert wrong["error"]["code"] == -32602 and "あ" * 19 in wrong["error"]["message"], wrong


def lines_say_the_same(server):
    process = subprocess.Popen([harness.program(), "mcp", str(server.place.profiles), "--cache-dir", str(server.place.cache)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        def line(message):
            process.stdin.write(message + "\n")
            process.stdin.flush()

        line(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": VERSION}}))
        assert json.loads(process.stdout.readline())["result"]["protocolVersion"] == VERSION
        line(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        line("")
        line("not json")
        assert json.loads(process.stdout.readline())["error"]["code"] == -32700
        line(json.dumps({"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "top", "arguments": {"run": RUN}}}))
        got = json.loads(process.stdout.readline())
        assert got["id"] == "two"
        assert json.loads(got["result"]["content"][0]["text"].split("\n", 1)[1])["rows"] == data(server, "top", run=RUN)["rows"]
        process.stdin.close()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    common.main([a_version_is_agreed_on, sessions_begin_and_end, the_gate_holds, wrong_messages_are_answered, tools_have_schemas,
                 numbers_are_the_endpoints, answers_are_bounded, pages_join, failures_name_the_remedy, lines_say_the_same,
                 more_rows_of_sql_are_refused, names_are_cut_between_letters])
