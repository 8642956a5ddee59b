/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the schemas of NVTX's payload extension, and turns the bytes of a payload into text by
 * them. */
#include "inject/nvtx/payload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/process/texts.h"

enum {
    SCHEMAS_MAX = 4096, /* a power of two */
    ENTRIES_MAX = 64,
    NAME_BYTES = 64,
    TEXT_BYTES = 1024,
    TEXTS_OWN_MAX = 1 << 17, /* different payloads: counters in them must not take all texts */
    PAYLOADS_MAX = 8         /* of one event */
};

struct known { /* a schema or an enumeration: never changed once it is seen, never freed */
    const void *domain;
    uint64_t id;
    uint32_t name; /* a text */
    bool is_enum;
    uint32_t count;
    struct known_entry {
        uint64_t type;
        int64_t at; /* -1: nobody knows */
        uint64_t count, value;
        bool is_pointer, is_array;
        char name[NAME_BYTES];
    } entries[];
};

static _Atomic(struct known *) all[SCHEMAS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t next_id = NVTX_SCHEMA_DYNAMIC;
static _Atomic uint64_t refused;
static _Atomic uint32_t own_texts;

static uint32_t slot_of(const void *domain, uint64_t id)
{
    uint64_t hash = (id ^ (uint64_t)(uintptr_t)domain << 20) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(hash >> 40) % SCHEMAS_MAX;
}

static const struct known *find(const void *domain, uint64_t id)
{
    uint32_t slot = slot_of(domain, id);

    for (uint32_t probe = 0; probe < SCHEMAS_MAX; probe++) {
        const struct known *known =
            atomic_load_explicit(&all[(slot + probe) % SCHEMAS_MAX], memory_order_acquire);
        if (known == NULL || (known->id == id && known->domain == domain))
            return known;
    }
    return NULL;
}

static bool add(struct known *known)
{
    uint32_t slot = slot_of(known->domain, known->id);

    for (uint32_t probe = 0; probe < SCHEMAS_MAX / 2; probe++) {
        _Atomic(struct known *) *place = &all[(slot + probe) % SCHEMAS_MAX];
        if (atomic_load_explicit(place, memory_order_relaxed) != NULL)
            continue;
        atomic_store_explicit(place, known, memory_order_release);
        return true;
    }
    return false;
}

static struct known *make(const void *domain, const char *name, uint64_t id, size_t count)
{
    struct known *known = calloc(1, sizeof *known + count * sizeof known->entries[0]);

    if (known == NULL)
        return NULL;
    known->domain = domain;
    known->id = id;
    known->count = (uint32_t)count;
    known->name = name != NULL ? text_id(name, strlen(name)) : 0;
    return known;
}

/* An id of the program's own, or the next one; one that is known already stays as it is. */
static uint64_t publish(struct known *known)
{
    uint64_t id = 0;

    if (known == NULL)
        return 0;
    pthread_mutex_lock(&lock);
    if (known->id == 0)
        known->id = next_id++;
    const struct known *same = find(known->domain, known->id);
    if (same != NULL || add(known))
        id = known->id;
    pthread_mutex_unlock(&lock);
    if (same != NULL || id == 0)
        free(known);
    return id;
}

/* Bytes of a type, which are its alignment too; 0 of one that is not read. */
static size_t size_of(const void *domain, uint64_t type)
{
    static const uint8_t sizes[] = {
        [NVTX_TYPE_CHAR] = 1,      [NVTX_TYPE_UCHAR] = 1,     [NVTX_TYPE_SHORT] = 2,
        [NVTX_TYPE_USHORT] = 2,    [NVTX_TYPE_INT] = 4,       [NVTX_TYPE_UINT] = 4,
        [NVTX_TYPE_LONG] = 8,      [NVTX_TYPE_ULONG] = 8,     [NVTX_TYPE_LONGLONG] = 8,
        [NVTX_TYPE_ULONGLONG] = 8, [NVTX_TYPE_INT8] = 1,      [NVTX_TYPE_UINT8] = 1,
        [NVTX_TYPE_INT16] = 2,     [NVTX_TYPE_UINT16] = 2,    [NVTX_TYPE_INT32] = 4,
        [NVTX_TYPE_UINT32] = 4,    [NVTX_TYPE_INT64] = 8,     [NVTX_TYPE_UINT64] = 8,
        [NVTX_TYPE_FLOAT] = 4,     [NVTX_TYPE_DOUBLE] = 8,    [NVTX_TYPE_SIZE] = 8,
        [NVTX_TYPE_ADDRESS] = 8,   [NVTX_TYPE_BYTE] = 1,      [NVTX_TYPE_FLOAT32] = 4,
        [NVTX_TYPE_FLOAT64] = 8,   [NVTX_TYPE_CATEGORY] = 4,  [NVTX_TYPE_COLOR] = 4,
        [NVTX_TYPE_SCOPE] = 8,     [NVTX_TYPE_PID32] = 4,     [NVTX_TYPE_PID64] = 8,
        [NVTX_TYPE_TID32] = 4,     [NVTX_TYPE_TID64] = 8,     [NVTX_TYPE_CSTRING] = 8,
        [NVTX_TYPE_CSTRING8] = 8,  [NVTX_TYPE_REGISTERED] = 8};
    const struct known *known = NULL;

    if (type < sizeof sizes)
        return sizes[type];
    known = find(domain, type);
    return known != NULL && known->is_enum ? known->entries[0].count : 0;
}

/* Entries without an offset follow the one before, aligned; behind one of unknown size nobody knows
 * where. */
static void place_entry(const struct nvtx_schema *schema, const void *domain, size_t index,
                        struct known_entry *entry, int64_t *behind)
{
    const struct nvtx_schema_entry *from = &schema->entries[index];
    size_t size = entry->is_pointer ? sizeof(void *) : size_of(domain, from->type);
    size_t align = size;

    if ((schema->fields & NVTX_SCHEMA_HAS_ALIGN) != 0 && schema->align != 0 &&
        schema->align < align)
        align = schema->align;
    entry->at = from->offset != 0 || index == 0 ? (int64_t)(from->offset & INT64_MAX)
                : *behind >= 0 && align != 0
                    ? (*behind + (int64_t)align - 1) / (int64_t)align * (int64_t)align
                    : -1;
    uint64_t bytes = size * (entry->is_array ? entry->count : 1);
    *behind = entry->at >= 0 && entry->at < INT32_MAX && bytes > 0 && entry->count < INT32_MAX
                  ? entry->at + (int64_t)bytes
                  : -1;
}

uint64_t payload_schema(const void *domain, const struct nvtx_schema *schema)
{
    const uint64_t needed = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_COUNT;
    int64_t behind = 0;

    if (schema == NULL || (schema->fields & needed) != needed || schema->entries == NULL)
        return 0;
    size_t count = schema->entry_count < ENTRIES_MAX ? schema->entry_count : ENTRIES_MAX;
    struct known *known =
        make(domain, (schema->fields & NVTX_SCHEMA_HAS_NAME) != 0 ? schema->name : NULL,
             (schema->fields & NVTX_SCHEMA_HAS_ID) != 0 ? schema->id : 0, count);
    for (size_t index = 0; known != NULL && index < count; index++) {
        const struct nvtx_schema_entry *from = &schema->entries[index];
        struct known_entry *entry = &known->entries[index];
        entry->type = from->type;
        entry->count = from->detail;
        entry->is_pointer = (from->flags & NVTX_ENTRY_POINTER) != 0;
        entry->is_array = (from->flags & NVTX_ENTRY_ARRAY) != 0;
        if ((from->flags & NVTX_ENTRY_ARRAY) != NVTX_ENTRY_ARRAY_FIXED && entry->is_array)
            entry->count = 0;
        snprintf(entry->name, sizeof entry->name, "%s", from->name != NULL ? from->name : "");
        place_entry(schema, domain, index, entry, &behind);
    }
    return publish(known);
}

uint64_t payload_enum(const void *domain, const struct nvtx_enum *names)
{
    const uint64_t needed = NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_COUNT;

    if (names == NULL || (names->fields & needed) != needed || names->entries == NULL)
        return 0;
    size_t count = names->entry_count < ENTRIES_MAX ? names->entry_count : ENTRIES_MAX;
    struct known *known =
        make(domain, NULL, (names->fields & NVTX_ENUM_HAS_ID) != 0 ? names->id : 0, count + 1);
    if (known == NULL)
        return 0;
    known->is_enum = true; /* the first entry holds the size */
    known->entries[0].count = (names->fields & NVTX_ENUM_HAS_SIZE) != 0 ? names->size : 4;
    if (known->entries[0].count > 8)
        known->entries[0].count = 0;
    for (size_t index = 0; index < count; index++) {
        known->entries[index + 1].value = names->entries[index].value;
        snprintf(known->entries[index + 1].name, NAME_BYTES, "%s",
                 names->entries[index].name != NULL ? names->entries[index].name : "");
    }
    return publish(known);
}

struct line { /* the text that is made */
    char at[TEXT_BYTES];
    size_t count;
};

static void put_bytes(struct line *line, const char *at, size_t count)
{
    if (count > sizeof line->at - line->count)
        count = sizeof line->at - line->count;
    memcpy(line->at + line->count, at, count);
    line->count += count;
}

static void put_value(struct line *line, const struct known_entry *entry, char type, const char *at,
                      size_t count)
{
    size_t name = strlen(entry->name);

    if (line->count + name + count + 4 > sizeof line->at)
        return; /* whole or not at all */
    if (line->count > 0)
        put_bytes(line, "\x1f", 1);
    put_bytes(line, &type, 1);
    put_bytes(line, entry->name, name);
    put_bytes(line, "=", 1);
    put_bytes(line, at, count);
}

static void put_number(struct line *line, const struct known_entry *entry, uint64_t value,
                       bool is_signed)
{
    bool is_minus = is_signed && (int64_t)value < 0;
    char digits[24];
    size_t at = sizeof digits;

    if (is_minus)
        value = -value;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    if (is_minus)
        digits[--at] = '-';
    put_value(line, entry, is_signed ? 'i' : 'u', digits + at, sizeof digits - at);
}

static void put_float(struct line *line, const struct known_entry *entry, double value)
{
    char digits[40];

    put_value(line, entry, 'd', digits, (size_t)snprintf(digits, sizeof digits, "%.17g", value));
}

static void put_enum(struct line *line, const struct known_entry *entry, const struct known *names,
                     uint64_t value)
{
    for (uint32_t index = 1; index < names->count; index++)
        if (names->entries[index].value == value) {
            put_value(line, entry, 's', names->entries[index].name,
                      strlen(names->entries[index].name));
            return;
        }
    put_number(line, entry, value, false);
}

/* A text of the program: a pointer to it, a registered one, or an array of characters. */
static void put_text(struct line *line, const struct known_entry *entry, const uint8_t *at)
{
    enum { LONGEST = 256 };
    uint64_t word = 0;
    const char *text = NULL;
    size_t count = 0;

    memcpy(&word, at, sizeof word);
    if (entry->type == NVTX_TYPE_REGISTERED) {
        if (word == 0 || word > text_count() || !text_at((uint32_t)word, &text, &count))
            return;
    } else if (word != 0) {
        text = (const char *)(uintptr_t)word;
        count = strnlen(text, LONGEST);
    }
    if (text != NULL)
        put_value(line, entry, 's', text, count < LONGEST ? count : LONGEST);
}

static bool is_signed(uint64_t type)
{
    switch (type) {
    case NVTX_TYPE_CHAR:
    case NVTX_TYPE_SHORT:
    case NVTX_TYPE_INT:
    case NVTX_TYPE_LONG:
    case NVTX_TYPE_LONGLONG:
    case NVTX_TYPE_INT8:
    case NVTX_TYPE_INT16:
    case NVTX_TYPE_INT32:
    case NVTX_TYPE_INT64:
        return true;
    default:
        return false;
    }
}

static uint64_t read_integer(const uint8_t *at, size_t size, bool with_sign)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    if (with_sign && size < 8 && (value >> (size * 8 - 1) & 1) != 0)
        value |= UINT64_MAX << size * 8;
    return value;
}

static void put_scalar(struct line *line, const void *domain, const struct known_entry *entry,
                       const uint8_t *at, size_t size)
{
    const struct known *names =
        entry->type >= NVTX_SCHEMA_STATIC ? find(domain, entry->type) : NULL;
    double wide;
    float narrow;

    if (entry->type == NVTX_TYPE_CSTRING || entry->type == NVTX_TYPE_CSTRING8 ||
        entry->type == NVTX_TYPE_REGISTERED) {
        put_text(line, entry, at);
    } else if (entry->type == NVTX_TYPE_FLOAT || entry->type == NVTX_TYPE_FLOAT32) {
        memcpy(&narrow, at, sizeof narrow);
        put_float(line, entry, (double)narrow);
    } else if (entry->type == NVTX_TYPE_DOUBLE || entry->type == NVTX_TYPE_FLOAT64) {
        memcpy(&wide, at, sizeof wide);
        put_float(line, entry, wide);
    } else if (names != NULL) {
        put_enum(line, entry, names, read_integer(at, size, false));
    } else {
        put_number(line, entry, read_integer(at, size, is_signed(entry->type)),
                   is_signed(entry->type));
    }
}

static void put_payload(struct line *line, const void *domain, const struct nvtx_payload *payload)
{
    const struct known *schema = find(domain, payload->schema);
    const uint8_t *from = payload->at;

    if (schema == NULL || schema->is_enum || from == NULL)
        return;
    for (uint32_t index = 0; index < schema->count; index++) {
        const struct known_entry *entry = &schema->entries[index];
        size_t size = size_of(domain, entry->type), at = (size_t)entry->at;
        bool is_text = entry->type == NVTX_TYPE_CHAR && entry->is_array && entry->count > 0;
        size_t whole = is_text ? entry->count : size;
        if (entry->at < 0 || size == 0 || entry->is_pointer || (entry->is_array && !is_text) ||
            at > payload->size || whole > payload->size - at)
            continue;
        if (is_text)
            put_value(line, entry, 's', (const char *)from + at,
                      strnlen((const char *)from + at, entry->count));
        else
            put_scalar(line, domain, entry, from + at, size);
    }
}

uint32_t payload_text(const void *domain, const struct nvtx_payload *payloads, size_t count)
{
    struct line line = {.count = 0};
    uint32_t before = text_count();

    if (payloads == NULL)
        return 0;
    for (size_t index = 0; index < count && index < PAYLOADS_MAX; index++)
        put_payload(&line, domain, &payloads[index]);
    if (line.count == 0)
        return 0;
    if (atomic_load_explicit(&own_texts, memory_order_relaxed) >= TEXTS_OWN_MAX) {
        atomic_fetch_add(&refused, 1);
        return 0;
    }
    uint32_t id = text_id(line.at, line.count);
    if (id > before)
        atomic_fetch_add_explicit(&own_texts, 1, memory_order_relaxed);
    return id;
}

uint32_t payload_name(const void *domain, const struct nvtx_payload *payloads, size_t count)
{
    const struct known *schema =
        payloads != NULL && count > 0 ? find(domain, payloads[0].schema) : NULL;

    return schema != NULL ? schema->name : 0;
}

uint64_t payloads_refused(void)
{
    return atomic_load(&refused);
}
