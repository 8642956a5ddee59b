/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of Python's pickles that never runs anything.
 *
 *   80 04            PROTO 4         a pickle is a program for a stack machine:
 *   7d 94            EMPTY_DICT      values are pushed, containers filled with what lies above
 *   28               MARK            the last mark, and any value may be kept under a number
 *   8c 04 "size" 94  TEXT, MEMOIZE   (the memo) to be pushed again.
 *   4d 00 02         BININT2 512
 *   75 2e            SETITEMS, STOP
 *
 * Read are the opcodes that make plain values: numbers, texts, bytes, None, lists, dicts, tuples
 * and sets, of protocol 2 and later. Those that name or call Python's own objects (GLOBAL, REDUCE,
 * BUILD and their like) end the reading with ERR_UNSUPPORTED and are named with their place.
 *
 * Nothing is built. A container is a number, counted from 0 in order of creation; whoever reads
 * hears what is put into it and remembers what he needs. A text is the place of its opcode in the
 * file. So memory grows with the containers of a file and not with its bytes, and stands in scratch
 * files.
 *
 * The opcodes are those of pickletools.py of CPython 3.14.
 */
#ifndef JVIEWD_DECODE_PICKLE_PICKLE_H
#define JVIEWD_DECODE_PICKLE_PICKLE_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/scratch.h"

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,  /* bits: int64_t */
    PICKLE_BIG,  /* a whole number of more than 64 bits: its value is not kept */
    PICKLE_REAL, /* bits: of the double */
    PICKLE_TEXT, /* bits: place in the file, see pickle_text */
    PICKLE_BYTES,
    PICKLE_TUPLE, /* what is in tuples and sets is not kept */
    PICKLE_SET,
    PICKLE_LIST, /* bits: number of the container */
    PICKLE_DICT,
};

struct pickle_value {
    enum pickle_kind kind;
    uint64_t bits;
};

/* What is put into containers, in order; values are borrowed for the call. One container may be
 * filled by several calls: Python's own writer puts in a thousand at once. */
struct pickle_taker {
    enum status (*append)(void *to, uint64_t list, const struct pickle_value *items, size_t count,
                          struct error *err);
    enum status (*set)(void *to, uint64_t dict, const struct pickle_value *pairs /* key, value */,
                       size_t count /* of pairs */, struct error *err);
    void (*progress)(void *to, size_t upto); /* bytes read so far, now and then */
    void *to;
};

struct pickle;
struct pickle *pickle_create(struct bytes file, struct scratch *scratch,
                             const struct pickle_taker *taker);
void pickle_destroy(struct pickle *pickle); /* takes NULL; what stands in scratch goes with it */
/* Reads to STOP; *ret is what the pickle is. ERR_TRUNCATED: the file ends before. */
MUST_CHECK enum status pickle_read(struct pickle *pickle, struct pickle_value *ret,
                                   struct error *err);
/* After a file that ended early: what was pushed and not yet put anywhere, from the outermost. A
 * mark is no value: its place is that of the value above it. */
const struct pickle_value *pickle_stack(const struct pickle *pickle, size_t *ret_count);

/* A text as it stands in the file; "" for other kinds. */
struct str pickle_text(struct bytes file, struct pickle_value value);
/* Do bytes begin like a pickle of protocol 2 to 5? */
bool pickle_begins(struct bytes head);
/* "GLOBAL"; NULL: no opcode has this number. */
const char *pickle_opcode_word(uint8_t opcode);

#endif
