/* jviewd overview RUN: the sentence, the breakdown, the devices, the ops, the notes. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/ask.h"
#include "cli/verbs.h"
#include "serve/reply.h"

enum { BAR_WIDTH = 24 };

static int64_t member_ps(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void put_sentence(const json_t *overview)
{
    const json_t *step = json_object_get(overview, "step");
    int64_t count = member_ps(step, "count"), warmup = member_ps(step, "warmup_count");

    if (count == 0 || !json_is_integer(json_object_get(step, "median_ps"))) {
        printf("No steps were found.\n");
        return;
    }
    printf("A step takes %s (± %s; %lld steps", human_ps(member_ps(step, "median_ps")).text,
           human_ps(member_ps(step, "stdev_ps")).text, (long long)(count - warmup));
    if (warmup > 0)
        printf(", %lld warm-up excluded", (long long)warmup);
    printf(").\n");
    const char *rule = json_string_value(json_object_get(step, "rule"));
    if (rule != NULL)
        printf("Steps by %s.\n", rule);
}

static void put_bar(double share)
{
    int full = (int)(share * BAR_WIDTH + 0.5);

    for (int i = 0; i < full && i < BAR_WIDTH; i++)
        fputs("█", stdout);
}

static void put_breakdown(const json_t *overview)
{
    size_t index;
    json_t *row;

    putchar('\n');
    json_array_foreach(json_object_get(overview, "breakdown"), index, row)
    {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        double share = json_number_value(json_object_get(row, "share"));

        printf("  %-14s %12s %7s  ", kind, human_ps(member_ps(row, "self_ps")).text,
               human_share(share).text);
        put_bar(share);
        putchar('\n');
    }
}

static void put_devices(const json_t *overview)
{
    const json_t *devices = json_object_get(overview, "devices");
    size_t index;
    json_t *row;

    if (json_array_size(devices) == 0)
        return;
    printf("\nDevices (busy)\n");
    json_array_foreach((json_t *)devices, index, row)
    {
        double share = json_number_value(json_object_get(row, "busy_share"));

        printf("  %-14s %12s %7s  ", json_string_value(json_object_get(row, "name")),
               human_ps(member_ps(row, "busy_ps")).text, human_share(share).text);
        put_bar(share);
        putchar('\n');
    }
}

static void put_notes(const json_t *overview)
{
    const json_t *notes = json_object_get(overview, "notes");
    size_t index;
    json_t *note;

    if (json_array_size(notes) == 0)
        return;
    printf("\nNotes\n");
    json_array_foreach((json_t *)notes, index, note)
    {
        printf("  %s: %s\n", json_string_value(json_object_get(note, "severity")),
               json_string_value(json_object_get(note, "message")));
    }
}

static int put_top(const struct cli_call *call, const struct services *services)
{
    struct cli_call top = *call;

    top.verb = cli_find("top");
    top.format = STR("table");
    top.query = call->query.count > 0
                    ? str_format(call->arena, "%.*s&limit=10", STR_ARG(call->query))
                    : STR("limit=10");
    printf("\nWhere the time goes (self)\n");
    fflush(stdout);
    return print_table(&top, services);
}

int print_overview(const struct cli_call *call, const struct services *services)
{
    struct answer answer;

    if (call->format.count > 0 && !str_equal(call->format, STR("table")))
        return print_table(call, services);
    ask(call, services, STR(""), &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK) {
        struct bytes body = reply_bytes(&answer.reply);
        json_t *overview = json_loadb((const char *)body.at, body.count, 0, NULL);

        put_sentence(overview);
        put_breakdown(overview);
        put_devices(overview);
        code = put_top(call, services);
        put_notes(overview);
        json_decref(overview);
    }
    answer_free(&answer);
    return code;
}
