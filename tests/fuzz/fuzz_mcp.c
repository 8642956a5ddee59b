/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as messages of an agent, to a server that has one run: what has an answer is answered
 * in one line of JSON-RPC. */
#include <jansson.h>
#include <stdlib.h>

#include "any/place_any.h"
#include "serve/mcp/mcp.h"

enum { MESSAGES_MAX = 8 };

static void check_answer(struct str answer)
{
    json_t *value = json_loadb(answer.at, answer.count, JSON_REJECT_DUPLICATES, NULL);
    const char *version = json_string_value(json_object_get(value, "jsonrpc"));

    if (version == NULL || strcmp(version, "2.0") != 0 || json_object_get(value, "id") == NULL ||
        (json_object_get(value, "result") == NULL) == (json_object_get(value, "error") == NULL) ||
        memchr(answer.at, '\n', answer.count) != NULL)
        abort();
    json_decref(value);
}

static void ask(const struct services *services, struct str message)
{
    struct arena *arena = arena_create();
    struct text out = {0};

    if (mcp_answer(services, NULL, message, arena, &out))
        check_answer(text_str(&out));
    else if (out.count > 0)
        abort();
    text_free(&out);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct services *services;
    struct str rest = {.at = (const char *)data, .count = size};

    if (services == NULL)
        services = place_any_services(&decode_xspace, FUZZ_SEEDS "/xspace/gpu.pb");
    for (int i = 0; i < MESSAGES_MAX && rest.count > 0; i++) {
        const char *end = memchr(rest.at, '\n', rest.count);
        size_t count = end == NULL ? rest.count : (size_t)(end - rest.at);

        ask(services, (struct str){.at = rest.at, .count = count});
        rest = str_skip(rest, count + (end != NULL));
    }
    return 0;
}
