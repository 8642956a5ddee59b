#include "export/slice_rows.h"

enum {
    COLUMNS = COLUMN_START | COLUMN_DUR | COLUMN_SELF | COLUMN_NAME | COLUMN_PARENT | COLUMN_EVENT |
              COLUMN_FLAGS
};

void slice_args_open(struct slice_args *args, const struct trace *trace)
{
    *args = (struct slice_args){.trace = trace, .arena = arena_create()};
}

void slice_args_close(struct slice_args *args)
{
    arena_destroy(args->arena);
}

uint32_t slice_args_of(struct slice_args *args, event_id event, const struct arg **ret,
                       type_id *ret_type)
{
    struct arg_rows *rows = &args->rows;

    *ret = NULL;
    *ret_type = 0;
    if (event < rows->first_event || event - rows->first_event >= rows->count) {
        arena_reset(args->arena);
        if (!trace_arg_rows(args->trace, event, args->arena, rows)) {
            *rows = (struct arg_rows){0};
            return 0;
        }
    }
    uint32_t index = event - rows->first_event;

    *ret = rows->args + rows->first_arg[index];
    *ret_type = rows->types[index];
    return rows->first_arg[index + 1] - rows->first_arg[index];
}

static int64_t to_file_time(int64_t run_ps, int64_t offset_ps)
{
    int64_t file_ps;

    if (__builtin_sub_overflow(run_ps, offset_ps, &file_ps))
        return run_ps < 0 ? INT64_MIN : INT64_MAX;
    return file_ps;
}

enum status slice_rows_walk(const struct export_run *run, const struct export_host *host,
                            const struct row *row, struct chunk *chunk, chunk_visit *visit,
                            void *data, struct error *err)
{
    uint32_t first = 0, end = row->count;

    if (run->has_window)
        row_window(host->trace, row, to_file_time(run->start_ps, host->offset_ps),
                   to_file_time(run->end_ps, host->offset_ps), &first, &end);
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
