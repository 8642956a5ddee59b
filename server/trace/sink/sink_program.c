/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, their instructions, and the documents that stand beside them. Blobs are packed and
 * written as they come; what is found by name waits in memory. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/pack/pack.h"
#include "trace/sink/sink_state.h"

/* Of a module of 6.5 MB: level 1 makes 595 kB of it in 7 ms, level 3 603 kB in 12. */
enum { BLOB_PACK_LEVEL = 1 };

struct written_blob {
    uint64_t offset, packed_bytes, hash;
};

static struct written_blob write_blob(struct sink *sink, struct bytes blob)
{
    size_t capacity = zstd_bound(blob.count);
    uint8_t *packed = memory_resize(NULL, capacity, 1);
    struct written_blob ret = {.packed_bytes = zstd_pack(packed, capacity, blob, BLOB_PACK_LEVEL)};

    ret.hash = hash64((struct bytes){.at = packed, .count = (size_t)ret.packed_bytes});
    sink_settle(sink);
    (void)sink->out.data(sink->out.to,
                         (struct bytes){.at = packed, .count = (size_t)ret.packed_bytes},
                         &ret.offset, sink->err);
    free(packed);
    return ret;
}

program_id sink_program(struct sink *sink, uint64_t id, name_id name, uint64_t fingerprint,
                        struct bytes proto)
{
    if (sink_failed(sink))
        return NO_PROGRAM;

    struct written_blob blob = write_blob(sink, proto);
    sink_room(sink->programs, sink->program_count, sink->program_capacity);
    struct program *program = &sink->programs[sink->program_count];
    memset(program, 0, sizeof(*program));
    program->id = id;
    program->name = name;
    program->fingerprint = fingerprint;
    program->blob_offset = blob.offset;
    program->blob_packed_bytes = blob.packed_bytes;
    program->blob_hash = blob.hash;
    program->blob_bytes = proto.count;
    return sink->program_count++;
}

void sink_program_about(struct sink *sink, program_id id, struct program_about about)
{
    if (sink_failed(sink) || id >= sink->program_count)
        return;

    struct program *program = &sink->programs[id];
    program->form = (uint8_t)about.form;
    program->stage = (uint8_t)about.stage;
    program->computation_count = about.computation_count;
    program->fusion_count = about.fusion_count;
    program->has_buffers = about.has_buffers;
}

void sink_program_fingerprint(struct sink *sink, program_id id, uint64_t fingerprint)
{
    if (!sink_failed(sink) && id < sink->program_count)
        sink->programs[id].fingerprint = fingerprint;
}

void sink_instruction(struct sink *sink, struct instruction instruction)
{
    if (sink_failed(sink) || instruction.program >= sink->program_count)
        return;
    sink_room(sink->instructions, sink->instruction_count, sink->instruction_capacity);
    sink->instructions[sink->instruction_count++] = instruction;
}

/* Lines as an editor counts them: what stands behind the last line feed is one too. */
static uint64_t count_lines(struct bytes content)
{
    const uint8_t *at = content.at, *end = content.at + content.count;
    uint64_t count = 0;

    for (const uint8_t *feed; at < end; at = feed + 1, count++) {
        feed = memchr(at, '\n', (size_t)(end - at));
        if (feed == NULL)
            return count + 1;
    }
    return count;
}

void sink_document(struct sink *sink, struct bytes content)
{
    if (sink_failed(sink))
        return;

    struct written_blob blob = write_blob(sink, content);
    sink_room(sink->documents, sink->document_count, sink->document_capacity);
    struct document *document = &sink->documents[sink->document_count++];
    memset(document, 0, sizeof(*document));
    document->blob_offset = blob.offset;
    document->blob_packed_bytes = blob.packed_bytes;
    document->blob_hash = blob.hash;
    document->blob_bytes = content.count;
    document->line_count = count_lines(content);
}

static int compare_instructions(const void *one, const void *other)
{
    const struct instruction *a = one, *b = other;

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return memcmp(a, b, sizeof(*a));
}

/* Names are new as instructions come, so mostly they are in order already. */
static bool is_in_order(const struct instruction *instructions, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (compare_instructions(&instructions[i - 1], &instructions[i]) > 0)
            return false;
    return true;
}

enum status sink_write_programs(struct sink *sink)
{
    if (!is_in_order(sink->instructions, sink->instruction_count))
        qsort(sink->instructions, sink->instruction_count, sizeof(*sink->instructions),
              compare_instructions);
    uint32_t at = 0;
    for (uint32_t i = 0; i < sink->program_count; i++) {
        struct program *program = &sink->programs[i];
        program->first_instruction = at;
        while (at < sink->instruction_count && sink->instructions[at].program == i)
            at++;
        program->instruction_count = at - program->first_instruction;
    }
    TRY(sink_table(sink, TABLE_PROGRAMS, sink->programs, sink->program_count,
                   sizeof(*sink->programs)));
    TRY(sink_table(sink, TABLE_INSTRUCTIONS, sink->instructions, sink->instruction_count,
                   sizeof(*sink->instructions)));
    return sink_table(sink, TABLE_DOCUMENTS, sink->documents, sink->document_count,
                      sizeof(*sink->documents));
}
