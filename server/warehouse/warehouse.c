/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs `export` and `plan`: their flags, and the store that they open. */
#include "warehouse/warehouse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "remote/remote.h"
#include "serve/route.h"
#include "warehouse/warehouse_parts.h"

static const char export_usage[] =
    "jviewd export [PATH...] --to DIR [--tables A,B | --tables all] [--format "
    "parquet|arrow|csv|jsonl] [--part I/N | --runs ID,...] [--replace] [--schema] [--cache-dir "
    "DIR]";
static const char index_usage[] =
    "jviewd index [PATH...] --index-store DIR [--part I/N | --runs ID,...] "
    "[--follow-symlinks] [--cache-dir DIR]";
static const char plan_usage[] =
    "jviewd plan [PATH...] --parts N [--part I] [--follow-symlinks] [--cache-dir DIR]";

/* True when the word and its value were taken. */
static bool take_value(struct wishes *wishes, const char *word, const char *value, bool *ret_wrong)
{
    static const char *const roots[] = {"--profile-dir", "--logdir"};

    for (size_t i = 0; i < COUNT(roots); i++) {
        if (strcmp(word, roots[i]) == 0) {
            wishes->roots.at[wishes->roots.count++] = str_of(value);
            return true;
        }
    }
    if (strcmp(word, "--to") == 0)
        wishes->to = value;
    else if (strcmp(word, "--format") == 0)
        wishes->format = value;
    else if (strcmp(word, "--tables") == 0)
        wishes->tables = value;
    else if (strcmp(word, "--cache-dir") == 0)
        wishes->cache_dir = value;
    else if (strcmp(word, "--index-store") == 0)
        wishes->index_store = value;
    else if (strcmp(word, "--runs") == 0)
        wishes->runs = value;
    else if (strcmp(word, "--part") == 0)
        *ret_wrong |= !plan_part_read(str_of(value), wishes);
    else if (strcmp(word, "--limit") == 0)
        *ret_wrong |= !str_to_i64(str_of(value), &wishes->limit) || wishes->limit < 1 ||
                      wishes->limit > 10000;
    else if (strcmp(word, "--parts") == 0)
        *ret_wrong |= !str_to_i64(str_of(value), &wishes->parts);
    else
        return false;
    return true;
}

static enum status read_wishes(int argc, char **argv, const char *usage, struct arena *arena,
                               struct wishes *ret, struct error *err)
{
    const char *rule, *otherwise;
    bool wrong = false;

    *ret = (struct wishes){.format = "parquet", .part = -1};
    ret->roots.at = arena_array(arena, struct str, (size_t)argc + 1);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            ret->help = true;
        else if (strcmp(argv[i], "--schema") == 0)
            ret->schema = true;
        else if (strcmp(argv[i], "--replace") == 0)
            ret->replace = true;
        else if (strcmp(argv[i], "--follow-symlinks") == 0)
            ret->follow_symlinks = true;
        else if (value != NULL && take_value(ret, argv[i], value, &wrong))
            i++;
        else if (argv[i][0] == '-')
            return fail(err, ERR_INVALID, "%s does not understand %s: %s", argv[0], argv[i], usage);
        else
            ret->roots.at[ret->roots.count++] = str_of(argv[i]);
    }
    if (ret->parts == 0 && ret->part >= 0)
        wrong = true;
    if (wrong || ret->parts < 0 || ret->parts > PARTS_MAX ||
        (ret->parts > 0 && ret->part >= ret->parts))
        return fail(err, ERR_INVALID,
                    "the number of parts is 1 to %d, and a part is one of them: %s", PARTS_MAX,
                    usage);
    if (ret->roots.count == 0 && (otherwise = options_default_root(&rule)) != NULL)
        ret->roots.at[ret->roots.count++] = str_of(otherwise);
    return OK;
}

static int run(const struct wishes *wishes, struct arena *arena,
               int (*use)(struct app *app, const void *data))
{
    struct app app = {.arena = arena};
    char *words[] = {"export", NULL};
    struct error err = {0};

    if (options_read(1, words, arena, &app.options, &err) != OK)
        return app_failed(&err);
    if (wishes->roots.count == 0) {
        fprintf(stderr, "jviewd: give the directory of the profiles\n");
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; i < wishes->roots.count; i++) {
        if (!remote_is_place(wishes->roots.at[i]) && access(wishes->roots.at[i].at, F_OK) != 0) {
            fprintf(stderr, "jviewd: %s does not exist\n", wishes->roots.at[i].at);
            return EXIT_NOT_FOUND;
        }
    }
    app.options.roots = wishes->roots;
    app.options.follow_symlinks |= wishes->follow_symlinks;
    if (wishes->index_store != NULL)
        app.options.index_store = wishes->index_store;
    if (wishes->cache_dir != NULL)
        app.options.cache_dir = wishes->cache_dir;
    return app_with_store(&app, true, use, wishes);
}

static int print_schema(void)
{
    struct text text = {0};

    data_put_schema(&routes, &text);
    puts(text.at);
    text_free(&text);
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}

static int help(const char *usage, const char *text)
{
    printf("%s\n\n%s", usage, text);
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}

static const char export_help[] =
    "Writes every table of every run below PATH as files for DuckDB, Spark and pandas:\n"
    "DIR/TABLE/day=2026-11-21/CONTENT.parquet. A second export writes only what is new.\n\n"
    "  --to DIR        directory or bucket of the tables\n"
    "  --tables A,B    only these; \"all\" includes slices, which are as large as the profiles\n"
    "  --format F      parquet (needs Python with pyarrow), arrow, csv or jsonl\n"
    "  --part I/N      only the runs of part I of N, as divided by `jviewd plan`\n"
    "  --runs ID,...   only these runs\n"
    "  --replace       overwrite existing tables\n"
    "  --index-store DIR  directory or bucket of indexes shared between machines\n"
    "  --schema        print the tables with their columns and types, as JSON\n"
    "  --follow-symlinks, --cache-dir DIR\n\n"
    "Exit codes: 0 done, 2 usage, 3 no such directory or run, 4 something could not be written.\n";

static const char plan_help[] =
    "Divides the runs between N workers, so that all read about the same amount: a line per run\n"
    "with its part, id, bytes and name. Each worker then runs `jviewd export PATH --part I/N`.\n\n"
    "  --parts N       number of workers\n"
    "  --part I        only the runs of part I, 1 to N\n"
    "  --follow-symlinks, --cache-dir DIR\n";

static bool is_format(const char *word)
{
    static const char *const words[] = {"parquet", "arrow", "csv", "jsonl"};

    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

static int run_export(const struct wishes *wishes, struct arena *arena)
{
    if (wishes->help)
        return help(export_usage, export_help);
    if (wishes->schema)
        return print_schema();
    if (wishes->to == NULL || !is_format(wishes->format)) {
        fprintf(stderr, "jviewd: %s: %s\n",
                wishes->to == NULL ? "give the directory or bucket of the tables with --to DIR"
                                   : "a format is parquet, arrow, csv or jsonl",
                export_usage);
        return EXIT_USAGE;
    }
    return run(wishes, arena, export_runs);
}

static int run_plan(const struct wishes *wishes, struct arena *arena)
{
    if (wishes->help)
        return help(plan_usage, plan_help);
    if (wishes->parts == 0) {
        fprintf(stderr, "jviewd: give the number of workers with --parts: %s\n", plan_usage);
        return EXIT_USAGE;
    }
    return run(wishes, arena, print_plan);
}

static int begin(int argc, char **argv, const char *usage,
                 int (*run_it)(const struct wishes *wishes, struct arena *arena))
{
    struct arena *arena = arena_create();
    struct wishes wishes;
    struct error err = {0};

    log_set_level(LOG_WARNING);
    int code = read_wishes(argc, argv, usage, arena, &wishes, &err) == OK ? run_it(&wishes, arena)
                                                                          : app_failed(&err);
    arena_destroy(arena);
    return code;
}

static const char index_help[] =
    "Indexes every run below PATH, and stores the indexes in a directory or bucket that\n"
    "many machines share: commands with --index-store DIR read them from there.\n\n"
    "  --part I/N      only the runs of part I of N, as divided by `jviewd plan`\n"
    "  --runs ID,...   only these runs\n"
    "  --follow-symlinks, --cache-dir DIR\n";

static int run_index(const struct wishes *wishes, struct arena *arena)
{
    if (wishes->help)
        return help(index_usage, index_help);
    if (wishes->index_store == NULL) {
        fprintf(stderr,
                "jviewd: give the directory or bucket of the indexes with --index-store: %s\n",
                index_usage);
        return EXIT_USAGE;
    }
    return run(wishes, arena, index_runs);
}

bool index_asks_store(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--index-store") == 0)
            return true;
    }
    return false;
}

int index_store_main(int argc, char **argv)
{
    return begin(argc, argv, index_usage, run_index);
}

static const char fleet_usage[] =
    "jviewd fleet [PATH...] [--limit N] [--format table|json] [--index-store DIR] "
    "[--follow-symlinks] [--cache-dir DIR]";
static const char fleet_help[] =
    "Prints three tables over every run below PATH: ops by the time that they lose to the best\n"
    "run of the same program, hosts by how often the others wait for them, and jobs by the share\n"
    "of step time that is not spent computing.\n\n"
    "  --limit N         rows of each table (10)\n"
    "  --format F        table or json\n"
    "  --index-store DIR directory or bucket of indexes shared between machines\n"
    "  --follow-symlinks, --cache-dir DIR\n";

static int run_fleet(const struct wishes *wishes, struct arena *arena)
{
    if (wishes->help)
        return help(fleet_usage, fleet_help);
    if (strcmp(wishes->format, "parquet") != 0 && strcmp(wishes->format, "table") != 0 &&
        strcmp(wishes->format, "json") != 0) {
        fprintf(stderr, "jviewd: fleet prints a table or json: %s\n", fleet_usage);
        return EXIT_USAGE;
    }
    return run(wishes, arena, print_fleet);
}

int fleet_main(int argc, char **argv)
{
    return begin(argc, argv, fleet_usage, run_fleet);
}

int export_main(int argc, char **argv)
{
    return begin(argc, argv, export_usage, run_export);
}

int plan_main(int argc, char **argv)
{
    return begin(argc, argv, plan_usage, run_plan);
}
