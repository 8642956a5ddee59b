/* SPDX-License-Identifier: Apache-2.0 */
/* Adds directories and files to builders of runs, joins builders, and packs them. */
#include "discover/run_builder.h"
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

static void add_home(const struct group *group, struct run_builder *builder, struct str home)
{
    builder->homes = room(group->arena, builder->homes, builder->run.home_count,
                          &builder->home_capacity, sizeof *builder->homes);
    builder->homes[builder->run.home_count++] = home;
}

struct run_builder *run_builder_add(struct run_builders *builders, struct str home)
{
    builders->items = room(builders->group->arena, builders->items, builders->count,
                           &builders->capacity, sizeof *builders->items);
    struct run_builder *builder = &builders->items[builders->count++];

    memset(builder, 0, sizeof *builder);
    builder->run.dir = home;
    add_home(builders->group, builder, home);
    return builder;
}

void run_builder_add_dir(const struct group *group, struct run_builder *builder, struct str dir)
{
    for (uint32_t i = builder->run.dir_count; i-- > 0;)
        if (str_equal(builder->dirs[i], dir))
            return;
    builder->dirs = room(group->arena, builder->dirs, builder->run.dir_count,
                         &builder->dir_capacity, sizeof *builder->dirs);
    builder->dirs[builder->run.dir_count++] = dir;
}

void run_builder_add_file(const struct group *group, struct run_builder *builder,
                          struct scan_run_file file)
{
    const struct scan_file *found = &group->files[file.file];

    builder->files = room(group->arena, builder->files, builder->run.file_count,
                          &builder->file_capacity, sizeof *builder->files);
    builder->files[builder->run.file_count++] = file;
    builder->run.bytes += found->bytes;
    if (found->modified_ns > builder->run.modified_ns || builder->run.file_count == 1)
        builder->run.modified_ns = found->modified_ns;
    builder->run.certain |= group->hints[file.file].certain;
}

void run_builder_join(const struct group *group, struct run_builder *into, struct run_builder *from)
{
    for (uint32_t i = 0; i < from->run.file_count; i++)
        run_builder_add_file(group, into, from->files[i]);
    for (uint32_t i = 0; i < from->run.dir_count; i++)
        run_builder_add_dir(group, into, from->dirs[i]);
    for (uint32_t i = 0; i < from->run.home_count; i++)
        add_home(group, into, from->homes[i]);
    from->is_joined = true;
}

void run_builders_pack(struct run_builders *builders, size_t first)
{
    size_t count = first;

    for (size_t i = first; i < builders->count; i++)
        if (!builders->items[i].is_joined)
            builders->items[count++] = builders->items[i];
    builders->count = count;
}
