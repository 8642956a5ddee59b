/* SPDX-License-Identifier: Apache-2.0 */
/* What `run=` means. The first rule that any run answers to holds:
 *
 *   id            rf3c1...            one run
 *   content id    c09f...             the newest run of that content
 *   name          exp1/step_1000
 *   latest        latest, latest-2    newest first, those that are gone aside
 *   directory     /data/runs          the newest run of that profile directory, or of that file
 *   tail          step_1000           whole last components of exp1/step_1000
 *   step number   1000, step_1000     a component step_00001000
 *   suffix        000                 any end of a name
 *   former id     r77a0...            what one of its directories was before others joined it
 *
 * A rule that two runs answer to is ambiguous; no rule at all yields the nearest names.
 */
#include <stdio.h>

#include "base/distance.h"
#include "base/hash.h"
#include "store/catalog_db.h"

struct known { /* newest first */
    struct str id, content_id, kept_id, name, root;
    const struct str *dirs;
    uint32_t dir_count;
    bool gone, is_unread, is_aside; /* aside: it was read, and has no timeline */
    int64_t captured_ns, latest_ns; /* of one that is not read yet: at the latest */
};

struct asked {
    const struct known *runs;
    uint32_t count;
    struct str text;
};

enum { NEAR_MAX = 5 };

void run_id_of(struct str root, struct str dir, char ret[RUN_ID_SIZE])
{
    struct hasher *hasher = hasher_create();

    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)root.at, .count = root.count});
    hasher_put(hasher, BYTES("\0"));
    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)dir.at, .count = dir.count});
    snprintf(ret, RUN_ID_SIZE, "r%016llx", (unsigned long long)hasher_end(hasher).low);
}

static bool is_id(const struct known *run, struct str text)
{
    return str_equal(run->id, text);
}

/* What was read here goes before what a bundle claims. */
static bool is_kept(const struct known *run, struct str text)
{
    return run->kept_id.count > 0 && str_equal(run->kept_id, text);
}

static bool is_content(const struct known *run, struct str text)
{
    return run->content_id.count > 0 && str_equal(run->content_id, text);
}

static bool is_name(const struct known *run, struct str text)
{
    return str_equal(run->name, text);
}

static bool is_tail(const struct known *run, struct str text)
{
    return str_ends(run->name, text) && run->name.count > text.count &&
           run->name.at[run->name.count - text.count - 1] == '/';
}

static bool is_suffix(const struct known *run, struct str text)
{
    return str_ends(run->name, text);
}

/* "1000", "step_1000", "step-00001000" -> 1000. */
static bool step_of(struct str component, bool needs_word, uint64_t *ret)
{
    struct str digits = component;

    if (str_starts(component, STR("step"))) {
        digits = str_skip(component, 4);
        if (str_starts(digits, STR("_")) || str_starts(digits, STR("-")))
            digits = str_skip(digits, 1);
    } else if (needs_word) {
        return false;
    }
    return digits.count > 0 && digits.at[0] >= '0' && digits.at[0] <= '9' &&
           str_to_u64(digits, ret);
}

/* The next step that a component of the name says; *rest is what stands behind it. */
static bool next_step(struct str *rest, uint64_t *ret)
{
    while (rest->count > 0) {
        const char *slash = memchr(rest->at, '/', rest->count);
        size_t count = slash == NULL ? rest->count : (size_t)(slash - rest->at);
        struct str component = {.at = rest->at, .count = count};

        *rest = str_skip(*rest, slash == NULL ? count : count + 1);
        if (step_of(component, true, ret))
            return true;
    }
    return false;
}

bool run_step_of(struct str name, uint64_t *ret)
{
    bool found = false;

    for (uint64_t step; next_step(&name, &step); found = true)
        *ret = step;
    return found;
}

static bool is_step(const struct known *run, struct str text)
{
    uint64_t want, step;

    if (!step_of(text, false, &want))
        return false;
    for (struct str rest = run->name; next_step(&rest, &step);) {
        if (step == want)
            return true;
    }
    return false;
}

static bool was_id(const struct known *run, struct str text)
{
    char id[RUN_ID_SIZE];

    for (uint32_t i = 0; i < run->dir_count; i++) {
        run_id_of(run->root, run->dirs[i], id);
        if (str_equal(str_of(id), text))
            return true;
    }
    return false;
}

/* "latest" is 0, "latest-3" is 3. */
static bool latest_of(struct str text, uint64_t *ret)
{
    *ret = 0;
    if (str_equal(text, STR("latest")))
        return true;
    return str_starts(text, STR("latest-")) && str_to_u64(str_skip(text, 7), ret);
}

static const struct known *find_newest(const struct asked *asked, const struct str *root,
                                       bool is_aside, uint64_t *back)
{
    for (uint32_t i = 0; i < asked->count; i++) {
        const struct known *run = &asked->runs[i];

        if (!run->gone && run->is_aside == is_aside &&
            (root == NULL || str_equal(run->root, *root)) && (*back)-- == 0)
            return run;
    }
    return NULL;
}

/* Newest first, of all or of one profile directory; NULL: there are not so many. Behind all others
 * those without a timeline, a snapshot of memory say. *ret_unread: a run that is to be read before,
 * for it may be as new. */
static const struct known *find_latest(const struct asked *asked, const struct str *root,
                                       uint64_t back, const struct known **ret_unread)
{
    const struct known *found = find_newest(asked, root, false, &back);

    *ret_unread = NULL;
    if (found == NULL)
        found = find_newest(asked, root, true, &back);
    for (uint32_t i = 0; i < asked->count && found != NULL; i++) {
        const struct known *run = &asked->runs[i];

        if (run->gone || !run->is_unread || (root != NULL && !str_equal(run->root, *root)) ||
            run->latest_ns < found->captured_ns || run == found)
            continue;
        if (*ret_unread == NULL || run->latest_ns > (*ret_unread)->latest_ns)
            *ret_unread = run;
    }
    /* It may be older than its name says, where there is another that may be newer. */
    if (found != NULL && found->is_unread && asked->count > 1)
        *ret_unread = *ret_unread == NULL || found->latest_ns > (*ret_unread)->latest_ns
                          ? found
                          : *ret_unread;
    return found;
}

/* All runs a rule fits; those that are gone only when nothing else does. */
static uint32_t fitting(const struct asked *asked, bool (*rule)(const struct known *, struct str),
                        const struct known **ret_first, struct run_candidates *near)
{
    uint32_t count = 0;

    for (int gone = 0; gone < 2 && count == 0; gone++) {
        for (uint32_t i = 0; i < asked->count; i++) {
            const struct known *run = &asked->runs[i];

            if (run->gone != (gone == 1) || !rule(run, asked->text))
                continue;
            if (count == 0)
                *ret_first = run;
            if (count < COUNT(near->ids)) {
                near->ids[count] = run->id;
                near->names[count] = run->name;
            }
            count++;
        }
    }
    near->count = count < COUNT(near->ids) ? count : (uint32_t)COUNT(near->ids);
    return count;
}

static void nearest(const struct asked *asked, struct run_candidates *near)
{
    uint32_t best[NEAR_MAX] = {0};

    near->count = 0;
    for (uint32_t i = 0; i < asked->count; i++) {
        const struct known *run = &asked->runs[i];
        uint32_t whole = edit_distance(asked->text, run->name);
        uint32_t part = edit_distance(asked->text, path_base(run->name));
        uint32_t far = whole < part ? whole : part, at = near->count;

        while (at > 0 && far < best[at - 1])
            at--;
        if (at == NEAR_MAX)
            continue;
        if (near->count < NEAR_MAX)
            near->count++;
        for (uint32_t j = near->count - 1; j > at; j--) {
            best[j] = best[j - 1];
            near->ids[j] = near->ids[j - 1];
            near->names[j] = near->names[j - 1];
        }
        best[at] = far;
        near->ids[at] = run->id;
        near->names[at] = run->name;
    }
}

static enum status read_known(struct catalog *catalog, struct arena *arena, struct asked *ret,
                              struct error *err)
{
    struct sqlite3_stmt *count = db_statement(catalog, "SELECT count(*) FROM runs", err);

    if (count == NULL)
        return err->code;
    uint64_t all = db_row(catalog, count, err) ? (uint64_t)db_i64(count, 0) : 0;
    db_reset(count);
    if (all > UINT32_MAX)
        return fail(err, ERR_LIMIT, "the catalog holds too many runs");

    struct known *runs = arena_array(arena, struct known, all + 1);
    struct sqlite3_stmt *ask = db_statement(catalog,
                                            "SELECT id, content_id, name, state, root, dirs, "
                                            "kept_id, order_ns, latest_ns, is_unread, EXISTS "
                                            "(SELECT 1 FROM hosts WHERE run = runs.id) FROM runs "
                                            "ORDER BY order_ns DESC, id",
                                            err);

    if (ask == NULL)
        return err->code;
    while (ret->count < all && db_row(catalog, ask, err)) {
        struct known *run = &runs[ret->count];
        struct str root = db_text(ask, 4, arena);

        if (!catalog_shows(catalog, root))
            continue;
        ret->count++;
        *run = (struct known){
            .id = db_text(ask, 0, arena),
            .content_id = db_text(ask, 1, arena),
            .kept_id = db_text(ask, 6, arena),
            .name = db_text(ask, 2, arena),
            .root = root,
            .gone = db_i64(ask, 3) == RUN_GONE,
            .captured_ns = db_i64(ask, 7),
            .latest_ns = db_i64(ask, 8),
            .is_unread = db_i64(ask, 9) != 0,
            .is_aside = db_i64(ask, 10) == 0 && db_i64(ask, 9) == 0 &&
                        (db_i64(ask, 3) == RUN_READY || db_i64(ask, 3) == RUN_PARTIAL),
        };
        db_split(db_text(ask, 5, arena), arena, &run->dirs, &run->dir_count);
    }
    db_reset(ask);
    ret->runs = runs;
    return err->code;
}

static enum status ambiguous(struct str text, uint32_t count, const struct run_candidates *near,
                             struct error *err)
{
    return fail(err, ERR_AMBIGUOUS, "\"%.*s\" means %u runs, among them \"%.*s\" and \"%.*s\"",
                STR_ARG(text), count, STR_ARG(near->names[0]), STR_ARG(near->names[1]));
}

/* "latest", or a profile directory. False: it is neither. */
static bool resolve_latest(const struct asked *asked, const struct known **ret_run,
                           const struct known **ret_unread)
{
    uint64_t back = 0;
    bool is_word = latest_of(asked->text, &back);

    *ret_run = find_latest(asked, is_word ? NULL : &asked->text, back, ret_unread);
    return *ret_run != NULL;
}

static enum status resolve(const struct asked *asked, struct str *ret_id,
                           struct run_candidates *near, struct error *err)
{
    static const struct {
        bool (*fits)(const struct known *, struct str);
        bool any; /* the newest of several is meant */
    } rules[] = {
        {is_id, true},    {is_kept, true},  {is_content, true}, {is_name, false}, {NULL, true},
        {is_tail, false}, {is_step, false}, {is_suffix, false}, {was_id, true},
    };
    const struct known *run = NULL, *unread = NULL;

    for (size_t i = 0; i < COUNT(rules) && asked->text.count > 0; i++) {
        uint32_t count = 0;

        if (rules[i].fits != NULL)
            count = fitting(asked, rules[i].fits, &run, near);
        else
            count = resolve_latest(asked, &run, &unread);
        if (unread != NULL) {
            *ret_id = unread->id;
            return fail(err, ERR_NOT_READY,
                        "the latest run is not known until \"%.*s\" has been read: try again",
                        STR_ARG(unread->name));
        }
        if (count > 1 && !rules[i].any)
            return ambiguous(asked->text, count, near, err);
        if (count > 0) {
            *ret_id = run->id;
            near->count = 0;
            return OK;
        }
    }
    nearest(asked, near);
    if (near->count == 0)
        return fail(err, ERR_NOT_FOUND, "there is no run \"%.*s\": no run has been found yet",
                    STR_ARG(asked->text));
    return fail(err, ERR_NOT_FOUND, "there is no run \"%.*s\"; the nearest is \"%.*s\"",
                STR_ARG(asked->text), STR_ARG(near->names[0]));
}

/* By index, when exactly one run is called that: what programs ask for. */
static bool find_exact(struct catalog *catalog, struct str text, struct arena *arena,
                       struct str *ret_id, struct error *err)
{
    struct sqlite3_stmt *ask = db_statement(
        catalog, "SELECT id, root FROM runs WHERE id = ?1 OR content_id = ?1 OR name = ?1", err);
    uint32_t count = 0;

    if (ask == NULL || text.count == 0)
        return false;
    db_bind_text(ask, 1, text);
    while (count < 2 && db_row(catalog, ask, err)) {
        if (catalog_shows(catalog, db_text(ask, 1, arena)) && count++ == 0)
            *ret_id = db_text(ask, 0, arena);
    }
    db_reset(ask);
    return count == 1;
}

enum status catalog_resolve(struct catalog *catalog, struct str run, struct arena *arena,
                            struct str *ret_id, struct run_candidates *near, struct error *err)
{
    struct error failed = {0};
    struct asked asked = {.text = run};
    struct run_candidates own;

    if (near == NULL)
        near = &own;
    *near = (struct run_candidates){0};
    pthread_mutex_lock(&catalog->lock);
    bool found = find_exact(catalog, run, arena, ret_id, &failed);
    if (!found && failed.code == OK)
        read_known(catalog, arena, &asked, &failed);
    pthread_mutex_unlock(&catalog->lock);
    if (failed.code != OK)
        return fail(err, failed.code, "%s", failed.message);
    return found ? OK : resolve(&asked, ret_id, near, err);
}
