/* SPDX-License-Identifier: Apache-2.0 */
/* What runs are called. */
#include <stdlib.h>

#include "discover/run_builder.h"
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
static struct str path_of(const struct group *group, const struct run_builder *builder,
                          bool several)
{
    struct str dir = builder->run.dir;

    if (builder->log.count == 0)
        return builder->key;
    if (builder->session.count == 0 || dir.count == 0)
        return dir;
    struct str log = path_dir(path_dir(path_dir(dir)));
    size_t above = group->root.count + 1;

    if (builder->is_wide)
        log = builder->log.count > above ? str_skip(builder->log, above) : STR("");

    if (several)
        return log.count == 0
                   ? builder->session
                   : str_format(group->arena, "%.*s/%.*s", STR_ARG(log), STR_ARG(builder->session));
    /* The root lies inside the log directory, which alone has a telling name. */
    if (log.count == 0 && builder->log.count < group->root.count)
        return path_base(builder->log);
    return log;
}

static void give_name(const struct run_builders *builders, size_t index)
{
    struct run_builder *builder = &builders->items[index];
    const struct run_builder *before = index > 0 ? builder - 1 : NULL;
    const struct run_builder *after = index + 1 < builders->count ? builder + 1 : NULL;
    bool several = builder->log.count > 0 && ((before && str_equal(before->log, builder->log)) ||
                                              (after && str_equal(after->log, builder->log)));
    struct str path = path_of(builders->group, builder, several);

    builder->run.name = run_name(builders->group, path, true);
    builder->unfolded =
        run_name(builders->group, builder->own_key.count > 0 ? builder->own_key : path, false);
    if (builder->kind == HINT_BUNDLE) /* beside the run that it was made of */
        builder->unfolded =
            str_format(builders->group->arena, "%.*s.jvz", STR_ARG(builder->unfolded));
}

static int by_name(const void *a, const void *b)
{
    const struct run_builder *left = a, *right = b;
    int order = str_compare(left->run.name, right->run.name);

    return order != 0 ? order : str_compare(left->run.dir, right->run.dir);
}

/* Where folding would make two runs share a name, neither is folded; a bundle keeps its suffix, and
 * what ranks have in common becomes the first rank's own name. */
static void tell_apart(struct run_builders *builders)
{
    for (size_t first = 0, end; first < builders->count; first = end) {
        for (end = first + 1; end < builders->count; end++)
            if (!str_equal(builders->items[first].run.name, builders->items[end].run.name))
                break;
        for (size_t i = first; end - first > 1 && i < end; i++)
            builders->items[i].run.name = builders->items[i].unfolded;
    }
}

void name_runs(struct run_builders *builders)
{
    for (size_t i = 0; i < builders->count; i++)
        give_name(builders, i);
    qsort(builders->items, builders->count, sizeof *builders->items, by_name);
    tell_apart(builders);
}
