/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd fleet PATH`: the three tables that people with many profiles ask for first.
 *
 *   ops    of each run ──by key──> best mean of all runs ──> time lost to it       slowest ops
 *   hosts  of each run ──by name─> how often last, of how many steps compared      late hosts
 *   steps  of each run ──by job──> share of their time that is not computing       jobs
 *
 * A key is an instruction in a module's fingerprint: the same program's same op, whatever the run.
 * A job is what a run's name is without the step at its end.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/table.h"
#include "base/hash.h"
#include "cli/ask.h"
#include "cli/grid.h"
#include "cli/verbs.h"
#include "serve/answer/table_out.h"
#include "warehouse/warehouse_parts.h"

enum { NEVER_LATE = -1 };

struct kept { /* a row in the making; what its numbers are is its table's affair */
    struct str name, module, best_run, worst_run;
    int64_t total_ps, part_ps, worst_ps;
    uint64_t count, runs, late;
    double best, worst; /* of an op: ps an execution */
};

struct gathered {
    struct arena *arena;
    struct map64 places;
    struct kept *at; /* grows; freed by the owner */
    uint32_t count, capacity;
};

struct fleet {
    struct app *app;
    struct gathered ops, hosts, jobs;
    uint32_t runs, failed;
};

static struct kept *keep(struct gathered *all, struct str key, struct str name, bool *ret_new)
{
    uint64_t hash = hash64((struct bytes){(const uint8_t *)key.at, key.count});
    uint32_t *place = map64_at(&all->places, hash, UINT32_MAX);

    *ret_new = *place == UINT32_MAX;
    if (!*ret_new)
        return &all->at[*place];
    *place = all->count;
    if (all->count == all->capacity) {
        all->capacity = all->capacity * 2 + 256;
        all->at = memory_resize(all->at, all->capacity, sizeof *all->at);
    }
    all->at[all->count] = (struct kept){.name = str_copy(all->arena, name)};
    return &all->at[all->count++];
}

static struct str text_at(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);

    return (struct str){.at = json_is_string(value) ? json_string_value(value) : "",
                        .count = json_string_length(value)};
}

static int64_t number_at(const json_t *row, const char *name)
{
    return json_integer_value(json_object_get(row, name));
}

static void add_op(struct fleet *fleet, const json_t *row, struct str run)
{
    int64_t self_ps = number_at(row, "self_ps"), count = number_at(row, "count");
    struct str key = text_at(row, "key");
    bool is_new;

    if (count <= 0 || key.count == 0)
        return;
    struct kept *op = keep(&fleet->ops, key, text_at(row, "name"), &is_new);
    double mean = (double)self_ps / (double)count;
    if (is_new)
        op->module = str_copy(fleet->ops.arena, text_at(row, "module"));
    if (is_new || mean < op->best) {
        op->best = mean;
        op->best_run = run;
    }
    if (is_new || mean > op->worst) {
        op->worst = mean;
        op->worst_run = run;
    }
    ps_add(&op->total_ps, self_ps);
    op->count += (uint64_t)count;
    op->runs++;
}

static void add_host(struct fleet *fleet, const json_t *row, struct str run)
{
    struct str name = text_at(row, "name");
    bool is_new;

    if (number_at(row, "compared_count") <= 0)
        return;
    struct kept *host = keep(&fleet->hosts, name, name, &is_new);
    const json_t *lag = json_object_get(row, "lag_ps");
    if (is_new)
        host->worst_ps = NEVER_LATE;
    if (json_is_integer(lag) && json_integer_value(lag) > host->worst_ps) {
        host->worst_ps = json_integer_value(lag);
        host->worst_run = run;
    }
    host->late += (uint64_t)number_at(row, "last_count");
    host->count += (uint64_t)number_at(row, "compared_count");
    host->runs++;
}

/* "exp/step_00001000" is of the job "exp", "train_500" of "train". */
static struct str job_of(struct str run)
{
    struct str job = run;

    while (job.count > 0 && isdigit((unsigned char)job.at[job.count - 1]))
        job.count--;
    if (job.count == run.count || job.count == 0)
        return run;
    while (job.count > 0 && strchr("_-/.", job.at[job.count - 1]) != NULL)
        job.count--;
    if (str_ends(job, STR("/step")))
        job.count -= 5;
    return job.count > 0 ? job : run;
}

static void add_step(struct fleet *fleet, const json_t *row, struct str run)
{
    struct str job = job_of(run);
    int64_t dur_ps = number_at(row, "dur_ps"), other_ps = dur_ps - number_at(row, "compute_ps");
    bool is_new;

    if (dur_ps <= 0 || number_at(row, "warmup") != 0 || number_at(row, "cut") != 0)
        return;
    struct kept *kept = keep(&fleet->jobs, job, job, &is_new);
    double share = (double)other_ps / (double)dur_ps;
    if (is_new || share > kept->worst) {
        kept->worst = share;
        kept->worst_run = run;
    }
    ps_add(&kept->total_ps, dur_ps);
    ps_add(&kept->part_ps, other_ps);
    kept->count++;
}

typedef void add_row(struct fleet *fleet, const json_t *row, struct str run);

struct lines { /* what comes in pieces, line by line */
    struct fleet *fleet;
    struct str run;
    add_row *add;
    struct text left;
};

static enum status take_piece(void *to, struct bytes piece, struct error *err)
{
    struct lines *lines = to;
    size_t at = 0;
    (void)err;

    text_put(&lines->left, (const char *)piece.at, piece.count);
    for (char *end; (end = memchr(lines->left.at + at, '\n', lines->left.count - at)) != NULL;) {
        size_t count = (size_t)(end - lines->left.at) - at;
        json_t *row = json_loadb(lines->left.at + at, count, JSON_ALLOW_NUL, NULL);

        if (row != NULL)
            lines->add(lines->fleet, row, lines->run);
        json_decref(row);
        at += count + 1;
    }
    lines->left.count -= at;
    memmove(lines->left.at, lines->left.at + at, lines->left.count);
    return OK;
}

static bool read_table(struct fleet *fleet, const struct run_record *run, const char *table,
                       struct str name, add_row *add, struct arena *arena)
{
    const struct cli_call call = {.path = "/api/table",
                                  .run = run->id,
                                  .query = str_format(arena, "table=%s", table),
                                  .arena = arena};
    struct lines lines = {.fleet = fleet, .run = name, .add = add};
    struct answer answer;
    struct error err = {0};

    ask(&call, &fleet->app->services, STR("jsonl"), &answer);
    bool done = answer.exit_code == EXIT_OK &&
                answer.reply.stream(answer.reply.stream_data, take_piece, &lines, &err) == OK;
    text_free(&lines.left);
    answer_free(&answer);
    return done;
}

static void read_one(struct fleet *fleet, struct str id)
{
    static const struct {
        const char *table;
        add_row *add;
    } asked[] = {{"ops", add_op}, {"hosts", add_host}, {"steps", add_step}};
    struct arena *arena = arena_create();
    struct run_record run;
    struct error err = {0};

    if (run_read(fleet->app, id, arena, &run, NULL, &err) == OK && run.state != RUN_GONE) {
        bool good = run_was_indexed(&run) && run.host_count > 0;
        struct str name = str_copy(fleet->app->arena, run.name);

        for (size_t i = 0; i < COUNT(asked) && good; i++)
            good = read_table(fleet, &run, asked[i].table, name, asked[i].add, arena);
        fleet->runs += good;
        fleet->failed += !good;
    }
    arena_destroy(arena);
}

static double lost_ps(const struct kept *op)
{
    return (double)op->total_ps - op->best * (double)op->count;
}

static int by_loss(const void *a, const void *b)
{
    double left = lost_ps(a), right = lost_ps(b);

    return left != right
               ? (left > right ? -1 : 1)
               : str_compare(((const struct kept *)a)->name, ((const struct kept *)b)->name);
}

static double late_share(const struct kept *host)
{
    return (double)host->late / (double)host->count;
}

static int by_lateness(const void *a, const void *b)
{
    const struct kept *left = a, *right = b;
    double first = late_share(left), second = late_share(right);

    return first != second ? (first > second ? -1 : 1) : str_compare(left->name, right->name);
}

static double idle_share(const struct kept *job)
{
    return (double)job->part_ps / (double)job->total_ps;
}

static int by_idleness(const void *a, const void *b)
{
    const struct kept *left = a, *right = b;
    double first = idle_share(left), second = idle_share(right);

    return first != second ? (first > second ? -1 : 1) : str_compare(left->name, right->name);
}

static void put_op(const struct kept *op, struct cell *ret)
{
    const struct cell row[] = {cell_text(op->name),
                               cell_text(op->module),
                               cell_integer((int64_t)op->runs),
                               cell_integer((int64_t)op->count),
                               cell_integer(op->total_ps),
                               cell_integer((int64_t)(lost_ps(op) + 0.5)),
                               cell_integer((int64_t)(op->best + 0.5)),
                               cell_text(op->best_run),
                               cell_integer((int64_t)(op->worst + 0.5)),
                               cell_text(op->worst_run)};

    memcpy(ret, row, sizeof row);
}

static void put_host(const struct kept *host, struct cell *ret)
{
    const struct str why = STR("it was never last");
    bool never = host->worst_ps == NEVER_LATE;
    const struct cell row[] = {cell_text(host->name),
                               cell_integer((int64_t)host->runs),
                               cell_integer((int64_t)host->count),
                               cell_integer((int64_t)host->late),
                               cell_real(late_share(host)),
                               never ? cell_null(why) : cell_integer(host->worst_ps),
                               never ? cell_null(why) : cell_text(host->worst_run)};

    memcpy(ret, row, sizeof row);
}

static void put_job(const struct kept *job, struct cell *ret)
{
    const struct cell row[] = {cell_text(job->name),        cell_integer((int64_t)job->count),
                               cell_integer(job->total_ps), cell_integer(job->part_ps),
                               cell_real(idle_share(job)),  cell_real(job->worst),
                               cell_text(job->worst_run)};

    memcpy(ret, row, sizeof row);
}

static const struct column op_columns[] = {
    {"name", "op", UNIT_TEXT, true},
    {"module", "module", UNIT_TEXT, true},
    {"run_count", "runs", UNIT_COUNT, true},
    {"count", "count", UNIT_COUNT, false},
    {"self_ps", "self", UNIT_PS, true},
    {"lost_ps", "lost", UNIT_PS, true},
    {"best_mean_ps", "best mean", UNIT_PS, true},
    {"best_run", "in", UNIT_TEXT, true},
    {"worst_mean_ps", "worst mean", UNIT_PS, true},
    {"worst_run", "in", UNIT_TEXT, true},
};
static const struct column host_columns[] = {
    {"name", "host", UNIT_TEXT, true},
    {"run_count", "runs", UNIT_COUNT, true},
    {"compared_count", "steps", UNIT_COUNT, true},
    {"last_count", "late", UNIT_COUNT, true},
    {"last_share", "share", UNIT_SHARE, true},
    {"worst_lag_ps", "worst lag", UNIT_PS, true},
    {"worst_run", "in", UNIT_TEXT, true},
};
static const struct column job_columns[] = {
    {"name", "job", UNIT_TEXT, true},
    {"step_count", "steps", UNIT_COUNT, true},
    {"total_ps", "step time", UNIT_PS, true},
    {"not_computing_ps", "not computing", UNIT_PS, true},
    {"not_computing_share", "share", UNIT_SHARE, true},
    {"worst_step_share", "worst step", UNIT_SHARE, true},
    {"worst_run", "in", UNIT_TEXT, true},
};

static const struct asked_table {
    const char *name, *title;
    const struct column *columns;
    uint32_t column_count;
    int (*order)(const void *a, const void *b);
    void (*put)(const struct kept *row, struct cell *ret);
} asked_tables[] = {
    {"ops", "Ops by the time that they lose to the best run of the same program", op_columns,
     COUNT(op_columns), by_loss, put_op},
    {"hosts", "Hosts by how often the others wait for them", host_columns, COUNT(host_columns),
     by_lateness, put_host},
    {"jobs", "Jobs by the share of step time that is not spent computing", job_columns,
     COUNT(job_columns), by_idleness, put_job},
};

static struct table make_table(const struct asked_table *asked, struct gathered *rows,
                               uint32_t limit, struct arena *arena)
{
    uint32_t count = rows->count < limit ? rows->count : limit;
    struct cell *cells = arena_array(arena, struct cell, (size_t)count * asked->column_count);

    if (rows->count > 1)
        qsort(rows->at, rows->count, sizeof *rows->at, asked->order);
    for (uint32_t i = 0; i < count; i++)
        asked->put(&rows->at[i], &cells[(size_t)i * asked->column_count]);
    return (struct table){.columns = asked->columns,
                          .column_count = asked->column_count,
                          .cells = cells,
                          .row_count = count,
                          .row_count_all = rows->count};
}

static void print_json(struct fleet *fleet, const struct table tables[COUNT(asked_tables)])
{
    struct text text = {0};
    struct json json = json_into(&text);

    json_open(&json, '{');
    json_put_unsigned(&json, "run_count", fleet->runs);
    json_put_unsigned(&json, "failed_count", fleet->failed);
    for (size_t i = 0; i < COUNT(asked_tables); i++) {
        json_key(&json, asked_tables[i].name);
        json_open(&json, '{');
        json_put_unsigned(&json, "row_count", tables[i].row_count_all);
        json_put_rows(&json, &tables[i]);
        json_close(&json, '}');
    }
    json_close(&json, '}');
    puts(text.at);
    text_free(&text);
}

static void print_tables(const struct table tables[COUNT(asked_tables)])
{
    for (size_t i = 0; i < COUNT(asked_tables); i++) {
        struct text markdown = {0}, laid = {0};

        printf("%s%s\n\n", i > 0 ? "\n" : "", asked_tables[i].title);
        if (tables[i].row_count == 0) {
            puts("  none");
            continue;
        }
        table_markdown(&markdown, &tables[i]);
        grid_layout(text_str(&markdown), (struct grid_style){0}, &laid);
        fwrite(laid.at, 1, laid.count, stdout);
        text_free(&markdown);
        text_free(&laid);
    }
}

static void read_all(struct fleet *fleet, const struct planned *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        runs_read_ahead(fleet->app, &runs[i], count - i);
        progress_show("Reading", (double)i / count);
        read_one(fleet, runs[i].id);
    }
    progress_clear();
}

int print_fleet(struct app *app, const void *data)
{
    const struct wishes *wishes = data;
    struct fleet fleet = {.app = app};
    struct gathered *all[COUNT(asked_tables)] = {&fleet.ops, &fleet.hosts, &fleet.jobs};
    struct table tables[COUNT(asked_tables)];
    struct planned *runs;
    struct error err = {0};
    uint32_t count, limit = wishes->limit > 0 ? (uint32_t)wishes->limit : 10;

    wait_for_jobs(&app->services);
    if (plan_runs(app, 1, app->arena, &runs, &count, &err) != OK)
        return app_failed(&err);
    for (size_t i = 0; i < COUNT(all); i++)
        all[i]->arena = app->arena;
    read_all(&fleet, runs, count);
    for (size_t i = 0; i < COUNT(all); i++)
        tables[i] = make_table(&asked_tables[i], all[i], limit, app->arena);
    if (strcmp(wishes->format, "json") == 0)
        print_json(&fleet, tables);
    else
        print_tables(tables);
    for (size_t i = 0; i < COUNT(all); i++) {
        map64_free(&all[i]->places);
        free(all[i]->at);
    }
    if (fleet.failed > 0)
        fprintf(stderr, "jviewd: %u of %u runs have no timeline that could be read\n", fleet.failed,
                fleet.runs + fleet.failed);
    return output_flush(fleet.runs > 0 ? EXIT_OK : EXIT_NOT_FOUND);
}
