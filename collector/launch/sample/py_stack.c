/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the chain of frames of each thread from the memory of a Python, and remembers its code
 * objects. */
#include "launch/sample/py_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "launch/sample/py_lines.h"
#include "launch/sample/py_text.h"

enum {
    INTERPRETERS_MAX = 64,
    THREADS_MAX = 4096,
    CODES_MAX = 1 << 17,
    LINES_MAX = 1 << 19,
    LINE_TABLE_MAX = 1 << 16,
#if defined(__x86_64__)
    THREAD_TID_AT = 720 /* in glibc's struct pthread: tid */
#else
    THREAD_TID_AT = 208
#endif
};

struct py_code {
    uint64_t file_at, name_at, lines_at; /* of the object that was seen there */
    int32_t first_line;
    uint32_t function, file, seen; /* texts; how many objects were seen there */
};

/* As it stands in memory now. */
static bool read_code(struct py_reader *reader, uint64_t address, struct py_code *ret)
{
    const struct py_layout *layout = &reader->python.layout;
    uint8_t bytes[PY_CODE_MAX];
    size_t count = layout->code_file;

    if (layout->code_name > count)
        count = layout->code_name;
    if (layout->code_lines > count)
        count = layout->code_lines;
    if (!remote_read(reader->remote, REMOTE_CODE, address, bytes, count + 8) ||
        remote_number(bytes + layout->object_type, 8) != reader->python.code_type)
        return false;
    *ret =
        (struct py_code){.file_at = remote_number(bytes + layout->code_file, 8),
                         .name_at = remote_number(bytes + layout->code_name, 8),
                         .lines_at = remote_number(bytes + layout->code_lines, 8),
                         .first_line = (int32_t)remote_number(bytes + layout->code_first_line, 4)};
    return true;
}

static uint32_t text_of(struct py_reader *reader, uint64_t address)
{
    char text[PY_TEXT_BYTES];
    size_t count = py_text(reader->remote, &reader->python.layout, address, text);

    return sample_log_text(reader->log, text, count);
}

/* NULL where there are too many: they are known anew from the next look on. */
static struct py_code *known_code(struct py_codes *codes, uint64_t address)
{
    uint32_t index;
    bool is_new;

    if (id_map_find(&codes->index_of, address, &index))
        return &codes->at[index];
    if (codes->count == CODES_MAX)
        return NULL;
    id_map_add(&codes->index_of, address, codes->count, &is_new);
    if (codes->count == codes->capacity) {
        codes->capacity = codes->capacity == 0 ? 256 : 2 * codes->capacity;
        codes->at = memory_resize(codes->at, codes->capacity, sizeof *codes->at);
    }
    codes->at[codes->count] = (struct py_code){0};
    return &codes->at[codes->count++];
}

static bool is_same(const struct py_code *a, const struct py_code *b)
{
    return a->file_at == b->file_at && a->name_at == b->name_at && a->lines_at == b->lines_at &&
           a->first_line == b->first_line;
}

/* The one at that address, which may be another than the one seen there before; NULL: none. */
static const struct py_code *code_at(struct py_reader *reader, uint64_t address)
{
    struct py_code now;

    if (!read_code(reader, address, &now))
        return NULL;
    struct py_code *code = known_code(&reader->codes, address);
    if (code == NULL)
        return NULL;
    if (code->seen > 0 && is_same(code, &now))
        return code;
    now.function = text_of(reader, now.name_at);
    now.file = text_of(reader, now.file_at);
    now.seen = code->seen + 1;
    if (now.function == 0)
        return NULL;
    *code = now;
    return code;
}

static uint32_t read_line(struct py_reader *reader, const struct py_code *code, uint64_t at)
{
    const struct py_layout *layout = &reader->python.layout;
    uint64_t count;
    uint32_t line = 0;

    if (!remote_word(reader->remote, REMOTE_CODE, code->lines_at + layout->bytes_size, &count) ||
        count == 0 || count > LINE_TABLE_MAX)
        return 0;
    uint8_t *table = memory_resize(NULL, count, 1);
    if (remote_read_through(reader->remote, code->lines_at + layout->bytes_at, table, count))
        line = py_line(layout->version, (struct bytes){table, count}, code->first_line, at);
    free(table);
    return line;
}

/* Where nothing tells, the line of the function. */
static uint32_t line_at(struct py_reader *reader, const struct py_code *code, uint64_t at)
{
    struct py_codes *codes = &reader->codes;
    uint64_t key = (uint64_t)(code - codes->at) * UINT64_C(0x9e3779b97f4a7c15) ^
                   (uint64_t)code->seen << 56 ^ at * UINT64_C(0xff51afd7ed558ccd);
    uint32_t line;
    bool is_new;

    if (id_map_find(&codes->lines, key, &line))
        return line;
    if (codes->lines.count == LINES_MAX)
        id_map_free(&codes->lines);
    line = read_line(reader, code, at);
    if (line == 0 && code->first_line > 0)
        line = (uint32_t)code->first_line;
    return id_map_add(&codes->lines, key, line, &is_new);
}

/* The byte of the code where a frame is. */
static uint64_t place_in(const struct py_layout *layout, const uint8_t *frame, uint64_t code)
{
    if (layout->code_bytes == PY_ABSENT) { /* 3.10: how many units of two bytes */
        int32_t unit = (int32_t)remote_number(frame + layout->frame_at, 4);
        return unit > 0 ? (uint64_t)unit * 2 : 0;
    }
    uint64_t at = remote_number(frame + layout->frame_at, 8), begin = code + layout->code_bytes;
    return at > begin ? at - begin : 0;
}

static size_t frame_bytes(const struct py_layout *layout)
{
    size_t count = layout->frame_previous;

    if (layout->frame_code > count)
        count = layout->frame_code;
    if (layout->frame_at > count)
        count = layout->frame_at;
    if (layout->frame_owner != PY_ABSENT && layout->frame_owner > count)
        count = layout->frame_owner;
    return count + 8;
}

/* How many frames; -1 where this was no stack. */
static int walk(struct py_reader *reader, uint64_t address)
{
    const struct py_layout *layout = &reader->python.layout;
    size_t count = frame_bytes(layout);
    uint8_t frame[PY_FRAME_MAX];
    int depth = 0;

    for (int step = 0; address != 0 && step < 2 * PY_DEPTH_MAX && depth < PY_DEPTH_MAX; step++) {
        if (!remote_read(reader->remote, REMOTE_STACK, address, frame, count))
            return -1;
        address = remote_number(frame + layout->frame_previous, 8);
        if (layout->frame_owner != PY_ABSENT && frame[layout->frame_owner] >= layout->owner_no_code)
            continue;
        uint64_t at = remote_number(frame + layout->frame_code, 8) & ~UINT64_C(7); /* 3.14: tags */
        const struct py_code *code = code_at(reader, at);
        if (code == NULL)
            return -1;
        reader->frames[depth][1] = line_at(reader, code, place_in(layout, frame, at));
        reader->frames[depth++][0] = (uint32_t)(code - reader->codes.at);
    }
    return depth;
}

static uint32_t put_stack(struct py_reader *reader, int depth)
{
    uint32_t stack = 0;

    while (depth-- > 0) {
        const struct py_code *code = &reader->codes.at[reader->frames[depth][0]];

        stack = sample_log_stack(reader->log, stack,
                                 (struct sample_call){.function = code->function,
                                                      .file = code->file,
                                                      .line = reader->frames[depth][1]});
    }
    return stack;
}

/* 0: there is none to be told. */
static int64_t thread_number(struct py_reader *reader, uint64_t thread)
{
    const struct py_layout *layout = &reader->python.layout;
    uint64_t number = 0;
    uint32_t tid = 0;

    if (layout->thread_native_id != PY_ABSENT)
        remote_word(reader->remote, REMOTE_STACK, thread + layout->thread_native_id, &number);
    else if (remote_word(reader->remote, REMOTE_STACK, thread + layout->thread_id, &number) &&
             remote_read(reader->remote, REMOTE_STACK, number + THREAD_TID_AT, &tid, sizeof tid))
        number = tid;
    else
        number = 0;
    return number <= INT32_MAX ? (int64_t)number : 0;
}

static int try_thread(struct py_reader *reader, uint64_t thread, struct py_thread *ret)
{
    const struct py_layout *layout = &reader->python.layout;
    uint64_t frame;

    remote_forget(reader->remote);
    ret->id = thread_number(reader, thread);
    if (ret->id == 0 ||
        !remote_word(reader->remote, REMOTE_STACK, thread + layout->thread_frame, &frame) ||
        (layout->cframe_frame != PY_ABSENT &&
         !remote_word(reader->remote, REMOTE_STACK, frame + layout->cframe_frame, &frame)))
        return -1;
    return walk(reader, frame);
}

static bool take_thread(struct py_reader *reader, uint64_t thread, py_take *take, void *data)
{
    struct py_thread told = {0};
    int depth = -1;

    for (int tries = 0; depth < 0 && tries < PY_TRIES; tries++)
        depth = try_thread(reader, thread, &told);
    if (depth < 0)
        return false;
    told.stack = put_stack(reader, depth);
    take(data, &told);
    return true;
}

/* The next thread; false where this is none of the interpreter's. */
static bool next_thread(struct py_reader *reader, uint64_t interpreter, uint64_t thread,
                        uint64_t *ret_next)
{
    const struct py_layout *layout = &reader->python.layout;
    uint64_t owner;

    remote_forget(reader->remote);
    return remote_word(reader->remote, REMOTE_STACK, thread + layout->thread_interpreter, &owner) &&
           owner == interpreter &&
           remote_word(reader->remote, REMOTE_STACK, thread + layout->thread_next, ret_next);
}

bool py_stacks(struct py_reader *reader, py_take *take, void *data, uint64_t *ret_torn)
{
    const struct py_layout *layout = &reader->python.layout;
    struct remote *remote = reader->remote;
    uint64_t interpreter, thread = 0, next;

    if (reader->codes.count == CODES_MAX)
        py_codes_free(&reader->codes);
    if (!remote_word(remote, REMOTE_STACK, reader->python.runtime + layout->runtime_interpreters,
                     &interpreter) ||
        interpreter == 0)
        return false;
    for (int index = 0; interpreter != 0 && index < INTERPRETERS_MAX; index++) {
        if (!remote_word(remote, REMOTE_STACK, interpreter + layout->interpreter_threads, &thread))
            return false;
        for (int number = 0; thread != 0 && number < THREADS_MAX; number++, thread = next) {
            if (!next_thread(reader, interpreter, thread, &next)) {
                ++*ret_torn;
                break;
            }
            *ret_torn += !take_thread(reader, thread, take, data);
        }
        remote_forget(remote);
        if (!remote_word(remote, REMOTE_STACK, interpreter + layout->interpreter_next,
                         &interpreter))
            return false;
    }
    return true;
}

void py_codes_free(struct py_codes *codes)
{
    id_map_free(&codes->index_of);
    id_map_free(&codes->lines);
    free(codes->at);
    *codes = (struct py_codes){0};
}
