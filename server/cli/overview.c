/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd overview RUN: the sentence, the breakdown, the devices, the ops, the notes. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/ask.h"
#include "cli/paragraph.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"

enum { BAR_WIDTH = 24, MOVABLE_SHOWN = 3, SHORT_PART = 10 };

static int64_t member_ps(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Where the sentence has no MFU, why not; what has no steps has none anyway. */
static void put_no_mfu(const json_t *overview, struct text *out)
{
    const json_t *efficiency = json_object_get(overview, "efficiency");
    const char *why =
        json_string_value(json_object_get(json_object_get(efficiency, "reasons"), "mfu"));

    if (why != NULL && member_ps(json_object_get(overview, "step"), "counted") > 0)
        text_putf(out, " MFU is not known: %s.", why);
}

static void put_sentence(const json_t *overview)
{
    const json_t *step = json_object_get(overview, "step");
    const char *rule = json_string_value(json_object_get(step, "rule_text"));
    const char *basis = json_string_value(json_object_get(overview, "basis"));
    const char *path =
        json_string_value(json_object_get(json_object_get(overview, "path"), "sentence"));
    struct text line = {0};

    paragraph_put(str_of(json_string_value(json_object_get(overview, "sentence"))), 0);
    if (path != NULL && path[0] != '\0')
        paragraph_put(str_of(path), 0);
    if (member_ps(step, "count") > 0 && rule != NULL)
        text_putf(&line, "Steps: %s. ", rule);
    if (basis != NULL)
        text_putf(&line, "Measured on %s.", basis);
    put_no_mfu(overview, &line);
    paragraph_put(text_str(&line), 0);
    text_free(&line);
}

/* The first few; `jviewd findings` has all, with their evidence. */
static void put_first(const json_t *overview)
{
    const json_t *findings = json_object_get(overview, "findings");
    int64_t all = member_ps(overview, "finding_count");

    if (json_array_size(findings) == 0)
        return;
    printf("\nWhat to do first\n");
    put_findings(findings, false);
    if (all > (int64_t)json_array_size(findings))
        printf("    and %lld more: jviewd findings RUN\n",
               (long long)(all - (int64_t)json_array_size(findings)));
}

static void put_snapshot(const json_t *snapshot)
{
    size_t at;
    json_t *row;

    printf("\nMemory: the snapshot %s holds %s.\n",
           json_string_value(json_object_get(snapshot, "name")),
           human_bytes((uint64_t)member_ps(snapshot, "total_bytes")).text);
    json_array_foreach(json_object_get(snapshot, "rows"), at, row)
    {
        const char *source = json_string_value(json_object_get(row, "source"));

        if (member_ps(row, "value") > 0)
            printf("  %-10s %s%s%s\n", human_bytes((uint64_t)member_ps(row, "value")).text,
                   json_string_value(json_object_get(row, "name")), source == NULL ? "" : "  ",
                   source == NULL ? "" : source);
    }
}

static void put_peak(const json_t *memory, struct text *out)
{
    const char *owner = json_string_value(json_object_get(memory, "owner"));

    text_putf(out, "Memory: peak %s", human_bytes((uint64_t)member_ps(memory, "peak_bytes")).text);
    if (json_is_integer(json_object_get(memory, "capacity_bytes")))
        text_putf(out, " of %s", human_bytes((uint64_t)member_ps(memory, "capacity_bytes")).text);
    text_putf(out, " at %s on %s", human_ps(member_ps(memory, "peak_at_ps")).text,
              json_string_value(json_object_get(memory, "allocator")));
    if (owner != NULL)
        text_putf(out, "; %s, %s, is %s",
                  2 * member_ps(memory, "owner_bytes") > member_ps(memory, "peak_bytes")
                      ? "most of it"
                      : "the largest part",
                  human_bytes((uint64_t)member_ps(memory, "owner_bytes")).text, owner);
    text_putf(out, ".");
}

static void put_memory(const json_t *overview)
{
    const json_t *memory = json_object_get(overview, "memory");
    const char *reason = json_string_value(json_object_get(memory, "reason"));
    struct text line = {0};

    if (json_is_object(json_object_get(overview, "snapshot")))
        put_snapshot(json_object_get(overview, "snapshot"));
    if (reason != NULL && json_is_object(json_object_get(overview, "snapshot")))
        return;
    putchar('\n');
    if (reason != NULL)
        text_putf(&line, "Memory: %s", reason);
    else
        put_peak(memory, &line);
    paragraph_put(text_str(&line), 0);
    text_free(&line);
}

static void put_bar(double share)
{
    int full = (int)(share * BAR_WIDTH + 0.5);

    for (int i = 0; i < full && i < BAR_WIDTH; i++)
        fputs("█", stdout);
}

/* The width for "%*s" that gives so many columns: some letters take several bytes. */
static int columns(const char *text, int count)
{
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) == 0x80;
    return count;
}

static void put_row(const char *name, int64_t ps, const char *share_text, double share)
{
    struct human time = human_ps(ps);

    printf("  %-*s %*s %*s  ", columns(name, 14), name, columns(time.text, 12), time.text,
           columns(share_text, 7), share_text);
    put_bar(share);
    putchar('\n');
}

static void put_breakdown(const json_t *overview)
{
    json_int_t counted =
        json_integer_value(json_object_get(json_object_get(overview, "step"), "counted"));
    size_t index;
    json_t *row;

    if (member_ps(overview, "breakdown_total_ps") == 0)
        return;
    if (counted > 0)
        printf("\nWhere the time goes (%" JSON_INTEGER_FORMAT " step%s)\n", counted,
               counted == 1 ? "" : "s");
    else
        printf("\nWhere the time goes (the capture)\n");
    json_array_foreach(json_object_get(overview, "breakdown"), index, row)
    {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        double share = json_number_value(json_object_get(row, "share"));

        if (member_ps(row, "self_ps") == 0)
            continue;
        put_row(kind, member_ps(row, "self_ps"), human_share(share).text, share);
    }
}

static void put_devices(const json_t *overview)
{
    const json_t *devices = json_object_get(overview, "devices");
    size_t index;
    json_t *row;

    if (json_array_size(devices) == 0)
        return;
    printf("\nDevices (busy, from first to last event)\n");
    json_array_foreach((json_t *)devices, index, row)
    {
        const json_t *share = json_object_get(row, "busy_share");

        put_row(json_string_value(json_object_get(row, "name")), member_ps(row, "busy_ps"),
                json_is_number(share) ? human_share(json_number_value(share)).text : "–",
                json_number_value(share));
    }
    json_array_foreach((json_t *)devices, index, row)
    {
        int64_t hull_ps = member_ps(row, "busy_ps") + member_ps(row, "idle_ps");

        if (hull_ps < member_ps(overview, "duration_ps") / SHORT_PART)
            printf("  %s: from first to last event %s of %s.\n",
                   json_string_value(json_object_get(row, "name")), human_ps(hull_ps).text,
                   human_ps(member_ps(overview, "duration_ps")).text);
    }
}

/* Where everything ran on devices there is nothing to say. */
static void put_places(const json_t *overview)
{
    const json_t *places = json_object_get(overview, "places");
    const json_t *row, *movable = json_object_get(places, "movable");
    size_t index;
    bool elsewhere = false;

    json_array_foreach(json_object_get(places, "rows"), index, row)
    {
        elsewhere |= index > 0 && member_ps(row, "self_ps") > 0;
    }
    if (!elsewhere)
        return;
    printf("\nWhere ops ran\n");
    json_array_foreach(json_object_get(places, "rows"), index, row)
    {
        double share = json_number_value(json_object_get(row, "share"));

        if (member_ps(row, "self_ps") > 0)
            put_row(json_string_value(json_object_get(row, "place")), member_ps(row, "self_ps"),
                    human_share(share).text, share);
    }
    json_array_foreach(movable, index, row)
    {
        if (index < MOVABLE_SHOWN)
            printf("  %s of %s could run on a device: %s.\n",
                   human_ps(member_ps(row, "self_ps")).text,
                   json_string_value(json_object_get(row, "name")),
                   json_string_value(json_object_get(row, "why")));
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
        struct text line = {0};

        text_putf(&line, "  %s: %s", json_string_value(json_object_get(note, "severity")),
                  json_string_value(json_object_get(note, "message")));
        paragraph_put(text_str(&line), 4);
        text_free(&line);
    }
}

/* Of the steps that count, unless others were asked for. */
static struct str top_query(const struct cli_call *call, const char *numbers)
{
    const char *before = call->query.count > 0 ? "&" : "";

    if (numbers == NULL || str_contains(call->query, STR("step=")))
        return str_format(call->arena, "%.*s%slimit=10", STR_ARG(call->query), before);
    return str_format(call->arena, "%.*s%sstep=%s&limit=10", STR_ARG(call->query), before, numbers);
}

static int put_top(const struct cli_call *call, const json_t *overview,
                   const struct services *services)
{
    const char *numbers =
        json_string_value(json_object_get(json_object_get(overview, "step"), "numbers"));
    struct cli_call top = *call;

    top.verb = cli_find("top");
    top.path = cli_path(top.verb);
    top.format = STR("table");
    top.query = top_query(call, numbers);
    printf("\n%s (self)\n", numbers != NULL ? "What runs in these steps" : "What runs");
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
        json_t *overview = json_plain(body);

        put_sentence(overview);
        put_first(overview);
        put_breakdown(overview);
        put_devices(overview);
        put_places(overview);
        put_memory(overview);
        if (member_ps(overview, "duration_ps") > 0 ||
            !json_is_object(json_object_get(overview, "snapshot")))
            code = put_top(call, overview, services);
        put_notes(overview);
        json_decref(overview);
    }
    answer_free(&answer);
    return code;
}
