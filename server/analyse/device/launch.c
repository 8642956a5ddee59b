/* Reads the launching call of a slice through a few unpacked chunks. */
#include "analyse/device/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { HELD_CHUNKS = 8 };

struct launch_reader {
    const struct trace *trace;
    const struct row *row;
    uint32_t index[HELD_CHUNKS];
    struct chunk chunks[HELD_CHUNKS]; /* 190 KB each */
};

struct launch_reader *launch_reader_create(const struct trace *trace)
{
    struct launch_reader *reader = memory_resize(NULL, 1, sizeof *reader);

    reader->trace = trace;
    reader->row = NULL;
    memset(reader->index, 0xFF, sizeof reader->index);
    return reader;
}

void launch_reader_free(struct launch_reader *reader)
{
    free(reader);
}

bool launch_read(struct launch_reader *reader, slice_id slice, struct launch_call *ret)
{
    if (slice >= reader->trace->slice_count)
        return false;
    if (reader->row == NULL || slice < reader->row->first_slice ||
        slice - reader->row->first_slice >= reader->row->count)
        reader->row = &reader->trace->rows[trace_row_of(reader->trace, slice)];

    uint32_t ordinal = slice - reader->row->first_slice, at = ordinal % CHUNK_SLICES;
    uint32_t index = reader->row->first_chunk + ordinal / CHUNK_SLICES;
    struct chunk *chunk = &reader->chunks[index % HELD_CHUNKS];

    if (reader->index[index % HELD_CHUNKS] != index) {
        chunk_unpack(reader->trace, index, COLUMN_START | COLUMN_DUR | COLUMN_PARENT | COLUMN_NAME,
                     chunk);
        reader->index[index % HELD_CHUNKS] = index;
    }
    if (at >= chunk->count)
        return false;
    *ret = (struct launch_call){.start_ps = chunk->start_ps[at],
                                .dur_ps = chunk->dur_ps[at],
                                .parent = chunk->parent[at],
                                .name = chunk->name[at]};
    return true;
}
