/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of CPython 3.10 to 3.12 from their headers; those of later versions are read from
 * _Py_DebugOffsets. */
#include "launch/sample/py_layout.h"

#include <string.h>

static const struct py_layout layouts[] = {
    {.version = 0x030a,
     .runtime_interpreters = 32,
     .interpreter_next = 0,
     .interpreter_threads = 8,
     .thread_next = 8,
     .thread_interpreter = 16,
     .thread_id = 176,
     .thread_native_id = PY_ABSENT,
     .thread_frame = 24,
     .cframe_frame = PY_ABSENT,
     .frame_previous = 24,
     .frame_code = 32,
     .frame_at = 96,
     .frame_owner = PY_ABSENT,
     .owner_no_code = PY_ABSENT,
     .code_file = 104,
     .code_name = 112,
     .code_first_line = 40,
     .code_lines = 120,
     .code_bytes = PY_ABSENT,
     .object_type = 8,
     .bytes_size = 16,
     .bytes_at = 32,
     .text_state = 32,
     .text_length = 16,
     .text_ascii = 48,
     .text_other = 72},
    {.version = 0x030b,
     .runtime_interpreters = 40,
     .interpreter_next = 0,
     .interpreter_threads = 16,
     .thread_next = 8,
     .thread_interpreter = 16,
     .thread_id = 152,
     .thread_native_id = 160,
     .thread_frame = 56,
     .cframe_frame = 8,
     .frame_previous = 48,
     .frame_code = 32,
     .frame_at = 56,
     .frame_owner = 69,
     .owner_no_code = PY_ABSENT,
     .code_file = 112,
     .code_name = 128, /* the qualified one */
     .code_first_line = 72,
     .code_lines = 136,
     .code_bytes = 184,
     .object_type = 8,
     .bytes_size = 16,
     .bytes_at = 32,
     .text_state = 32,
     .text_length = 16,
     .text_ascii = 48,
     .text_other = 72},
    {.version = 0x030c,
     .runtime_interpreters = 40,
     .interpreter_next = 0,
     .interpreter_threads = 72,
     .thread_next = 8,
     .thread_interpreter = 16,
     .thread_id = 136,
     .thread_native_id = 144,
     .thread_frame = 56,
     .cframe_frame = 0,
     .frame_previous = 8,
     .frame_code = 0,
     .frame_at = 56,
     .frame_owner = 70,
     .owner_no_code = 3,
     .code_file = 112,
     .code_name = 128,
     .code_first_line = 68,
     .code_lines = 136,
     .code_bytes = 192,
     .object_type = 8,
     .bytes_size = 16,
     .bytes_at = 32,
     .text_state = 32,
     .text_length = 16,
     .text_ascii = 40,
     .text_other = 56},
};

const struct py_layout *py_layout_of(uint32_t hex_version)
{
    for (size_t index = 0; index < COUNT(layouts); index++)
        if (layouts[index].version == hex_version >> 16)
            return &layouts[index];
    return NULL;
}

/* The words of _Py_DebugOffsets that are of use, by their place in the table. 3.14 added words, but
 * left the others in their order. */
struct places {
    uint8_t runtime_interpreters, interpreter_next, interpreter_threads, thread_next,
        thread_interpreter, thread_frame, thread_id, thread_native_id, frame_previous, frame_code,
        frame_at, frame_owner, code_file, code_name, code_lines, code_first_line, code_bytes,
        object_type, bytes_size, bytes_at, text_state, text_length, text_ascii;
};

static const struct places places_3_13 = {
    .runtime_interpreters = 5,
    .interpreter_next = 8,
    .interpreter_threads = 9,
    .thread_next = 21,
    .thread_interpreter = 22,
    .thread_frame = 23,
    .thread_id = 24,
    .thread_native_id = 25,
    .frame_previous = 29,
    .frame_code = 30,
    .frame_at = 31,
    .frame_owner = 33,
    .code_file = 35,
    .code_name = 37,
    .code_lines = 38,
    .code_first_line = 39,
    .code_bytes = 43,
    .object_type = 45,
    .bytes_size = 65,
    .bytes_at = 66,
    .text_state = 68,
    .text_length = 69,
    .text_ascii = 70,
};

static const struct places places_3_14 = {
    .runtime_interpreters = 5,
    .interpreter_next = 8,
    .interpreter_threads = 9,
    .thread_next = 24,
    .thread_interpreter = 25,
    .thread_frame = 26,
    .thread_id = 27,
    .thread_native_id = 28,
    .frame_previous = 32,
    .frame_code = 33,
    .frame_at = 34,
    .frame_owner = 36,
    .code_file = 40,
    .code_name = 42,
    .code_lines = 43,
    .code_first_line = 44,
    .code_bytes = 48,
    .object_type = 51,
    .bytes_size = 75,
    .bytes_at = 76,
    .text_state = 78,
    .text_length = 79,
    .text_ascii = 80,
};

/* An offset within a struct that is at most so large. */
static uint32_t word(struct bytes table, uint32_t place, uint32_t most, bool *are_sane)
{
    uint64_t value;

    memcpy(&value, table.at + (size_t)place * sizeof value, sizeof value);
    *are_sane &= value <= most;
    return (uint32_t)value;
}

static bool take(struct bytes table, const struct places *places, struct py_layout *ret)
{
    enum { LARGE = 1 << 24, MIDDLE = 1 << 16, SMALL = 256 };
    bool are_sane = true;
    const struct {
        uint32_t *to, place, most;
    } words[] = {
        {&ret->runtime_interpreters, places->runtime_interpreters, LARGE},
        {&ret->interpreter_next, places->interpreter_next, LARGE},
        {&ret->interpreter_threads, places->interpreter_threads, LARGE},
        {&ret->thread_next, places->thread_next, MIDDLE},
        {&ret->thread_interpreter, places->thread_interpreter, MIDDLE},
        {&ret->thread_frame, places->thread_frame, MIDDLE},
        {&ret->thread_id, places->thread_id, MIDDLE},
        {&ret->thread_native_id, places->thread_native_id, MIDDLE},
        {&ret->frame_previous, places->frame_previous, PY_FRAME_MAX - 8},
        {&ret->frame_code, places->frame_code, PY_FRAME_MAX - 8},
        {&ret->frame_at, places->frame_at, PY_FRAME_MAX - 8},
        {&ret->frame_owner, places->frame_owner, PY_FRAME_MAX - 8},
        {&ret->code_file, places->code_file, PY_CODE_MAX - 8},
        {&ret->code_name, places->code_name, PY_CODE_MAX - 8},
        {&ret->code_lines, places->code_lines, PY_CODE_MAX - 8},
        {&ret->code_first_line, places->code_first_line, PY_CODE_MAX - 8},
        {&ret->code_bytes, places->code_bytes, PY_CODE_MAX},
        {&ret->object_type, places->object_type, SMALL},
        {&ret->bytes_size, places->bytes_size, SMALL},
        {&ret->bytes_at, places->bytes_at, SMALL},
        {&ret->text_state, places->text_state, SMALL},
        {&ret->text_length, places->text_length, SMALL},
        {&ret->text_ascii, places->text_ascii, SMALL},
    };

    for (size_t index = 0; index < COUNT(words); index++)
        *words[index].to = word(table, words[index].place, words[index].most, &are_sane);
    ret->text_other = ret->text_ascii + 16; /* a UTF-8 copy and its length stand between */
    return are_sane;
}

bool py_layout_read(struct bytes runtime, struct py_layout *ret)
{
    uint64_t hex_version;

    *ret = (struct py_layout){.cframe_frame = PY_ABSENT, .owner_no_code = 3};
    if (runtime.count < PY_DEBUG_BYTES || memcmp(runtime.at, "xdebugpy", 8) != 0)
        return false;
    memcpy(&hex_version, runtime.at + 8, sizeof hex_version);
    ret->version = (uint32_t)(hex_version >> 16);
    if (hex_version >> 16 == 0x030d)
        return take(runtime, &places_3_13, ret);
    if (hex_version >> 16 == 0x030e)
        return take(runtime, &places_3_14, ret);
    return false;
}
