/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd prune`: judges every run, prints the list, and removes or packs what was asked for. */
#include "prune/prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/cli.h"
#include "ingest/ingest.h"
#include "prune/prune_cold.h"
#include "remote/remote.h"
#include "store/user.h"

enum { RUNS_MAX = 10000, SCAN_US = 20000, SHOWN_MAX = 60 };

#define PINNED "pinned"
#define COLD_AGE_NS (INT64_C(86400) * 1000000000) /* younger is not packed unless asked */

struct question {
    const char *root, *cache_dir, *data_dir, *index_store;
    struct prune_wish wish;
    bool delete, compress, yes, help;
};

struct pruning {
    const struct question *question;
    struct app *app;
    struct run_record *records;
    struct prune_run *runs; /* newest first */
    uint32_t count;
};

static bool has_pin(const struct user_tag *tags, uint32_t count, struct str content_id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(tags[i].content_id, content_id) && str_equal(tags[i].tag, STR(PINNED)))
            return true;
    }
    return false;
}

static bool has_any_pin(const struct user_tag *tags, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(tags[i].tag, STR(PINNED)))
            return true;
    return false;
}

static bool is_baseline(const struct user_baseline *baselines, uint32_t count,
                        struct str content_id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(baselines[i].content_id, content_id))
            return true;
    }
    return false;
}

/* Only the profiles themselves: what else lies beside them neither goes nor counts. */
static bool is_own(const struct run_file *file)
{
    return file->state != FILE_GONE && file->state != FILE_IGNORED;
}

static uint64_t own_bytes(const struct run_record *record, uint32_t *ret_count)
{
    uint64_t bytes = 0;

    *ret_count = 0;
    for (uint32_t i = 0; i < record->run_file_count; i++) {
        if (!is_own(&record->files[i]))
            continue;
        bytes += record->files[i].bytes;
        (*ret_count)++;
    }
    return bytes;
}

/* Why it stays as it is: what is packed is not lost, so a pin says nothing. */
static const char *not_at_rest(const struct run_record *record, uint32_t own_count)
{
    if (record->state == RUN_WRITING)
        return "being written";
    if (own_count == 0)
        return "it contains no profile";
    return record->state == RUN_READY || record->state == RUN_PARTIAL ? NULL : "not read yet";
}

/* Why it stays, whatever was asked. */
static enum status protect(struct pruning *all, struct error *err)
{
    struct user *user = all->app->user;
    struct user_tag *tags;
    struct user_baseline *baselines;
    uint32_t tag_count, baseline_count, own_count;

    TRY(user_tags(user, STR(""), all->app->arena, &tags, &tag_count, err));
    TRY(user_baselines(user, all->app->arena, &baselines, &baseline_count, err));
    bool any_kept = baseline_count > 0 || has_any_pin(tags, tag_count) ||
                    !remote_is_place(str_of(all->question->root));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct run_record *record = &all->records[i];
        struct prune_run *run = &all->runs[i];

        *run = (struct prune_run){.id = record->id,
                                  .name = record->name,
                                  .modified_ns = record->modified_ns,
                                  .bytes = own_bytes(record, &own_count)};
        if (all->question->compress)
            run->kept = not_at_rest(record, own_count);
        else if (record->state == RUN_WRITING)
            run->kept = "being written";
        else if (own_count == 0)
            run->kept = "it contains no profile";
        else if (record->content_id.count == 0 && record->state != RUN_FAILED && any_kept)
            run->kept = "not read yet, may be pinned";
        else if (has_pin(tags, tag_count, record->content_id))
            run->kept = "pinned";
        else if (is_baseline(baselines, baseline_count, record->content_id))
            run->kept = "a baseline";
    }
    return OK;
}

/* Newest first by their files: what a run says of its own time may be anything. */
static int by_age(const void *a, const void *b)
{
    const struct run_record *x = a, *y = b;

    if (x->modified_ns != y->modified_ns)
        return x->modified_ns > y->modified_ns ? -1 : 1;
    return str_compare(x->id, y->id);
}

/* With their files as they are judged. What is gone takes up no place and no bytes: it is left
 * out. */
static enum status read_files(struct pruning *all, struct error *err)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        struct run_record *record = &all->records[count];
        struct str id = all->records[i].id;

        TRY(catalog_run(all->app->catalog, id, all->app->arena, record, err));
        count += record->state != RUN_GONE;
    }
    all->count = count;
    return OK;
}

static enum status read_runs(struct pruning *all, struct error *err)
{
    const struct run_query query = {.limit = RUNS_MAX};
    uint64_t count_all;

    while (!catalog_scan(all->app->catalog).done_once)
        usleep(SCAN_US);
    TRY(catalog_runs(all->app->catalog, &query, all->app->arena, &all->records, &all->count,
                     &count_all, err));
    TRY(read_files(all, err));
    if (all->count > 1)
        qsort(all->records, all->count, sizeof *all->records, by_age);
    all->runs = arena_array(all->app->arena, struct prune_run, all->count);
    return protect(all, err);
}

static void print_name(struct str name)
{
    for (size_t i = 0; i < name.count && i < SHOWN_MAX; i++)
        putchar((unsigned char)name.at[i] < ' ' || name.at[i] == 127 ? ' ' : name.at[i]);
}

/* What eats the disk: the largest last, where the eye is. */
static void print_runs(const struct pruning *all, int64_t now_ns, uint32_t *ret_count,
                       uint64_t *ret_bytes)
{
    uint64_t total = 0;

    *ret_count = 0;
    *ret_bytes = 0;
    printf("%10s  %8s  %-37s  %s\n", "size", "age", "delete", "run");
    for (uint32_t i = 0; i < all->count; i++) {
        const struct prune_run *run = &all->runs[i];
        double days = (double)(now_ns - run->modified_ns) / 86400e9;

        total += run->bytes;
        *ret_count += run->kept == NULL;
        *ret_bytes += run->kept == NULL ? run->bytes : 0;
        printf("%10.*s  %6.1f d  %-4s%-33s  ", STR_ARG(size_text(run->bytes, all->app->arena)),
               days, run->kept == NULL ? "yes" : "no: ", run->kept == NULL ? "" : run->kept);
        print_name(run->name);
        putchar('\n');
    }
    printf("%10.*s  in all\n", STR_ARG(size_text(total, all->app->arena)));
}

/* The first failure is told and ends the run's removal; other runs go on. */
static bool remove_run(const struct pruning *all, const struct run_record *run)
{
    struct error err = {0};
    enum status status = OK;

    for (uint32_t i = 0; status == OK && i < run->run_file_count; i++) {
        if (!is_own(&run->files[i]))
            continue;
        if (remote_is_place(run->root))
            status = ingest_remove(all->app->ingest, run->id, run->files[i].path,
                                   &run->files[i].stamp, &err);
        else
            status = prune_file(str_c(all->app->arena, run->root), run->files[i].path,
                                &run->files[i].stamp, &err);
    }
    if (status != OK)
        fprintf(stderr, "jviewd: %s\n", err.message);
    return status == OK;
}

static int remove_all(const struct pruning *all, uint32_t count, uint64_t bytes)
{
    uint32_t failed = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        if (all->runs[i].kept == NULL)
            failed += !remove_run(all, &all->records[i]);
    }
    printf("%u run%s deleted, %.*s.\n", count - failed, count - failed == 1 ? "" : "s",
           STR_ARG(size_text(bytes, all->app->arena)));
    return failed == 0 ? EXIT_OK : EXIT_IO;
}

static int prune(struct app *app, const void *data)
{
    struct pruning all = {.question = data, .app = app};
    struct str trouble = user_trouble(app->user, app->arena);
    struct error err = {0};
    uint32_t count;
    uint64_t bytes;
    int64_t now_ns = clock_unix_ns();

    if (all.question->index_store != NULL)
        return prune_store(app, all.question->delete);
    if (trouble.count > 0 && all.question->delete) {
        fprintf(stderr,
                "jviewd: %.*s It is not known which runs are pinned, so nothing was deleted.\n",
                STR_ARG(trouble));
        return EXIT_IO;
    }
    if (read_runs(&all, &err) != OK)
        return app_failed(&err);
    prune_choose(all.runs, all.count, &all.question->wish, now_ns);
    if (all.question->compress)
        return prune_compress(app->arena, all.runs, all.records, all.count, all.question->yes,
                              now_ns);
    print_runs(&all, now_ns, &count, &bytes);
    if (count > 0 && all.question->delete)
        return remove_all(&all, count, bytes);
    if (count > 0)
        printf("Nothing was deleted: --delete would remove %u run%s, %.*s.\n", count,
               count == 1 ? "" : "s", STR_ARG(size_text(bytes, app->arena)));
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}

/* True when the word and its value were taken. */
static bool take_wish(struct prune_wish *wish, const char *word, const char *value)
{
    if (strcmp(word, "--keep") == 0) {
        wish->has_keep = str_to_u64(str_of(value), &wish->keep);
        return wish->has_keep;
    }
    if (strcmp(word, "--max-size") == 0) {
        wish->has_size = prune_size(str_of(value), &wish->size);
        return wish->has_size;
    }
    return strcmp(word, "--older-than") == 0 && age_read(str_of(value), &wish->age_ns);
}

static enum status read_question(int argc, char **argv, struct question *ret, struct error *err)
{
    const char *rule;

    *ret = (struct question){0};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            ret->help = true;
        else if (strcmp(argv[i], "--delete") == 0)
            ret->delete = true;
        else if (strcmp(argv[i], "--compress") == 0)
            ret->compress = true;
        else if (strcmp(argv[i], "--yes") == 0)
            ret->yes = true;
        else if (strcmp(argv[i], "--cache-dir") == 0 && value != NULL)
            ret->cache_dir = argv[++i];
        else if (strcmp(argv[i], "--index-store") == 0 && value != NULL)
            ret->index_store = argv[++i];
        else if (strcmp(argv[i], "--data-dir") == 0 && value != NULL)
            ret->data_dir = argv[++i];
        else if ((strcmp(argv[i], "--profile-dir") == 0 || strcmp(argv[i], "--logdir") == 0) &&
                 value != NULL)
            ret->root = argv[++i];
        else if (value != NULL && take_wish(&ret->wish, argv[i], value))
            i++;
        else if (argv[i][0] == '-' || ret->root != NULL)
            return fail(err, ERR_INVALID,
                        "prune does not understand %s: jviewd prune [DIR] [--keep N] [--older-than "
                        "30d] [--max-size 20G] [--delete | --compress [--yes]] [--index-store DIR "
                        "[--delete]] [--cache-dir DIR] [--data-dir DIR]",
                        argv[i]);
        else
            ret->root = argv[i];
    }
    if (ret->index_store != NULL &&
        (ret->compress || ret->wish.has_keep || ret->wish.has_size || ret->wish.age_ns != 0))
        return fail(err, ERR_INVALID, "--index-store goes with --delete alone");
    if (ret->root == NULL)
        ret->root = options_default_root(&rule);
    if (remote_is_place(str_of(ret->root)) && (ret->compress || ret->index_store != NULL))
        return fail(err, ERR_INVALID,
                    "--compress and --index-store take a directory; of a bucket, prune lists and "
                    "deletes runs");
    if (ret->compress ? ret->delete || ret->wish.has_size : ret->yes)
        return fail(err, ERR_INVALID,
                    "--compress can be combined with --keep, --older-than and --yes only, and "
                    "--yes needs --compress");
    if (ret->compress && ret->wish.age_ns == 0)
        ret->wish.age_ns = COLD_AGE_NS;
    return OK;
}

static void help(void)
{
    printf(
        "jviewd prune [DIR]\n\n"
        "Lists the profiles below DIR (or in a bucket: s3://bucket/runs) by age with their sizes,\n"
        "and which could be deleted. Nothing is deleted without --delete. Runs with the tag "
        "\"" PINNED "\" (jviewd note tag RUN " PINNED "),\n"
        "baselines, runs being written and runs that have not been read yet always stay.\n\n"
        "  --keep N          keep the newest N runs\n"
        "  --older-than AGE  delete only older runs: 30d, 12h, 90m\n"
        "  --max-size SIZE   delete the oldest until the rest fits: 20G\n"
        "  --delete          delete the runs of the list\n"
        "  --compress        instead, compress profiles older than a day (or --older-than) with\n"
        "                    zstd; they open as before. Shows how much that would save\n"
        "  --yes             compress the files of the list\n"
        "  --index-store S   instead, list the indexes in S that no run below DIR needs; with\n"
        "                    --delete, delete them once all runs have been read\n"
        "  --cache-dir DIR, --data-dir DIR\n\n"
        "Exit codes: 0 done, 2 usage, 3 no such directory, 4 something could not be deleted.\n");
}

static int run_question(const struct question *question)
{
    struct app app = {.arena = arena_create()};
    char *words[] = {"prune", NULL};
    struct str root = str_of(question->root);
    struct error err = {0};
    int code;

    if (options_read(1, words, app.arena, &app.options, &err) != OK) {
        code = app_failed(&err);
    } else if (!remote_is_place(root) && access(question->root, F_OK) != 0) {
        fprintf(stderr, "jviewd: %s does not exist\n", question->root);
        code = EXIT_NOT_FOUND;
    } else {
        app.options.roots = (struct texts){.at = &root, .count = 1};
        if (question->cache_dir != NULL)
            app.options.cache_dir = question->cache_dir;
        if (question->data_dir != NULL)
            app.options.data_dir = question->data_dir;
        app.options.index_store = question->index_store == NULL ? "" : question->index_store;
        code = app_with_store(&app, true, prune, question);
    }
    arena_destroy(app.arena);
    return code;
}

int prune_main(int argc, char **argv)
{
    struct question question;
    struct error err = {0};

    if (read_question(argc, argv, &question, &err) != OK)
        return app_failed(&err);
    log_set_level(LOG_ERROR);
    if (!question.help)
        return run_question(&question);
    help();
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}
