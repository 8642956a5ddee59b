/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a session's spools for the turns of its switch; lists the captures between them. */
#include "launch/capture/capture_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/file.h"
#include "launch/spool/spools.h"

enum { PATH_BYTES = 4400, LIST_MAX = 1 << 20, PS_PER_NS = 1000 };

static void read_ties(struct spool_open *spool)
{
    struct record_frame frame;
    struct record_columns columns;

    while (record_next(&spool->file, &frame))
        if (frame.head.type == SPOOL_CLOCK && record_columns(&spool->file, &frame, &columns))
            for (uint32_t row = 0; row < columns.count; row++)
                record_clock_tie(&spool->clock, record_at(&columns, CLOCK_TICKS, row),
                                 record_at(&columns, CLOCK_REALTIME_NS, row),
                                 record_at(&columns, CLOCK_MONOTONIC_NS, row));
    record_rewind(&spool->file);
}

bool spool_read_open(const char *path, struct spool_open *ret)
{
    struct file_map map;
    struct error err = {0};

    *ret = (struct spool_open){0};
    if (!spools_map(path, &map))
        return false;
    ret->mapped = map.bytes;
    if (!record_is(map.bytes) || record_open(map.bytes, &ret->file, &err) != OK) {
        spool_read_close(ret);
        return false;
    }
    ret->clock.epoch_ns = ret->file.head.realtime_ns;
    ret->clock.epoch_monotonic_ns = ret->file.head.monotonic_ns;
    read_ties(ret);
    return true;
}

void spool_read_close(struct spool_open *spool)
{
    struct file_map map = {.bytes = spool->mapped};

    record_close(&spool->file);
    record_clock_free(&spool->clock);
    file_unmap(&map);
}

bool spool_monotonic_ns(struct spool_open *spool, int64_t ticks, int64_t *ret)
{
    int64_t ps;

    return record_clock_ps(&spool->clock, ticks, &ps) &&
           !__builtin_add_overflow(spool->file.head.monotonic_ns, ps / PS_PER_NS, ret);
}

/* The capture of that number; NULL where there are too many, or it is none. */
static struct capture *capture_of(struct capture_list *list, int64_t number)
{
    uint32_t at = list->count;

    while (at > 0 && list->at[at - 1].number >= number)
        at--;
    if (at < list->count && list->at[at].number == number)
        return &list->at[at];
    if (number <= 0 || list->count == LIST_MAX)
        return NULL;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->at = memory_resize(list->at, list->capacity, sizeof *list->at);
    }
    for (uint32_t above = list->count++; above > at; above--)
        list->at[above] = list->at[above - 1];
    list->at[at] = (struct capture){number, INT64_MAX, INT64_MAX, 0};
    return &list->at[at];
}

/* Of several processes the one that turned the switch knew first. */
static void take_turn(struct capture_list *list, struct spool_open *spool,
                      const struct record_columns *columns, uint32_t row)
{
    const struct spool_head *head = &spool->file.head;
    struct capture *capture = capture_of(list, record_at(columns, SWITCH_CAPTURE, row));
    int64_t at_ns;

    if (capture == NULL || !spool_monotonic_ns(spool, record_at(columns, SWITCH_AT, row), &at_ns))
        return;
    if (record_at(columns, SWITCH_IS_OPEN, row) != 0 && at_ns < capture->open_ns) {
        capture->open_ns = at_ns;
        capture->realtime_ns = head->realtime_ns + (at_ns - head->monotonic_ns);
    } else if (record_at(columns, SWITCH_IS_OPEN, row) == 0 && at_ns < capture->close_ns) {
        capture->close_ns = at_ns;
    }
}

static void read_turns(struct capture_list *list, const char *path)
{
    struct spool_open spool;
    struct record_frame frame;
    struct record_columns columns;

    if (!spool_read_open(path, &spool))
        return;
    while (record_next(&spool.file, &frame))
        if (frame.head.type == SPOOL_SWITCH && record_columns(&spool.file, &frame, &columns))
            for (uint32_t row = 0; row < columns.count; row++)
                take_turn(list, &spool, &columns, row);
    spool_read_close(&spool);
}

/* One that was closed and opened again between two looks has no end of its own. */
static void end_each(struct capture_list *list)
{
    for (uint32_t index = 0; index + 1 < list->count; index++) {
        struct capture *capture = &list->at[index];
        int64_t next_ns = list->at[index + 1].open_ns;

        if (capture->close_ns > next_ns)
            capture->close_ns = next_ns;
        if (capture->open_ns > capture->close_ns)
            capture->open_ns = capture->close_ns;
    }
}

void captures_read(const char *directory, struct capture_list *ret)
{
    DIR *open = opendir(directory);
    char path[PATH_BYTES];

    *ret = (struct capture_list){0};
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%.4000s/%.255s", directory, entry->d_name);
        if (spools_is_one(entry->d_name) && !spools_is_held(directory, entry->d_name))
            read_turns(ret, path);
    }
    if (open != NULL)
        closedir(open);
    end_each(ret);
}

void captures_free(struct capture_list *list)
{
    free(list->at);
}
