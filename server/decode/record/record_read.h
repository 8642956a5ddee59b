/* SPDX-License-Identifier: Apache-2.0 */
/* A spool's frames, in order, whatever became of the file: see api/record.h.
 *
 * A frame that does not check is passed over, and so is what lies between it and the next one that
 * does; both are counted. Every frame stands for itself.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_READ_H
#define JVIEWD_DECODE_RECORD_RECORD_READ_H

#include "api/record.h"
#include "base/bytes.h"
#include "base/error.h"

struct record_file {
    struct bytes bytes;
    struct spool_head head;
    size_t at; /* behind the frame last given */
    uint64_t next_sequence;
    uint64_t frames_lost;    /* by their numbers */
    uint64_t bytes_skipped;  /* that belong to no frame */
    uint64_t hashed_in_vain; /* bytes of what looked like frames and was none */
    bool has_end;            /* the process came to its end */
    uint8_t *raw;            /* room for a payload */
    size_t raw_capacity;
    int64_t *numbers; /* room for columns */
    size_t numbers_capacity;
};

bool record_is(struct bytes head); /* by its magic */
MUST_CHECK enum status record_open(struct bytes bytes, struct record_file *ret, struct error *err);
void record_close(struct record_file *file);
void record_rewind(struct record_file *file); /* to the first frame; counts begin anew */

struct record_frame {
    struct spool_frame head;
    struct bytes packed;
};
/* False at the end of what is there. */
bool record_next(struct record_file *file, struct record_frame *ret);

/* Its payload, valid until the next; no bytes where it does not unpack to what its head says. */
struct bytes record_payload(struct record_file *file, const struct record_frame *frame);

struct record_columns { /* column[c][row]; those that the frame does not have are NULL */
    uint32_t count;
    const int64_t *column[SPOOL_COLUMNS_MAX];
};
/* False where the payload is not what its type says. */
bool record_columns(struct record_file *file, const struct record_frame *frame,
                    struct record_columns *ret);

struct record_texts { /* walks a frame of texts */
    uint64_t id, left;
    struct bytes rest;
};
bool record_texts(struct record_file *file, const struct record_frame *frame,
                  struct record_texts *ret);
bool record_text(struct record_texts *texts, struct str *ret); /* the text of texts->id - 1 */

static inline int64_t record_at(const struct record_columns *columns, int column, uint32_t row)
{
    return columns->column[column] != NULL ? columns->column[column][row] : 0;
}

#endif
