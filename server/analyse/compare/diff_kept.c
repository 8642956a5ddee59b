/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of a run's steps, or of its captures, as bytes, so that it is measured once:
 *
 *   by steps?  steps  items  hash of their names  warm-ups  cut  "basis"  mean  kinds...  doings...
 *   duration, number    of each step
 *   self time, count    of each item
 *   has series?         self time of each item in each step, then how often it ran
 *
 * Numbers are varints, signed ones with their sign in the lowest bit. Who keeps them answers for
 * that they are of this very run and of this program; a length that does not fit is still none.
 */
#include "analyse/compare/diff_parts.h"
#include "base/hash.h"
#include "base/protobuf_out.h"

/* Of what each item is, in their order: sums of as many others are not theirs. */
static uint64_t hash_of_items(const struct match_run *ops)
{
    struct hasher *hasher = hasher_create();

    for (uint32_t i = 0; i < ops->count; i++) {
        const struct match_op *op = &ops->items[i];
        const struct str texts[] = {op->module, op->name, op->scope};

        for (size_t j = 0; j < COUNT(texts); j++) {
            uint64_t count = texts[j].count;

            hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&count, sizeof count});
            hasher_put(hasher, (struct bytes){.at = (const uint8_t *)texts[j].at, count});
        }
    }
    return hasher_end(hasher).low;
}

static void put_signed(struct text *text, int64_t value)
{
    pb_put_varint(text, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void put_all(struct text *text, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_signed(text, values[i]);
}

static void put_sums(struct text *text, const struct measured *measured)
{
    for (uint32_t i = 0; i < measured->ops.count; i++) {
        uint64_t bits;

        memcpy(&bits, &measured->sums[i].count, sizeof bits);
        put_signed(text, measured->sums[i].self_ps);
        pb_put_varint(text, bits);
    }
}

void diff_pack(const struct measured *measured, struct text *text)
{
    const struct diff_measured *told = &measured->told;

    pb_put_varint(text, measured->by_steps);
    pb_put_varint(text, measured->step_count);
    pb_put_varint(text, measured->ops.count);
    pb_put_varint(text, hash_of_items(&measured->ops));
    pb_put_varint(text, told->warmup_count);
    pb_put_varint(text, told->cut_count);
    pb_put_varint(text, told->basis.count);
    text_put(text, told->basis.at, told->basis.count);
    put_signed(text, told->mean_ps);
    put_all(text, told->kinds_ps, COUNT(told->kinds_ps));
    put_all(text, told->doing_ps, COUNT(told->doing_ps));
    put_all(text, measured->durs_ps, measured->step_count);
    put_all(text, measured->numbers, measured->step_count);
    put_sums(text, measured);
    pb_put_varint(text, measured->series != NULL);
    if (measured->series != NULL) {
        put_all(text, measured->series, (size_t)measured->ops.count * measured->step_count);
        put_all(text, measured->events, (size_t)measured->ops.count * measured->step_count);
    }
}

struct reader { /* at its end it is sticky: all that follows is 0 */
    const uint8_t *at, *end;
    bool is_cut;
};

static uint64_t read_varint(struct reader *reader)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;

        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    reader->is_cut = true;
    reader->at = reader->end;
    return 0;
}

static int64_t read_signed(struct reader *reader)
{
    uint64_t value = read_varint(reader);

    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void read_all(struct reader *reader, int64_t *ret, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ret[i] = read_signed(reader);
}

/* A value takes a byte at least: what is more than the bytes left is no count. */
static int64_t *read_list(struct reader *reader, uint64_t count, struct arena *arena)
{
    reader->is_cut |= count > (size_t)(reader->end - reader->at);
    if (reader->is_cut)
        return NULL;
    int64_t *values = arena_array(arena, int64_t, count);

    read_all(reader, values, count);
    return values;
}

static void read_told(struct reader *reader, struct arena *arena, struct diff_measured *ret)
{
    ret->warmup_count = (uint32_t)read_varint(reader);
    ret->cut_count = (uint32_t)read_varint(reader);

    uint64_t count = read_varint(reader);

    reader->is_cut |= count > (size_t)(reader->end - reader->at);
    if (reader->is_cut)
        return;
    ret->basis = str_copy(arena, (struct str){.at = (const char *)reader->at, .count = count});
    reader->at += count;
    ret->mean_ps = read_signed(reader);
    read_all(reader, ret->kinds_ps, COUNT(ret->kinds_ps));
    read_all(reader, ret->doing_ps, COUNT(ret->doing_ps));
}

static void read_sums(struct reader *reader, struct arena *arena, struct measured *ret)
{
    ret->sums = arena_array(arena, struct diff_sums, ret->ops.count);
    for (uint32_t i = 0; i < ret->ops.count; i++) {
        ret->sums[i].self_ps = read_signed(reader);

        uint64_t bits = read_varint(reader);

        memcpy(&ret->sums[i].count, &bits, sizeof bits);
    }
}

bool diff_unpack(struct bytes bytes, struct arena *arena, struct measured *ret)
{
    struct reader reader = {.at = bytes.at, .end = bytes.at + bytes.count};
    bool by_steps = read_varint(&reader) != 0;
    uint64_t step_count = read_varint(&reader);

    if (by_steps != ret->by_steps || read_varint(&reader) != ret->ops.count ||
        read_varint(&reader) != hash_of_items(&ret->ops) || step_count == 0 ||
        step_count > bytes.count)
        return false;
    ret->step_count = (uint32_t)step_count;
    ret->told.step_count = by_steps ? ret->step_count : 0;
    read_told(&reader, arena, &ret->told);
    ret->durs_ps = read_list(&reader, step_count, arena);
    ret->numbers = read_list(&reader, step_count, arena);
    read_sums(&reader, arena, ret);
    if (read_varint(&reader) != 0) {
        ret->series = read_list(&reader, (uint64_t)ret->ops.count * step_count, arena);
        ret->events = read_list(&reader, (uint64_t)ret->ops.count * step_count, arena);
    }
    return !reader.is_cut && reader.at == reader.end;
}
