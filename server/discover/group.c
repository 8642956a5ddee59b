/* Files -> runs, in four steps:
 *
 *   places     files by directory
 *   sessions   places that are sessions; those of one log directory whose hosts differ and whose
 *              names lie within 120 s are one run, because each host names its own at export
 *   the rest   a run for each trace file; pprof of a directory together, or beside a session
 *   names      the session's name only where a log directory has several runs
 */
#include <stdlib.h>

#include "discover/draft.h"
#include "discover/session.h"

enum { EXPORT_SPREAD_S = 120 };

struct draft { /* a run in the making */
    struct scan_run run;
    struct scan_run_file *files;
    struct str *dirs;
    size_t file_capacity, dir_capacity;
    struct str log;      /* absolute log directory of its sessions; "" of other runs */
    struct str session;  /* name of its first session; "" where the directory itself is one */
    struct str unfolded; /* the name with a repeated last component kept */
    struct str key;      /* of a run of one file: its stem's path */
    enum hint_kind kind; /* ... and its format's */
    bool has_time;
    int64_t time;
};

struct drafts {
    const struct group *group;
    struct draft *items;
    size_t count, capacity;
};

/* Doubles an array that belongs to the arena, so that one more fits. */
static void *room(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 4 : *capacity * 2;
    void *larger = arena_alloc(arena, *capacity, size);

    if (count > 0)
        memcpy(larger, items, count * size);
    return larger;
}

static struct draft *add_draft(struct drafts *drafts, struct str dir)
{
    drafts->items = room(drafts->group->arena, drafts->items, drafts->count, &drafts->capacity,
                         sizeof *drafts->items);
    struct draft *draft = &drafts->items[drafts->count++];

    memset(draft, 0, sizeof *draft);
    draft->run.dir = dir;
    return draft;
}

static void add_dir(const struct group *group, struct draft *draft, struct str dir)
{
    draft->dirs = room(group->arena, draft->dirs, draft->run.dir_count, &draft->dir_capacity,
                       sizeof *draft->dirs);
    draft->dirs[draft->run.dir_count++] = dir;
}

static void add_file(const struct group *group, struct draft *draft, struct scan_run_file file)
{
    const struct scan_file *found = &group->files[file.file];

    draft->files = room(group->arena, draft->files, draft->run.file_count, &draft->file_capacity,
                        sizeof *draft->files);
    draft->files[draft->run.file_count++] = file;
    draft->run.bytes += found->bytes;
    if (found->modified_ns > draft->run.modified_ns || draft->run.file_count == 1)
        draft->run.modified_ns = found->modified_ns;
    draft->run.certain |= hint_of(path_base(found->path)).certain;
}

static bool speaks_for(const struct draft *draft, struct str host)
{
    for (uint32_t i = 0; i < draft->run.file_count; i++)
        if (draft->files[i].role == SCAN_TRACE && str_equal(draft->files[i].host, host))
            return true;
    return false;
}

static bool hosts_differ(const struct draft *draft, const struct scan_run_file *files,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (files[i].role == SCAN_TRACE && speaks_for(draft, files[i].host))
            return false;
    return draft->run.file_count > 0;
}

/* The run of the same log directory that this session continues: the nearest in time. */
static struct draft *find_partner(struct drafts *drafts, const struct draft *session,
                                  const struct scan_run_file *files, uint32_t count)
{
    struct draft *best = NULL;

    if (!session->has_time)
        return NULL;
    for (size_t i = drafts->count; i-- > 0;) {
        struct draft *other = &drafts->items[i];

        if (!str_equal(other->log, session->log))
            break; /* places come by directory: a log directory's sessions are neighbours */
        if (other->has_time && session->time - other->time > EXPORT_SPREAD_S)
            break; /* ... and come in the order of their names, which are times */
        if (!other->has_time || llabs(session->time - other->time) > EXPORT_SPREAD_S ||
            !hosts_differ(other, files, count))
            continue;
        if (best == NULL || llabs(session->time - other->time) < llabs(session->time - best->time))
            best = other;
    }
    return best;
}

static void add_session(struct drafts *drafts, const struct place *place)
{
    const struct group *group = drafts->group;
    bool named = session_is_named(group->root, place->dir);
    struct draft session = {.run.dir = place->dir};
    struct scan_run_file *files = arena_array(group->arena, struct scan_run_file, place->count);

    roles_of_session(group, place, files);
    if (named) {
        session.log = session_log_directory(group->root, place->dir, group->arena);
        session.session = place->dir.count > 0 ? path_base(place->dir) : path_base(group->root);
        session.has_time = session_time(session.session, &session.time);
    } else {
        session.log =
            str_format(group->arena, "%.*s/%.*s", STR_ARG(group->root), STR_ARG(place->dir));
    }
    struct draft *draft = find_partner(drafts, &session, files, place->count);

    if (draft == NULL) {
        draft = add_draft(drafts, place->dir);
        *draft = session;
    }
    add_dir(group, draft, place->dir);
    for (uint32_t i = 0; i < place->count; i++)
        if (named || hint_of(path_base(group->files[files[i].file].path)).kind != HINT_NONE)
            add_file(group, draft, files[i]);
}

/* Of the sessions of the log directory that `dir` is, the one nearest to a time. */
static struct draft *nearest_session(struct drafts *drafts, size_t session_count, struct str dir,
                                     int64_t modified_ns)
{
    struct str log = drafts->group->root;
    struct draft *best = NULL;

    if (dir.count > 0)
        log = str_format(drafts->group->arena, "%.*s/%.*s", STR_ARG(log), STR_ARG(dir));
    for (size_t i = 0; i < session_count; i++) {
        struct draft *draft = &drafts->items[i];

        if (draft->session.count == 0 || !str_equal(draft->log, log))
            continue;
        if (best == NULL || llabs(draft->run.modified_ns - modified_ns) <
                                llabs(best->run.modified_ns - modified_ns))
            best = draft;
    }
    return best;
}

/* A file of a run of its own. The same stem in another packing, or a report beside its SQLite
 * export, is a copy. */
static void add_single(struct drafts *drafts, uint32_t index, struct str dir, struct hint hint)
{
    const struct group *group = drafts->group;
    const struct scan_file *file = &group->files[index];
    struct draft *last = drafts->count > 0 ? &drafts->items[drafts->count - 1] : NULL;
    struct str key = hint.stem;
    bool together = hint.kind == HINT_PPROF;

    if (together)
        key = dir;
    else if (dir.count > 0)
        key = str_format(group->arena, "%.*s/%.*s", STR_ARG(dir), STR_ARG(hint.stem));
    bool same = last != NULL && last->log.count == 0 && last->kind == hint.kind &&
                hint.kind != HINT_ANY && str_equal(last->key, key);

    if (!same) {
        last = add_draft(drafts, together ? dir : file->path);
        last->key = key;
        last->kind = hint.kind;
        add_dir(group, last, dir);
    }
    bool is_report = hint.kind == HINT_NSYS && str_ends(file->path, STR(".nsys-rep"));
    bool copy = same && !together;

    if (copy && !is_report && last->files[0].rank == 1) { /* the export speaks, not the report */
        last->files[0].role = SCAN_COPY;
        copy = false;
    }
    add_file(group, last,
             (struct scan_run_file){.file = index,
                                    .role = copy ? SCAN_COPY : SCAN_TRACE,
                                    .rank = is_report,
                                    .host = hint.stem});
}

static void add_rest(struct drafts *drafts, size_t session_count, const struct place *place,
                     bool pprof)
{
    const struct group *group = drafts->group;

    for (uint32_t i = 0; i < place->count; i++) {
        uint32_t index = place->order[i];
        const struct scan_file *file = &group->files[index];
        struct hint hint = hint_of(path_base(file->path));

        if (hint.kind == HINT_NONE || (hint.kind == HINT_PPROF) != pprof)
            continue;
        struct draft *session = NULL;

        if (pprof || hint.kind == HINT_HLO)
            session = nearest_session(drafts, session_count, place->dir, file->modified_ns);
        if (session != NULL)
            add_file(group, session,
                     (struct scan_run_file){.file = index, .role = SCAN_BESIDE, .host = hint.stem});
        else if (hint.kind != HINT_HLO)
            add_single(drafts, index, place->dir, hint);
    }
}

static bool is_session(const struct group *group, const struct place *place)
{
    if (session_is_named(group->root, place->dir))
        return true;
    for (uint32_t i = 0; i < place->count; i++)
        if (hint_of(path_base(group->files[place->order[i]].path)).kind == HINT_XPLANE)
            return true;
    return false;
}

static int by_place(const void *a, const void *b, void *data)
{
    const struct scan_file *files = data;
    struct str left = files[*(const uint32_t *)a].path, right = files[*(const uint32_t *)b].path;
    int order = str_compare(path_dir(left), path_dir(right));

    return order != 0 ? order : str_compare(left, right);
}

static struct place *find_places(const struct group *group, uint32_t file_count,
                                 uint32_t *ret_count)
{
    uint32_t *order = arena_array(group->arena, uint32_t, file_count);
    struct place *places = arena_array(group->arena, struct place, file_count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < file_count; i++)
        order[i] = i;
    qsort_r(order, file_count, sizeof *order, by_place, (void *)(uintptr_t)group->files);
    for (uint32_t i = 0; i < file_count; i++) {
        struct str dir = path_dir(group->files[order[i]].path);

        if (count == 0 || !str_equal(places[count - 1].dir, dir))
            places[count++] = (struct place){.dir = dir, .order = &order[i]};
        places[count - 1].count++;
    }
    *ret_count = count;
    return places;
}

/* The name's path below the root: a log directory's, with the session's where it has several. */
static struct str path_of(const struct group *group, const struct draft *draft, bool several)
{
    struct str dir = draft->run.dir;

    if (draft->log.count == 0)
        return draft->key;
    if (draft->session.count == 0 || dir.count == 0)
        return dir;
    struct str log = path_dir(path_dir(path_dir(dir)));

    if (several)
        return log.count == 0
                   ? draft->session
                   : str_format(group->arena, "%.*s/%.*s", STR_ARG(log), STR_ARG(draft->session));
    /* The root lies inside the log directory, which alone has a telling name. */
    if (log.count == 0 && draft->log.count < group->root.count)
        return path_base(draft->log);
    return log;
}

static void give_name(const struct drafts *drafts, size_t index)
{
    struct draft *draft = &drafts->items[index];
    const struct draft *before = index > 0 ? draft - 1 : NULL;
    const struct draft *after = index + 1 < drafts->count ? draft + 1 : NULL;
    bool several = draft->log.count > 0 && ((before && str_equal(before->log, draft->log)) ||
                                            (after && str_equal(after->log, draft->log)));
    struct str path = path_of(drafts->group, draft, several);

    draft->run.name = run_name(drafts->group, path, true);
    draft->unfolded = run_name(drafts->group, path, false);
}

static int by_name(const void *a, const void *b)
{
    const struct draft *left = a, *right = b;
    int order = str_compare(left->run.name, right->run.name);

    return order != 0 ? order : str_compare(left->run.dir, right->run.dir);
}

/* Where folding would make two runs share a name, neither is folded. */
static void tell_apart(struct drafts *drafts)
{
    for (size_t first = 0, end; first < drafts->count; first = end) {
        for (end = first + 1; end < drafts->count; end++)
            if (!str_equal(drafts->items[first].run.name, drafts->items[end].run.name))
                break;
        for (size_t i = first; end - first > 1 && i < end; i++)
            drafts->items[i].run.name = drafts->items[i].unfolded;
    }
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

static struct scan_run finish(struct draft *draft)
{
    qsort(draft->files, draft->run.file_count, sizeof *draft->files, by_role);
    for (uint32_t i = 0; i < draft->run.file_count; i++)
        draft->run.host_count += draft->files[i].role == SCAN_TRACE;
    draft->run.files = draft->files;
    draft->run.dirs = draft->dirs;
    return draft->run;
}

static void collect(struct drafts *drafts, uint32_t file_count)
{
    uint32_t place_count;
    struct place *places = find_places(drafts->group, file_count, &place_count);
    bool *taken = arena_array(drafts->group->arena, bool, place_count);

    for (uint32_t i = 0; i < place_count; i++) {
        taken[i] = is_session(drafts->group, &places[i]);
        if (taken[i])
            add_session(drafts, &places[i]);
    }
    size_t session_count = drafts->count;

    for (uint32_t i = 0; i < place_count; i++) {
        if (taken[i])
            continue;
        add_rest(drafts, session_count, &places[i], true);
        add_rest(drafts, session_count, &places[i], false);
    }
}

void scan_group(struct str root, const struct scan_file *files, uint32_t file_count,
                struct arena *arena, struct scan_run **ret, uint32_t *ret_count)
{
    struct group group = {.root = root, .files = files, .arena = arena};
    struct drafts drafts = {.group = &group};

    *ret = NULL;
    *ret_count = 0;
    if (file_count == 0)
        return;
    collect(&drafts, file_count);
    for (size_t i = 0; i < drafts.count; i++)
        give_name(&drafts, i);
    if (drafts.count == 0)
        return;
    qsort(drafts.items, drafts.count, sizeof *drafts.items, by_name);
    tell_apart(&drafts);

    *ret = arena_array(arena, struct scan_run, drafts.count);
    for (size_t i = 0; i < drafts.count; i++)
        (*ret)[i] = finish(&drafts.items[i]);
    qsort(*ret, drafts.count, sizeof **ret, newest_first);
    *ret_count = (uint32_t)drafts.count;
}
