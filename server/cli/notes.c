/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd notes RUN: what people wrote of the run, and what the run itself lacks or has odd.
 *
 *   note  run        from  to  text        of /api/notes?run=: people's
 *   tags: pinned, slow (came with the bundle)
 *   the program says: step 500 ...         of its jview.json
 *   the run itself:
 *     warning: 3 events end before ...     of /api/run: whoever reads the run should know
 *
 * With a --format it is /api/notes alone.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/plain.h"
#include "cli/verbs.h"

static void put_tags(const json_t *tags)
{
    size_t index;
    json_t *tag;

    json_array_foreach((json_t *)tags, index, tag)
    {
        const char *origin = json_string_value(json_object_get(tag, "origin"));

        printf("%s%s%s", index == 0 ? "tags: " : ", ",
               json_string_value(json_object_get(tag, "tag")),
               strcmp(origin, "bundle") == 0 ? " (came with the bundle)" : "");
    }
    if (json_array_size(tags) > 0)
        putchar('\n');
}

static void put_about(const json_t *about)
{
    const char *key;
    json_t *value;
    bool any = false;

    json_object_foreach((json_t *)about, key, value)
    {
        if (json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0))
            continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        printf("%s%s %s", any ? ", " : "the program says: ", key, text);
        free(text);
        any = true;
    }
    if (any)
        putchar('\n');
}

/* What is wrong with the notes themselves, then what is with the run. */
static void put_own(const json_t *notes, bool *any)
{
    size_t index;
    json_t *note;

    json_array_foreach((json_t *)notes, index, note)
    {
        const char *host = json_string_value(json_object_get(note, "host"));

        printf("%s  %s: %s%s%s%s\n", *any ? "" : "the run itself:\n",
               json_string_value(json_object_get(note, "severity")),
               json_string_value(json_object_get(note, "message")), host == NULL ? "" : " (",
               host == NULL ? "" : host, host == NULL ? "" : ")");
        *any = true;
    }
}

static int put_people(const struct cli_call *call, const struct services *services,
                      const json_t *said)
{
    struct cli_call table = *call;
    int code = EXIT_OK;

    table.format = STR("table");
    if (json_integer_value(json_object_get(said, "row_count")) > 0)
        code = print_table(&table, services);
    else
        puts("This run has no notes.");
    return code;
}

int print_notes(const struct cli_call *call, const struct services *services)
{
    json_t *said = NULL, *run = NULL;
    bool any = false;

    /* Notes hang on what the run holds, which is known once it is read. */
    int code = ask_read_run(call, services, &run);
    if (call->format.count > 0 && !str_equal(call->format, STR("table"))) {
        json_decref(run);
        return code == EXIT_OK ? print_table(call, services) : code;
    }
    if (code == EXIT_OK)
        code = ask_json(call, services, "/api/notes", call->query, &said);
    if (code == EXIT_OK)
        code = put_people(call, services, said);
    if (code == EXIT_OK) {
        put_tags(json_object_get(said, "tags"));
        put_about(json_object_get(said, "about"));
        put_own(json_object_get(said, "notes"), &any);
        put_own(json_object_get(run, "notes"), &any);
        if (!any)
            puts("Nothing is known to be missing from the run.");
        code = output_flush(EXIT_OK);
    }
    json_decref(said);
    json_decref(run);
    return code;
}
