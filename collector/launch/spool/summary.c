/* SPDX-License-Identifier: Apache-2.0 */
/* Counts ranges, samples and losses of a session's spools, read back from the disk. */
#include "launch/spool/summary.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "decode/id_map.h"
#include "decode/record/record_read.h"
#include "launch/spool/spools.h"

enum { TEXTS_MAX = 1 << 20 };
#define XLA_SIGN "XlaModule:#"

struct sums {
    struct summary *summary;
    struct id_map by_name; /* hash -> index */
    struct summary_name *names;
    uint32_t count, capacity;
};

struct one { /* spool: by text */
    struct record_file file;
    struct text_sum {
        uint64_t count;
        int64_t ticks;
        uint32_t name; /* of sums, + 1 */
    } * texts;
    uint32_t text_count;
    int64_t first[2], last[2]; /* ticks and ns of two ties */
    uint32_t ties;
};

static uint32_t name_index(struct sums *sums, struct str text)
{
    struct str cut = {.at = text.at, .count = text.count > 63 ? 63 : text.count};
    bool is_new;

    while (cut.count > 0 && cut.count < text.count && ((uint8_t)text.at[cut.count] & 0xc0) == 0x80)
        cut.count--;
    uint64_t hash = hash64((struct bytes){(const uint8_t *)text.at, text.count});
    uint32_t index = id_map_add(&sums->by_name, hash, sums->count, &is_new);
    if (!is_new)
        return index;
    if (sums->count == sums->capacity) {
        sums->capacity = sums->capacity == 0 ? 256 : sums->capacity * 2;
        sums->names = memory_resize(sums->names, sums->capacity, sizeof *sums->names);
    }
    struct summary_name *name = &sums->names[sums->count++];
    *name = (struct summary_name){0};
    memcpy(name->name, cut.at, cut.count);
    for (char *at = name->name; *at != '\0'; at++)
        if ((uint8_t)*at < ' ' || *at == 0x7f)
            *at = '?';
    return index;
}

static void take_texts(struct sums *sums, struct one *one, const struct record_frame *frame)
{
    struct record_texts texts;
    struct str text;

    if (!record_texts(&one->file, frame, &texts))
        return;
    while (record_text(&texts, &text)) {
        uint64_t id = texts.id - 1;
        if (id == 0 || id > TEXTS_MAX)
            continue;
        if (id > one->text_count) {
            uint32_t count = (uint32_t)id + 1024;
            one->texts = memory_resize(one->texts, count, sizeof *one->texts);
            memset(one->texts + one->text_count, 0, (count - one->text_count) * sizeof *one->texts);
            one->text_count = count;
        }
        one->texts[id - 1].name = name_index(sums, text) + 1;
        sums->summary->has_xla |= memmem(text.at, text.count, XLA_SIGN, strlen(XLA_SIGN)) != NULL;
    }
}

static void take_range(struct one *one, const struct record_columns *columns, uint32_t row)
{
    int64_t name = record_at(columns, RANGE_NAME, row), ticks;

    if (name <= 0 || name > one->text_count ||
        __builtin_sub_overflow(record_at(columns, RANGE_END, row),
                               record_at(columns, RANGE_START, row), &ticks))
        return;
    struct text_sum *sum = &one->texts[name - 1];
    sum->count++;
    if (__builtin_add_overflow(sum->ticks, ticks, &sum->ticks))
        sum->ticks = INT64_MAX;
}

static void take_tie(struct one *one, const struct record_columns *columns, uint32_t row)
{
    int64_t *tie = one->ties++ == 0 ? one->first : one->last;

    tie[0] = record_at(columns, CLOCK_TICKS, row);
    tie[1] = record_at(columns, CLOCK_REALTIME_NS, row);
}

static void take_loss(struct sums *sums, const struct record_columns *columns, uint32_t row)
{
    int64_t cause = record_at(columns, LOSS_CAUSE, row);

    if (cause >= 0 && cause < LOST_CAUSES)
        sums->summary->lost[cause] += (uint64_t)record_at(columns, LOSS_COUNT, row);
}

static void take_rows(struct sums *sums, struct one *one, const struct record_frame *frame)
{
    struct record_columns columns;

    if (!record_columns(&one->file, frame, &columns))
        return;
    if (frame->head.type == SPOOL_RANGE)
        sums->summary->ranges += columns.count;
    for (uint32_t row = 0; row < columns.count; row++) {
        if (frame->head.type == SPOOL_RANGE)
            take_range(one, &columns, row);
        else if (frame->head.type == SPOOL_CLOCK)
            take_tie(one, &columns, row);
        else
            take_loss(sums, &columns, row);
    }
}

/* Ticks become nanoseconds by the first tie and the last. */
static void add_up(struct sums *sums, const struct one *one)
{
    double ticks = (double)one->last[0] - (double)one->first[0];
    double scale =
        one->ties >= 2 && ticks > 0 ? ((double)one->last[1] - (double)one->first[1]) / ticks : 0;

    for (uint32_t text = 0; text < one->text_count; text++) {
        const struct text_sum *sum = &one->texts[text];
        if (sum->name == 0)
            continue;
        double total = (double)sum->ticks * scale;
        sums->names[sum->name - 1].count += sum->count;
        if (total > 0 && total < 1e17)
            sums->names[sum->name - 1].total_ns += (int64_t)total;
    }
}

static void read_one(struct sums *sums, const char *path)
{
    struct file_map map;
    struct one one = {0};
    struct record_frame frame;
    struct error err = {0};

    if (!spools_map(path, &map))
        return;
    sums->summary->bytes += map.bytes.count;
    if (record_open(map.bytes, &one.file, &err) == OK) {
        /* Texts stand in front of the ranges that use them. */
        while (record_next(&one.file, &frame)) {
            if (frame.head.type == SPOOL_TEXT)
                take_texts(sums, &one, &frame);
            else if (frame.head.type == SPOOL_RANGE || frame.head.type == SPOOL_CLOCK ||
                     frame.head.type == SPOOL_LOSS)
                take_rows(sums, &one, &frame);
            else if (frame.head.type == SPOOL_SAMPLE)
                sums->summary->samples += frame.head.records;
        }
        add_up(sums, &one);
        record_close(&one.file);
    }
    free(one.texts);
    file_unmap(&map);
}

static int by_total(const void *a, const void *b)
{
    const struct summary_name *left = a, *right = b;

    return left->total_ns != right->total_ns ? (left->total_ns < right->total_ns ? 1 : -1)
                                             : strcmp(left->name, right->name);
}

static void read_profile(struct sums *sums, const char *profile)
{
    DIR *open = opendir(profile);
    char path[4096];

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        int count = snprintf(path, sizeof path, "%s/%s", profile, entry->d_name);
        if (entry->d_name[0] != '.' && count < (int)sizeof path)
            read_one(sums, path);
    }
    if (open != NULL)
        closedir(open);
}

void summary_read(char *const *profiles, uint32_t count, struct summary *ret)
{
    struct sums sums = {.summary = ret};

    *ret = (struct summary){0};
    for (uint32_t index = 0; index < count; index++)
        read_profile(&sums, profiles[index]);
    if (sums.count > 0)
        qsort(sums.names, sums.count, sizeof *sums.names, by_total);
    for (uint32_t index = 0; index < SUMMARY_TOP && index < sums.count; index++)
        if (sums.names[index].count > 0)
            ret->top[index] = sums.names[index];
    free(sums.names);
    id_map_free(&sums.by_name);
}
