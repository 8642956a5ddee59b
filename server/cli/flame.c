/* jviewd flame RUN: the tree, indented, widest first. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/human.h"
#include "cli/verbs.h"
#include "serve/reply.h"

enum { DEPTH_MAX = 64 };

static const double share_min = 0.005; /* of the whole: what a terminal shows */

/* Children below the least share are told as one line. */
static void put_node(const json_t *node, double whole, int depth)
{
    double total = json_number_value(json_object_get(node, "total_ps"));
    size_t index, hidden = 0;
    double hidden_ps = 0;
    json_t *child;

    printf("%12s %7s  %*s%s\n", human_ps((int64_t)total).text, human_share(total / whole).text,
           2 * depth, "", json_string_value(json_object_get(node, "name")));
    if (depth == DEPTH_MAX)
        return;
    json_array_foreach(json_object_get(node, "children"), index, child)
    {
        double child_ps = json_number_value(json_object_get(child, "total_ps"));

        if (child_ps >= share_min * whole) {
            put_node(child, whole, depth + 1);
        } else {
            hidden++;
            hidden_ps += child_ps;
        }
    }
    if (hidden > 0)
        printf("%12s %7s  %*s(%zu more)\n", human_ps((int64_t)hidden_ps).text,
               human_share(hidden_ps / whole).text, 2 * (depth + 1), "", hidden);
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
        json_t *flame = json_loadb((const char *)body.at, body.count, 0, NULL);
        const json_t *root = json_object_get(flame, "root");
        double whole = json_number_value(json_object_get(root, "total_ps"));

        put_node(root, whole > 0 ? whole : 1, 0);
        json_decref(flame);
    } else if (code == EXIT_OK) {
        code = answer_write(&answer, STDOUT_FILENO);
    }
    answer_free(&answer);
    return code;
}
