/* A window's slices, row by row and chunk by chunk, each with its args. */
#ifndef JVIEWD_EXPORT_SLICE_ROWS_H
#define JVIEWD_EXPORT_SLICE_ROWS_H

#include "export/export.h"
#include "trace/args.h"

enum { SLICE_ARGS_BLOCKS = 8 };
struct slice_args { /* the blocks of args that were asked for last: who nests ended later, and may
                     * stand in a later block than what lies inside it */
    const struct trace *trace;
    uint32_t asked; /* how often another block was */
    struct slice_args_block {
        struct arena *arena;
        struct arg_rows rows;
        uint32_t asked; /* when it was last */
    } blocks[SLICE_ARGS_BLOCKS], *last;
};

void slice_args_open(struct slice_args *args, const struct trace *trace);
void slice_args_close(struct slice_args *args);
/* The args of an event, and its type. Valid until the next call. */
uint32_t slice_args_of(struct slice_args *args, event_id event, const struct arg **ret,
                       type_id *ret_type);

/* The ordinals of a row that the window touches. */
void slice_rows_asked(const struct export_run *run, const struct export_host *host,
                      const struct row *row, uint32_t *ret_first, uint32_t *ret_end);
/* Calls `visit` for every chunk of a row that the window touches, with the ordinals inside it. */
typedef enum status chunk_visit(void *data, const struct row *row, const struct chunk *chunk,
                                uint32_t first, uint32_t end, struct error *err);
MUST_CHECK enum status slice_rows_walk(const struct export_run *run, const struct export_host *host,
                                       const struct row *row, struct chunk *chunk,
                                       chunk_visit *visit, void *data, struct error *err);

#endif
