/* What runs are called. */
#include <stdlib.h>

#include "discover/draft.h"
#include "discover/session.h"

/* "a/plugins/profile/b" -> "a/b" */
static struct str without_plugins(struct str path, struct arena *arena)
{
    struct text text = {0};

    while (path.count > 0) {
        const char *slash = memchr(path.at, '/', path.count);
        struct str part = {.at = path.at, .count = slash ? (size_t)(slash - path.at) : path.count};
        struct str rest = str_skip(path, part.count + (slash != NULL));

        if (str_equal(part, STR("plugins")) &&
            (str_equal(rest, STR("profile")) || str_starts(rest, STR("profile/")))) {
            path = str_skip(rest, rest.count > 7 ? 8 : 7);
            continue;
        }
        if (text.count > 0)
            text_put(&text, "/", 1);
        text_put(&text, part.at, part.count);
        path = rest;
    }
    struct str whole = str_copy(arena, text_str(&text));

    text_free(&text);
    return whole;
}

/* The name of what lies at `path` below the root: text, whatever bytes the path has, so that it can
 * be asked for as it is shown; without plugins/profile; with `fold` a repeated last component once;
 * the root's own base name for "". */
static struct str run_name(const struct group *group, struct str path, bool fold)
{
    struct str name = without_plugins(path, group->arena);

    while (fold && name.count > 0) {
        struct str above = path_dir(name);

        if (above.count == 0 || !str_equal(path_base(above), path_base(name)))
            break;
        name = above;
    }
    if (name.count == 0)
        name = path_base(group->root);
    return name.count > 0 ? str_utf8(group->arena, name) : STR("/");
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
    size_t above = group->root.count + 1;

    if (draft->is_wide)
        log = draft->log.count > above ? str_skip(draft->log, above) : STR("");

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
    draft->unfolded =
        run_name(drafts->group, draft->own_key.count > 0 ? draft->own_key : path, false);
    if (draft->kind == HINT_BUNDLE) /* beside the run that it was made of */
        draft->unfolded = str_format(drafts->group->arena, "%.*s.jvz", STR_ARG(draft->unfolded));
}

static int by_name(const void *a, const void *b)
{
    const struct draft *left = a, *right = b;
    int order = str_compare(left->run.name, right->run.name);

    return order != 0 ? order : str_compare(left->run.dir, right->run.dir);
}

/* Where folding would make two runs share a name, neither is folded; a bundle keeps its suffix, and
 * what ranks have in common becomes the first rank's own name. */
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

void name_runs(struct drafts *drafts)
{
    for (size_t i = 0; i < drafts->count; i++)
        give_name(drafts, i);
    qsort(drafts->items, drafts->count, sizeof *drafts->items, by_name);
    tell_apart(drafts);
}
