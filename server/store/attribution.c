/* SPDX-License-Identifier: Apache-2.0 */
/* An attribution on disk, mapped as it is.
 *
 *   head        magic, versions, content, counts, sum of each part, whose it is, sum of the head
 *   blocks      struct entry_columns, one for ENTRY_BLOCK entries
 *   columns     of each block, words of 8 bytes
 *   ops         struct op x op_count
 *   executions  struct execution x execution_count
 *   totals      struct op_total x op_count, or none
 *   devices     struct device_total
 *   spreads     struct op_spread, ascending by (by, op)
 *   kernels     struct kernel x kernel_count
 *   their sums  struct kernel_total x kernel_count
 *   by name     struct kernel_total x kernel_name_count
 *   costs       struct op_cost x op_count, or none
 *   needs       struct op_need, ascending by (op, from)
 *   texts       bytes of the names that no file has
 *   text ends   u32 x text_count: where each ends
 *
 * Parts stand one after another at multiples of 8; records have no hidden padding, so equal
 * attributions have equal bytes. Sums and every index are checked at open: later code may follow
 * them blindly.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/lost.h"
#include "store/attribution_parts.h"
#include "store/cache.h"

const char attribution_magic[8] = {'J', 'V', 'A', 'T', 'T', 'R', '\r', '\n'};

const size_t attribution_record_size[PART_COUNT] = {
    [PART_OPS] = sizeof(struct op),
    [PART_EXECUTIONS] = sizeof(struct execution),
    [PART_BLOCKS] = sizeof(struct entry_columns),
    [PART_COLUMNS] = COLUMN_WORD,
    [PART_TOTALS] = sizeof(struct op_total),
    [PART_DEVICES] = sizeof(struct device_total),
    [PART_SPREADS] = sizeof(struct op_spread),
    [PART_KERNELS] = sizeof(struct kernel),
    [PART_KERNEL_TOTALS] = sizeof(struct kernel_total),
    [PART_KERNEL_NAMES] = sizeof(struct kernel_total),
    [PART_COSTS] = sizeof(struct op_cost),
    [PART_NEEDS] = sizeof(struct op_need),
    [PART_TEXTS] = 1,
    [PART_TEXT_ENDS] = sizeof(uint32_t),
};

struct attribution_file {
    struct file_map map;
    struct lost_watch *watch;
    struct attribution attribution;
};

static enum status check_head(const struct attribution_head *head, uint64_t size, struct error *err)
{
    uint64_t want = sizeof *head;

    if (memcmp(head->magic, attribution_magic, sizeof attribution_magic) != 0)
        return fail(err, ERR_FORMAT, "this is not an attribution");
    if (head->version != ATTRIBUTION_VERSION || head->kind_rules != KIND_RULES_VERSION)
        return fail(err, ERR_FORMAT, "an attribution of version %u.%u, not %d.%d", head->version,
                    head->kind_rules, ATTRIBUTION_VERSION, KIND_RULES_VERSION);
    if (attribution_head_sum(*head) != head->head_sum)
        return fail(err, ERR_FORMAT, "the head of the attribution is damaged");
    for (int part = 0; part < PART_COUNT; part++)
        want += attribution_part_bytes(head, part);
    if (want != size || head->count[PART_BLOCKS] != entry_block_count(head->entry_count) ||
        (head->count[PART_TOTALS] != 0 && head->count[PART_TOTALS] != head->count[PART_OPS]) ||
        (head->count[PART_COSTS] != 0 && head->count[PART_COSTS] != head->count[PART_OPS]) ||
        head->count[PART_KERNEL_TOTALS] != head->count[PART_KERNELS])
        return fail(err, ERR_TRUNCATED, "the attribution has %llu bytes instead of %llu",
                    (unsigned long long)size, (unsigned long long)want);
    return OK;
}

static uint32_t entries_of_block(const struct attribution *attribution, uint32_t block)
{
    uint32_t before = block * ENTRY_BLOCK;

    return attribution->entry_count - before < ENTRY_BLOCK ? attribution->entry_count - before
                                                           : ENTRY_BLOCK;
}

/* The columns of one block follow on those of the one before. */
static bool blocks_are_sound(const struct attribution *attribution, uint64_t words)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < entry_block_count(attribution->entry_count); i++) {
        const struct entry_columns *block = &attribution->entry_columns[i];

        if (block->offset != at * COLUMN_WORD ||
            !entry_columns_sound(block, entries_of_block(attribution, i)))
            return false;
        at += block->words;
    }
    return at + ENTRY_DATA_PAD / COLUMN_WORD == words;
}

/* Ops have a slice of theirs where they have any. */
static bool totals_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++) {
        const struct op_total *total = &attribution->totals[i];

        sound &= total->event_count == 0 ||
                 (attribution->entry_count > 0 &&
                  total->first <= entry_slice(attribution, attribution->entry_count - 1));
    }
    return sound;
}

static bool spreads_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++) {
        const struct op_spread *spread = &attribution->spreads[i];

        sound &= spread->by < SPREAD_BY_COUNT && spread->op < attribution->op_count;
        if (i > 0) {
            const struct op_spread *before = &spread[-1];

            sound &=
                spread->by > before->by || (spread->by == before->by && spread->op > before->op);
        }
    }
    return sound;
}

static bool kernels_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++)
        sound &= attribution->kernels[i].op < attribution->op_count;
    return sound;
}

static bool kernel_totals_are_sound(const struct attribution *attribution,
                                    const struct kernel_total *totals, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++)
        sound &= totals[i].kernel < attribution->kernel_count && totals[i].count > 0;
    return sound;
}

static bool costs_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++)
        sound &= attribution->costs[i].flops_rule < COST_RULE_COUNT &&
                 attribution->costs[i].bytes_rule < COST_RULE_COUNT;
    return sound;
}

static bool needs_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++) {
        const struct op_need *need = &attribution->needs[i];

        sound &= need->op < attribution->op_count && need->from < attribution->op_count &&
                 (i == 0 || need->op >= need[-1].op);
    }
    return sound;
}

static bool texts_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++)
        sound &= attribution->text_ends[i] <= attribution->text_bytes &&
                 (i == 0 || attribution->text_ends[i] >= attribution->text_ends[i - 1]);
    return sound;
}

static bool records_are_sound(const struct attribution *attribution, int part, uint32_t first,
                              uint32_t end)
{
    switch (part) {
    case PART_TOTALS:
        return totals_are_sound(attribution, first, end);
    case PART_SPREADS:
        return spreads_are_sound(attribution, first, end);
    case PART_KERNELS:
        return kernels_are_sound(attribution, first, end);
    case PART_KERNEL_TOTALS:
        return kernel_totals_are_sound(attribution, attribution->kernel_totals, first, end);
    case PART_KERNEL_NAMES:
        return kernel_totals_are_sound(attribution, attribution->kernel_by_name, first, end);
    case PART_COSTS:
        return costs_are_sound(attribution, first, end);
    case PART_NEEDS:
        return needs_are_sound(attribution, first, end);
    case PART_TEXT_ENDS:
        return texts_are_sound(attribution, first, end);
    default:
        return true;
    }
}

/* Sum and indexes in one walk, piece by piece, so that memory is read once. */
static enum status check_part(const struct attribution_head *head, struct bytes bytes,
                              const struct attribution *attribution, int part, struct error *err)
{
    struct hasher *hasher = hasher_create();
    uint32_t count = head->count[part];
    bool sound = true;

    for (uint32_t first = 0, end; first < count; first = end) {
        end = count - first > PIECE_RECORDS ? first + PIECE_RECORDS : count;
        size_t at = first * attribution_record_size[part];
        size_t size = (end == count ? bytes.count : end * attribution_record_size[part]) - at;

        hasher_put(hasher, (struct bytes){.at = bytes.at + at, .count = size});
        sound &= records_are_sound(attribution, part, first, end);
    }
    if (hasher_end(hasher).low != head->sum[part])
        return fail(err, ERR_FORMAT, "part %d of the attribution is damaged", part);
    if (!sound)
        return fail(err, ERR_FORMAT, "the attribution names ops that are not in it");
    return OK;
}

/* Sum and what they hold, block by block: entries name what there is, in order of their slices. */
static enum status check_columns(const struct attribution_head *head, struct bytes bytes,
                                 const struct attribution *attribution, struct error *err)
{
    const struct entry_limits limits = {.entry_count = attribution->entry_count,
                                        .op_count = attribution->op_count,
                                        .execution_count = attribution->execution_count,
                                        .kernel_count = attribution->kernel_count};
    struct hasher *hasher;
    int64_t last = -1;
    bool sound = true;

    if (!blocks_are_sound(attribution, head->count[PART_COLUMNS]))
        return fail(err, ERR_FORMAT, "the columns of the attribution do not fit together");
    hasher = hasher_create();
    for (uint32_t i = 0; i < head->count[PART_BLOCKS]; i++) {
        const struct entry_columns *block = &attribution->entry_columns[i];

        hasher_put(hasher, (struct bytes){.at = bytes.at + block->offset,
                                          .count = (size_t)block->words * COLUMN_WORD});
        sound &=
            entry_values_sound(block, bytes.at, entries_of_block(attribution, i), &limits, &last);
    }
    hasher_put(hasher, (struct bytes){.at = bytes.at + bytes.count - ENTRY_DATA_PAD,
                                      .count = ENTRY_DATA_PAD});
    if (hasher_end(hasher).low != head->sum[PART_COLUMNS])
        return fail(err, ERR_FORMAT, "part %d of the attribution is damaged", PART_COLUMNS);
    if (!sound)
        return fail(err, ERR_FORMAT, "the attribution names ops that are not in it");
    return OK;
}

static enum status read_head(struct bytes bytes, const struct attribution_head **ret,
                             struct error *err)
{
    if (bytes.count < sizeof **ret)
        return fail(err, ERR_TRUNCATED, "the attribution ends in its head");
    *ret = (const struct attribution_head *)(const void *)bytes.at;
    return check_head(*ret, bytes.count, err);
}

static enum status read_parts(struct bytes bytes, bool is_checked, struct attribution *ret,
                              struct error *err)
{
    const struct attribution_head *head = NULL;
    struct bytes parts[PART_COUNT];
    const uint8_t *at;

    TRY(read_head(bytes, &head, err));
    at = bytes.at + sizeof *head;
    for (int part = 0; part < PART_COUNT; part++) {
        parts[part] = (struct bytes){.at = at, .count = attribution_part_bytes(head, part)};
        at += parts[part].count;
    }
    *ret = (struct attribution){
        .ops = (const void *)parts[PART_OPS].at,
        .op_count = head->count[PART_OPS],
        .executions = (const void *)parts[PART_EXECUTIONS].at,
        .execution_count = head->count[PART_EXECUTIONS],
        .entry_count = head->entry_count,
        .entry_columns = (const void *)parts[PART_BLOCKS].at,
        .entry_data = parts[PART_COLUMNS].at,
        .totals = head->count[PART_TOTALS] == 0 ? NULL : (const void *)parts[PART_TOTALS].at,
        .devices = (const void *)parts[PART_DEVICES].at,
        .device_count = head->count[PART_DEVICES],
        .spreads = (const void *)parts[PART_SPREADS].at,
        .spread_count = head->count[PART_SPREADS],
        .kernels = (const void *)parts[PART_KERNELS].at,
        .kernel_count = head->count[PART_KERNELS],
        .kernel_totals = (const void *)parts[PART_KERNEL_TOTALS].at,
        .kernel_by_name = (const void *)parts[PART_KERNEL_NAMES].at,
        .kernel_name_count = head->count[PART_KERNEL_NAMES],
        .costs = head->count[PART_COSTS] == 0 ? NULL : (const void *)parts[PART_COSTS].at,
        .needs = (const void *)parts[PART_NEEDS].at,
        .need_count = head->count[PART_NEEDS],
        .texts = (const void *)parts[PART_TEXTS].at,
        .text_ends = (const void *)parts[PART_TEXT_ENDS].at,
        .text_bytes = head->count[PART_TEXTS],
        .text_count = head->count[PART_TEXT_ENDS],
    };
    for (int part = 0; !is_checked && part < PART_COUNT; part++)
        TRY(part == PART_COLUMNS ? check_columns(head, parts[part], ret, err)
                                 : check_part(head, parts[part], ret, part, err));
    return OK;
}

static enum status map_whole(const char *path, struct file_map *ret, struct error *err)
{
    struct file_stamp stamp;
    int fd;

    TRY(file_open(path, &fd, &stamp, err));
    enum status status = file_map(fd, stamp.size, ret, err);
    file_close(fd);
    return status;
}

enum status attribution_has_ops(const char *path, bool *ret, struct error *err)
{
    const struct attribution_head *head = NULL;
    struct file_map map = {0};

    *ret = false;
    TRY(map_whole(path, &map, err));
    enum status status = read_head(map.bytes, &head, err);
    if (status == OK)
        *ret = head->entry_count > 0;
    file_unmap(&map);
    return status;
}

struct opening {
    struct attribution_file *file;
    bool is_checked;
    enum status status;
    struct error *err;
};

static void open_guarded(void *data)
{
    struct opening *opening = data;
    struct attribution_file *file = opening->file;

    opening->status =
        read_parts(file->map.bytes, opening->is_checked, &file->attribution, opening->err);
}

static enum status open_file(const char *path, bool is_checked, struct attribution_file **ret,
                             struct error *err)
{
    struct attribution_file *file = memory_resize(NULL, 1, sizeof *file);
    struct opening opening = {.file = file, .is_checked = is_checked, .err = err};

    *file = (struct attribution_file){0};
    enum status status = map_whole(path, &file->map, err);
    if (status == OK) {
        file->watch = lost_watch(file->map.bytes.at, file->map.bytes.count);
        status = lost_guard(open_guarded, &opening)
                     ? opening.status
                     : fail(err, ERR_TRUNCATED, "the attribution was truncated while it was read");
    }
    if (status != OK) {
        error_context(err, "%s: ", path);
        attribution_close(file);
        return status;
    }
    *ret = file;
    return OK;
}

enum status attribution_open(const char *path, struct attribution_file **ret, struct error *err)
{
    return open_file(path, false, ret, err);
}

enum status attribution_open_checked(const char *path, struct attribution_file **ret,
                                     struct error *err)
{
    return open_file(path, true, ret, err);
}

uint64_t attribution_segment(const struct attribution_file *file)
{
    return ((const struct attribution_head *)(const void *)file->map.bytes.at)->segment;
}

const struct attribution *attribution_of_file(const struct attribution_file *file)
{
    return &file->attribution;
}

bool attribution_lost(const struct attribution_file *file)
{
    return lost_marked(file->watch);
}

void attribution_close(struct attribution_file *file)
{
    if (file == NULL)
        return;
    lost_unwatch(file->watch);
    file_unmap(&file->map);
    free(file);
}
