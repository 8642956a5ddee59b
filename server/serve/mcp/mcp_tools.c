/* SPDX-License-Identifier: Apache-2.0 */
/* The words and the schema of a tool, as agents read them. */
#include <string.h>

#include "serve/answer/route_table.h"
#include "serve/mcp/mcp_parts.h"

/* What an argument says, with the views of the table where it lists them. */
static json_t *text_json(const struct route_table *routes, const char *words)
{
    static const char mark[] = "{views}";
    const char *at = strstr(words, mark);
    struct offers views;
    struct text text = {0};

    if (at == NULL)
        return json_string(words);
    route_views(routes, &views);
    text_put(&text, words, (size_t)(at - words));
    for (uint32_t i = 0; i < views.count; i++)
        text_putf(&text, "%s%s", i > 0 ? ", " : "",
                  ((const struct view *)views.items[i].what)->name);
    text_puts(&text, at + sizeof mark - 1);
    json_t *ret = json_stringn(text.at, text.count);
    text_free(&text);
    return ret;
}

static json_t *argument_json(const struct route_table *routes, const struct tool_argument *argument)
{
    json_t *schema = json_object();

    json_object_set_new(schema, "type",
                        json_string(argument->type == TOOL_INTEGER ? "integer" : "string"));
    json_object_set_new(schema, "description", text_json(routes, argument->text));
    if (argument->type == TOOL_WORD) {
        json_t *words = json_array();

        for (const char *at = argument->words; *at != '\0';) {
            size_t size = strcspn(at, "|");

            json_array_append_new(words, json_stringn(at, size));
            at += size + (at[size] == '|');
        }
        json_object_set_new(schema, "enum", words);
    }
    if (strcmp(argument->name, "max_tokens") == 0) {
        json_object_set_new(schema, "minimum", json_integer(MCP_TOKENS_MIN));
        json_object_set_new(schema, "maximum", json_integer(MCP_TOKENS_MAX));
    }
    return schema;
}

json_t *mcp_tool_json(const struct route_table *routes, const struct tool *tool)
{
    json_t *properties = json_object(), *required = json_array();

    for (const struct tool_argument *at = tool->arguments; at->name != NULL; at++) {
        json_object_set_new(properties, at->name, argument_json(routes, at));
        if (at->required)
            json_array_append_new(required, json_string(at->name));
    }
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:b, s:b, s:b}}", "name",
                     tool->name, "title", tool->title, "description", tool->text, "inputSchema",
                     "type", "object", "properties", properties, "required", required,
                     "additionalProperties", 0, "annotations", "readOnlyHint", 1, "idempotentHint",
                     1, "openWorldHint", 0);
}
