/* SPDX-License-Identifier: Apache-2.0 */
/* The stack machine of pickles: one opcode after the other, bounded, and nothing is called.
 *
 *   stack   { "segments"  [ | {..} {..}      values; `|` is a mark, kept apart by its place
 *   memo    0: the dict  1: "segments" ...   what may be pushed again
 *
 * A number of the memo lies close behind those before it, as every writer counts; so no file makes
 * the memo larger than itself.
 */
#include "decode/pickle/pickle.h"

#include <endian.h>
#include <stdlib.h>

#include "base/arena.h"

enum {
    STACK_MAX = 1 << 26, /* C++ writers push a whole history before they put it into its list */
    MARKS_MAX = 1 << 16, /* how deep containers stand in one another */
    MEMO_MAX = 1 << 28,
    CONTAINERS_MAX = 1 << 28,
    MEMO_GAP = 1 << 10, /* numbers that a writer left out */
    PROGRESS_BYTES = 1 << 20,
};

struct pickle {
    struct bytes file;
    const uint8_t *at, *end, *told; /* next byte; behind the last; where progress was told */
    const uint8_t *opcode;          /* the one at hand */
    struct scratch *scratch;
    const struct pickle_taker *taker;
    struct pickle_value *stack, *memo;
    uint32_t *marks; /* places of the stack */
    uint32_t stack_count, stack_capacity, memo_count, memo_capacity, mark_count, mark_capacity;
    uint64_t container_count;
};

struct pickle *pickle_create(struct bytes file, struct scratch *scratch,
                             const struct pickle_taker *taker)
{
    struct pickle *pickle = memory_zeroed(1, sizeof *pickle);

    *pickle = (struct pickle){.file = file,
                              .at = file.at,
                              .end = file.at + file.count,
                              .told = file.at,
                              .scratch = scratch,
                              .taker = taker};
    return pickle;
}

void pickle_destroy(struct pickle *pickle)
{
    if (pickle == NULL)
        return;
    scratch_free(pickle->scratch, pickle->stack);
    scratch_free(pickle->scratch, pickle->memo);
    scratch_free(pickle->scratch, pickle->marks);
    free(pickle);
}

static size_t place(const struct pickle *pickle)
{
    return (size_t)(pickle->opcode - pickle->file.at);
}

static enum status fail_cut(const struct pickle *pickle, struct error *err)
{
    return fail(err, ERR_TRUNCATED, "the pickle ends inside of %s at byte %zu",
                pickle_opcode_word(*pickle->opcode), place(pickle));
}

static enum status fail_broken(const struct pickle *pickle, const char *why, struct error *err)
{
    return fail(err, ERR_FORMAT, "%s at byte %zu %s", pickle_opcode_word(*pickle->opcode),
                place(pickle), why);
}

static void *grown(struct pickle *pickle, void *array, uint32_t *capacity, size_t size)
{
    *capacity = *capacity == 0 ? 1024 : *capacity * 2;
    return scratch_resize(pickle->scratch, array, *capacity, size);
}

static enum status push(struct pickle *pickle, enum pickle_kind kind, uint64_t bits,
                        struct error *err)
{
    if (pickle->stack_count == pickle->stack_capacity) {
        if (pickle->stack_count == STACK_MAX)
            return fail(err, ERR_LIMIT, "the pickle holds more than %d values at once at byte %zu",
                        STACK_MAX, place(pickle));
        pickle->stack =
            grown(pickle, pickle->stack, &pickle->stack_capacity, sizeof *pickle->stack);
    }
    pickle->stack[pickle->stack_count++] = (struct pickle_value){.kind = kind, .bits = bits};
    return OK;
}

static enum status push_container(struct pickle *pickle, enum pickle_kind kind, struct error *err)
{
    if (pickle->container_count == CONTAINERS_MAX)
        return fail(err, ERR_LIMIT, "the pickle holds more than %d lists and dicts at byte %zu",
                    CONTAINERS_MAX, place(pickle));
    return push(pickle, kind, pickle->container_count++, err);
}

static enum status push_mark(struct pickle *pickle, struct error *err)
{
    if (pickle->mark_count == pickle->mark_capacity) {
        if (pickle->mark_count == MARKS_MAX)
            return fail(err, ERR_LIMIT, "the pickle is nested more than %d deep at byte %zu",
                        MARKS_MAX, place(pickle));
        pickle->marks = grown(pickle, pickle->marks, &pickle->mark_capacity, sizeof *pickle->marks);
    }
    pickle->marks[pickle->mark_count++] = pickle->stack_count;
    return OK;
}

/* How many values lie above the last mark, or none. */
static uint32_t floor_of(const struct pickle *pickle)
{
    return pickle->mark_count > 0 ? pickle->marks[pickle->mark_count - 1] : 0;
}

static enum status need(const struct pickle *pickle, uint32_t count, struct error *err)
{
    return pickle->stack_count - floor_of(pickle) >= count
               ? OK
               : fail_broken(pickle, "takes a value that is not there", err);
}

static enum status pop_mark(struct pickle *pickle, uint32_t *ret_first, struct error *err)
{
    if (pickle->mark_count == 0)
        return fail_broken(pickle, "has no MARK before it", err);
    *ret_first = pickle->marks[--pickle->mark_count];
    return OK;
}

/* The next `count` bytes as a number, the lowest first. Where eight are left, one load does: most
 * of a history are references to what the memo holds. */
static inline enum status take_number(struct pickle *pickle, unsigned count, uint64_t *ret,
                                      struct error *err)
{
    const size_t left = (size_t)(pickle->end - pickle->at);

    *ret = 0;
    if (left < count)
        return fail_cut(pickle, err);
    if (left >= sizeof *ret && count > 0) {
        memcpy(ret, pickle->at, sizeof *ret);
        *ret = le64toh(*ret) & ~UINT64_C(0) >> 8 * (sizeof *ret - count);
        pickle->at += count;
        return OK;
    }
    for (unsigned i = 0; i < count; i++)
        *ret |= (uint64_t)pickle->at[i] << 8 * i;
    pickle->at += count;
    return OK;
}

/* Bytes behind a length of `width` bytes: a value that is known by its place. */
static enum status push_span(struct pickle *pickle, unsigned width, enum pickle_kind kind,
                             struct error *err)
{
    uint64_t count;

    TRY(take_number(pickle, width, &count, err));
    if (count > (uint64_t)(pickle->end - pickle->at))
        return fail_cut(pickle, err);
    pickle->at += count;
    return push(pickle, kind, place(pickle), err);
}

static enum status push_signed(struct pickle *pickle, unsigned count, struct error *err)
{
    uint64_t bits;

    TRY(take_number(pickle, count, &bits, err));
    if (count > 0 && count < 8 && (bits >> (8 * count - 1) & 1) != 0)
        bits |= ~UINT64_C(0) << 8 * count;
    return push(pickle, PICKLE_INT, bits, err);
}

/* A length of `width` bytes, then that many bytes of a signed number. */
static enum status push_long(struct pickle *pickle, unsigned width, struct error *err)
{
    uint64_t count;

    TRY(take_number(pickle, width, &count, err));
    if (count <= 8)
        return push_signed(pickle, (unsigned)count, err);
    if (count > (uint64_t)(pickle->end - pickle->at))
        return fail_cut(pickle, err);
    pickle->at += count;
    return push(pickle, PICKLE_BIG, 0, err);
}

static enum status push_real(struct pickle *pickle, struct error *err)
{
    uint64_t bits;

    TRY(take_number(pickle, 8, &bits, err));
    return push(pickle, PICKLE_REAL, __builtin_bswap64(bits), err);
}

static enum status memo_put(struct pickle *pickle, uint64_t number, struct error *err)
{
    TRY(need(pickle, 1, err));
    if (number > (uint64_t)pickle->memo_count + MEMO_GAP || number >= MEMO_MAX)
        return fail_broken(pickle, "skips memo numbers", err);
    while (number >= pickle->memo_capacity)
        pickle->memo = grown(pickle, pickle->memo, &pickle->memo_capacity, sizeof *pickle->memo);
    if (number >= pickle->memo_count)
        pickle->memo_count = (uint32_t)number + 1;
    pickle->memo[number] = pickle->stack[pickle->stack_count - 1];
    return OK;
}

static enum status memo_put_wide(struct pickle *pickle, unsigned width, struct error *err)
{
    uint64_t number;

    TRY(take_number(pickle, width, &number, err));
    return memo_put(pickle, number, err);
}

static enum status memo_get(struct pickle *pickle, unsigned width, struct error *err)
{
    uint64_t number;

    TRY(take_number(pickle, width, &number, err));
    if (number >= pickle->memo_count)
        return fail_broken(pickle, "asks for a memo entry that does not exist", err);
    if (pickle->stack_count == pickle->stack_capacity)
        return push(pickle, pickle->memo[number].kind, pickle->memo[number].bits, err);
    pickle->stack[pickle->stack_count++] = pickle->memo[number];
    return OK;
}

/* The container below the values from `first` on takes them. */
static enum status fill(struct pickle *pickle, uint32_t first, struct error *err)
{
    const bool is_dict = *pickle->opcode == 'u' || *pickle->opcode == 's' || *pickle->opcode == 'd';
    const uint32_t count = pickle->stack_count - first;
    const struct pickle_value *values, *into;

    if (first <= floor_of(pickle))
        return fail_broken(pickle, "has no object that could take the values", err);
    into = &pickle->stack[first - 1];
    values = into + 1;
    if (into->kind != (is_dict ? PICKLE_DICT : PICKLE_LIST))
        return fail_broken(pickle, is_dict ? "does not fill a dict" : "does not fill a list", err);
    if (is_dict && count % 2 != 0)
        return fail_broken(pickle, "has a key without a value", err);
    pickle->stack_count = first;
    if (count == 0)
        return OK;
    return is_dict ? pickle->taker->set(pickle->taker->to, into->bits, values, count / 2, err)
                   : pickle->taker->append(pickle->taker->to, into->bits, values, count, err);
}

static enum status fill_marked(struct pickle *pickle, struct error *err)
{
    uint32_t first = 0;

    TRY(pop_mark(pickle, &first, err));
    return fill(pickle, first, err);
}

static enum status fill_top(struct pickle *pickle, uint32_t count, struct error *err)
{
    TRY(need(pickle, count + 1, err));
    return fill(pickle, pickle->stack_count - count, err);
}

/* LIST and DICT: what lies above the mark becomes the container. */
static enum status make_filled(struct pickle *pickle, enum pickle_kind kind, struct error *err)
{
    struct pickle_value container;
    uint32_t first = 0;

    TRY(pop_mark(pickle, &first, err));
    TRY(push_container(pickle, kind, err)); /* which makes room for it below its values */
    container = pickle->stack[pickle->stack_count - 1];
    memmove(pickle->stack + first + 1, pickle->stack + first,
            (pickle->stack_count - 1 - first) * sizeof *pickle->stack);
    pickle->stack[first] = container;
    return fill(pickle, first + 1, err);
}

/* What is not kept stands for itself alone. */
static enum status replace_top(struct pickle *pickle, uint32_t count, enum pickle_kind kind,
                               struct error *err)
{
    TRY(need(pickle, count, err));
    pickle->stack_count -= count;
    return push(pickle, kind, 0, err);
}

static enum status replace_marked(struct pickle *pickle, enum pickle_kind kind, struct error *err)
{
    uint32_t first = 0;

    TRY(pop_mark(pickle, &first, err));
    pickle->stack_count = first;
    return push(pickle, kind, 0, err);
}

static enum status drop_marked(struct pickle *pickle, struct error *err)
{
    uint32_t first = 0;

    TRY(pop_mark(pickle, &first, err));
    pickle->stack_count = first;
    return OK;
}

static enum status pop(struct pickle *pickle, struct error *err)
{
    TRY(need(pickle, 1, err));
    pickle->stack_count--;
    return OK;
}

static enum status duplicate(struct pickle *pickle, struct error *err)
{
    TRY(need(pickle, 1, err));

    const struct pickle_value top = pickle->stack[pickle->stack_count - 1];

    return push(pickle, top.kind, top.bits, err);
}

static enum status skip(struct pickle *pickle, unsigned count, struct error *err)
{
    uint64_t ignored;

    return take_number(pickle, count, &ignored, err);
}

/* The text behind GLOBAL, "os\nsystem\n", as "os.system". */
static void put_global(const struct pickle *pickle, char *ret, size_t size)
{
    size_t count = 0;
    unsigned lines = 0;

    for (const uint8_t *at = pickle->at; at < pickle->end && count + 1 < size && lines < 2; at++) {
        lines += *at == '\n';
        if (*at < 0x20 ? *at == '\n' && lines < 2 : *at < 0x7f)
            ret[count++] = *at == '\n' ? '.' : (char)*at;
    }
    ret[count] = '\0';
}

/* STACK_GLOBAL takes both names from the stack. */
static void put_stack_global(const struct pickle *pickle, char *ret, size_t size)
{
    size_t count = 0;

    for (uint32_t back = 2; back > 0 && pickle->stack_count >= 2; back--) {
        struct str text = pickle_text(pickle->file, pickle->stack[pickle->stack_count - back]);

        for (size_t i = 0; i < text.count && count + 2 < size; i++)
            if (text.at[i] > ' ' && text.at[i] < 0x7f)
                ret[count++] = text.at[i];
        if (back == 2)
            ret[count++] = '.';
    }
    ret[count] = '\0';
}

static enum status refuse(struct pickle *pickle, struct error *err)
{
    const char *word = pickle_opcode_word(*pickle->opcode);
    char global[80] = "";

    if (word == NULL)
        return fail(err, ERR_FORMAT, "byte %zu, 0x%02x, is not a pickle opcode", place(pickle),
                    *pickle->opcode);
    if (strchr("FILSVgp", *pickle->opcode) != NULL)
        return fail(err, ERR_UNSUPPORTED,
                    "%s at byte %zu belongs to pickle protocol 0, which is not supported: write it "
                    "with protocol 2 or later, the default of pickle.dump",
                    word, place(pickle));
    if (*pickle->opcode == 'c')
        put_global(pickle, global, sizeof global);
    else if (*pickle->opcode == 0x93)
        put_stack_global(pickle, global, sizeof global);
    return fail(err, ERR_UNSUPPORTED,
                "the pickle wants to create Python objects: %s%s%s at byte %zu; only plain values "
                "are read, and nothing in a pickle is ever run",
                word, global[0] != '\0' ? " " : "", global, place(pickle));
}

static enum status run_opcode(struct pickle *pickle, struct error *err)
{
    switch (*pickle->opcode) {
    case '(':
        return push_mark(pickle, err);
    case 'h':
        return memo_get(pickle, 1, err);
    case 'j':
        return memo_get(pickle, 4, err);
    case 0x94:
        return memo_put(pickle, pickle->memo_count, err);
    case 'q':
        return memo_put_wide(pickle, 1, err);
    case 'r':
        return memo_put_wide(pickle, 4, err);
    case 'K':
    case 'M': {
        uint64_t number;

        TRY(take_number(pickle, *pickle->opcode == 'K' ? 1 : 2, &number, err));
        return push(pickle, PICKLE_INT, number, err);
    }
    case 'J':
        return push_signed(pickle, 4, err);
    case 0x8a:
        return push_long(pickle, 1, err);
    case 0x8b:
        return push_long(pickle, 4, err);
    case 'G':
        return push_real(pickle, err);
    case 0x8c:
        return push_span(pickle, 1, PICKLE_TEXT, err);
    case 'X':
        return push_span(pickle, 4, PICKLE_TEXT, err);
    case 0x8d:
        return push_span(pickle, 8, PICKLE_TEXT, err);
    case 'U': /* texts of Python 2 */
        return push_span(pickle, 1, PICKLE_TEXT, err);
    case 'T':
        return push_span(pickle, 4, PICKLE_TEXT, err);
    case 'C':
        return push_span(pickle, 1, PICKLE_BYTES, err);
    case 'B':
        return push_span(pickle, 4, PICKLE_BYTES, err);
    case 0x8e:
    case 0x96:
        return push_span(pickle, 8, PICKLE_BYTES, err);
    case '}':
        return push_container(pickle, PICKLE_DICT, err);
    case ']':
        return push_container(pickle, PICKLE_LIST, err);
    case 'u':
    case 'e':
        return fill_marked(pickle, err);
    case 's':
        return fill_top(pickle, 2, err);
    case 'a':
        return fill_top(pickle, 1, err);
    case 'l':
        return make_filled(pickle, PICKLE_LIST, err);
    case 'd':
        return make_filled(pickle, PICKLE_DICT, err);
    case 'N':
        return push(pickle, PICKLE_NONE, 0, err);
    case 0x88:
        return push(pickle, PICKLE_BOOL, 1, err);
    case 0x89:
        return push(pickle, PICKLE_BOOL, 0, err);
    case ')':
        return push(pickle, PICKLE_TUPLE, 0, err);
    case 't':
        return replace_marked(pickle, PICKLE_TUPLE, err);
    case 0x85:
    case 0x86:
    case 0x87:
        return replace_top(pickle, *pickle->opcode - 0x84u, PICKLE_TUPLE, err);
    case 0x8f:
        return push(pickle, PICKLE_SET, 0, err);
    case 0x90:
        return drop_marked(pickle, err);
    case 0x91:
        return replace_marked(pickle, PICKLE_SET, err);
    case '0':
        return pop(pickle, err);
    case '1':
        return drop_marked(pickle, err);
    case '2':
        return duplicate(pickle, err);
    case 0x80:
        return skip(pickle, 1, err);
    case 0x95:
        return skip(pickle, 8, err);
    default:
        return refuse(pickle, err);
    }
}

enum status pickle_read(struct pickle *pickle, struct pickle_value *ret, struct error *err)
{
    while (pickle->at < pickle->end) {
        pickle->opcode = pickle->at++;
        if (*pickle->opcode == '.') {
            TRY(need(pickle, 1, err));
            *ret = pickle->stack[pickle->stack_count - 1];
            return OK;
        }
        TRY(run_opcode(pickle, err));
        if (pickle->at - pickle->told >= PROGRESS_BYTES) {
            pickle->told = pickle->at;
            pickle->taker->progress(pickle->taker->to, (size_t)(pickle->at - pickle->file.at));
        }
    }
    return fail(err, ERR_TRUNCATED, "the pickle ends at byte %zu without a STOP",
                pickle->file.count);
}

const struct pickle_value *pickle_stack(const struct pickle *pickle, size_t *ret_count)
{
    *ret_count = pickle->stack_count;
    return pickle->stack;
}

struct str pickle_text(struct bytes file, struct pickle_value value)
{
    const uint8_t *at;
    uint64_t count = 0;
    unsigned width;

    if (value.kind != PICKLE_TEXT)
        return STR("");
    at = file.at + value.bits;
    width = *at == 0x8c || *at == 'U' ? 1 : *at == 0x8d ? 8 : 4;
    for (unsigned i = 0; i < width; i++)
        count |= (uint64_t)at[1 + i] << 8 * i;
    return (struct str){.at = (const char *)at + 1 + width, .count = count};
}

bool pickle_begins(struct bytes head)
{
    return head.count >= 4 && head.at[0] == 0x80 && head.at[1] >= 2 && head.at[1] <= 5 &&
           pickle_opcode_word(head.at[2]) != NULL;
}
