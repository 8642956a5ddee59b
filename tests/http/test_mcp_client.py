#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Agents as people have them: the client of the Python package `mcp`, over lines and over HTTP, lists the tools, asks each
of them, and gets the endpoints' numbers. Skipped, and said so, where that package is not."""

import contextlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import packages  # noqa: E402

if __name__ == "__main__":
    packages.need("mcp")

import mcp  # noqa: E402
from anyio.from_thread import start_blocking_portal  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

import common  # noqa: E402
import harness  # noqa: E402
import test_mcp  # noqa: E402
from common import RUN  # noqa: E402


@contextlib.contextmanager
def client(streams):
    """call(NAME, ...) of a session over these streams; the client's own loop runs in a thread."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(streams) as both:
        with portal.wrap_async_context_manager(mcp.ClientSession(both[0], both[1])) as session:
            yield lambda name, *words: portal.call(getattr(session, name), *words)


def over_lines(server):
    return stdio_client(mcp.StdioServerParameters(
        command=harness.program(), args=["mcp", str(server.place.profiles), "--cache-dir", str(server.place.cache)]))


def over_http(server):
    return streamable_http_client(f"http://127.0.0.1:{server.port}/mcp")


def answer(call, tool, arguments):
    result = call("call_tool", tool, arguments)
    assert not result.is_error, (tool, result.content)
    heading, text = result.content[0].text.split("\n", 1)
    assert "untrusted" in heading, heading
    return text


def every_tool_is_called(server, streams, ask):
    with client(streams) as call:
        told = call("initialize")
        assert told.server_info.name == "jviewd", told
        tools = call("list_tools").tools
        assert [tool.name for tool in tools] == test_mcp.TOOLS, tools
        called = set()

        def data(tool, **arguments):
            called.add(tool)
            return json.loads(ask(call, tool, arguments))

        test_mcp.numbers_agree(server, data)
        assert called == set(test_mcp.TOOLS), called
        wrong = call("call_tool", "top", {"run": "step_100"})
        assert wrong.is_error and RUN in wrong.content[0].text, wrong


def over_lines_and_over_http_it_hears_the_same(server):
    heard = []

    def keep(call, tool, arguments):
        heard.append((tool, arguments, answer(call, tool, arguments)))
        return heard[-1][2]

    def compare(call, tool, arguments):
        again = (tool, arguments, answer(call, tool, arguments))
        assert again == heard.pop(0), again
        return again[2]

    every_tool_is_called(server, over_lines(server), keep)
    every_tool_is_called(server, over_http(server), compare)
    assert not heard


if __name__ == "__main__":
    common.main([over_lines_and_over_http_it_hears_the_same])
