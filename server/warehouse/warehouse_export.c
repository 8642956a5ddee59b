/* SPDX-License-Identifier: Apache-2.0 */
/* Run by run, table by table: what is not there yet is made, then named.
 *
 *   run ──wait──> content ──note of what is there──> missing tables ──/api/table──> files
 *                                                    files of some runs ──sync──> names, then notes
 *
 * A run's note is written behind its files: after a kill in between the files are made again, and
 * found to be there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"
#include "serve/answer/run_out.h"
#include "serve/prepare/measure.h"
#include "warehouse/warehouse_parts.h"

enum {
    PENDING_MAX = 256,
};

#define ABOUT_NAME "_jviewd.json"
#define ABOUT_BEGINS "{\"version\": "

struct noted { /* a run's note, to be written behind its files */
    char name[PLACE_NAME_SIZE];
    struct text text;
};

struct exporting {
    const struct wishes *wishes;
    struct app *app;
    struct place *place;
    struct parquet *parquet; /* NULL: another format */
    const char *suffix;
    struct data_table tables[TABLES_MAX];
    uint32_t table_count;                  /* those that are wanted */
    struct place_put pending[PENDING_MAX]; /* written, and not named yet */
    uint32_t pending_count;
    struct noted noted[PENDING_MAX];
    uint32_t noted_count;
    uint32_t runs, old, failed;
    uint64_t files;
    int code; /* the worst of what went on */
};

/* One run on its way. */
struct exported {
    struct arena *arena;
    struct run_record record;
    struct str key, day; /* content, or id of a run that has none; "2026-11-21" */
    char note[PLACE_NAME_SIZE];
    struct bytes known; /* what its note says */
    struct text learned;
};

static bool has_line(struct bytes text, const char *word)
{
    struct str left = {.at = (const char *)text.at, .count = text.count};
    struct str wanted = str_of(word);

    while (left.count > 0) {
        const char *end = memchr(left.at, '\n', left.count);
        size_t count = end == NULL ? left.count : (size_t)(end - left.at);

        if (count > wanted.count && str_starts(left, wanted) && left.at[wanted.count] == ' ')
            return true;
        left = str_skip(left, end == NULL ? count : count + 1);
    }
    return false;
}

static enum status put_pending(struct exporting *all, struct error *err)
{
    TRY(place_put(all->place, all->pending, all->pending_count, err));
    all->files += all->pending_count;
    all->pending_count = 0;
    return OK;
}

static enum status flush(struct exporting *all, struct error *err)
{
    if (all->pending_count + all->noted_count > 0)
        TRY(place_sync(all->place, err));
    TRY(put_pending(all, err));
    for (uint32_t i = 0; i < all->noted_count; i++) {
        struct place_put *put = &all->pending[all->pending_count];
        const struct text *text = &all->noted[i].text;

        *put = (struct place_put){.replaces = true};
        memcpy(put->name, all->noted[i].name, sizeof put->name);
        TRY(place_make(all->place, &put->file, err));
        all->pending_count++;
        TRY(file_write_all(put->file.fd, text->at, text->count, 0, err));
    }
    uint64_t files = all->files;
    TRY(put_pending(all, err));
    all->files = files; /* notes are none */
    for (uint32_t i = 0; i < all->noted_count; i++)
        text_free(&all->noted[i].text);
    all->noted_count = 0;
    return OK;
}

static void drop_all(struct exporting *all)
{
    for (uint32_t i = 0; i < all->pending_count; i++)
        place_drop(&all->pending[i].file);
    for (uint32_t i = 0; i < all->noted_count; i++)
        text_free(&all->noted[i].text);
}

/* As the answer of /api/table; *ret_empty: there is no row, and nothing was written. */
static int write_table(struct exporting *all, const struct exported *run, const char *table,
                       const char *format, int fd, bool *ret_empty)
{
    const struct cli_call call = {.path = "/api/table",
                                  .run = run->record.id,
                                  .query = str_format(run->arena, "table=%s", table),
                                  .arena = run->arena};
    struct answer answer;

    ask(&call, &all->app->services, str_of(format), &answer);
    int code = answer.exit_code;
    *ret_empty = code == EXIT_OK && reply_header_get(&answer.reply, STR("X-Jviewd-Rows")).count > 0;
    if (code == EXIT_OK && !*ret_empty)
        code = answer_write(&answer, fd);
    answer_free(&answer);
    return code;
}

/* The Arrow file becomes a Parquet file. */
static enum status turn(struct exporting *all, struct place_file *file, struct error *err)
{
    struct place_file parquet;

    TRY(place_make(all->place, &parquet, err));
    enum status status = parquet_write(all->parquet, file, &parquet, err);
    place_drop(file);
    *file = parquet;
    if (status != OK)
        place_drop(file);
    return status;
}

static void add_pending(struct exporting *all, const struct exported *run, const char *table,
                        struct place_file file)
{
    struct place_put *pending = &all->pending[all->pending_count++];

    pending->file = file;
    pending->replaces = all->wishes->replace || run->record.content_id.count == 0;
    snprintf(pending->name, sizeof pending->name, "%s/day=%.*s/%.*s%s", table, STR_ARG(run->day),
             STR_ARG(run->key), all->suffix);
}

/* A table that cannot be made is told of, and made the next time; others go on. */
static enum status export_table(struct exporting *all, struct exported *run, const char *table,
                                struct error *err)
{
    struct place_file file;
    bool empty;

    if (all->pending_count == PENDING_MAX)
        TRY(flush(all, err));
    TRY(place_make(all->place, &file, err));
    int code = write_table(all, run, table, all->parquet != NULL ? "arrow" : all->wishes->format,
                           file.fd, &empty);
    if (code != EXIT_OK || empty) {
        place_drop(&file);
        if (code == EXIT_IO)
            return fail(err, ERR_IO, "the tables of \"%.*s\" cannot be written",
                        STR_ARG(run->record.name));
        all->code = code != EXIT_OK ? code : all->code;
        if (code == EXIT_OK)
            text_putf(&run->learned, "%s 0\n", table);
        return OK;
    }
    if (all->parquet != NULL)
        TRY(turn(all, &file, err));
    add_pending(all, run, table, file);
    text_putf(&run->learned, "%s 1\n", table);
    return OK;
}

/* Reads it where it was not read; what it is then. */
static enum status learn(struct exporting *all, struct str id, struct exported *ret,
                         struct error *err)
{
    TRY(run_read(all->app, id, ret->arena, &ret->record, NULL, err));
    bool has_content = run_was_indexed(&ret->record) && ret->record.content_id.count > 0;
    if (!has_content)
        ret->record.content_id = STR("");
    ret->key = has_content ? ret->record.content_id : ret->record.id;
    struct str at = unix_ns_iso(ret->arena, run_captured_ns(&ret->record));
    ret->day = at.count >= 10 ? (struct str){at.at, 10} : STR("unknown");
    snprintf(ret->note, sizeof ret->note, "_jviewd/%s/%.*s/%.*s", all->wishes->format,
             ret->key.count > 2 ? 2 : (int)ret->key.count, ret->key.at, STR_ARG(ret->key));
    return OK;
}

/* What was told of it while it could not be read. */
static void forget_failure(struct exporting *all, const struct exported *run)
{
    static const char *const tables[] = {"runs", "files"};
    char note[PLACE_NAME_SIZE], name[PLACE_NAME_SIZE];
    struct error ignored = {0};
    struct bytes day;

    snprintf(note, sizeof note, "_jviewd/%s/failed/%.*s", all->wishes->format,
             STR_ARG(run->record.id));
    if (place_get(all->place, note, run->arena, &day, &ignored) != OK || day.count < 10)
        return;
    for (size_t i = 0; i < COUNT(tables); i++) {
        snprintf(name, sizeof name, "%s/day=%.10s/%.*s%s", tables[i], (const char *)day.at,
                 STR_ARG(run->record.id), all->suffix);
        place_remove(all->place, name);
    }
    place_remove(all->place, note);
}

static enum status note(struct exporting *all, struct exported *run, struct error *err)
{
    bool failed = run->record.content_id.count == 0;

    if (run->learned.count == 0)
        return OK;
    if (all->noted_count == PENDING_MAX)
        TRY(flush(all, err));
    struct noted *noted = &all->noted[all->noted_count++];
    *noted = (struct noted){0};
    if (failed) {
        snprintf(noted->name, sizeof noted->name, "_jviewd/%s/failed/%.*s", all->wishes->format,
                 STR_ARG(run->record.id));
        text_putf(&noted->text, "%.*s\n", STR_ARG(run->day));
        return OK;
    }
    memcpy(noted->name, run->note, sizeof run->note);
    text_put(&noted->text, (const char *)run->known.at, run->known.count);
    text_put(&noted->text, run->learned.at, run->learned.count);
    return OK;
}

static bool is_wanted(const struct exported *run, const struct data_table *table, bool replace)
{
    if (!replace && has_line(run->known, table->name))
        return false;
    return table->needs_no_timeline ||
           (run->record.content_id.count > 0 && run->record.host_count > 0);
}

static enum status export_tables(struct exporting *all, struct exported *run, struct error *err)
{
    bool failed = run->record.content_id.count == 0;

    if (!failed)
        TRY(place_get(all->place, run->note, run->arena, &run->known, err));
    for (uint32_t i = 0; i < all->table_count; i++) {
        if (!is_wanted(run, &all->tables[i], all->wishes->replace))
            continue;
        if (strcmp(all->tables[i].name, "metrics") == 0)
            measure_one(&all->app->services, &run->record);
        TRY(export_table(all, run, all->tables[i].name, err));
    }
    all->runs += !failed && run->learned.count > 0;
    all->old += !failed && run->learned.count == 0;
    all->failed += failed;
    TRY(note(all, run, err));
    if (!failed)
        forget_failure(all, run);
    return OK;
}

/* One that became part of others when it was read, or was deleted, is no run any more. */
static enum status export_run(struct exporting *all, struct str id, struct error *err)
{
    struct exported run = {.arena = arena_create()};
    struct error why = {0};
    enum status status = learn(all, id, &run, &why);

    if (status == OK && run.record.state != RUN_GONE)
        status = export_tables(all, &run, err);
    else if (status == ERR_NOT_FOUND)
        status = OK;
    else if (status != OK)
        *err = why;
    text_free(&run.learned);
    arena_destroy(run.arena);
    return status;
}

static int by_id(const void *a, const void *b)
{
    return str_compare(((const struct planned *)a)->id, ((const struct planned *)b)->id);
}

static bool was_seen(const struct planned *seen, uint32_t count, const struct planned *run)
{
    return count > 0 && bsearch(run, seen, count, sizeof *seen, by_id) != NULL;
}

static enum status export_list(struct exporting *all, const struct planned *runs, uint32_t count,
                               struct error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        runs_read_ahead(all->app, &runs[i], count - i);
        progress_show("Exporting", (double)i / count);
        TRY(export_run(all, runs[i].id, err));
    }
    return OK;
}

/* What reading has made of the runs: files may turn out to be of others than their names say. Those
 * that are new are of whoever read them, whatever the part. */
static enum status export_regrouped(struct exporting *all, struct planned *seen,
                                    uint32_t seen_count, struct error *err)
{
    struct planned *runs;
    uint32_t count, fresh;

    do {
        wait_for_jobs(&all->app->services);
        if (seen_count > 1)
            qsort(seen, seen_count, sizeof *seen, by_id);
        TRY(plan_runs(all->app, 1, all->app->arena, &runs, &count, err));
        fresh = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (!was_seen(seen, seen_count, &runs[i]))
                runs[fresh++] = runs[i];
        }
        TRY(export_list(all, runs, fresh, err));
        struct planned *both =
            arena_array(all->app->arena, struct planned, (size_t)seen_count + fresh + 1);
        memcpy(both, seen, seen_count * sizeof *both);
        memcpy(both + seen_count, runs, fresh * sizeof *both);
        seen = both;
        seen_count += fresh;
    } while (fresh > 0);
    return OK;
}

static enum status export_all(struct exporting *all, struct error *err)
{
    struct planned *runs, *mine;
    uint32_t count, mine_count = 0;

    wait_for_jobs(&all->app->services);
    TRY(plan_runs(all->app, (uint32_t)all->wishes->parts, all->app->arena, &runs, &count, err));
    mine = arena_array(all->app->arena, struct planned, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (plan_is_mine(all->wishes, &runs[i]))
            mine[mine_count++] = runs[i];
    }
    if (mine_count == 0 && all->wishes->runs != NULL)
        return fail(err, ERR_NOT_FOUND, "none of the runs that --runs names is below %s",
                    all->app->services.profile_dir);
    TRY(export_list(all, mine, mine_count, err));
    TRY(export_regrouped(all, runs, count, err));
    return flush(all, err);
}

static enum status write_version(struct exporting *all, struct error *err)
{
    struct place_put put = {.name = ABOUT_NAME};
    struct text text = {0};

    text_putf(&text, ABOUT_BEGINS "%d}\n", TABLES_VERSION);
    enum status status = place_make(all->place, &put.file, err);
    if (status == OK)
        status = file_write_all(put.file.fd, text.at, text.count, 0, err);
    if (status == OK)
        status = place_put(all->place, &put, 1, err);
    place_drop(&put.file);
    text_free(&text);
    return status;
}

/* Tables of another version are not mixed with ours, whoever came first. */
static enum status check_version(struct exporting *all, struct error *err)
{
    struct bytes about;

    TRY(place_get(all->place, ABOUT_NAME, all->app->arena, &about, err));
    if (about.count == 0) {
        TRY(write_version(all, err));
        TRY(place_get(all->place, ABOUT_NAME, all->app->arena, &about, err));
    }
    struct str left = {.at = (const char *)about.at, .count = about.count};
    struct str version = str_skip(left, strlen(ABOUT_BEGINS));
    int is = str_starts(left, STR(ABOUT_BEGINS)) ? atoi(str_c(all->app->arena, version)) : 0;

    if (is == TABLES_VERSION)
        return OK;
    return fail(err, ERR_INVALID,
                "%s contains tables of version %d, and this jviewd writes version %d: give an "
                "empty place with --to, or use the jviewd that wrote these",
                all->wishes->to, is, TABLES_VERSION);
}

static bool names_table(const char *list, const struct data_table *table)
{
    if (list == NULL)
        return !table->is_large;
    return strcmp(list, "all") == 0 || list_names(str_of(table->name), list);
}

static enum status choose_tables(struct exporting *all, struct error *err)
{
    uint32_t count = data_tables(all->app->services.routes, all->app->arena, all->tables);
    struct str left = str_of(all->wishes->tables), names = STR("");

    for (uint32_t i = 0; i < count; i++)
        names = str_format(all->app->arena, "%.*s%s%s", STR_ARG(names), i > 0 ? ", " : "",
                           all->tables[i].name);
    while (left.count > 0) {
        const char *comma = memchr(left.at, ',', left.count);
        struct str name = {left.at, comma == NULL ? left.count : (size_t)(comma - left.at)};
        bool known = str_equal(name, STR("all"));

        for (uint32_t i = 0; i < count; i++)
            known |= str_equal(name, str_of(all->tables[i].name));
        if (!known)
            return fail(err, ERR_INVALID, "there is no table \"%.*s\"; there are %.*s",
                        STR_ARG(name), STR_ARG(names));
        left = str_skip(left, comma == NULL ? name.count : name.count + 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (names_table(all->wishes->tables, &all->tables[i]))
            all->tables[all->table_count++] = all->tables[i];
    }
    return OK;
}

static void tell(const struct exporting *all)
{
    fprintf(stderr, "jviewd: %llu file%s of %u run%s written to %s", (unsigned long long)all->files,
            all->files == 1 ? "" : "s", all->runs, all->runs == 1 ? "" : "s", all->wishes->to);
    if (all->old > 0)
        fprintf(stderr, "; %u run%s there already", all->old, all->old == 1 ? " was" : "s were");
    if (all->failed > 0)
        fprintf(stderr, "; %u could not be read: the table `files` says why", all->failed);
    fputs("\n", stderr);
}

static enum status begin(struct exporting *all, struct error *err)
{
    bool parquet = strcmp(all->wishes->format, "parquet") == 0;

    TRY(choose_tables(all, err));
    all->suffix = str_c(all->app->arena, str_format(all->app->arena, ".%s", all->wishes->format));
    if (parquet)
        TRY(parquet_start(&all->parquet, err));
    TRY(place_open(all->wishes->to, cache_dir(all->app->cache), &all->place, err));
    return check_version(all, err);
}

int export_runs(struct app *app, const void *data)
{
    struct exporting *all = memory_resize(NULL, 1, sizeof *all);
    struct error err = {0};

    *all = (struct exporting){.wishes = data, .app = app};
    enum status status = begin(all, &err);
    if (status == OK)
        status = export_all(all, &err);
    progress_clear();
    drop_all(all);
    parquet_end(all->parquet);
    place_close(all->place);
    int code = all->code;
    if (status != OK)
        code = app_failed(&err);
    else
        tell(all);
    free(all);
    return code;
}
