/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that write: baselines, notes, tags. Each is one request to its endpoint.
 *
 *   jviewd baseline set main step_500     POST   /api/baselines {"name": "main", "run": "step_500"}
 *   jviewd baseline list                  GET    /api/baselines
 *   jviewd baseline remove main           DELETE /api/baselines?name=main
 */
#include <stdio.h>

#include "cli/ask.h"
#include "cli/verbs.h"
#include "serve/answer/json_out.h"
#include "serve/answer/query.h"
#include "serve/answer/reply.h"

static bool is_action(const struct cli_call *call, const char *name)
{
    return strcmp(call->action->name, name) == 0;
}

static struct cli_call with_query(const struct cli_call *call, const char *name, struct str value)
{
    struct cli_call ret = *call;
    struct text text = {0};

    for (size_t i = 0; i < value.count; i++)
        text_putf(&text, "%%%02X", (unsigned char)value.at[i]);
    ret.query = str_format(call->arena, "%.*s%s%s=%.*s", STR_ARG(call->query),
                           call->query.count > 0 ? "&" : "", name, STR_ARG(text_str(&text)));
    text_free(&text);
    return ret;
}

/* Asks, says the sentence on stdout where it went well, and is the exit code. */
static int send(const struct cli_call *call, const struct services *services, const char *method,
                struct str body, const char *said)
{
    struct cli_call changed = *call;
    struct answer answer;

    if (call->run.count > 0) /* often, so that what is waited for can be told */
        changed = with_query(call, "wait_ms", STR("500"));
    changed.method = str_of(method);
    changed.body = body;
    changed.run = STR("");
    ask(&changed, services, STR(""), &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK) {
        puts(said);
        code = output_flush(code);
    }
    answer_free(&answer);
    return code;
}

struct member {
    const char *name;
    struct str value;
};

static struct str body_of(const struct cli_call *call, const struct member *members, size_t count)
{
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '{');
    for (size_t i = 0; i < count; i++)
        json_put_text(&json, members[i].name, members[i].value);
    json_close(&json, '}');
    struct str ret = str_copy(call->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static const char *sentence(const struct cli_call *call, const char *before, struct str between,
                            const char *after)
{
    return str_format(call->arena, "%s%.*s%s", before, STR_ARG(between), after).at;
}

int change_baseline(const struct cli_call *call, const struct services *services)
{
    if (is_action(call, "list"))
        return print_list(call, services);
    struct str name = str_of(call->words[0]);
    if (is_action(call, "remove")) {
        struct cli_call asked = with_query(call, "name", name);

        return send(&asked, services, "DELETE", STR(""),
                    sentence(call, "Baseline ", name, " was removed."));
    }
    const struct member members[] = {{"name", name}, {"run", call->run}};
    return send(
        call, services, "POST", body_of(call, members, COUNT(members)),
        sentence(call, "Baseline ", name, str_format(call->arena, " is %s.", call->words[1]).at));
}

/* `--start 1ms --end 2ms --track T` of the command line belong into the body. */
static enum status put_window(const struct cli_call *call, struct json *json, struct error *err)
{
    struct query query;

    TRY(query_parse(call->query, call->arena, &query, err));
    for (uint32_t i = 0; i < query.count; i++) {
        json_key_text(json, query.pairs[i].name);
        if (str_ends(query.pairs[i].name, STR("_ps")))
            json_add_raw(json, query.pairs[i].value);
        else
            json_add_text(json, query.pairs[i].value);
    }
    return OK;
}

static int add_note(const struct cli_call *call, const struct services *services)
{
    struct cli_call asked = *call;
    struct text text = {0};
    struct json json = json_into(&text);
    struct error err = {0};

    json_open(&json, '{');
    json_put_text(&json, "run", call->run);
    json_put_text(&json, "text", str_of(call->words[1]));
    enum status status = put_window(call, &json, &err);
    json_close(&json, '}');
    struct str body = str_copy(call->arena, text_str(&text));
    text_free(&text);
    if (status != OK) {
        fprintf(stderr, "jviewd: %s\n", err.message);
        return EXIT_USAGE;
    }
    asked.query = STR("");
    return send(&asked, services, "POST", body,
                sentence(call, "A note on ", str_of(call->words[0]), "."));
}

int change_notes(const struct cli_call *call, const struct services *services)
{
    if (is_action(call, "list") || is_action(call, "show"))
        return print_table(call, services);
    if (is_action(call, "add"))
        return add_note(call, services);
    if (is_action(call, "remove")) {
        struct str id = str_of(call->words[0]);
        struct cli_call asked = with_query(call, "id", id);

        return send(&asked, services, "DELETE", STR(""),
                    sentence(call, "Note ", id, " was removed."));
    }
    if (is_action(call, "import")) {
        const struct member members[] = {{"run", call->run}, {"import", STR("bundle")}};

        return send(
            call, services, "POST", body_of(call, members, COUNT(members)),
            sentence(call, "The notes and tags of ", str_of(call->words[0]), " are yours now."));
    }
    struct str tag = str_of(call->words[1]);
    if (is_action(call, "untag")) {
        struct cli_call of_run = with_query(call, "run", call->run);
        struct cli_call asked = with_query(&of_run, "tag", tag);

        return send(&asked, services, "DELETE", STR(""),
                    sentence(call, "Tag ", tag, " was removed."));
    }
    const struct member members[] = {{"run", call->run}, {"tag", tag}};
    return send(call, services, "POST", body_of(call, members, COUNT(members)),
                sentence(call, "Tagged ", str_of(call->words[0]), "."));
}
