/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd findings RUN: numbered sentences, each with what it wins, its proof and what to do. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "cli/ask.h"
#include "cli/paragraph.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"

enum { FINDING_INDENT = 4, REMEDY_INDENT = 7 };

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static const char *time_and_share(const json_t *finding, const char *ps, const char *share,
                                  char *ret, size_t size)
{
    const json_t *part = json_object_get(finding, share);

    snprintf(ret, size, "%s", human_ps(json_integer_value(json_object_get(finding, ps))).text);
    if (json_is_number(part))
        snprintf(ret + strlen(ret), size - strlen(ret), ", %s",
                 human_share(json_number_value(part)).text);
    return ret;
}

/* By replay, and the bound where it is another; the bound alone where no replay tells. */
static void put_win(const json_t *finding, struct text *out)
{
    const json_t *same = json_object_get(finding, "same_time_as");
    char win[64], bound[64];

    if (json_integer_value(json_object_get(finding, "win_ps")) <= 0)
        return;
    time_and_share(finding, "win_ps", "win_share", bound, sizeof bound);
    if (!json_is_integer(json_object_get(finding, "replay_ps")))
        text_putf(out, " (saves up to %s", bound);
    else if (strcmp(time_and_share(finding, "replay_ps", "replay_share", win, sizeof win), bound) ==
             0)
        text_putf(out, " (saves %s", win);
    else
        text_putf(out, " (saves %s; up to %s", win, bound);
    if (json_is_integer(same))
        text_putf(out, "; partly the same time as %lld", (long long)json_integer_value(same));
    text_puts(out, ")");
}

/* "longest gap 12.1 ms (hostA, step 3)" */
static void put_evidence(const json_t *evidence)
{
    const json_t *value = json_object_get(evidence, "value");
    const char *unit = text_at(evidence, "unit"), *host = text_at(evidence, "host");
    const json_t *step = json_object_get(evidence, "step");

    printf("     %s: ", text_at(evidence, "name"));
    if (json_is_null(value))
        printf("unknown (%s)", text_at(evidence, "reason"));
    else if (json_is_string(value))
        printf("%s", json_string_value(value));
    else if (strcmp(unit, "ps") == 0)
        printf("%s", human_ps(json_integer_value(value)).text);
    else if (strcmp(unit, "bytes") == 0)
        printf("%s", human_bytes((uint64_t)json_integer_value(value)).text);
    else if (strcmp(unit, "share") == 0)
        printf("%s", human_share(json_number_value(value)).text);
    else
        printf("%.6g", json_number_value(value));
    if (host[0] != '\0')
        printf(", %s", host);
    if (json_is_integer(step))
        printf(", step %lld", (long long)json_integer_value(step));
    putchar('\n');
}

/* What is a field of the page is a flag here. */
static void put_remedy(struct str remedy, struct text *out)
{
    const struct str field = STR("`step_regex`");

    text_puts(out, "    -> ");
    while (remedy.count > 0) {
        if (str_starts(remedy, field)) {
            text_puts(out, "`--step-regex`");
            remedy = str_skip(remedy, field.count);
        } else {
            text_put(out, remedy.at, 1);
            remedy = str_skip(remedy, 1);
        }
    }
}

void put_findings(const json_t *findings, bool with_evidence)
{
    size_t index, proof;
    json_t *finding, *evidence;

    json_array_foreach((json_t *)findings, index, finding)
    {
        struct text line = {0};

        text_putf(&line, "%2zu  %s", index + 1, text_at(finding, "text"));
        put_win(finding, &line);
        paragraph_put(text_str(&line), FINDING_INDENT);
        line.count = 0;
        put_remedy(str_of(text_at(finding, "remedy")), &line);
        if (text_at(finding, "remedy")[0] != '\0')
            paragraph_put(text_str(&line), REMEDY_INDENT);
        text_free(&line);
        json_array_foreach(json_object_get(finding, "evidence"), proof, evidence)
        {
            if (with_evidence)
                put_evidence(evidence);
        }
    }
}

int print_findings(const struct cli_call *call, const struct services *services)
{
    struct answer answer;

    if (call->format.count > 0 && !str_equal(call->format, STR("table")))
        return print_table(call, services);
    ask(call, services, STR(""), &answer);
    if (answer.exit_code == EXIT_OK) {
        struct bytes body = reply_bytes(&answer.reply);
        json_t *reply = json_plain(body);
        const json_t *rows = json_object_get(reply, "rows");

        if (json_array_size(rows) == 0)
            printf("None of the %lld rules found a problem.\n",
                   (long long)json_integer_value(json_object_get(reply, "rule_count")));
        put_findings(rows, true);
        json_decref(reply);
    }
    answer_free(&answer);
    return answer.exit_code;
}
