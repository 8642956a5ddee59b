/* What runs are called. */
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

struct str run_name(const struct group *group, struct str path, bool fold)
{
    struct str name = without_plugins(path, group->arena);

    while (fold && name.count > 0) {
        struct str above = path_dir(name);

        if (above.count == 0 || !str_equal(path_base(above), path_base(name)))
            break;
        name = above;
    }
    if (name.count > 0)
        return name;
    struct str base = path_base(group->root);

    return base.count > 0 ? base : STR("/");
}
