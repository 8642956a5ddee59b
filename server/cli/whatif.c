/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd whatif RUN: the predicted step time as a sentence, then the steps one by one. */
#include <jansson.h>
#include <stdio.h>

#include "base/human.h"
#include "cli/ask.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"

static int64_t ps_of(const json_t *of, const char *key)
{
    return json_integer_value(json_object_get(of, key));
}

static const char *words_of(const json_t *of, const char *key)
{
    const char *words = json_string_value(json_object_get(of, key));

    return words != NULL ? words : "";
}

static void put_sentence(const json_t *answer)
{
    int64_t now = ps_of(answer, "replayed_ps"), then = ps_of(answer, "predicted_ps");
    int64_t saved = now - then;

    if (saved == 0)
        printf("A step would take %s, as it does now.", human_ps(then).text);
    else
        printf("A step would take %s instead of %s: %s %s (%s).", human_ps(then).text,
               human_ps(now).text, human_ps(saved < 0 ? -saved : saved).text,
               saved > 0 ? "less" : "more",
               human_share((double)(saved < 0 ? -saved : saved) / (double)now).text);
    printf(" Most of its critical path would be %s.\n", words_of(answer, "bound_by"));
}

static void put_steps(const json_t *answer, bool wide)
{
    struct text table = {0};
    size_t index;
    json_t *step;

    text_puts(&table, "| Step | Host | Now | Predicted | Mostly |\n|---:|---|---:|---:|---|\n");
    json_array_foreach(json_object_get(answer, "steps"), index, step)
    {
        const json_t *number = json_object_get(step, "step");

        if (json_is_integer(number))
            text_putf(&table, "| %lld ", (long long)json_integer_value(number));
        else
            text_puts(&table, "| - ");
        text_putf(&table, "| %s | %s | %s | %s |\n", words_of(step, "host"),
                  human_ps(ps_of(step, "replayed_ps")).text,
                  human_ps(ps_of(step, "predicted_ps")).text, words_of(step, "bound_by"));
    }
    if (index > 0) {
        putchar('\n');
        print_laid_out(text_str(&table), wide);
    }
    text_free(&table);
}

static void put_notes(const json_t *answer)
{
    size_t index;
    json_t *note;

    json_array_foreach(json_object_get(answer, "notes"), index, note)
    {
        printf("%s- %s\n", index == 0 ? "\n" : "", words_of(note, "message"));
    }
}

int print_whatif(const struct cli_call *call, const struct services *services)
{
    struct answer answer;

    if (call->format.count > 0 && !str_equal(call->format, STR("table")))
        return print_table(call, services);
    ask(call, services, STR(""), &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK) {
        struct bytes body = reply_bytes(&answer.reply);
        json_t *predicted = json_plain(body);

        put_sentence(predicted);
        put_steps(predicted, call->wide);
        put_notes(predicted);
        json_decref(predicted);
        code = output_flush(code);
    }
    answer_free(&answer);
    return code;
}
