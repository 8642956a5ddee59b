/* SPDX-License-Identifier: Apache-2.0 */
/* Any words, one a line, as a command line: of a verb, or of the server. They are understood, or
 * a sentence says why not. */
#include <jansson.h>
#include <stdlib.h>

#include "any/place_any.h"
#include "app/options.h"
#include "cli/cli.h"

enum { WORDS_MAX = 24 };

/* The words, each with a NUL behind it. */
static int words_of(struct str text, struct arena *arena, char **ret)
{
    int count = 0;

    while (text.count > 0 && count < WORDS_MAX) {
        const char *end = memchr(text.at, '\n', text.count);
        size_t size = end == NULL ? text.count : (size_t)(end - text.at);

        ret[count++] = str_c(arena, (struct str){.at = text.at, .count = size});
        text = str_skip(text, size + (end != NULL));
    }
    ret[count] = NULL;
    return count;
}

static bool reads_a_file(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (strstr(words[i], "config") != NULL)
            return true;
    return false;
}

static void check_server(int count, char **words, struct arena *arena)
{
    struct options options;
    struct error err = {0};

    if (options_read(count, words, arena, &options, &err) != OK) {
        if (err.message[0] == '\0')
            abort();
        return;
    }
    if (options.port < 0 || options.port > UINT16_MAX ||
        (options.roots.count == 0 && !options.help && !options.version) || options.workers > 1024)
        abort();
}

/* What it asks is JSON where it is a body, and a query that a route would take apart. */
static void check_call(const struct cli_call *call)
{
    json_t *body = call->body.count == 0
                       ? NULL
                       : json_loadb(call->body.at, call->body.count, JSON_REJECT_DUPLICATES, NULL);

    if (call->verb == NULL || call->root_count > CLI_OPERANDS_MAX ||
        (call->body.count > 0 && body == NULL))
        abort();
    for (size_t i = 0; i < call->query.count; i++)
        if ((unsigned char)call->query.at[i] <= ' ' || (unsigned char)call->query.at[i] >= 127)
            abort();
    json_decref(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    char *words[WORDS_MAX + 1];
    int count = words_of((struct str){(const char *)data, size}, arena, words);

    if (count > 0 && !reads_a_file(count, words)) {
        struct cli_call call;
        struct error err = {0};

        if (cli_find(words[0]) == NULL)
            check_server(count, words, arena);
        else if (cli_parse(count, words, ".", arena, &call, &err) == OK)
            check_call(&call);
        else if (err.message[0] == '\0')
            abort();
    }
    arena_destroy(arena);
    return 0;
}
