/* SPDX-License-Identifier: Apache-2.0 */
/* What agents ask, in the Model Context Protocol: JSON-RPC 2.0 over lines or over POST /mcp.
 *
 *   {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"top","arguments":{"run":"latest"}}}
 *       mcp.c        the protocol: initialize, ping, tools/list, tools/call
 *       mcp_tools.c  the words and the schema of a tool, which its endpoint declares
 *       mcp_call.c   arguments -> endpoints -> their JSON, asked as the command line asks
 *       mcp_fit.c    cut down to max_tokens, and what was left out
 *       mcp_http.c   POST and DELETE /mcp, sessions
 *
 * A tool's numbers are the endpoints' own. Names in them come from files of strangers: every answer
 * says so before it begins, and no name ever stands in a tool's description.
 */
#ifndef JVIEWD_SERVE_MCP_MCP_H
#define JVIEWD_SERVE_MCP_MCP_H

#include "serve/serve.h"

/* Answers one message with one line; false: it was a notification, which has no answer. Each
 * question of a tool is answered on the pool of its route; without a server, on this thread. */
bool mcp_answer(const struct services *services, struct server *server, struct str message,
                struct arena *arena, struct text *out);
/* Is it one of the versions that are spoken here? */
bool mcp_speaks(struct str version);

#endif
