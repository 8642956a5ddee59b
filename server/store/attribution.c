/* An attribution on disk, mapped as it is.
 *
 *   head        magic, versions, content, counts, sum of each part, whose it is, sum of the head
 *   ops         struct op x op_count
 *   executions  struct execution x execution_count
 *   entries     struct attributed x entry_count
 *   by time     u32 x entry_count
 *   totals      struct op_total x op_count, or none
 *   devices     struct device_total
 *   spreads     struct op_spread, ascending by (by, op)
 *   kernels     struct kernel x kernel_count
 *   kernel of   u32 x entry_count, or none
 *   their sums  struct kernel_total x kernel_count
 *   by name     struct kernel_total x kernel_name_count
 *   costs       struct op_cost x op_count, or none
 *
 * Parts stand one after another at multiples of 8; records have no hidden padding, so equal
 * attributions have equal bytes. Sums and every index are checked at open: later code may follow
 * them blindly.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "store/cache.h"

enum {
    PART_OPS,
    PART_EXECUTIONS,
    PART_ENTRIES,
    PART_BY_TIME,
    PART_TOTALS,
    PART_DEVICES,
    PART_SPREADS,
    PART_KERNELS,
    PART_KERNEL_OF,
    PART_KERNEL_TOTALS,
    PART_KERNEL_NAMES,
    PART_COSTS,
    PART_COUNT
};

/* They stay in the processor's cache between two uses. */
enum { PIECE_BYTES = 1 << 17, PIECE_RECORDS = 4096 };

struct head {
    char magic[8];
    uint32_t version, kind_rules;
    char content[32];
    uint32_t count[PART_COUNT];
    uint64_t sum[PART_COUNT];
    uint64_t segment; /* sum of the one that it is of; 0 until it is there */
    uint64_t head_sum;
};

_Static_assert(PART_COUNT % 2 == 0, "the counts fill whole words");

static const char magic[8] = {'J', 'V', 'A', 'T', 'T', 'R', '\r', '\n'};

static const size_t record_size[PART_COUNT] = {
    [PART_OPS] = sizeof(struct op),
    [PART_EXECUTIONS] = sizeof(struct execution),
    [PART_ENTRIES] = sizeof(struct attributed),
    [PART_BY_TIME] = sizeof(uint32_t),
    [PART_TOTALS] = sizeof(struct op_total),
    [PART_DEVICES] = sizeof(struct device_total),
    [PART_SPREADS] = sizeof(struct op_spread),
    [PART_KERNELS] = sizeof(struct kernel),
    [PART_KERNEL_OF] = sizeof(uint32_t),
    [PART_KERNEL_TOTALS] = sizeof(struct kernel_total),
    [PART_KERNEL_NAMES] = sizeof(struct kernel_total),
    [PART_COSTS] = sizeof(struct op_cost),
};

struct attribution_file {
    struct file_map map;
    struct attribution attribution;
};

static uint64_t head_sum(struct head head)
{
    head.head_sum = 0;
    return hash64((struct bytes){.at = (const uint8_t *)&head, .count = sizeof head});
}

static uint64_t part_bytes(const struct head *head, int part)
{
    return ((uint64_t)head->count[part] * record_size[part] + 7) / 8 * 8;
}

static const void *records_of(const struct attribution *from, int part)
{
    const void *const records[PART_COUNT] = {
        [PART_OPS] = from->ops,
        [PART_EXECUTIONS] = from->executions,
        [PART_ENTRIES] = from->entries,
        [PART_BY_TIME] = from->by_device_time,
        [PART_TOTALS] = from->totals,
        [PART_DEVICES] = from->devices,
        [PART_SPREADS] = from->spreads,
        [PART_KERNELS] = from->kernels,
        [PART_KERNEL_OF] = from->kernel_of,
        [PART_KERNEL_TOTALS] = from->kernel_totals,
        [PART_KERNEL_NAMES] = from->kernel_by_name,
        [PART_COSTS] = from->costs,
    };

    return records[part];
}

/* Sum and file in one walk, piece by piece, so that memory is read once. */
static enum status write_part(int fd, const struct attribution *from, int part, uint64_t *at,
                              struct head *head, struct error *err)
{
    static const uint8_t zeros[8];
    const uint8_t *records = records_of(from, part);
    const size_t size = head->count[part] * record_size[part];
    struct hasher *hasher = hasher_create();
    enum status status = OK;

    for (size_t done = 0; done < size && status == OK;) {
        size_t count = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;

        hasher_put(hasher, (struct bytes){.at = records + done, .count = count});
        status = file_write_all(fd, records + done, count, *at + done, err);
        done += count;
    }
    if (size % 8 != 0) {
        hasher_put(hasher, (struct bytes){.at = zeros, .count = 8 - size % 8});
        if (status == OK)
            status = file_write_all(fd, zeros, 8 - size % 8, *at + size, err);
    }
    head->sum[part] = hasher_end(hasher).low;
    *at += part_bytes(head, part);
    return status;
}

static enum status write_all(int fd, const char content[33], const struct attribution *from,
                             struct error *err)
{
    struct head head = {
        .version = ATTRIBUTION_VERSION,
        .kind_rules = KIND_RULES_VERSION,
        .count = {from->op_count, from->execution_count, from->entry_count, from->entry_count,
                  from->totals == NULL ? 0 : from->op_count, from->device_count, from->spread_count,
                  from->kernel_count, from->kernel_of == NULL ? 0 : from->entry_count,
                  from->kernel_count, from->kernel_name_count,
                  from->costs == NULL ? 0 : from->op_count},
    };
    uint64_t at = sizeof head;

    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.content, content, sizeof head.content);
    for (int part = 0; part < PART_COUNT; part++)
        TRY(write_part(fd, from, part, &at, &head, err));
    head.head_sum = head_sum(head);
    return file_write_all(fd, &head, sizeof head, 0, err);
}

enum status attribution_write(const char *path, const char content[33],
                              const struct attribution *attribution, struct error *err)
{
    struct file_out out;

    TRY(file_out_open(&out, path, err));
    enum status status = write_all(out.fd, content, attribution, err);
    if (status == OK)
        return file_out_commit(&out, err);
    file_out_abandon(&out);
    error_context(err, "%s: ", path);
    return status;
}

static enum status bind_open(int fd, uint64_t segment, struct error *err)
{
    struct head head;

    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || head_sum(head) != head.head_sum)
        return fail(err, ERR_FORMAT, "the head of the attribution is damaged");
    head.segment = segment;
    head.head_sum = head_sum(head);
    return file_write_all(fd, &head, sizeof head, 0, err);
}

enum status attribution_bind(const char *path, uint64_t segment, struct error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return fail(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(errno));

    enum status status = bind_open(fd, segment, err);

    file_close(fd);
    if (status != OK)
        error_context(err, "%s: ", path);
    return status;
}

static enum status check_head(const struct head *head, uint64_t size, struct error *err)
{
    uint64_t want = sizeof *head;

    if (memcmp(head->magic, magic, sizeof magic) != 0)
        return fail(err, ERR_FORMAT, "this is no attribution");
    if (head->version != ATTRIBUTION_VERSION || head->kind_rules != KIND_RULES_VERSION)
        return fail(err, ERR_FORMAT, "an attribution of version %u.%u, not %d.%d", head->version,
                    head->kind_rules, ATTRIBUTION_VERSION, KIND_RULES_VERSION);
    if (head_sum(*head) != head->head_sum)
        return fail(err, ERR_FORMAT, "the head of the attribution is damaged");
    for (int part = 0; part < PART_COUNT; part++)
        want += part_bytes(head, part);
    if (want != size || head->count[PART_ENTRIES] != head->count[PART_BY_TIME] ||
        (head->count[PART_TOTALS] != 0 && head->count[PART_TOTALS] != head->count[PART_OPS]) ||
        (head->count[PART_COSTS] != 0 && head->count[PART_COSTS] != head->count[PART_OPS]) ||
        head->count[PART_KERNEL_TOTALS] != head->count[PART_KERNELS] ||
        (head->count[PART_KERNELS] != 0 &&
         head->count[PART_KERNEL_OF] != head->count[PART_ENTRIES]))
        return fail(err, ERR_TRUNCATED, "the attribution has %llu bytes instead of %llu",
                    (unsigned long long)size, (unsigned long long)want);
    return OK;
}

/* Entries name ops and executions that there are, in order of their slices. */
static bool entries_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++) {
        const struct attributed *entry = &attribution->entries[i];

        sound &=
            entry->op < attribution->op_count &&
            (entry->execution == NO_EXECUTION || entry->execution < attribution->execution_count) &&
            (i == 0 || entry->slice > attribution->entries[i - 1].slice);
    }
    return sound;
}

static bool order_is_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++)
        sound &= attribution->by_device_time[i] < attribution->entry_count;
    return sound;
}

/* Ops have a slice of theirs where they have any. */
static bool totals_are_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++) {
        const struct op_total *total = &attribution->totals[i];

        sound &= total->event_count == 0 ||
                 (attribution->entry_count > 0 &&
                  total->first <= attribution->entries[attribution->entry_count - 1].slice);
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

static bool kernel_of_is_sound(const struct attribution *attribution, uint32_t first, uint32_t end)
{
    bool sound = true;

    for (uint32_t i = first; i < end; i++)
        sound &= attribution->kernel_of[i] == NO_KERNEL ||
                 attribution->kernel_of[i] < attribution->kernel_count;
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

static bool records_are_sound(const struct attribution *attribution, int part, uint32_t first,
                              uint32_t end)
{
    switch (part) {
    case PART_ENTRIES:
        return entries_are_sound(attribution, first, end);
    case PART_BY_TIME:
        return order_is_sound(attribution, first, end);
    case PART_TOTALS:
        return totals_are_sound(attribution, first, end);
    case PART_SPREADS:
        return spreads_are_sound(attribution, first, end);
    case PART_KERNELS:
        return kernels_are_sound(attribution, first, end);
    case PART_KERNEL_OF:
        return kernel_of_is_sound(attribution, first, end);
    case PART_KERNEL_TOTALS:
        return kernel_totals_are_sound(attribution, attribution->kernel_totals, first, end);
    case PART_KERNEL_NAMES:
        return kernel_totals_are_sound(attribution, attribution->kernel_by_name, first, end);
    case PART_COSTS:
        return costs_are_sound(attribution, first, end);
    default:
        return true;
    }
}

/* Sum and indexes in one walk, piece by piece, so that memory is read once. */
static enum status check_part(const struct head *head, struct bytes bytes,
                              const struct attribution *attribution, int part, struct error *err)
{
    struct hasher *hasher = hasher_create();
    uint32_t count = head->count[part];
    bool sound = true;

    for (uint32_t first = 0, end; first < count; first = end) {
        end = count - first > PIECE_RECORDS ? first + PIECE_RECORDS : count;
        size_t at = first * record_size[part];
        size_t size = (end == count ? bytes.count : end * record_size[part]) - at;

        hasher_put(hasher, (struct bytes){.at = bytes.at + at, .count = size});
        sound &= records_are_sound(attribution, part, first, end);
    }
    if (hasher_end(hasher).low != head->sum[part])
        return fail(err, ERR_FORMAT, "part %d of the attribution is damaged", part);
    if (!sound)
        return fail(err, ERR_FORMAT, "the attribution names ops that are not in it");
    return OK;
}

static enum status read_head(struct bytes bytes, const struct head **ret, struct error *err)
{
    if (bytes.count < sizeof **ret)
        return fail(err, ERR_TRUNCATED, "the attribution ends in its head");
    *ret = (const struct head *)(const void *)bytes.at;
    return check_head(*ret, bytes.count, err);
}

static enum status read_parts(struct bytes bytes, bool is_checked, struct attribution *ret,
                              struct error *err)
{
    const struct head *head = NULL;
    struct bytes parts[PART_COUNT];
    const uint8_t *at;

    TRY(read_head(bytes, &head, err));
    at = bytes.at + sizeof *head;
    for (int part = 0; part < PART_COUNT; part++) {
        parts[part] = (struct bytes){.at = at, .count = part_bytes(head, part)};
        at += parts[part].count;
    }
    *ret = (struct attribution){
        .ops = (const void *)parts[PART_OPS].at,
        .op_count = head->count[PART_OPS],
        .executions = (const void *)parts[PART_EXECUTIONS].at,
        .execution_count = head->count[PART_EXECUTIONS],
        .entries = (const void *)parts[PART_ENTRIES].at,
        .entry_count = head->count[PART_ENTRIES],
        .by_device_time = (const void *)parts[PART_BY_TIME].at,
        .totals = head->count[PART_TOTALS] == 0 ? NULL : (const void *)parts[PART_TOTALS].at,
        .devices = (const void *)parts[PART_DEVICES].at,
        .device_count = head->count[PART_DEVICES],
        .spreads = (const void *)parts[PART_SPREADS].at,
        .spread_count = head->count[PART_SPREADS],
        .kernels = (const void *)parts[PART_KERNELS].at,
        .kernel_count = head->count[PART_KERNELS],
        .kernel_of =
            head->count[PART_KERNEL_OF] == 0 ? NULL : (const void *)parts[PART_KERNEL_OF].at,
        .kernel_totals = (const void *)parts[PART_KERNEL_TOTALS].at,
        .kernel_by_name = (const void *)parts[PART_KERNEL_NAMES].at,
        .kernel_name_count = head->count[PART_KERNEL_NAMES],
        .costs = head->count[PART_COSTS] == 0 ? NULL : (const void *)parts[PART_COSTS].at,
    };
    for (int part = 0; !is_checked && part < PART_COUNT; part++)
        TRY(check_part(head, parts[part], ret, part, err));
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
    const struct head *head = NULL;
    struct file_map map = {0};

    *ret = false;
    TRY(map_whole(path, &map, err));
    enum status status = read_head(map.bytes, &head, err);
    if (status == OK)
        *ret = head->count[PART_ENTRIES] > 0;
    file_unmap(&map);
    return status;
}

static enum status open_file(const char *path, bool is_checked, struct attribution_file **ret,
                             struct error *err)
{
    struct attribution_file *file = memory_resize(NULL, 1, sizeof *file);

    *file = (struct attribution_file){0};
    enum status status = map_whole(path, &file->map, err);
    if (status == OK)
        status = read_parts(file->map.bytes, is_checked, &file->attribution, err);
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
    return ((const struct head *)(const void *)file->map.bytes.at)->segment;
}

const struct attribution *attribution_of_file(const struct attribution_file *file)
{
    return &file->attribution;
}

void attribution_close(struct attribution_file *file)
{
    if (file == NULL)
        return;
    file_unmap(&file->map);
    free(file);
}
