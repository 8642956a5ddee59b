/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a dict, and their values as what they should be.
 *
 * A writer tells a text once and refers to it from then on, so the texts met last are remembered by
 * their place in the file: of millions of events no key is read twice.
 */
#include "decode/torch_snapshot/torch_snapshot.h"

static const char *const words[WORD_COUNT] = {
    [WORD_ACTION] = "action",
    [WORD_ADDR] = "addr",
    [WORD_ADDRESS] = "address",
    [WORD_ALLOCATED] = "active_allocated",
    [WORD_AWAITING] = "active_awaiting_free",
    [WORD_BLOCKS] = "blocks",
    [WORD_COMPILE_CONTEXT] = "compile_context",
    [WORD_DEVICE] = "device",
    [WORD_DEVICE_FREE] = "device_free",
    [WORD_DEVICE_TRACES] = "device_traces",
    [WORD_EXPANDABLE] = "expandable_segments",
    [WORD_FILENAME] = "filename",
    [WORD_FRAMES] = "frames",
    [WORD_HISTORY] = "history",
    [WORD_INACTIVE] = "inactive",
    [WORD_LINE] = "line",
    [WORD_NAME] = "name",
    [WORD_PENDING] = "active_pending_free",
    [WORD_REAL_SIZE] = "real_size",
    [WORD_REQUESTED_SIZE] = "requested_size",
    [WORD_SEGMENTS] = "segments",
    [WORD_SIZE] = "size",
    [WORD_STATE] = "state",
    [WORD_STREAM] = "stream",
    [WORD_TIME_US] = "time_us",
    [WORD_TOTAL_SIZE] = "total_size",
    [WORD_USER_METADATA] = "user_metadata",
    [WORD_FIRST_ACTION + TORCH_ALLOC] = "alloc",
    [WORD_FIRST_ACTION + TORCH_FREE_REQUESTED] = "free_requested",
    [WORD_FIRST_ACTION + TORCH_FREE_COMPLETED] = "free_completed",
    [WORD_FIRST_ACTION + TORCH_SEGMENT_ALLOC] = "segment_alloc",
    [WORD_FIRST_ACTION + TORCH_SEGMENT_FREE] = "segment_free",
    [WORD_FIRST_ACTION + TORCH_SEGMENT_MAP] = "segment_map",
    [WORD_FIRST_ACTION + TORCH_SEGMENT_UNMAP] = "segment_unmap",
    [WORD_FIRST_ACTION + TORCH_OOM] = "oom",
    [WORD_FIRST_ACTION + TORCH_SNAPSHOT] = "snapshot",
};

/* Where the text is remembered; it may hold another one. */
static uint32_t slot_of(uint64_t place)
{
    return (uint32_t)((place * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % TORCH_TEXTS;
}

static uint32_t remember(struct torch_snapshot *snapshot, struct pickle_value text)
{
    const uint32_t slot = slot_of(text.bits);
    struct str read;

    if (snapshot->texts[slot].place == text.bits + 1)
        return slot;
    read = pickle_text(snapshot->file, text);
    snapshot->texts[slot].place = text.bits + 1;
    snapshot->texts[slot].name = 0;
    snapshot->texts[slot].word = WORD_UNKNOWN;
    for (uint8_t word = 0; word < WORD_COUNT; word++)
        if (words[word] != NULL && str_equal(read, str_of(words[word])))
            snapshot->texts[slot].word = word;
    return slot;
}

enum torch_word torch_word_of(struct torch_snapshot *snapshot, struct pickle_value text)
{
    return text.kind == PICKLE_TEXT
               ? (enum torch_word)snapshot->texts[remember(snapshot, text)].word
               : WORD_UNKNOWN;
}

name_id torch_name_of(struct torch_snapshot *snapshot, struct pickle_value text)
{
    uint32_t slot;

    if (text.kind != PICKLE_TEXT)
        return 0;
    slot = remember(snapshot, text);
    if (snapshot->texts[slot].name == 0)
        snapshot->texts[slot].name = sink_name(snapshot->sink, pickle_text(snapshot->file, text));
    return snapshot->texts[slot].name;
}

void torch_fields_of(struct torch_snapshot *snapshot, const struct pickle_value *pairs,
                     size_t count, struct torch_fields *ret)
{
    ret->has = 0;
    for (size_t i = 0; i < count; i++) {
        enum torch_word word = torch_word_of(snapshot, pairs[2 * i]);

        ret->at[word] = pairs[2 * i + 1];
        ret->has |= UINT64_C(1) << word;
    }
}

int64_t torch_size(const struct torch_fields *fields, enum torch_word word, int64_t otherwise,
                   bool *odd)
{
    if (torch_has(fields, word) && fields->at[word].kind == PICKLE_INT &&
        (int64_t)fields->at[word].bits >= 0)
        return (int64_t)fields->at[word].bits;
    *odd = true;
    return otherwise;
}

uint64_t torch_address(const struct torch_fields *fields, enum torch_word word, bool *odd)
{
    if (torch_has(fields, word) && fields->at[word].kind == PICKLE_INT)
        return fields->at[word].bits;
    *odd = true;
    return 0;
}

/* Streams are few: handles of the driver, 0 the default one. */
uint32_t torch_stream(struct torch_snapshot *snapshot, const struct torch_fields *fields)
{
    enum { STREAMS_MAX = 256 };
    const uint64_t *streams = snapshot->streams.at;
    uint64_t handle = torch_has(fields, WORD_STREAM) ? fields->at[WORD_STREAM].bits : 0;
    uint64_t *added;

    for (uint32_t i = 0; i < snapshot->streams.count; i++)
        if (streams[i] == handle)
            return i;
    if (snapshot->streams.count == STREAMS_MAX)
        return STREAMS_MAX - 1;
    added = torch_add(snapshot, &snapshot->streams, sizeof *added);
    if (added == NULL)
        return 0;
    *added = handle;
    return snapshot->streams.count - 1;
}
