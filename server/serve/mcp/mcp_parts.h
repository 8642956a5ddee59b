/* SPDX-License-Identifier: Apache-2.0 */
/* Inside mcp*.c. */
#ifndef JVIEWD_SERVE_MCP_MCP_PARTS_H
#define JVIEWD_SERVE_MCP_MCP_PARTS_H

#include <jansson.h>

#include "serve/answer/route_table.h"
#include "serve/mcp/mcp.h"
#include "serve/server.h"
#include "serve/tool.h"

enum { MCP_TOKENS_MIN = 200, MCP_TOKENS_DEFAULT = 3500, MCP_TOKENS_MAX = 32000 };

/* {"name", "title", "description", "inputSchema", "annotations"}; the caller's. */
json_t *mcp_tool_json(const struct route_table *routes, const struct tool *tool);

struct mcp_asker { /* who asks the endpoints */
    const struct services *services;
    struct server *server; /* NULL: on its own thread */
};

/* The tool's answer as text; false: it is the sentence of a failure. ERR_INVALID: the arguments do
 * not fit the tool. */
MUST_CHECK enum status mcp_call(const struct mcp_asker *asker, const struct offer *tool,
                                const json_t *arguments, struct arena *arena, struct text *out,
                                bool *ret_good, struct error *err);
/* Shortens lists, then texts, until the value has at most so many bytes; says in
 * "truncated" which, and how to ask for the rest. */
void mcp_fit(json_t *value, size_t bytes_max, struct str cursor);

#endif
