/* Adds directories and files to drafts of runs, joins drafts, and packs them. */
#include "discover/draft.h"
#include "discover/session.h"

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

static void add_home(const struct group *group, struct draft *draft, struct str home)
{
    draft->homes = room(group->arena, draft->homes, draft->run.home_count, &draft->home_capacity,
                        sizeof *draft->homes);
    draft->homes[draft->run.home_count++] = home;
}

struct draft *draft_add(struct drafts *drafts, struct str home)
{
    drafts->items = room(drafts->group->arena, drafts->items, drafts->count, &drafts->capacity,
                         sizeof *drafts->items);
    struct draft *draft = &drafts->items[drafts->count++];

    memset(draft, 0, sizeof *draft);
    draft->run.dir = home;
    add_home(drafts->group, draft, home);
    return draft;
}

void draft_add_dir(const struct group *group, struct draft *draft, struct str dir)
{
    for (uint32_t i = draft->run.dir_count; i-- > 0;)
        if (str_equal(draft->dirs[i], dir))
            return;
    draft->dirs = room(group->arena, draft->dirs, draft->run.dir_count, &draft->dir_capacity,
                       sizeof *draft->dirs);
    draft->dirs[draft->run.dir_count++] = dir;
}

void draft_add_file(const struct group *group, struct draft *draft, struct scan_run_file file)
{
    const struct scan_file *found = &group->files[file.file];

    draft->files = room(group->arena, draft->files, draft->run.file_count, &draft->file_capacity,
                        sizeof *draft->files);
    draft->files[draft->run.file_count++] = file;
    draft->run.bytes += found->bytes;
    if (found->modified_ns > draft->run.modified_ns || draft->run.file_count == 1)
        draft->run.modified_ns = found->modified_ns;
    draft->run.certain |= group->hints[file.file].certain;
}

void draft_join(const struct group *group, struct draft *into, struct draft *from)
{
    for (uint32_t i = 0; i < from->run.file_count; i++)
        draft_add_file(group, into, from->files[i]);
    for (uint32_t i = 0; i < from->run.dir_count; i++)
        draft_add_dir(group, into, from->dirs[i]);
    for (uint32_t i = 0; i < from->run.home_count; i++)
        add_home(group, into, from->homes[i]);
    from->is_joined = true;
}

void drafts_pack(struct drafts *drafts, size_t first)
{
    size_t count = first;

    for (size_t i = first; i < drafts->count; i++)
        if (!drafts->items[i].is_joined)
            drafts->items[count++] = drafts->items[i];
    drafts->count = count;
}
