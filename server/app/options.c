/* SPDX-License-Identifier: Apache-2.0 */
/* One table knows every option; the places that may set one are read from the weakest on:
 * defaults, config file, environment, flags. */
#include "app/options.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/distance.h"
#include "base/file.h"
#include "capture/capture.h"

enum { CONFIG_BYTES_MAX = 1 << 20, NAME_MAX_BYTES = 64, TEXTS_MAX = 256 };

enum value_kind {
    VALUE_NONE,
    VALUE_TARGETS,
    VALUE_TEXT,
    VALUE_TEXTS,
    VALUE_PORT,
    VALUE_BYTES,
    VALUE_COUNT
};

struct option {
    const char *name; /* as a flag, without dashes */
    enum value_kind kind;
    size_t offset;     /* in struct options */
    const char *words; /* "a|b": nothing else will do; NULL: any text */
    const char *value, *help;
};

#define AT(field) offsetof(struct options, field)

static const struct option table[] = {
    {"profile-dir", VALUE_TEXTS, AT(roots), NULL, "DIR",
     "show the profiles below DIR, or one file; may be repeated"},
    {"port", VALUE_PORT, AT(port), NULL, "8080|auto|0",
     "port to listen on; auto: the next free one from 8080, 0: any"},
    {"bind", VALUE_TEXT, AT(bind), NULL, "ADDRESS",
     "address to listen on (127.0.0.1); addresses that other machines can reach need --auth token"},
    {"cache-dir", VALUE_TEXT, AT(cache_dir), NULL, "DIR",
     "directory of the indexes ($XDG_CACHE_HOME/jviewd)"},
    {"index-store", VALUE_TEXT, AT(index_store), NULL, "DIR",
     "directory or bucket of indexes shared between machines: read from it and add to it"},
    {"data-dir", VALUE_TEXT, AT(data_dir), NULL, "DIR",
     "directory of notes and baselines ($XDG_DATA_HOME/jviewd)"},
    {"cache-size", VALUE_BYTES, AT(cache_bytes_max), NULL, "BYTES",
     "size limit of the cache, such as 500M or 20G (10G)"},
    {"memory-max", VALUE_BYTES, AT(memory_bytes_max), NULL, "BYTES",
     "memory limit of all requests together (half of what the server may use)"},
    {"upload-max", VALUE_BYTES, AT(upload_bytes_max), NULL, "BYTES",
     "size limit of a file uploaded from the browser; 0: accept none (2G, or 0 if other machines "
     "can reach the server)"},
    {"upload-quota", VALUE_BYTES, AT(upload_quota), NULL, "BYTES",
     "size limit of all uploaded files together (10G)"},
    {"embed-origin", VALUE_TEXTS, AT(embed_origins), NULL, "ORIGIN",
     "let pages of this origin, such as http://localhost:8888, embed ?embed=1 in a frame"},
    {"base-path", VALUE_TEXT, AT(base_path), NULL, "/P", "path below which a proxy serves jviewd"},
    {"public-url", VALUE_TEXT, AT(public_url), NULL, "URL",
     "the URL at which browsers reach this server"},
    {"auth", VALUE_TEXT, AT(auth), "none|token", "none|token", "token: require an access token"},
    {"allowed-host", VALUE_TEXTS, AT(allowed_hosts), NULL, "NAME",
     "another host name by which browsers may reach this server"},
    {"source-root", VALUE_TEXTS, AT(source_roots), NULL, "DIR",
     "show source lines of files below DIR beside their ops"},
    {"ui", VALUE_TEXT, AT(ui), "builtin|perfetto|tensorboard|both|none", "NAME",
     "what to open: builtin, perfetto, tensorboard, both, none"},
    {"open", VALUE_NONE, AT(open), NULL, NULL, "open a browser"},
    {"list-only", VALUE_NONE, AT(list_only), NULL, NULL,
     "print the runs with their files and exit"},
    {"extract", VALUE_NONE, AT(extract), NULL, NULL,
     "write every host's trace as plain JSON and exit"},
    {"output", VALUE_TEXT, AT(output), NULL, "DIR", "where --extract writes (-o)"},
    {"follow-symlinks", VALUE_NONE, AT(follow_symlinks), NULL, NULL,
     "follow symbolic links, wherever they lead"},
    {"convert", VALUE_NONE, AT(convert), NULL, NULL,
     "run `nsys export`, if installed, on reports of Nsight Systems"},
    {"allow-capture", VALUE_TARGETS, AT(allow_capture), NULL, "[=HOST:PORT,...]",
     "let the page record programs that run a profiler server: the listed ones, or without a list "
     "those with a public address"},
    {"perfetto-cors", VALUE_NONE, AT(perfetto_cors), NULL, NULL,
     "let ui.perfetto.dev fetch traces from here"},
    {"workers", VALUE_COUNT, AT(workers), NULL, "N", "number of files to index at a time"},
    {"poll", VALUE_NONE, AT(poll), NULL, NULL,
     "look for new profiles every few seconds instead of using inotify"},
    {"verbose", VALUE_NONE, AT(verbose), NULL, NULL, "log to stderr"},
    {"version", VALUE_NONE, AT(version), NULL, NULL, "print versions and exit (-V)"},
    {"help", VALUE_NONE, AT(help), NULL, NULL, "print this text and exit (-h)"},
};

/* Other programs' words for the same, and short ones. */
static const struct {
    const char *word, *name, *value;
} aliases[] = {
    {"logdir", "profile-dir", NULL},
    {"host", "bind", NULL},
    {"bind-all", "bind", "0.0.0.0"},
    {"path-prefix", "base-path", NULL},
    {"o", "output", NULL},
    {"V", "version", NULL},
    {"h", "help", NULL},
    {"p", "port", NULL},
    {"v", "verbose", NULL},
};

struct reading {
    struct options *options;
    struct arena *arena;
    const char *place; /* "--", "JVIEWD_", a file's name: for messages */
    uint64_t replaced; /* bit per option: this place already began its list */
};

static void list_add(struct texts *texts, struct arena *arena, struct str value)
{
    struct str *more = arena_array(arena, struct str, texts->count + 1);

    for (uint32_t i = 0; i < texts->count; i++)
        more[i] = texts->at[i];
    more[texts->count] = str_copy(arena, value);
    texts->at = more;
    texts->count++;
}

static bool is_one_of(const char *words, struct str value)
{
    for (struct str rest = str_of(words); rest.count > 0;) {
        const char *bar = memchr(rest.at, '|', rest.count);
        struct str word = {.at = rest.at,
                           .count = bar == NULL ? rest.count : (size_t)(bar - rest.at)};

        if (str_equal(word, value))
            return true;
        rest = str_skip(rest, word.count + 1);
    }
    return false;
}

static bool parse_bytes(struct str value, uint64_t *ret)
{
    static const char units[] = "KMGT";
    const char *unit =
        value.count == 0 ? NULL : strchr(units, toupper((unsigned char)value.at[value.count - 1]));
    unsigned shift = 0;

    if (unit != NULL && *unit != '\0') {
        shift = 10 * (unsigned)(unit - units + 1);
        value.count--;
    }
    if (!str_to_u64(value, ret) || *ret > UINT64_MAX >> shift)
        return false;
    *ret <<= shift;
    return true;
}

static bool parse_port(struct str value, struct options *options)
{
    uint64_t port;

    options->port_tries = 1;
    if (str_equal(value, STR("auto"))) {
        options->port = 8080;
        options->port_tries = 200;
        return true;
    }
    if (!str_to_u64(value, &port) || port > 65535)
        return false;
    options->port = (int)port;
    return true;
}

static bool parse_switch(struct str value, bool *ret)
{
    *ret = !is_one_of("0|no|false|off", value);
    return *ret ? is_one_of("|1|yes|true|on", value) || value.count == 0 : true;
}

/* A switch, or whom it is for: "trainer-0:9999,trainer-1:9999". */
static bool parse_targets(struct reading *reading, struct str value, bool *ret)
{
    struct texts *targets = &reading->options->capture_targets;

    *targets = (struct texts){0};
    if (parse_switch(value, ret))
        return true;
    *ret = true;
    for (struct str rest = value; rest.count > 0;) {
        const char *comma = memchr(rest.at, ',', rest.count);
        struct str target = {rest.at, comma == NULL ? rest.count : (size_t)(comma - rest.at)};

        if (!capture_is_target(target) || targets->count >= TEXTS_MAX)
            return false;
        list_add(targets, reading->arena, target);
        rest = str_skip(rest, target.count + 1);
    }
    return true;
}

static bool set_value(struct reading *reading, const struct option *option, struct str value)
{
    char *at = (char *)reading->options + option->offset;
    uint64_t bit = UINT64_C(1) << (option - table), number;

    if (option->words != NULL && !is_one_of(option->words, value))
        return false;
    switch (option->kind) {
    case VALUE_NONE:
        return parse_switch(value, (bool *)at);
    case VALUE_TARGETS:
        return parse_targets(reading, value, (bool *)at);
    case VALUE_TEXT:
        *(const char **)(void *)at = str_c(reading->arena, value);
        return true;
    case VALUE_TEXTS:
        if ((reading->replaced & bit) == 0)
            *(struct texts *)(void *)at = (struct texts){0};
        reading->replaced |= bit;
        if (((struct texts *)(void *)at)->count >= TEXTS_MAX)
            return false;
        list_add((struct texts *)(void *)at, reading->arena, value);
        return value.count > 0;
    case VALUE_PORT:
        return parse_port(value, reading->options);
    case VALUE_BYTES:
        return parse_bytes(value, (uint64_t *)(void *)at);
    case VALUE_COUNT:
        if (!str_to_u64(value, &number) || number == 0 || number > 1024)
            return false;
        *(unsigned *)(void *)at = (unsigned)number;
        return true;
    }
    return false;
}

/* What would do, in words. */
static const char *wanted(const struct option *option)
{
    switch (option->kind) {
    case VALUE_NONE:
        return "yes or no";
    case VALUE_TARGETS:
        return "programs must be HOST:PORT, separated by commas";
    case VALUE_BYTES:
        return "a size is a whole number of bytes, or a number with K, M, G or T (500M, 20G)";
    case VALUE_PORT:
        return "a port is a number up to 65535, or auto (8080|auto|0)";
    case VALUE_COUNT:
        return "a whole number from 1 to 1024";
    case VALUE_TEXT:
    case VALUE_TEXTS:
        break;
    }
    return option->words != NULL ? option->words : option->value;
}

static enum status set(struct reading *reading, const struct option *option, struct str value,
                       struct error *err)
{
    if (set_value(reading, option, value))
        return OK;
    return fail(err, ERR_INVALID, "%s%s cannot be \"%.*s\": %s", reading->place, option->name,
                STR_ARG(value), wanted(option));
}

/* The option a word means; *ret_value is set when the word says the value, too. */
static const struct option *find(const char *word, const char **ret_value)
{
    *ret_value = NULL;
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (strcmp(word, aliases[i].word) == 0) {
            word = aliases[i].name;
            *ret_value = aliases[i].value;
        }
    }
    for (size_t i = 0; i < COUNT(table); i++) {
        if (strcmp(word, table[i].name) == 0)
            return &table[i];
    }
    return NULL;
}

/* The flag that a word was perhaps meant to be. */
static const char *nearest(const char *word)
{
    const char *best = table[0].name;
    unsigned least = UINT32_MAX;

    for (size_t i = 0; i < COUNT(table) + COUNT(aliases); i++) {
        bool is_alias = i >= COUNT(table);
        const char *name = is_alias ? aliases[i - COUNT(table)].word : table[i].name;
        unsigned distance = edit_distance(str_of(word), str_of(name));

        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}

/* "bind_all" and "bind-all" are one word. */
static void plain_word(struct str text, char ret[NAME_MAX_BYTES])
{
    size_t count = text.count < NAME_MAX_BYTES ? text.count : NAME_MAX_BYTES - 1;

    for (size_t i = 0; i < count; i++)
        ret[i] = text.at[i] == '_' ? '-' : text.at[i];
    ret[count] = '\0';
}

static struct str trim(struct str text)
{
    while (text.count > 0 && isspace((unsigned char)text.at[0]))
        text = str_skip(text, 1);
    while (text.count > 0 && isspace((unsigned char)text.at[text.count - 1]))
        text.count--;
    return text;
}

static enum status read_line(struct reading *reading, struct str line, struct error *err)
{
    char word[NAME_MAX_BYTES];
    const char *implied, *equals = memchr(line.at, '=', line.count);
    struct str name = equals == NULL
                          ? line
                          : trim((struct str){.at = line.at, .count = (size_t)(equals - line.at)});
    struct str value =
        equals == NULL ? STR("") : trim(str_skip(line, (size_t)(equals - line.at) + 1));

    plain_word(name, word);
    const struct option *option = find(word, &implied);
    if (option == NULL)
        return fail(err, ERR_INVALID, "%s has no setting \"%.*s\"; the nearest is \"%s\"",
                    reading->place, STR_ARG(name), nearest(word));
    return set(reading, option, implied != NULL ? str_of(implied) : value, err);
}

static enum status read_config(struct reading *reading, const char *path, bool must_exist,
                               struct error *err)
{
    struct error why = {0};
    struct bytes bytes;
    enum status status = file_read(path, reading->arena, CONFIG_BYTES_MAX, &bytes, &why);

    if ((status == ERR_NOT_FOUND || status == ERR_PERMISSION) && !must_exist)
        return OK; /* the usual place is of somebody else, or of nobody */
    if (status != OK)
        return fail(err, status, "%s", why.message);
    for (struct str rest = {.at = (const char *)bytes.at, .count = bytes.count}; rest.count > 0;) {
        const char *end = memchr(rest.at, '\n', rest.count);
        size_t count = end == NULL ? rest.count : (size_t)(end - rest.at);
        struct str line = trim((struct str){.at = rest.at, .count = count});

        rest = str_skip(rest, count + 1);
        if (line.count > 0 && line.at[0] != '#')
            TRY(read_line(reading, line, err));
    }
    return OK;
}

static enum status read_environment(struct reading *reading, struct error *err)
{
    for (size_t i = 0; i < COUNT(table); i++) {
        char name[NAME_MAX_BYTES] = "JVIEWD_";
        size_t at = strlen(name);

        for (const char *from = table[i].name; *from != '\0'; from++)
            name[at++] = *from == '-' ? '_' : (char)toupper((unsigned char)*from);
        name[at] = '\0';
        const char *value = getenv(name);
        if (value == NULL || value[0] == '\0')
            continue;
        reading->place = "JVIEWD_* ";
        TRY(set(reading, &table[i], str_of(value), err));
    }
    return OK;
}

/* A flag at argv[i]; *ret_used is how many arguments it took. */
static enum status read_flag(struct reading *reading, char **argv, int argc, int i, int *ret_used,
                             struct error *err)
{
    const char *text = argv[i] + (argv[i][1] == '-' ? 2 : 1), *equals = strchr(text, '=');
    const char *implied;
    char word[NAME_MAX_BYTES];

    plain_word(
        (struct str){.at = text, .count = equals == NULL ? strlen(text) : (size_t)(equals - text)},
        word);
    const struct option *option = find(word, &implied);
    if (option == NULL)
        return fail(err, ERR_INVALID,
                    "there is no flag %s; the nearest is --%s, and jviewd --help lists all",
                    argv[i], nearest(word));
    *ret_used = 1;
    if (implied != NULL)
        return set(reading, option, str_of(implied), err);
    if (equals != NULL)
        return set(reading, option, str_of(equals + 1), err);
    if (option->kind == VALUE_NONE || option->kind == VALUE_TARGETS)
        return set(reading, option, STR(""), err);
    if (i + 1 >= argc)
        return fail(err, ERR_INVALID, "--%s needs a value: %s", option->name, option->value);
    *ret_used = 2;
    return set(reading, option, str_of(argv[i + 1]), err);
}

static enum status read_flags(struct reading *reading, int argc, char **argv, struct error *err)
{
    const char *unused;
    bool only_paths = false;

    for (int i = 1, used; i < argc; i += used) {
        used = 1;
        if (!only_paths && strcmp(argv[i], "--") == 0)
            only_paths = true;
        else if (!only_paths && argv[i][0] == '-' && argv[i][1] != '\0')
            TRY(read_flag(reading, argv, argc, i, &used, err));
        else
            TRY(set(reading, find("profile-dir", &unused), str_of(argv[i]), err));
    }
    return OK;
}

/* --config decides which file is read, so it is looked for before anything else, and taken out. */
static enum status take_config(int *argc, char **argv, const char **ret, struct error *err)
{
    int kept = 0;

    *ret = getenv("JVIEWD_CONFIG");
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--config") == 0 && i + 1 >= *argc)
            return fail(err, ERR_INVALID, "--config needs a value: FILE");
        if (strcmp(argv[i], "--config") == 0)
            *ret = argv[++i];
        else if (strncmp(argv[i], "--config=", 9) == 0)
            *ret = argv[i] + 9;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    return OK;
}

static struct str usual_config(struct arena *arena)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (base != NULL && base[0] == '/')
        return str_format(arena, "%s/jviewd/config", base);
    return home == NULL ? STR("") : str_format(arena, "%s/.config/jviewd/config", home);
}

static bool is_directory(const char *path)
{
    struct stat seen;

    return stat(path, &seen) == 0 && S_ISDIR(seen.st_mode);
}

const char *options_default_root(const char **ret_rule)
{
    static const struct {
        const char *path, *variable, *why;
    } rules[] = {
        {NULL, "XAX_PROFILE_DIR", "$XAX_PROFILE_DIR names it"},
        {NULL, "PROFILE_DIR", "$PROFILE_DIR names it"},
        {"./profiles", NULL, "./profiles exists"},
        {"./runs/profiles", NULL, "./runs/profiles exists"},
    };

    for (size_t i = 0; i < COUNT(rules); i++) {
        const char *path = rules[i].variable == NULL ? rules[i].path : getenv(rules[i].variable);

        if (path == NULL || path[0] == '\0' || (rules[i].variable == NULL && !is_directory(path)))
            continue;
        *ret_rule = rules[i].why;
        return path;
    }
    *ret_rule = "the default; it does not exist yet";
    return "./profiles";
}

enum status options_read(int argc, char **argv, struct arena *arena, struct options *ret,
                         struct error *err)
{
    struct options options = {
        .bind = "127.0.0.1",
        .port = 8080,
        .port_tries = 1,
        .cache_dir = "",
        .index_store = "",
        .data_dir = "",
        .cache_bytes_max = UINT64_C(10) << 30,
        .upload_bytes_max = UINT64_MAX,
        .upload_quota = UINT64_C(10) << 30,
        .base_path = "",
        .public_url = "",
        .auth = "",
        .ui = "builtin",
        .page = "",
        .output = "",
    };
    struct reading reading = {.options = &options, .arena = arena};
    char **arguments = arena_array(arena, char *, (size_t)argc + 1);
    const char *config;

    for (int i = 0; i < argc; i++)
        arguments[i] = argv[i];
    TRY(take_config(&argc, arguments, &config, err));
    bool named = config != NULL && config[0] != '\0';
    reading.place = named ? config : str_c(arena, usual_config(arena));
    TRY(read_config(&reading, reading.place, named, err));
    reading.replaced = 0;
    TRY(read_environment(&reading, err));
    reading.replaced = 0;
    reading.place = "--";
    TRY(read_flags(&reading, argc, arguments, err));
    if (options.roots.count == 0)
        list_add(&options.roots, arena, str_of(options_default_root(&options.root_rule)));
    *ret = options;
    return OK;
}

void options_help(void)
{
    printf("jviewd [serve] [PATH...] [FLAG...]   serve the profiles below PATH to a browser\n\n");
    for (size_t i = 0; i < COUNT(table); i++) {
        char flag[80];

        snprintf(flag, sizeof flag, "--%s%s%s", table[i].name,
                 table[i].value == NULL || table[i].kind == VALUE_TARGETS ? "" : " ",
                 table[i].value == NULL ? "" : table[i].value);
        printf("  %-26s %s\n", flag, table[i].help);
    }
    printf("  %-26s %s\n", "--config FILE", "configuration file ($XDG_CONFIG_HOME/jviewd/config)");
    printf("\nEvery flag can also be set in the config file, as \"port = 9000\", or in "
           "the\nenvironment, as JVIEWD_PORT=9000. --logdir, --host and --bind_all work as in "
           "TensorBoard.\n");
}

bool options_at(uint32_t index, struct option_shape *ret)
{
    if (index == COUNT(table)) {
        *ret = (struct option_shape){"config", "", true, "configuration file"};
        return true;
    }
    if (index > COUNT(table))
        return false;
    const struct option *option = &table[index];
    *ret = (struct option_shape){option->name, option->words == NULL ? "" : option->words,
                                 option->kind != VALUE_NONE && option->kind != VALUE_TARGETS,
                                 option->help};
    return true;
}
