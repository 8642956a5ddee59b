#include "decode/snappy.h"

struct snappy {
    const uint8_t *at, *end;
    uint8_t *start, *out, *out_end;
};

static bool number(struct snappy *snappy, int size, size_t *ret)
{
    if (snappy->end - snappy->at < size)
        return false;
    *ret = 0;
    for (int byte = 0; byte < size; byte++)
        *ret |= (size_t)snappy->at[byte] << 8 * byte;
    snappy->at += size;
    return true;
}

static bool whole_size(struct snappy *snappy, size_t wanted)
{
    uint64_t size = 0;

    for (int shift = 0; shift < 35; shift += 7) {
        if (snappy->at == snappy->end)
            return false;
        uint8_t byte = *snappy->at++;
        size |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return size == wanted;
    }
    return false;
}

static bool literal(struct snappy *snappy, uint8_t tag)
{
    size_t count = tag >> 2;

    if (count >= 60 && !number(snappy, (int)count - 59, &count))
        return false;
    count++;
    if (count > (size_t)(snappy->end - snappy->at) ||
        count > (size_t)(snappy->out_end - snappy->out))
        return false;
    memcpy(snappy->out, snappy->at, count);
    snappy->at += count;
    snappy->out += count;
    return true;
}

/* Byte by byte: a copy may run into what it writes. */
static bool copy(struct snappy *snappy, uint8_t tag)
{
    size_t count = (size_t)(tag >> 2) + 1, distance;

    if ((tag & 3) == 1) {
        count = (size_t)(tag >> 2 & 7) + 4;
        if (!number(snappy, 1, &distance))
            return false;
        distance |= (size_t)(tag >> 5) << 8;
    } else if (!number(snappy, (tag & 3) == 2 ? 2 : 4, &distance)) {
        return false;
    }
    if (distance == 0 || distance > (size_t)(snappy->out - snappy->start) ||
        count > (size_t)(snappy->out_end - snappy->out))
        return false;
    for (const uint8_t *from = snappy->out - distance; count > 0; count--)
        *snappy->out++ = *from++;
    return true;
}

bool snappy_unpack(struct bytes packed, uint8_t *to, size_t count)
{
    struct snappy snappy = {.at = packed.at,
                            .end = packed.at + packed.count,
                            .start = to,
                            .out = to,
                            .out_end = to + count};

    if (!whole_size(&snappy, count))
        return false;
    while (snappy.at < snappy.end) {
        uint8_t tag = *snappy.at++;

        if (!((tag & 3) == 0 ? literal(&snappy, tag) : copy(&snappy, tag)))
            return false;
    }
    return snappy.out == snappy.out_end;
}
