/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd flame RUN: the tree, indented, widest first; with --focus one frame and its neighbours. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/ask.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"

enum { DEPTH_MAX = 64 };

static const double share_min = 0.005; /* of the whole: what a terminal shows */

struct scale { /* what the tree is of */
    double whole;
    const char *unit;
};

/* Times are "total_ps"; bytes and counts of samples are "total". */
static double total_of(const json_t *node, const struct scale *scale)
{
    return json_number_value(
        json_object_get(node, strcmp(scale->unit, "ps") == 0 ? "total_ps" : "total"));
}

static void put_line(double total, const struct scale *scale, int depth)
{
    char plain[32];
    const char *text = plain;
    struct human human;

    if (strcmp(scale->unit, "ps") == 0 || strcmp(scale->unit, "bytes") == 0) {
        human = scale->unit[0] == 'p' ? human_ps((int64_t)total) : human_bytes((uint64_t)total);
        text = human.text;
    } else if (strcmp(scale->unit, "flops") == 0) {
        snprintf(plain, sizeof plain, "%.3f GFLOP", total * 1e-9);
    } else {
        snprintf(plain, sizeof plain, "%.0f", total);
    }
    printf("%16s %7s  %*s", text, human_share(total / scale->whole).text, 2 * depth, "");
}

/* Children below the least share are told as one line. */
static void put_node(const json_t *node, const struct scale *scale, int depth)
{
    size_t index, hidden = 0;
    double hidden_total = 0;
    json_t *child;

    put_line(total_of(node, scale), scale, depth);
    printf("%s\n", json_string_value(json_object_get(node, "name")));
    if (depth == DEPTH_MAX)
        return;
    json_array_foreach(json_object_get(node, "children"), index, child)
    {
        double total = total_of(child, scale);

        if (total >= share_min * scale->whole) {
            put_node(child, scale, depth + 1);
        } else {
            hidden++;
            hidden_total += total;
        }
    }
    if (hidden > 0) {
        put_line(hidden_total, scale, depth + 1);
        printf("(%zu more)\n", hidden);
    }
}

/* Why there is nothing. */
static void put_notes(const json_t *notes)
{
    size_t index;
    json_t *note;

    json_array_foreach((json_t *)(uintptr_t)notes, index, note)
        fprintf(stderr, "jviewd: %s\n", json_string_value(json_object_get(note, "message")));
}

static int print_tree(const json_t *flame)
{
    const json_t *root = json_object_get(flame, "root"), *notes = json_object_get(flame, "notes");
    struct scale scale = {.unit = json_string_value(json_object_get(flame, "unit"))};

    if (json_is_null(root)) {
        fprintf(stderr, "jviewd: %s\n",
                json_string_value(json_object_get(json_array_get(notes, 0), "message")));
        return EXIT_NOT_FOUND;
    }
    scale.whole = total_of(root, &scale);
    if (scale.whole <= 0)
        put_notes(notes);
    scale.whole = scale.whole > 0 ? scale.whole : 1;
    put_node(root, &scale, 0);
    return EXIT_OK;
}

static void put_relatives(const json_t *focus, const char *key, const char *title, uint64_t all,
                          const struct scale *scale)
{
    const json_t *relatives = json_object_get(focus, key);
    size_t index;
    json_t *one;

    printf("\n%s\n", title);
    json_array_foreach((json_t *)(uintptr_t)relatives, index, one)
    {
        put_line(total_of(one, scale), scale, 1);
        printf("%s\n", json_string_value(json_object_get(one, "name")));
    }
    if (json_array_size(relatives) == 0)
        printf("  none\n");
    else if (all > json_array_size(relatives))
        printf("  and %llu more\n", (unsigned long long)(all - json_array_size(relatives)));
}

/* A frame, who calls it and what it calls; shares are of the whole graph. */
static int print_focus(const json_t *flame)
{
    const json_t *focus = json_object_get(flame, "focus");
    struct scale scale = {.unit = json_string_value(json_object_get(flame, "unit"))};

    if (!json_is_object(focus)) {
        fprintf(stderr, "jviewd: no frame of this flame graph has that name; --by chooses what the "
                        "frames are\n");
        return EXIT_NOT_FOUND;
    }
    scale.whole = total_of(json_object_get(flame, "root"), &scale);
    scale.whole = scale.whole > 0 ? scale.whole : 1;
    put_line(total_of(focus, &scale), &scale, 0);
    printf("%s\n", json_string_value(json_object_get(focus, "name")));
    put_relatives(focus, "callers", "Callers",
                  (uint64_t)json_integer_value(json_object_get(focus, "caller_count")), &scale);
    put_relatives(focus, "callees", "Callees",
                  (uint64_t)json_integer_value(json_object_get(focus, "callee_count")), &scale);
    return EXIT_OK;
}

static bool asks_for_focus(struct str query)
{
    static const char word[] = "focus=";

    return memmem(query.at, query.count, word, sizeof word - 1) != NULL;
}

int print_flame(const struct cli_call *call, const struct services *services)
{
    bool as_tree = call->format.count == 0 || str_equal(call->format, STR("table"));
    struct answer answer;

    ask(call, services, as_tree || str_equal(call->format, STR("json")) ? STR("") : call->format,
        &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK && as_tree) {
        struct bytes body = reply_bytes(&answer.reply);
        json_t *flame = json_plain(body);

        code = asks_for_focus(call->query) ? print_focus(flame) : print_tree(flame);
        json_decref(flame);
    } else if (code == EXIT_OK) {
        code = answer_write(&answer, STDOUT_FILENO);
    }
    answer_free(&answer);
    return code;
}
