/* SPDX-License-Identifier: Apache-2.0 */
/* Files -> runs, in five steps:
 *
 *   places     files by directory
 *   sessions   places that are sessions; those of one capture are joined (join.c)
 *   the rest   a run for each trace file; pprof, dumps of XLA, nsys-jax by directory, or beside a
 *              session
 *   ranks      files that say they are ranks of one job are joined
 *   names      the session's name only where a log directory has several runs (name.c)
 */
#include <stdlib.h>

#include "discover/run_builder.h"
#include "discover/session.h"

struct session_at {
    struct str log; /* absolute */
    uint32_t builder;
};

struct sessions { /* by log directory */
    struct session_at *at;
    size_t count;
};

static int by_log(const void *a, const void *b)
{
    return str_compare(((const struct session_at *)a)->log, ((const struct session_at *)b)->log);
}

static int by_dir(const void *a, const void *b)
{
    return str_compare(((const struct place *)a)->dir, ((const struct place *)b)->dir);
}

/* A bundle is a run of its own, also where it lies beside the files of another. */
static bool is_apart(const struct group *group, const struct place *place, uint32_t file)
{
    return place->count > 1 && group->hints[file].kind == HINT_BUNDLE;
}

static void add_session(struct run_builders *builders, const struct place *place)
{
    const struct group *group = builders->group;
    struct run_builder *builder = run_builder_add(builders, place->dir);
    struct scan_run_file *files = arena_array(group->arena, struct scan_run_file, place->count);

    roles_of_session(group, place, files);
    builder->log = session_log_directory(group->root, place->dir, group->arena);
    builder->session = place->dir.count > 0 ? path_base(place->dir) : path_base(group->root);
    builder->has_time = session_time(builder->session, &builder->time);
    run_builder_add_dir(group, builder, place->dir);
    for (uint32_t i = 0; i < place->count; i++)
        if (!is_apart(group, place, files[i].file))
            run_builder_add_file(group, builder, files[i]);
}

/* One of several captures of a directory is called after its first file. */
static struct run_builder *add_capture(struct run_builders *builders, const struct place *place,
                                       uint32_t first)
{
    const struct group *group = builders->group;
    struct run_builder *builder = run_builder_add(builders, group->files[first].path);
    struct str stem = group->hints[first].stem;

    builder->kind = HINT_XPLANE;
    builder->key = place->dir.count == 0
                       ? stem
                       : str_format(group->arena, "%.*s/%.*s", STR_ARG(place->dir), STR_ARG(stem));
    return builder;
}

/* A directory of traces that is no session by its place: one run, unless it holds several
 * captures. */
static void add_flat(struct run_builders *builders, const struct place *place)
{
    const struct group *group = builders->group;
    struct scan_run_file *files = arena_array(group->arena, struct scan_run_file, place->count);
    uint32_t *of = arena_array(group->arena, uint32_t, place->count), trace_count = 0;

    roles_of_session(group, place, files);
    for (uint32_t i = 0; i < place->count; i++)
        trace_count += files[i].role == SCAN_TRACE || files[i].role == SCAN_OTHER;

    uint32_t captures = captures_of(group, files, place->count, of);

    for (uint32_t capture = 0; capture < captures; capture++) {
        struct run_builder *builder = NULL;

        for (uint32_t i = 0; i < place->count; i++) {
            if (of[i] != capture || is_apart(group, place, files[i].file) ||
                group->hints[files[i].file].kind == HINT_NONE)
                continue;
            if (builder == NULL && captures > 1)
                builder = add_capture(builders, place, files[i].file);
            else if (builder == NULL)
                builder = run_builder_add(builders, place->dir);
            run_builder_add_file(group, builder, files[i]);
        }
        if (builder == NULL)
            continue;
        if (captures == 1)
            builder->log =
                str_format(group->arena, "%.*s/%.*s", STR_ARG(group->root), STR_ARG(place->dir));
        builder->run.joinable = trace_count > 1;
        run_builder_add_dir(group, builder, place->dir);
    }
}

/* The sessions by log directory; of one that was joined, by each of its own. */
static struct sessions index_sessions(const struct run_builders *builders)
{
    const struct group *group = builders->group;
    size_t count = 0;

    for (size_t i = 0; i < builders->count; i++)
        count += builders->items[i].run.dir_count;
    struct sessions ret = {.at = arena_array(group->arena, struct session_at, count)};

    for (size_t i = 0; i < builders->count; i++) {
        const struct run_builder *builder = &builders->items[i];

        for (uint32_t k = 0; k < builder->run.dir_count && builder->session.count > 0; k++)
            ret.at[ret.count++] = (struct session_at){
                .log = session_log_directory(group->root, builder->dirs[k], group->arena),
                .builder = (uint32_t)i};
    }
    qsort(ret.at, ret.count, sizeof *ret.at, by_log);
    return ret;
}

/* Of the sessions of the log directory that `dir` is, the one nearest to a time. */
static struct run_builder *nearest_session(struct run_builders *builders,
                                           const struct sessions *sessions, struct str dir,
                                           int64_t modified_ns)
{
    struct session_at key = {.log = builders->group->root};
    struct run_builder *best = NULL;

    if (dir.count > 0)
        key.log = str_format(builders->group->arena, "%.*s/%.*s", STR_ARG(key.log), STR_ARG(dir));
    const struct session_at *at = bsearch(&key, sessions->at, sessions->count, sizeof *at, by_log);
    while (at != NULL && at > sessions->at && str_equal(at[-1].log, key.log))
        at--;
    for (; at != NULL && at < sessions->at + sessions->count && str_equal(at->log, key.log); at++) {
        struct run_builder *builder = &builders->items[at->builder];

        if (best == NULL || llabs(builder->run.modified_ns - modified_ns) <
                                llabs(best->run.modified_ns - modified_ns))
            best = builder;
    }
    return best;
}

/* A dump's directory: XLA makes one below it for a module's own files. */
static struct str dump_of(struct str dir)
{
    return hint_is_module(path_base(dir)) ? path_dir(dir) : dir;
}

/* The session that a file belongs to which lies beside plugins/, or a dump in a directory there. */
static struct run_builder *session_beside(struct run_builders *builders,
                                          const struct sessions *sessions,
                                          const struct place *place, enum hint_kind kind,
                                          int64_t modified_ns)
{
    struct str dir = kind == HINT_HLO ? dump_of(place->dir) : place->dir;
    struct run_builder *session = NULL;

    if (kind != HINT_PPROF && kind != HINT_HLO)
        return NULL;
    session = nearest_session(builders, sessions, dir, modified_ns);
    if (session == NULL && kind == HINT_HLO && dir.count > 0)
        session = nearest_session(builders, sessions, path_dir(dir), modified_ns);
    return session;
}

/* The builder to which a file of this key belongs; a little way back, for places are neighbours. */
static struct run_builder *find_builder(struct run_builders *builders, enum hint_kind kind,
                                        struct str key)
{
    enum { LOOK_BACK_MAX = 8 };

    for (size_t i = builders->count; i > 0 && i + LOOK_BACK_MAX > builders->count; i--) {
        struct run_builder *builder = &builders->items[i - 1];

        if (builder->log.count == 0 && builder->kind == kind && kind != HINT_ANY &&
            str_equal(builder->key, key))
            return builder;
    }
    return NULL;
}

/* Files that make up one run with all others of their kind in a directory. */
static void add_together(struct run_builders *builders, uint32_t index, struct str home,
                         struct hint hint, enum hint_kind kind)
{
    const struct group *group = builders->group;
    struct run_builder *builder = find_builder(builders, kind, home);

    if (builder == NULL) {
        builder = run_builder_add(builders, home);
        builder->key = home;
        builder->kind = kind;
    }
    run_builder_add_dir(group, builder, path_dir(group->files[index].path));
    run_builder_add_file(group, builder,
                         (struct scan_run_file){.file = index,
                                                .role = hint.is_text_form ? SCAN_COPY : SCAN_TRACE,
                                                .rank = hint.is_text_form,
                                                .host = hint.stem});
}

/* A file of a run of its own. The same stem in another packing, or a report beside its SQLite
 * export, is a copy. */
static void add_single(struct run_builders *builders, uint32_t index, struct str dir,
                       struct hint hint)
{
    const struct group *group = builders->group;
    const struct scan_file *file = &group->files[index];
    struct str key = hint.stem;

    if (dir.count > 0)
        key = str_format(group->arena, "%.*s/%.*s", STR_ARG(dir), STR_ARG(hint.stem));
    struct run_builder *builder = find_builder(builders, hint.kind, key);
    bool is_report = str_ends(file->path, STR(".nsys-rep")) || str_ends(file->path, STR(".qdrep"));
    bool copy = builder != NULL;

    if (builder == NULL) {
        builder = run_builder_add(builders, file->path);
        builder->key = key;
        builder->kind = hint.kind;
        run_builder_add_dir(group, builder, dir);
    } else if (!is_report && builder->files[0].rank == 1) { /* the export speaks, not the report */
        builder->files[0].role = SCAN_COPY;
        copy = false;
    }
    run_builder_add_file(group, builder,
                         (struct scan_run_file){.file = index,
                                                .role = copy ? SCAN_COPY : SCAN_TRACE,
                                                .rank = is_report,
                                                .host = hint.stem});
    builder->run.certain |= hint.kind == HINT_NONE; /* asked for by its very name */
}

/* Is it, or the directory above it, what nsys-jax wrote? */
static bool is_nsys_jax(const struct group *group, const struct place *places, uint32_t count,
                        struct str dir)
{
    const struct place key = {.dir = dir};
    const struct place *place =
        group->has_nsys_jax ? bsearch(&key, places, count, sizeof *places, by_dir) : NULL;

    for (uint32_t i = 0; place != NULL && i < place->count; i++)
        if (group->hints[place->order[i]].kind == HINT_NSYS_JAX)
            return true;
    return false;
}

static void add_rest(struct run_builders *builders, const struct sessions *sessions,
                     const struct place *place, const struct str *nsys_jax, enum hint_kind only)
{
    const struct group *group = builders->group;

    for (uint32_t i = 0; i < place->count; i++) {
        uint32_t index = place->order[i];
        const struct scan_file *file = &group->files[index];
        struct hint hint = group->hints[index];
        bool is_only = hint.kind == HINT_PPROF || hint.kind == HINT_HLO ? hint.kind == only
                                                                        : only == HINT_NONE;

        if (!is_only || (hint.kind == HINT_NONE && !group->is_one_file))
            continue;
        struct run_builder *session =
            session_beside(builders, sessions, place, hint.kind, file->modified_ns);

        if (session != NULL)
            run_builder_add_file(
                group, session,
                (struct scan_run_file){.file = index,
                                       .role = hint.is_text_form ? SCAN_COPY : SCAN_BESIDE,
                                       .rank = hint.is_text_form,
                                       .host = hint.stem});
        else if (hint.kind == HINT_BUNDLE)
            add_single(builders, index, place->dir, hint);
        else if (nsys_jax != NULL)
            add_together(builders, index, *nsys_jax, hint, HINT_NSYS_JAX);
        else if (hint.kind == HINT_PPROF)
            add_together(builders, index, place->dir, hint, HINT_PPROF);
        else if (hint.kind == HINT_HLO)
            add_together(builders, index, dump_of(place->dir), hint, HINT_HLO);
        else if (hint.kind != HINT_NSYS_JAX && hint.kind != HINT_TABLE)
            add_single(builders, index, place->dir, hint);
    }
}

static bool holds_bundles_alone(const struct group *group, const struct place *place)
{
    for (uint32_t i = 0; i < place->count; i++)
        if (!is_apart(group, place, place->order[i]))
            return false;
    return true;
}

static bool is_session(const struct group *group, const struct place *place)
{
    if (holds_bundles_alone(group, place))
        return false;
    if (session_is_named(group->root, place->dir))
        return true;
    for (uint32_t i = 0; i < place->count; i++) {
        enum hint_kind kind = group->hints[place->order[i]].kind;
        if (kind == HINT_XPLANE || kind == HINT_SPOOL)
            return true;
    }
    return false;
}

static int by_place(const void *a, const void *b, void *data)
{
    const struct scan_file *files = data;
    struct str left = files[*(const uint32_t *)a].path, right = files[*(const uint32_t *)b].path;
    int order = str_compare(path_dir(left), path_dir(right));

    return order != 0 ? order : str_compare(left, right);
}

/* Files come by path, which is this order wherever directories hold either files or directories. */
static uint32_t *order_by_place(const struct group *group, uint32_t file_count)
{
    void *files = (void *)(uintptr_t)group->files;
    uint32_t *order = arena_array(group->arena, uint32_t, file_count);
    bool is_ordered = true;

    for (uint32_t i = 0; i < file_count; i++) {
        order[i] = i;
        is_ordered = is_ordered && (i == 0 || by_place(&order[i - 1], &order[i], files) <= 0);
    }
    if (!is_ordered)
        qsort_r(order, file_count, sizeof *order, by_place, files);
    return order;
}

static struct place *find_places(const struct group *group, uint32_t file_count,
                                 uint32_t *ret_count)
{
    uint32_t *order = order_by_place(group, file_count);
    struct place *places = arena_array(group->arena, struct place, file_count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < file_count; i++) {
        struct str dir = path_dir(group->files[order[i]].path);

        if (count == 0 || !str_equal(places[count - 1].dir, dir))
            places[count++] = (struct place){.dir = dir, .order = &order[i]};
        places[count - 1].count++;
    }
    *ret_count = count;
    return places;
}

static int by_role(const void *a, const void *b)
{
    const struct scan_run_file *left = a, *right = b;

    if (left->role != right->role)
        return left->role < right->role ? -1 : 1;
    int order = str_compare(left->host, right->host);

    if (order == 0 && left->rank != right->rank)
        order = left->rank < right->rank ? -1 : 1;
    return order != 0 ? order : (left->file > right->file) - (left->file < right->file);
}

static int newest_first(const void *a, const void *b)
{
    const struct scan_run *left = a, *right = b;

    if (left->modified_ns != right->modified_ns)
        return left->modified_ns > right->modified_ns ? -1 : 1;
    int order = str_compare(left->name, right->name);

    return order != 0 ? order : str_compare(left->dir, right->dir);
}

static struct scan_run finish(struct run_builder *builder)
{
    qsort(builder->files, builder->run.file_count, sizeof *builder->files, by_role);
    for (uint32_t i = 0; i < builder->run.file_count; i++)
        builder->run.host_count += builder->files[i].role == SCAN_TRACE;
    builder->run.files = builder->files;
    builder->run.dirs = builder->dirs;
    builder->run.homes = builder->homes;
    return builder->run;
}

static void add_apart(struct run_builders *builders, const struct place *place)
{
    const struct group *group = builders->group;

    for (uint32_t i = 0; i < place->count; i++) {
        uint32_t index = place->order[i];

        if (is_apart(group, place, index))
            add_single(builders, index, place->dir, group->hints[index]);
    }
}

static void collect_rest(struct run_builders *builders, const struct place *places, uint32_t count,
                         const bool *taken)
{
    static const enum hint_kind passes[] = {HINT_PPROF, HINT_HLO, HINT_NONE};
    const struct sessions sessions = index_sessions(builders);

    for (uint32_t i = 0; i < count; i++) {
        struct str above = path_dir(places[i].dir);
        const struct str *nsys_jax = NULL;

        if (is_nsys_jax(builders->group, places, count, places[i].dir))
            nsys_jax = &places[i].dir;
        else if (places[i].dir.count > 0 && is_nsys_jax(builders->group, places, count, above))
            nsys_jax = &above;
        if (taken[i])
            add_apart(builders, &places[i]);
        for (size_t pass = 0; pass < COUNT(passes) && !taken[i]; pass++)
            add_rest(builders, &sessions, &places[i], nsys_jax, passes[pass]);
    }
}

static void collect(struct run_builders *builders, uint32_t file_count)
{
    uint32_t place_count;
    struct place *places = find_places(builders->group, file_count, &place_count);
    bool *taken = arena_array(builders->group->arena, bool, place_count);

    for (uint32_t i = 0; i < place_count; i++) {
        taken[i] = is_session(builders->group, &places[i]);
        if (taken[i] && session_is_named(builders->group->root, places[i].dir))
            add_session(builders, &places[i]);
        else if (taken[i])
            add_flat(builders, &places[i]);
    }
    join_sessions(builders);
    size_t session_count = builders->count;

    collect_rest(builders, places, place_count, taken);
    join_ranks(builders, session_count);
}

static void read_hints(struct group *group, uint32_t file_count)
{
    struct hint *hints = arena_array(group->arena, struct hint, file_count);

    for (uint32_t i = 0; i < file_count; i++) {
        hints[i] = hint_of(path_base(group->files[i].path));
        group->has_nsys_jax |= hints[i].kind == HINT_NSYS_JAX;
    }
    group->hints = hints;
}

void scan_group(struct str root, const struct scan_file *files, uint32_t file_count,
                struct arena *arena, struct scan_run **ret, uint32_t *ret_count)
{
    struct group group = {
        .root = root, .files = files, .arena = arena, .is_one_file = file_count == 1};
    struct run_builders builders = {.group = &group};

    *ret = NULL;
    *ret_count = 0;
    if (file_count == 0)
        return;
    read_hints(&group, file_count);
    collect(&builders, file_count);
    if (builders.count == 0)
        return;
    name_runs(&builders);

    *ret = arena_array(arena, struct scan_run, builders.count);
    for (size_t i = 0; i < builders.count; i++)
        (*ret)[i] = finish(&builders.items[i]);
    qsort(*ret, builders.count, sizeof **ret, newest_first);
    *ret_count = (uint32_t)builders.count;
}
