/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd diff A B: the sentence, then the table of what made the difference. */
#include <jansson.h>
#include <stdio.h>

#include "base/human.h"
#include "cli/ask.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"

/* What the table below stands on. */
static void put_basis(const json_t *diff)
{
    static const char *const sides[] = {"a", "b"};

    for (size_t i = 0; i < COUNT(sides); i++) {
        const json_t *side = json_object_get(diff, sides[i]);
        json_int_t steps = json_integer_value(json_object_get(side, "step_count"));
        json_int_t warm = json_integer_value(json_object_get(side, "warmup_count"));
        json_int_t cut = json_integer_value(json_object_get(side, "cut_count"));

        printf("%s  %s: %s", sides[i], json_string_value(json_object_get(side, "name")),
               json_string_value(json_object_get(side, "basis")));
        if (steps > 0)
            printf(", %lld counted", (long long)steps);
        if (warm > 0)
            printf(", %lld warm-up steps left out", (long long)warm);
        if (cut > 0)
            printf(", %lld cut off by the capture left out", (long long)cut);
        putchar('\n');
    }
    printf("%s of both runs' op time was matched, %s with certainty.\n\n",
           human_share(json_number_value(json_object_get(diff, "matched_share"))).text,
           human_share(json_number_value(json_object_get(diff, "sure_share"))).text);
}

int print_diff(const struct cli_call *call, const struct services *services)
{
    struct answer answer;

    if (call->format.count > 0 && !str_equal(call->format, STR("table")))
        return print_table(call, services);
    ask(call, services, STR(""), &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK) {
        struct bytes body = reply_bytes(&answer.reply);
        json_t *diff = json_plain(body);

        printf("%s\n", json_string_value(json_object_get(diff, "sentence")));
        put_basis(diff);
        fflush(stdout);
        json_decref(diff);
    }
    answer_free(&answer);
    return code == EXIT_OK ? print_table(call, services) : code;
}
