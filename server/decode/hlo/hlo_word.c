/* SPDX-License-Identifier: Apache-2.0 */
/* Words of HLO texts: brackets and quotes nest, a backslash takes the next byte along. */
#include "decode/hlo/hlo_module_parts.h"

struct str hlo_trimmed(struct str text)
{
    while (text.count > 0 && (text.at[0] == ' ' || text.at[0] == '\t'))
        text = str_skip(text, 1);
    while (text.count > 0 && strchr(" \t\r", text.at[text.count - 1]) != NULL)
        text.count--;
    return text;
}

struct str hlo_bare_name(struct str name)
{
    name = hlo_trimmed(name);
    return str_starts(name, STR("%")) ? str_skip(name, 1) : name;
}

size_t hlo_span_to(struct str text, const char *stops)
{
    size_t depth = 0, at = 0;

    for (bool quoted = false; at < text.count; at++) {
        char byte = text.at[at];
        if (quoted) {
            if (byte == '\\')
                at++;
            quoted = byte != '"';
            continue;
        }
        if (depth == 0 && byte != '\0' && strchr(stops, byte) != NULL)
            return at;
        if (byte == '"')
            quoted = true;
        else if (byte == '(' || byte == '[' || byte == '{')
            depth++;
        else if ((byte == ')' || byte == ']' || byte == '}') && depth > 0)
            depth--;
    }
    return at < text.count ? at : text.count;
}

struct str hlo_take_to(struct str *text, const char *stops)
{
    size_t count = hlo_span_to(*text, stops);
    struct str taken = {.at = text->at, .count = count};

    *text = str_skip(*text, count < text->count ? count + 1 : count);
    return taken;
}

struct str hlo_unquoted(struct str text)
{
    if (text.count >= 2 && text.at[0] == '"' && text.at[text.count - 1] == '"')
        return (struct str){.at = text.at + 1, .count = text.count - 2};
    return text;
}

struct str hlo_inside(struct str text)
{
    return text.count >= 2 ? (struct str){.at = text.at + 1, .count = text.count - 2} : STR("");
}
