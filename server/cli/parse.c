/* SPDX-License-Identifier: Apache-2.0 */
/* argv -> struct cli_call.
 *
 *   top runs/profiles/step_1000 --by scope --limit 5 --format csv
 *       |                        |                    |
 *       root and run             the query            the call's own
 *
 * A flag that is none of the call's own is a parameter of the endpoint, with dashes for
 * underscores; whether it knows such a one is for the endpoint to say. Times take a unit:
 * `--start-ps 1.5ms`.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/parameters.h"
#include "cli/standard_input.h"
#include "remote/remote.h"
#include "serve/answer/json_out.h"

struct parse {
    struct cli_call *call;
    struct arena *arena;
    struct text query;
    const char *operands[CLI_OPERANDS_MAX];
    uint32_t operand_count;
    struct text repeated;  /* values of the flag that may stand several times, by comma */
    const char *other_run; /* of the flag that names one; NULL: not given */
    bool root_given;       /* by --profile-dir */
    bool all;              /* --all instead of RUN */
};

static struct {
    const char *suffix;
    int64_t ps;
} const units[] = {
    {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};

/* "1.5ms" as whole picoseconds; false for anything else. */
static bool time_parse(struct str text, int64_t *ret)
{
    for (size_t i = 0; i < COUNT(units); i++) {
        struct str suffix = str_of(units[i].suffix);
        char *end;

        if (!str_ends(text, suffix) || text.count == suffix.count)
            continue;
        char number[64];
        size_t count = text.count - suffix.count;
        if (!isdigit((unsigned char)text.at[count - 1]) || count >= sizeof number)
            continue;
        memcpy(number, text.at, count);
        number[count] = '\0';
        double value = strtod(number, &end);
        double ps = value * (double)units[i].ps;
        if (*end != '\0' || !(ps > -9.2e18 && ps < 9.2e18))
            return false;
        *ret = (int64_t)(ps < 0 ? ps - 0.5 : ps + 0.5);
        return true;
    }
    return str_to_i64(text, ret);
}

static void put_encoded(struct text *out, struct str value)
{
    for (size_t i = 0; i < value.count; i++) {
        unsigned char byte = (unsigned char)value.at[i];

        if (isalnum(byte) || strchr("-._~,:", byte) != NULL)
            text_putf(out, "%c", byte);
        else
            text_putf(out, "%%%02X", byte);
    }
}

static void put_parameter(struct parse *parse, struct str name, struct str value)
{
    char *word = str_c(parse->arena, name);

    if (parse->query.count > 0)
        text_puts(&parse->query, "&");
    for (char *at = word; *at != '\0'; at++)
        if (*at == '-')
            *at = '_';
    put_encoded(&parse->query, str_of(word)); /* the user may have typed anything */
    text_puts(&parse->query, "=");
    put_encoded(&parse->query, value);
}

/* A parameter of the endpoint; times become picoseconds. */
static enum status put_flag(struct parse *parse, struct str name, struct str value,
                            struct error *err)
{
    bool is_time = str_ends(name, STR("-ps"));
    int64_t ps;

    if (str_equal(name, STR("start")) || str_equal(name, STR("end"))) {
        name = str_format(parse->arena, "%.*s-ps", STR_ARG(name));
        is_time = true;
    }
    if (is_time) {
        if (!time_parse(value, &ps))
            return fail(err, ERR_INVALID, "--%.*s takes a time such as 12.4ms, not \"%.*s\"",
                        STR_ARG(name), STR_ARG(value));
        value = str_format(parse->arena, "%lld", (long long)ps);
    }
    put_parameter(parse, name, value);
    return OK;
}

static void add_root(struct parse *parse, struct str path)
{
    struct cli_call *call = parse->call;

    for (uint32_t i = 0; i < call->root_count; i++) {
        if (str_equal(call->roots[i], path))
            return;
    }
    if (call->root_count < COUNT(call->roots))
        call->roots[call->root_count++] = str_copy(parse->arena, path);
}

static bool take_own_flag(struct parse *parse, struct str name, const char *value)
{
    struct cli_call *call = parse->call;

    if (str_equal(name, STR("profile-dir")) || str_equal(name, STR("logdir"))) {
        add_root(parse, str_of(value));
        parse->root_given = true;
    } else if (str_equal(name, STR("cache-dir"))) {
        call->cache_dir = value;
    } else if (str_equal(name, STR("index-store"))) {
        call->index_store = value;
    } else if (str_equal(name, STR("data-dir"))) {
        call->data_dir = value;
    } else if (str_equal(name, STR("format"))) {
        call->format = str_of(value);
    } else if (str_equal(name, STR("output"))) {
        call->output = str_of(value);
    } else {
        return false;
    }
    return true;
}

static enum status take_exit_code(const char *value, int *ret, struct error *err)
{
    int64_t code;

    if (!str_to_i64(str_of(value), &code) || code < 0 || code > 255)
        return fail(err, ERR_INVALID, "an exit code is 0 to 255, not \"%s\"", value);
    *ret = (int)code;
    return OK;
}

/* A parameter that is yes or no is said by its flag alone. */
static bool is_switch(const struct verb *verb, struct str name)
{
    for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
         param++) {
        char flag[64];

        parameter_flag(param, flag, sizeof flag);
        if (parameter_is_switch(param) && str_equal(str_of(flag + 2), name))
            return true;
    }
    return false;
}

/* "--name value", "--name=value", "-o value"; *at moves past what was taken. */
static enum status take_flag(struct parse *parse, int argc, char **argv, int *at, struct error *err)
{
    const char *word = argv[*at];
    const char *equals = strchr(word, '=');
    struct str name = str_skip(str_of(word), 2);

    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        parse->call->help = true;
        return OK;
    }
    if (strcmp(word, "--follow-symlinks") == 0) {
        parse->call->follow_symlinks = true;
        return OK;
    }
    if (strcmp(word, "--wide") == 0) {
        parse->call->wide = true;
        return OK;
    }
    if (parse->call->verb->posts != NULL && strcmp(word, "--all") == 0) {
        parse->all = true;
        return OK;
    }
    if (strcmp(word, "-o") == 0)
        name = STR("output");
    else if (word[1] != '-')
        return fail(err, ERR_INVALID, "there is no flag %s", word);
    else if (equals != NULL)
        name.count = (size_t)(equals - word) - 2;
    const char *value = equals != NULL && word[1] == '-' ? equals + 1 : NULL;
    if (value == NULL && is_switch(parse->call->verb, name)) {
        put_parameter(parse, name, STR("yes"));
        return OK;
    }
    if (value == NULL && *at + 1 >= argc)
        return fail(err, ERR_INVALID, "%s needs a value", word);
    if (value == NULL)
        value = argv[++*at];
    if (take_own_flag(parse, name, value))
        return OK;
    const struct verb *verb = parse->call->verb;
    bool is_own = verb->own_flag != NULL && (str_equal(name, str_of(verb->own_flag)) ||
                                             str_equal(name, STR("noisy-exit"))); /* its old name */
    if (is_own)
        return take_exit_code(value, &parse->call->maybe_exit, err);
    if (verb->other_run != NULL && str_equal(name, str_of(verb->other_run))) {
        parse->other_run = value;
        return OK;
    }
    if (verb->repeats != NULL && str_equal(name, str_of(verb->repeats))) {
        text_putf(&parse->repeated, "%s%s", parse->repeated.count > 0 ? "," : "", value);
        return OK;
    }
    return put_flag(parse, name, str_of(value), err);
}

/* Where names are looked up: what --profile-dir said, else the default. */
static void use_default_root(struct parse *parse, const char *default_root)
{
    if (!parse->root_given && default_root != NULL)
        add_root(parse, str_of(default_root));
}

/* A run given as a path is the newest run below that path. */
static void place_run(struct parse *parse, const char *operand, const char *default_root)
{
    struct stat info;

    if (!parse->root_given && (remote_is_place(str_of(operand)) || stat(operand, &info) == 0)) {
        parse->call->root_count = 0;
        add_root(parse, str_of(operand));
        parse->call->run = STR("latest");
        return;
    }
    use_default_root(parse, default_root);
    parse->call->run = str_of(operand);
}

/* "step=4", "3-5": what may stand behind the @ of an operand. */
static bool is_part(struct str text)
{
    bool digits = text.count > 0;

    for (size_t i = 0; i < text.count; i++)
        digits = digits && ((text.at[i] >= '0' && text.at[i] <= '9') || text.at[i] == '-');
    return digits || memchr(text.at, '=', text.count) != NULL;
}

/* The same of a place in the network, where nobody looks whether there is such. */
static bool operand_place(struct str operand, struct str *ret)
{
    const char *part = operand.count == 0 ? NULL : memrchr(operand.at, '@', operand.count);

    *ret = operand;
    if (!remote_is_place(operand))
        return false;
    size_t behind = part == NULL ? 0 : operand.count - (size_t)(part - operand.at) - 1;

    if (part != NULL && is_part((struct str){part + 1, behind}))
        ret->count -= behind + 1;
    while (ret->count > 1 && ret->at[ret->count - 1] == '/')
        ret->count--;
    return true;
}

/* The path of an operand "NAME@step=4", without what stands behind the @; false: no such path. */
static bool operand_path(struct parse *parse, struct str operand, struct str *ret)
{
    const char *part = operand.count == 0 ? NULL : memrchr(operand.at, '@', operand.count);
    struct stat info;

    if (operand_place(operand, ret))
        return true;
    *ret = operand;
    if (part != NULL && stat(str_c(parse->arena, operand), &info) != 0)
        ret->count = (size_t)(part - operand.at);
    while (ret->count > 1 && ret->at[ret->count - 1] == '/')
        ret->count--;
    return ret->count > 0 && stat(str_c(parse->arena, *ret), &info) == 0;
}

/* What is asked of an operand: a path becomes a profile directory of its own, whose newest run is
 * meant; anything else is a name. */
static struct str refer_to(struct parse *parse, struct str operand, bool *any_name)
{
    char real[PATH_MAX];
    struct str path, root;

    if (parse->root_given || !operand_path(parse, operand, &path)) {
        *any_name = true;
        return operand;
    }
    if (remote_is_place(path)) {
        add_root(parse, path);
        root = remote_place(path, parse->arena);
    } else if (realpath(str_c(parse->arena, path), real) != NULL) {
        add_root(parse, str_of(real));
        root = str_of(real);
    } else {
        *any_name = true;
        return operand;
    }
    struct str part = memchr(operand.at + path.count, '@', operand.count - path.count) == NULL
                          ? STR("")
                          : str_skip(operand, path.count);

    while (str_starts(part, STR("/")))
        part = str_skip(part, 1);
    return str_format(parse->arena, "%.*s%.*s", STR_ARG(root), STR_ARG(part));
}

/* Several of them by comma, unless the text is one path. */
static struct str refer_to_list(struct parse *parse, struct str operands, bool *any_name)
{
    struct text list = {0};
    struct str path;

    if (operand_path(parse, operands, &path))
        return refer_to(parse, operands, any_name);
    while (operands.count > 0) {
        const char *comma = memchr(operands.at, ',', operands.count);
        size_t count = comma == NULL ? operands.count : (size_t)(comma - operands.at);
        struct str one = refer_to(parse, (struct str){operands.at, count}, any_name);

        text_putf(&list, "%s%.*s", list.count > 0 ? "," : "", STR_ARG(one));
        operands = str_skip(operands, comma == NULL ? count : count + 1);
    }
    struct str ret = str_copy(parse->arena, text_str(&list));
    text_free(&list);
    return ret;
}

/* Of a path and a name the name is of a run that lies beside what the path names: both are runs of
 * its directory. */
static bool place_beside(struct parse *parse, const char *first, const char *second,
                         const char *const params[2])
{
    struct str path, other, name = str_of(first);

    if (parse->root_given || strchr(first, '/') == NULL || !operand_path(parse, name, &path) ||
        strchr(second, '/') != NULL)
        return false;
    const char *slash = memrchr(path.at, '/', path.count);
    struct str directory = slash == path.at ? STR("/")
                           : slash == NULL  ? STR(".")
                                            : (struct str){path.at, (size_t)(slash - path.at)};
    struct str part = str_skip(name, path.count);
    struct str beside = str_format(parse->arena, "%.*s/%s", STR_ARG(directory), second);

    /* A word that is a path from here is one, unless a run beside the first is called so. */
    if (operand_path(parse, str_of(second), &other) && !operand_path(parse, beside, &other))
        return false;
    while (str_starts(part, STR("/")))
        part = str_skip(part, 1);
    add_root(parse, directory);
    put_parameter(
        parse, str_of(params[0]),
        str_format(parse->arena, "%.*s%.*s",
                   STR_ARG(slash == NULL ? path : str_skip(path, (size_t)(slash - path.at) + 1)),
                   STR_ARG(part)));
    put_parameter(parse, str_of(params[1]), str_of(second));
    return true;
}

/* Each a path or a name. */
static void place_two_runs(struct parse *parse, const char *const operands[2],
                           const char *const params[2], const char *default_root)
{
    struct str runs[2];
    bool any_name = false;

    if (place_beside(parse, operands[0], operands[1], params))
        return;
    runs[0] = refer_to(parse, str_of(operands[0]), &any_name);
    runs[1] = refer_to_list(parse, str_of(operands[1]), &any_name);
    if (any_name)
        use_default_root(parse, default_root);
    for (int i = 0; i < 2; i++)
        put_parameter(parse, str_of(params[i]), runs[i]);
}

/* The verb's runs, as its operands and flags name them. */
static void place_runs(struct parse *parse, const char *default_root)
{
    const struct verb *verb = parse->call->verb;

    if (verb->two_runs)
        place_two_runs(parse, parse->operands, (const char *const[]){"a", "b"}, default_root);
    else if (parse->other_run != NULL)
        place_two_runs(parse, (const char *const[]){parse->operands[0], parse->other_run},
                       (const char *const[]){"run", verb->other_run}, default_root);
    else
        place_run(parse, parse->operands[0], default_root);
}

/* Many runs, each a path or a name. */
static enum status place_many(struct parse *parse, const char *default_root, struct error *err)
{
    struct text runs = {0};
    bool any_name = false;

    if (parse->operand_count == 0)
        return fail(err, ERR_INVALID, "%s needs %s", parse->call->verb->name,
                    parse->call->verb->operands);
    for (uint32_t i = 0; i < parse->operand_count; i++) {
        struct str run = refer_to(parse, str_of(parse->operands[i]), &any_name);

        text_putf(&runs, "%s%.*s", i > 0 ? "," : "", STR_ARG(run));
    }
    if (any_name)
        use_default_root(parse, default_root);
    put_parameter(parse, STR("runs"), text_str(&runs));
    text_free(&runs);
    return OK;
}

static uint32_t words_in(const char *text)
{
    uint32_t count = text[0] != '\0';

    for (; *text != '\0'; text++)
        count += *text == ' ';
    return count;
}

/* "set main step_500": the action, then what it takes; a RUN is a path or a name. */
static enum status place_action(struct parse *parse, const char *default_root, struct error *err)
{
    const struct verb *verb = parse->call->verb;
    const struct verb_action *action = verb->actions;
    const char *const *words = arena_array(parse->arena, const char *, CLI_OPERANDS_MAX);
    uint32_t count = parse->operand_count > 0 ? parse->operand_count - 1 : 0, at = 0;

    while (action->name != NULL && parse->operand_count > 0 &&
           strcmp(action->name, parse->operands[0]) != 0)
        action++;
    if (action->name == NULL || count != words_in(action->operands))
        return fail(err, ERR_INVALID, "jviewd %s %s", verb->name, verb->operands);
    memcpy((void *)(uintptr_t)words, parse->operands + 1, count * sizeof *words);
    parse->call->action = action;
    parse->call->words = words;
    use_default_root(parse, default_root);
    for (const char *word = action->operands; *word != '\0'; at++) {
        if (strncmp(word, "RUN", 3) == 0)
            place_run(parse, words[at], default_root);
        word += strcspn(word, " ");
        word += *word == ' ';
    }
    return OK;
}

/* RUN QUERY, or --all QUERY. */
static enum status place_query(struct parse *parse, const char *default_root, struct error *err)
{
    const struct verb *verb = parse->call->verb;
    struct text body = {0};
    struct json json = json_into(&body);

    if (parse->operand_count != (parse->all ? 1 : 2))
        return fail(err, ERR_INVALID, "%s needs %s", verb->name, verb->operands);
    if (!parse->all)
        place_run(parse, parse->operands[0], default_root);
    else
        use_default_root(parse, default_root);
    json_open(&json, '{');
    json_put_text(&json, verb->posts, str_of(parse->operands[parse->operand_count - 1]));
    json_close(&json, '}');
    parse->call->method = STR("POST");
    parse->call->body = str_copy(parse->arena, text_str(&body));
    text_free(&body);
    return OK;
}

/* The operands, and what a RUN is. */
static enum status miss_operands(const struct verb *verb, struct error *err)
{
    bool is_run = str_starts(str_of(verb->operands), STR("RUN"));

    return fail(err, ERR_INVALID, "%s needs %s%s", verb->name, verb->operands,
                is_run ? "; RUN is the name of a run, such as latest, or the path of a profile"
                       : "");
}

/* No path was given, and where a name would be looked for is nothing. */
static enum status fail_no_root(const struct parse *parse, const char *default_root,
                                struct error *err)
{
    const char *place = default_root == NULL ? "./profiles" : default_root;
    uint32_t at = parse->call->words != NULL ? 1 : 0;

    if (parse->operand_count <= at)
        return fail(err, ERR_NOT_FOUND,
                    "%s does not exist, and no other directory was named: %s DIR, or --profile-dir "
                    "DIR",
                    place, parse->call->verb->name);
    return fail(err, ERR_NOT_FOUND,
                "\"%s\": no such file or directory, and no %s in which a run could have that name: "
                "give a path, or --profile-dir DIR",
                parse->operands[at], place);
}

static enum status place_operands(struct parse *parse, const char *default_root, struct error *err)
{
    const struct verb *verb = parse->call->verb;
    struct stat info;
    bool takes_run = str_starts(str_of(verb->operands), STR("RUN"));
    bool takes_two = verb->two_runs || verb->posts != NULL || (takes_run && verb->needs != NULL);
    uint32_t most = takes_two ? 2 : 1;

    bool counts = verb->actions == NULL && !verb->many_runs;

    if (counts && parse->operand_count > most)
        return fail(err, ERR_INVALID, "%s takes %s; \"%s\" is too many", verb->name, verb->operands,
                    parse->operands[most]);
    if (parse->call->path == NULL) {
        if (parse->operand_count == 0)
            return fail(err, ERR_INVALID, "%s needs one of %s", verb->name, verb->operands);
        parse->call->run = str_of(parse->operands[0]);
        return OK;
    }
    if (verb->actions == NULL && verb->posts == NULL && parse->operand_count < most &&
        (takes_run || verb->two_runs))
        return miss_operands(verb, err);
    if (verb->actions != NULL) {
        TRY(place_action(parse, default_root, err));
    } else if (verb->many_runs) {
        TRY(place_many(parse, default_root, err));
    } else if (verb->posts != NULL) {
        TRY(place_query(parse, default_root, err));
    } else if (!takes_run && !verb->two_runs) {
        if (parse->operand_count == 1)
            add_root(parse, str_of(parse->operands[0]));
        else
            use_default_root(parse, default_root);
    } else {
        if (verb->reads_stdin && strcmp(parse->operands[0], "-") == 0)
            TRY(standard_input_file(parse->arena, &parse->operands[0], err));
        place_runs(parse, default_root);
        if (verb->needs != NULL)
            put_parameter(parse, str_of(verb->needs), str_of(parse->operands[1]));
    }
    bool is_default = !parse->root_given && parse->call->root_count == 1 && default_root != NULL &&
                      str_equal(parse->call->roots[0], str_of(default_root));
    if (parse->call->root_count == 0 ||
        (is_default && !remote_is_place(str_of(default_root)) && stat(default_root, &info) != 0))
        return fail_no_root(parse, default_root, err);
    return OK;
}

enum status cli_parse(int argc, char **argv, const char *default_root, struct arena *arena,
                      struct cli_call *ret, struct error *err)
{
    struct parse parse = {.call = ret, .arena = arena};
    enum status status = OK;

    *ret = (struct cli_call){.verb = cli_find(argv[0]), .cache_dir = "", .arena = arena};
    if (ret->verb == NULL)
        return fail(err, ERR_INVALID, "there is no command \"%s\"", argv[0]);
    ret->path = cli_path(ret->verb);
    for (int at = 1; status == OK && at < argc; at++) {
        if (argv[at][0] == '-' && argv[at][1] != '\0')
            status = take_flag(&parse, argc, argv, &at, err);
        else if (parse.operand_count < CLI_OPERANDS_MAX)
            parse.operands[parse.operand_count++] = argv[at];
        else
            status = fail(err, ERR_INVALID, "more than %d operands", CLI_OPERANDS_MAX);
    }
    if (parse.repeated.count > 0)
        put_parameter(&parse, str_of(ret->verb->repeats), text_str(&parse.repeated));
    text_free(&parse.repeated);
    if (ret->verb->sends != NULL) {
        ret->method = STR("POST");
        ret->body = str_of(ret->verb->sends);
    }
    if (status == OK && !ret->help)
        status = place_operands(&parse, default_root, err);
    ret->first = parse.operand_count > 0 ? parse.operands[0] : NULL;
    ret->other = parse.other_run;
    ret->query = str_copy(arena, text_str(&parse.query));
    text_free(&parse.query);
    return status;
}
