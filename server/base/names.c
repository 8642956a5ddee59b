/* SPDX-License-Identifier: Apache-2.0 */
/* Open hashing over ids; texts stand back to back in an arena's chunks.
 *
 *   slots   [ - | 7 | - | 3 | ... ]     id + 1, 0 is free; a power of two, at most 3/4 full
 *   entries [ hash, text ] by id        the hash is kept: growing does not touch the texts
 */
#include "base/names.h"

#include <stdlib.h>

#include "base/hash.h"

enum { SLOTS_MIN = 256, ENTRIES_MIN = 32, CHUNK_MIN = 512, CHUNK_MAX = 1 << 16 };

struct entry {
    uint64_t hash;
    struct str text;
};

struct names {
    struct arena *texts;
    char *chunk;                   /* what is left of the newest */
    size_t chunk_left, next_chunk; /* the next one is twice as large, up to CHUNK_MAX */
    struct entry *entries;
    uint32_t *slots;
    uint32_t count, capacity, slot_mask;
    uint64_t bytes;
};

static uint64_t hash_of(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t find_slot(const struct names *names, struct str text, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & names->slot_mask;

    for (; names->slots[slot] != 0; slot = (slot + 1) & names->slot_mask) {
        const struct entry *entry = &names->entries[names->slots[slot] - 1];

        if (entry->hash == hash && str_equal(entry->text, text))
            break;
    }
    return slot;
}

static void grow_slots(struct names *names, uint32_t slot_count)
{
    free(names->slots);
    names->slots = memory_zeroed(slot_count, sizeof(*names->slots));
    names->slot_mask = slot_count - 1;
    for (uint32_t id = 0; id < names->count; id++) {
        uint32_t slot = (uint32_t)names->entries[id].hash & names->slot_mask;

        while (names->slots[slot] != 0)
            slot = (slot + 1) & names->slot_mask;
        names->slots[slot] = id + 1;
    }
}

static struct str keep_text(struct names *names, struct str text)
{
    if (text.count == 0)
        return STR("");
    if (text.count > CHUNK_MAX / 8)
        return str_copy(names->texts, text);
    if (text.count > names->chunk_left) {
        while (names->next_chunk < 8 * text.count)
            names->next_chunk *= 2;
        names->chunk = arena_alloc(names->texts, names->next_chunk, 1);
        names->chunk_left = names->next_chunk;
        names->next_chunk = names->next_chunk < CHUNK_MAX ? 2 * names->next_chunk : CHUNK_MAX;
    }

    struct str kept = {.at = names->chunk, .count = text.count};

    memcpy(names->chunk, text.at, text.count);
    names->chunk += text.count;
    names->chunk_left -= text.count;
    return kept;
}

struct names *names_create(void)
{
    struct names *names = memory_resize(NULL, 1, sizeof(*names));

    *names = (struct names){.texts = arena_create(), .next_chunk = CHUNK_MIN};
    grow_slots(names, SLOTS_MIN);
    names_add(names, STR(""));
    return names;
}

void names_destroy(struct names *names)
{
    if (names == NULL)
        return;
    arena_destroy(names->texts);
    free(names->entries);
    free(names->slots);
    free(names);
}

name_id names_add(struct names *names, struct str text)
{
    uint64_t hash = hash_of(text);
    uint32_t slot = find_slot(names, text, hash);

    if (names->slots[slot] != 0)
        return names->slots[slot] - 1;

    if (names->count == names->capacity) {
        names->capacity =
            names->capacity == 0 ? ENTRIES_MIN : names->capacity + names->capacity / 2;
        names->entries = memory_resize(names->entries, names->capacity, sizeof(*names->entries));
    }

    name_id id = names->count++;

    names->entries[id] = (struct entry){.hash = hash, .text = keep_text(names, text)};
    names->bytes += text.count;
    names->slots[slot] = id + 1;
    if ((uint64_t)names->count * 4 > ((uint64_t)names->slot_mask + 1) * 3)
        grow_slots(names, 2 * (names->slot_mask + 1));
    return id;
}

bool names_find(const struct names *names, struct str text, name_id *ret)
{
    uint32_t slot = find_slot(names, text, hash_of(text));

    if (names->slots[slot] == 0)
        return false;
    *ret = names->slots[slot] - 1;
    return true;
}

struct str names_get(const struct names *names, name_id id)
{
    return names->entries[id].text;
}

uint32_t names_count(const struct names *names)
{
    return names->count;
}

uint64_t names_bytes(const struct names *names)
{
    return names->bytes;
}
