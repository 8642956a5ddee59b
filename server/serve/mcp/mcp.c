/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0 and the Model Context Protocol: initialize, ping, tools/list, tools/call. Facts:
 * the MCP specification. */
#include "serve/mcp/mcp.h"

#include "serve/mcp/mcp_parts.h"

enum {
    RPC_PARSE = -32700,
    RPC_REQUEST = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603
};

/* The first is offered to who asks for one that is not spoken here. */
static const char *const versions[] = {"2025-06-18", "2025-11-25", "2025-03-26", "2024-11-05"};

static const char instructions[] =
    "Profiles of JAX and XLA programs. Start with list_runs, then overview of a run; findings says "
    "what to change, top and explain_op what takes the time, diff what changed. Numbers are exact: "
    "times in picoseconds, shares 0 to 1; null means unknown, and reasons says why. Answers are "
    "cut to max_tokens and say what they left out.";

bool mcp_speaks(struct str version)
{
    for (size_t i = 0; i < COUNT(versions); i++) {
        if (str_equal(version, str_of(versions[i])))
            return true;
    }
    return false;
}

static json_t *failure(int code, const char *message)
{
    return json_pack("{s:i, s:s}", "code", code, "message", message);
}

static json_t *initialize(const json_t *params)
{
    const json_t *asked = json_object_get(params, "protocolVersion");
    struct str version = {.at = json_string_value(asked), .count = json_string_length(asked)};

    return json_pack("{s:s, s:{s:{s:b}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
                     mcp_speaks(version) ? version.at : versions[0], "capabilities", "tools",
                     "listChanged", 0, "serverInfo", "name", "jviewd", "title", "jviewd", "version",
                     JVIEWD_VERSION, "instructions", instructions);
}

static json_t *list_tools(const struct route_table *routes)
{
    json_t *tools = json_array();
    struct offers offers;

    route_tools(routes, &offers);
    for (uint32_t i = 0; i < offers.count; i++)
        json_array_append_new(tools, mcp_tool_json(routes, offers.items[i].what));
    return json_pack("{s:o}", "tools", tools);
}

static json_t *text_result(struct str text, bool good)
{
    return json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
                     json_stringn_nocheck(text.at, text.count), "isError", !good);
}

static json_t *call_tool(const struct mcp_asker *asker, const json_t *params, struct arena *arena,
                         json_t **ret_error)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    const json_t *given = json_object_get(params, "arguments");
    const struct offer *tool = NULL;
    struct offers tools;
    struct error err = {0};
    struct text text = {0};
    bool good = false;
    json_t *arguments =
        json_is_object(given) ? json_incref((json_t *)(uintptr_t)given) : json_object();

    route_tools(asker->services->routes, &tools);
    for (uint32_t i = 0; name != NULL && i < tools.count; i++) {
        if (strcmp(((const struct tool *)tools.items[i].what)->name, name) == 0)
            tool = &tools.items[i];
    }
    json_t *result = NULL;
    if (tool == NULL)
        *ret_error = failure(RPC_PARAMS, "there is no such tool; tools/list lists all");
    else if (mcp_call(asker, tool, arguments, arena, &text, &good, &err) != OK)
        *ret_error = failure(RPC_PARAMS, str_c(arena, str_utf8(arena, str_of(err.message))));
    else
        result = text_result(str_utf8(arena, text_str(&text)), good);
    json_decref(arguments);
    text_free(&text);
    return result;
}

/* NULL: *ret_error says why. */
static json_t *result_of(const struct mcp_asker *asker, const char *method, const json_t *params,
                         struct arena *arena, json_t **ret_error)
{
    if (strcmp(method, "initialize") == 0)
        return initialize(params);
    if (strcmp(method, "ping") == 0)
        return json_object();
    if (strcmp(method, "tools/list") == 0)
        return list_tools(asker->services->routes);
    if (strcmp(method, "tools/call") == 0)
        return call_tool(asker, params, arena, ret_error);
    *ret_error = failure(RPC_METHOD, "this method is not supported");
    return NULL;
}

static void put_answer(const json_t *id, json_t *result, json_t *error, struct text *out)
{
    json_t *answer = json_pack("{s:s, s:O}", "jsonrpc", "2.0", "id", id);

    json_object_set_new(answer, result != NULL ? "result" : "error",
                        result != NULL ? result : error);
    char *text = json_dumps(answer, JSON_COMPACT);
    if (text == NULL) { /* what cannot be written as JSON */
        json_object_del(answer, "result");
        json_object_set_new(answer, "error", failure(RPC_INTERNAL, "the answer is not valid JSON"));
        text = json_dumps(answer, JSON_COMPACT);
    }
    text_puts(out, text);
    free(text);
    json_decref(answer);
}

static bool is_request(const json_t *message)
{
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    const json_t *id = json_object_get(message, "id");

    return json_is_object(message) && version != NULL && strcmp(version, "2.0") == 0 &&
           json_is_string(json_object_get(message, "method")) &&
           (id == NULL || json_is_string(id) || json_is_integer(id));
}

/* An answer to what we never asked: clients may send such, and need none. */
static bool is_answer(const json_t *message)
{
    return json_is_object(message) && json_object_get(message, "method") == NULL &&
           (json_object_get(message, "result") != NULL ||
            json_object_get(message, "error") != NULL);
}

bool mcp_answer(const struct services *services, struct server *server, struct str text,
                struct arena *arena, struct text *out)
{
    const struct mcp_asker asker = {.services = services, .server = server};
    json_t *message =
        json_loadb(text.at, text.count, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    json_t *none = json_null(), *error = NULL, *result = NULL;
    const json_t *id = json_object_get(message, "id");
    bool answers = true;

    if (message == NULL)
        error = failure(RPC_PARSE, "this is not valid JSON");
    else if (is_answer(message))
        answers = false;
    else if (!is_request(message))
        error = failure(RPC_REQUEST, json_is_array(message)
                                         ? "send one message at a time: batches are not supported"
                                         : "this is not a JSON-RPC 2.0 request");
    else if (id == NULL)
        answers = false; /* a notification */
    else
        result = result_of(&asker, json_string_value(json_object_get(message, "method")),
                           json_object_get(message, "params"), arena, &error);
    if (answers)
        put_answer(json_is_string(id) || json_is_integer(id) ? id : none, result, error, out);
    json_decref(message);
    return answers;
}
