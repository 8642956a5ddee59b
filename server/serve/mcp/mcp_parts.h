/* Inside mcp*.c. */
#ifndef JVIEWD_SERVE_MCP_MCP_PARTS_H
#define JVIEWD_SERVE_MCP_MCP_PARTS_H

#include <jansson.h>

#include "serve/mcp/mcp.h"
#include "serve/server.h"

enum { MCP_TOKENS_MIN = 200, MCP_TOKENS_DEFAULT = 3500, MCP_TOKENS_MAX = 32000 };

enum mcp_type { MCP_TEXT, MCP_INTEGER, MCP_WORD };

struct mcp_argument {
    const char *name; /* NULL ends a list */
    enum mcp_type type;
    bool required;
    const char *text;
    const char *words; /* of MCP_WORD: "a|b" */
};

struct mcp_part {       /* one question of a tool */
    const char *member; /* where its answer stands; NULL: it is the whole answer */
    const char *path, *fixed;
    const char *columns; /* of rows, by blanks; NULL: all */
};

enum { MCP_PARTS_MAX = 3 };

struct mcp_tool {
    const char *name, *title, *text;
    const struct mcp_argument *arguments;
    struct mcp_part parts[MCP_PARTS_MAX];
    int limit_max; /* of its argument "limit"; 0: what the endpoint takes */
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_tool_count;
/* {"name", "title", "description", "inputSchema", "annotations"}; the caller's. */
json_t *mcp_tool_json(const struct mcp_tool *tool);

struct mcp_asker { /* who asks the endpoints */
    const struct services *services;
    struct server *server; /* NULL: on its own thread */
};

/* The tool's answer as text; false: it is the sentence of a failure. ERR_INVALID: the arguments do
 * not fit the tool. */
MUST_CHECK enum status mcp_call(const struct mcp_asker *asker, const struct mcp_tool *tool,
                                const json_t *arguments, struct arena *arena, struct text *out,
                                bool *ret_good, struct error *err);
/* Shortens lists, then texts, until the value has at most so many bytes; says in
 * "truncated" which, and how to ask for the rest. */
void mcp_fit(json_t *value, size_t bytes_max, struct str cursor);

#endif
