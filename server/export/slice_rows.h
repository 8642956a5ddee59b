/* SPDX-License-Identifier: Apache-2.0 */
/* A window's slices, row by row and chunk by chunk, each with its args. */
#ifndef JVIEWD_EXPORT_SLICE_ROWS_H
#define JVIEWD_EXPORT_SLICE_ROWS_H

#include "export/export.h"
#include "trace/args/slice_args.h"

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
