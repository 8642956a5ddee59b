/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the rows and chunks of a window, and hands out each slice with its args. */
#include "export/slice_rows.h"

enum {
    COLUMNS = COLUMN_START | COLUMN_DUR | COLUMN_SELF | COLUMN_NAME | COLUMN_PARENT | COLUMN_EVENT |
              COLUMN_FLAGS
};

static int64_t to_file_time(int64_t run_ps, int64_t offset_ps)
{
    int64_t file_ps;

    if (__builtin_sub_overflow(run_ps, offset_ps, &file_ps))
        return run_ps < 0 ? INT64_MIN : INT64_MAX;
    return file_ps;
}

void slice_rows_asked(const struct export_run *run, const struct export_host *host,
                      const struct row *row, uint32_t *ret_first, uint32_t *ret_end)
{
    *ret_first = 0;
    *ret_end = row->count;
    if (run->has_window)
        row_window(host->trace, row, to_file_time(run->start_ps, host->offset_ps),
                   to_file_time(run->end_ps, host->offset_ps), ret_first, ret_end);
}

enum status slice_rows_walk(const struct export_run *run, const struct export_host *host,
                            const struct row *row, struct chunk *chunk, chunk_visit *visit,
                            void *data, struct error *err)
{
    uint32_t first, end;

    slice_rows_asked(run, host, row, &first, &end);
    while (first < end) {
        uint32_t index = first / CHUNK_SLICES, base = index * CHUNK_SLICES;
        uint32_t stop = end - base < CHUNK_SLICES ? end - base : CHUNK_SLICES;

        if (run->cancelled != NULL && run->cancelled(run->data))
            return fail(err, ERR_CANCELLED, "the export was stopped");
        chunk_unpack(host->trace, row->first_chunk + index, COLUMNS, chunk);
        TRY(visit(data, row, chunk, first - base, stop, err));
        first = base + stop;
    }
    return OK;
}
