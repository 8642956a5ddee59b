#include "export/slice_rows.h"

enum {
    COLUMNS = COLUMN_START | COLUMN_DUR | COLUMN_SELF | COLUMN_NAME | COLUMN_PARENT | COLUMN_EVENT |
              COLUMN_FLAGS
};

void slice_args_open(struct slice_args *args, const struct trace *trace)
{
    *args = (struct slice_args){.trace = trace};
    for (uint32_t index = 0; index < SLICE_ARGS_BLOCKS; index++)
        args->blocks[index].arena = arena_create();
    args->last = &args->blocks[0];
}

void slice_args_close(struct slice_args *args)
{
    for (uint32_t index = 0; index < SLICE_ARGS_BLOCKS; index++)
        arena_destroy(args->blocks[index].arena);
}

static bool holds(const struct slice_args_block *block, event_id event)
{
    return event >= block->rows.first_event && event - block->rows.first_event < block->rows.count;
}

/* The block of the event, read in place of the one that was asked for longest ago. */
static struct slice_args_block *find_block(struct slice_args *args, event_id event)
{
    struct slice_args_block *oldest = &args->blocks[0];

    args->asked++;
    for (uint32_t index = 0; index < SLICE_ARGS_BLOCKS; index++) {
        struct slice_args_block *block = &args->blocks[index];

        if (holds(block, event)) {
            block->asked = args->asked;
            return block;
        }
        if (block->asked < oldest->asked)
            oldest = block;
    }
    arena_reset(oldest->arena);
    oldest->asked = args->asked;
    if (!trace_arg_rows(args->trace, event, oldest->arena, &oldest->rows))
        oldest->rows = (struct arg_rows){0};
    return oldest;
}

uint32_t slice_args_of(struct slice_args *args, event_id event, const struct arg **ret,
                       type_id *ret_type)
{
    *ret = NULL;
    *ret_type = 0;
    if (!holds(args->last, event))
        args->last = find_block(args, event);
    const struct arg_rows *rows = &args->last->rows;
    if (!holds(args->last, event))
        return 0;
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
