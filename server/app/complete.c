/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the words that fit an unfinished command line: verbs, their flags, the words of a flag. */
#include "app/complete.h"

#include <stdio.h>

#include "base/bytes.h"
#include "cli/flag_texts.h"
#include "cli/parameters.h"

/* Verbs that read their command line themselves. A flag with "=" takes a value, of the words behind
 * it where there are some; tests hold the list against what --help says. */
static const struct {
    const char *name, *summary, *flags;
} own_verbs[] = {
    {"serve", "serves profiles to a browser", NULL}, /* the table of options has its flags */
    {"open", "opens a browser at a run",
     "--latest --ui=builtin|perfetto --profile-dir= --cache-dir= --help"},
    {"collect", "records a program",
     "--output= --trace=cuda|nvtx|cuda,nvtx|none --delay= --duration= "
     "--capture-range=none|nvtx|signal|cudaProfilerApi --nvtx-capture= "
     "--capture-range-end=stop|repeat|stop-shutdown --nvtx-domain-include= --nvtx-domain-exclude= "
     "--cuda-graph-trace=node|graph --if= --max-spool= --flush-interval= --system= --py-sample "
     "--sample=cpu|none --sampling-frequency= --hlo-dump --py-locations --finalize= "
     "--wait=primary|all --kill=none|sigterm|sigkill --env-var= --replace-injection --quiet "
     "--version --help"},
    {"capture", "profiles programs that run a profiler server",
     "--ms= --profile-dir= --every= --keep= --host-level=0|1|2|3 --device-level=0|1 "
     "--python-level=0|1 --help"},
    {"index", "indexes one profile file",
     "--out= --growing --root= --follow-symlinks --identify --convert --xplane --threads=1|2 "
     "--unless= --progress-fd= --help"},
    {"doctor", "finds out why profiles are missing or incomplete",
     "--release --port= --cache-dir= --follow-symlinks --format=json --help"},
    {"prune", "lists, deletes or compresses old profiles",
     "--keep= --older-than= --max-size= --delete --compress --yes --index-store= --cache-dir= "
     "--data-dir= --help"},
    {"export", "writes the tables of every run as files",
     "--to= --tables= --format=parquet|arrow|csv|jsonl --part= --runs= --replace --index-store= "
     "--schema --follow-symlinks --cache-dir= --help"},
    {"plan", "divides runs between several workers",
     "--parts= --part= --follow-symlinks --cache-dir= --help"},
    {"fleet", "slowest ops, late hosts and waiting jobs of all runs",
     "--limit= --format=table|json --index-store= --follow-symlinks --cache-dir= --help"},
    {"help", "what a verb does", ""},
};

/* Of every verb that asks an endpoint. */
static const char readers_flags[] =
    "--profile-dir= --cache-dir= --index-store= --data-dir= --follow-symlinks --wide --output= "
    "--help";

enum { FLAGS_MAX = 96 };

struct flag {
    char name[48];       /* "--by" */
    struct str values;   /* "op|scope"; "" any */
    bool takes_value;    /* false: it stands alone */
    bool takes_run;      /* the value names a run */
    const char *meaning; /* or NULL */
};

struct typing {
    const struct verb *verb; /* one that asks an endpoint, or NULL */
    struct flag flags[FLAGS_MAX];
    uint32_t flag_count;
    struct str word; /* what was typed of the last word */
};

void complete_offer(struct str word, const char *meaning)
{
    if (meaning == NULL || meaning[0] == '\0')
        printf("%.*s\n", STR_ARG(word));
    else
        printf("%.*s\t%s\n", STR_ARG(word), meaning);
}

static void offer_files(void)
{
    puts("/");
}

/* `before` is what stands before the candidate within the word: "--by=", or "". */
static void offer(const struct typing *typing, struct str before, struct str candidate,
                  const char *meaning)
{
    char whole[256];

    snprintf(whole, sizeof whole, "%.*s%.*s", STR_ARG(before), STR_ARG(candidate));
    if (str_starts(str_of(whole), typing->word))
        complete_offer(str_of(whole), meaning);
}

/* "a|b|c"; files where nothing is known. */
static void offer_values(const struct typing *typing, struct str before, struct str values)
{
    if (values.count == 0)
        offer_files();
    while (values.count > 0) {
        const char *bar = memchr(values.at, '|', values.count);
        size_t count = bar == NULL ? values.count : (size_t)(bar - values.at);

        offer(typing, before, (struct str){values.at, count}, NULL);
        values = str_skip(values, count + 1);
    }
}

static struct flag *add_flag(struct typing *typing, struct str name, const char *meaning)
{
    static struct flag none;
    struct flag *flag =
        typing->flag_count < FLAGS_MAX ? &typing->flags[typing->flag_count++] : &none;

    *flag = (struct flag){.values = STR(""), .meaning = meaning};
    snprintf(flag->name, sizeof flag->name, "%.*s", STR_ARG(name));
    return flag;
}

/* "--latest --ui=builtin|perfetto --cache-dir=" */
static void add_list(struct typing *typing, const char *list)
{
    for (struct str rest = str_of(list); rest.count > 0;) {
        const char *blank = memchr(rest.at, ' ', rest.count);
        size_t count = blank == NULL ? rest.count : (size_t)(blank - rest.at);
        const char *equals = memchr(rest.at, '=', count);
        size_t name = equals == NULL ? count : (size_t)(equals - rest.at);
        struct flag *flag = add_flag(typing, (struct str){rest.at, name}, NULL);

        flag->takes_value = equals != NULL;
        if (flag->takes_value)
            flag->values = (struct str){equals + 1, count - name - 1};
        rest = str_skip(rest, count + 1);
    }
}

static void add_options(struct typing *typing)
{
    struct option_shape option;

    for (uint32_t i = 0; options_at(i, &option); i++) {
        char name[48];

        snprintf(name, sizeof name, "--%s", option.name);
        struct flag *flag = add_flag(typing, str_of(name), option.help);
        flag->takes_value = option.takes_value;
        flag->values = str_of(option.words);
    }
}

static void add_parameters(struct typing *typing, const struct verb *verb)
{
    const char *formats = formats_of(verb);

    for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
         param++) {
        const struct flag_text *text = flag_text_find(verb, param->name);
        char name[48];

        if (!parameter_is_flag(verb, param))
            continue;
        parameter_flag(param, name, sizeof name);
        struct flag *flag = add_flag(typing, str_of(name), text == NULL ? NULL : text->text);
        flag->takes_value = !parameter_is_switch(param);
        if (param->kind == PARAM_WORD)
            flag->values = str_of(param->words);
        flag->takes_run = verb->other_run != NULL && strcmp(param->name, verb->other_run) == 0;
    }
    if (verb->own_flag != NULL) {
        char name[48];

        snprintf(name, sizeof name, "--%s", verb->own_flag);
        add_flag(typing, str_of(name), verb->own_flag_text)->takes_value = true;
    }
    if (formats != NULL) {
        struct flag *flag = add_flag(typing, STR("--format"), "format of the answer");

        flag->takes_value = true;
        flag->values = str_of(formats);
    }
    add_list(typing, cli_path(verb) == NULL ? "--help" : readers_flags);
}

static void add_flags(struct typing *typing, const char *name)
{
    typing->verb = cli_find(name);
    if (typing->verb != NULL) {
        add_parameters(typing, typing->verb);
        return;
    }
    for (size_t i = 0; i < COUNT(own_verbs); i++) {
        if (strcmp(own_verbs[i].name, name) == 0 && own_verbs[i].flags != NULL) {
            add_list(typing, own_verbs[i].flags);
            return;
        }
    }
    add_options(typing);
}

/* NULL: no such flag. */
static const struct flag *find_flag(const struct typing *typing, struct str name)
{
    if (str_equal(name, STR("-o")))
        name = STR("--output");
    for (uint32_t i = 0; i < typing->flag_count; i++) {
        if (str_equal(str_of(typing->flags[i].name), name))
            return &typing->flags[i];
    }
    return NULL;
}

static void offer_verbs(const struct typing *typing)
{
    const struct verb *verb;

    for (size_t i = 0; i < COUNT(own_verbs); i++)
        offer(typing, STR(""), str_of(own_verbs[i].name), own_verbs[i].summary);
    for (uint32_t i = 0; (verb = cli_verb_at(i)) != NULL; i++)
        offer(typing, STR(""), str_of(verb->name), verb->summary);
}

/* A verb's action, a run, a path: `at` operands stand before it. True: a run. */
static bool offer_operand(const struct typing *typing, uint32_t at, const char *first)
{
    const struct verb *verb = typing->verb;

    if (verb == NULL) {
        offer_files();
        return at == 0 && strcmp(first, "open") == 0;
    }
    if (cli_path(verb) == NULL) { /* completion bash|zsh|fish */
        if (at == 0)
            offer_values(typing, STR(""), str_of(verb->operands));
        return false;
    }
    for (const struct verb_action *action = verb->actions;
         at == 0 && action != NULL && action->name != NULL; action++)
        offer(typing, STR(""), str_of(action->name), action->operands);
    if (verb->actions != NULL)
        return at > 0;
    bool takes_run = verb->many_runs || (verb->two_runs && at < 2) ||
                     (at == 0 && str_starts(str_of(verb->operands), STR("RUN")));
    if (takes_run || at == 0)
        offer_files();
    return takes_run;
}

/* What was typed of the places where runs are. */
static void take_place(struct store_of_runs *places, struct str flag, const char *value)
{
    if (str_equal(flag, STR("--profile-dir")) || str_equal(flag, STR("--logdir")))
        places->profile_dir = value;
    else if (str_equal(flag, STR("--cache-dir")))
        places->cache_dir = value;
    else if (str_equal(flag, STR("--data-dir")))
        places->data_dir = value;
}

/* A first word that is no verb is a path to serve. */
static bool is_verb(const char *word)
{
    for (size_t i = 0; i < COUNT(own_verbs); i++) {
        if (strcmp(own_verbs[i].name, word) == 0)
            return true;
    }
    return cli_find(word) != NULL;
}

static struct str name_of(const char *word)
{
    return (struct str){word, strcspn(word, "=")};
}

bool complete_words(int argc, char **argv, struct store_of_runs *ret, struct str *ret_word)
{
    struct typing typing = {.word = str_of(argc > 0 ? argv[argc - 1] : "")};
    const struct flag *open = NULL; /* the flag whose value comes next */
    uint32_t operands = 0;

    *ret = (struct store_of_runs){0};
    *ret_word = typing.word;
    add_flags(&typing, argc > 1 ? argv[0] : "serve");
    for (int i = argc > 1 && is_verb(argv[0]); i < argc - 1; i++) {
        const struct flag *flag = argv[i][0] == '-' ? find_flag(&typing, name_of(argv[i])) : NULL;
        const char *equals = strchr(argv[i], '=');

        if (open != NULL) {
            take_place(ret, str_of(open->name), argv[i]);
            open = NULL;
        } else if (flag != NULL && equals != NULL) {
            take_place(ret, str_of(flag->name), equals + 1);
        } else if (flag != NULL && flag->takes_value) {
            open = flag;
        } else if (argv[i][0] != '-') {
            operands++;
        }
    }
    const char *equals = memchr(typing.word.at, '=', typing.word.count);
    struct str before = STR("");
    if (open == NULL && str_starts(typing.word, STR("-")) && equals != NULL) {
        before = (struct str){typing.word.at, (size_t)(equals - typing.word.at) + 1};
        open = find_flag(&typing, (struct str){before.at, before.count - 1});
        *ret_word = str_skip(typing.word, before.count);
    }
    if (open != NULL) {
        if (!open->takes_run)
            offer_values(&typing, before, open->values);
        return open->takes_run && before.count == 0;
    }
    if (str_starts(typing.word, STR("-"))) {
        for (uint32_t i = 0; i < typing.flag_count; i++)
            offer(&typing, STR(""), str_of(typing.flags[i].name), typing.flags[i].meaning);
        return false;
    }
    if (argc <= 1) {
        offer_verbs(&typing);
        offer_files();
        return false;
    }
    if (strcmp(argv[0], "help") == 0) {
        offer_verbs(&typing);
        return false;
    }
    return offer_operand(&typing, operands, argv[0]);
}
