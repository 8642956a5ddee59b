/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of texts that grows only, filled by compare-and-swap. */
#include "inject/process/texts.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/spool/utf8.h"

enum { SLOTS = 1 << 20, TEXTS_MAX = SLOTS / 2, ARENA_BYTES = 48 << 20, PROBES_MAX = 4096 };

struct entry {
    uint32_t id, hash, count;
    char at[];
};

static _Atomic(struct entry *) *slots;
static _Atomic(struct entry *) *entries;
static char *arena;
static _Atomic size_t arena_used;
static _Atomic uint32_t last_id;
static _Atomic uint64_t refused;
static _Atomic bool is_open;

static void *reserve(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool texts_open(void)
{
    slots = reserve(SLOTS * sizeof *slots);
    entries = reserve(TEXTS_MAX * sizeof *entries);
    arena = reserve(ARENA_BYTES);
    bool has_all = slots != NULL && entries != NULL && arena != NULL;
    atomic_store(&is_open, has_all);
    return has_all;
}

void texts_forget(void)
{
    atomic_store(&is_open, false);
}

static uint32_t hash_of(const char *text, size_t count)
{
    uint64_t hash = count * UINT64_C(0x9e3779b97f4a7c15);

    for (; count >= 8; text += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    uint64_t word = 0;
    memcpy(&word, text, count);
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(hash >> 32 ^ hash);
}

static size_t cut_at_character(const char *text, size_t count)
{
    if (count <= TEXT_BYTES_MAX)
        return count;
    for (count = TEXT_BYTES_MAX; count > TEXT_BYTES_MAX - 4; count--)
        if (((unsigned char)text[count] & 0xc0) != 0x80)
            break;
    return count;
}

/* It has its id before anybody can find it: who finds it never waits for who made it. */
static struct entry *make_entry(uint32_t hash, const char *text, size_t count)
{
    size_t size = (sizeof(struct entry) + count + 1 + 7) & ~(size_t)7; /* and a NUL */

    if (atomic_load_explicit(&last_id, memory_order_relaxed) >= TEXTS_MAX)
        return NULL;
    size_t at = atomic_fetch_add_explicit(&arena_used, size, memory_order_relaxed);
    if (at + size > ARENA_BYTES)
        return NULL;
    struct entry *entry = (struct entry *)(void *)(arena + at);
    entry->hash = hash;
    entry->count = (uint32_t)count;
    memcpy(entry->at, text, count);
    entry->id = atomic_fetch_add(&last_id, 1) + 1;
    if (entry->id > TEXTS_MAX)
        return NULL;
    atomic_store_explicit(&entries[entry->id - 1], entry, memory_order_release);
    return entry;
}

/* Of two threads with one new text, one fills the slot; the other's entry stays behind under an id
 * that no range has. */
static uint32_t find_or_add(const char *text, size_t count)
{
    uint32_t hash = hash_of(text, count);
    struct entry *made = NULL;

    for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
        _Atomic(struct entry *) *slot = &slots[(hash + probe) & (SLOTS - 1)];
        struct entry *entry = atomic_load_explicit(slot, memory_order_acquire);
        if (entry == NULL) {
            if (made == NULL && (made = make_entry(hash, text, count)) == NULL)
                return 0;
            if (atomic_compare_exchange_strong(slot, &entry, made))
                return made->id;
        }
        if (entry->hash == hash && entry->count == count && memcmp(entry->at, text, count) == 0)
            return entry->id;
    }
    return 0;
}

uint32_t text_id(const char *text, size_t count)
{
    if (!atomic_load_explicit(&is_open, memory_order_relaxed))
        return 0;
    uint32_t id = find_or_add(text, cut_at_character(text, count));

    if (id == 0)
        atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    return id;
}

uint64_t texts_refused(void)
{
    return atomic_load(&refused);
}

uint32_t text_id_wide(const wchar_t *text)
{
    char bytes[TEXT_BYTES_MAX + 4];
    size_t count = 0;

    for (; *text != 0 && count < TEXT_BYTES_MAX; text++)
        count += put_utf8(bytes + count, (uint32_t)*text);
    return text_id(bytes, count);
}

uint32_t text_count(void)
{
    uint32_t count = atomic_load_explicit(&last_id, memory_order_acquire);

    return count < TEXTS_MAX ? count : TEXTS_MAX;
}

bool text_at(uint32_t id, const char **ret, size_t *ret_count)
{
    if (id == 0 || id > text_count())
        return false;
    struct entry *entry = atomic_load_explicit(&entries[id - 1], memory_order_acquire);
    if (entry == NULL)
        return false;
    *ret = entry->at;
    *ret_count = entry->count;
    return true;
}
