/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, instructions and documents of a trace: checked when it is opened, unpacked when they
 * are asked for. */
#include "base/hash.h"
#include "base/pack/pack.h"
#include "trace/readers.h"

/* More than any compiler writes of one module: a protobuf message ends at 2 GiB. */
#define BLOB_BYTES_MAX (UINT64_C(2) << 30)

static bool blob_valid(struct block_in in, uint64_t offset, uint64_t packed_bytes, uint64_t bytes)
{
    return bytes <= BLOB_BYTES_MAX &&
           (packed_bytes == 0 || in.data(in.from, offset, (size_t)packed_bytes).at != NULL);
}

static bool program_valid(const struct trace *trace, const struct program *program, uint32_t first)
{
    uint8_t has_buffers;

    memcpy(&has_buffers, &program->has_buffers, 1);
    return program->name < trace->name_count && program->form <= PROGRAM_TEXT &&
           program->stage <= STAGE_AFTER && has_buffers <= 1 &&
           program->first_instruction == first &&
           program->instruction_count <= trace->instruction_count - first &&
           blob_valid(trace->parts->in, program->blob_offset, program->blob_packed_bytes,
                      program->blob_bytes);
}

static bool instruction_valid(const struct trace *trace, uint32_t i)
{
    const struct instruction *instruction = &trace->instructions[i];
    const uint32_t names = trace->name_count;

    return instruction->program < trace->program_count && instruction->name < names &&
           instruction->opcode < names && instruction->scope < names &&
           instruction->op_type < names && instruction->source < names &&
           instruction->category < names &&
           (i == 0 || instruction[-1].program < instruction->program ||
            (instruction[-1].program == instruction->program &&
             instruction[-1].name <= instruction->name));
}

enum status programs_open(struct trace *trace, struct error *err)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < trace->program_count; i++) {
        if (!program_valid(trace, &trace->programs[i], at))
            return fail(err, ERR_FORMAT, "program %u is damaged", i);
        at += trace->programs[i].instruction_count;
    }
    if (at != trace->instruction_count)
        return fail(err, ERR_FORMAT, "the programs do not cover their instructions");
    for (uint32_t i = 0; i < trace->instruction_count; i++)
        if (!instruction_valid(trace, i))
            return fail(err, ERR_FORMAT, "instruction %u is damaged", i);
    for (uint32_t i = 0; i < trace->document_count; i++) {
        const struct document *document = &trace->documents[i];
        if (!blob_valid(trace->parts->in, document->blob_offset, document->blob_packed_bytes,
                        document->blob_bytes))
            return fail(err, ERR_FORMAT, "document %u is damaged", i);
    }
    return OK;
}

struct blob { /* as programs and documents say it */
    uint64_t offset, packed_bytes, bytes, hash;
};

static struct blob blob_of_program(const struct program *program)
{
    return (struct blob){program->blob_offset, program->blob_packed_bytes, program->blob_bytes,
                         program->blob_hash};
}

static struct blob blob_of_document(const struct document *document)
{
    return (struct blob){document->blob_offset, document->blob_packed_bytes, document->blob_bytes,
                         document->blob_hash};
}

/* The packed bytes; what is damaged marks the trace. */
static bool find_blob(const struct trace *trace, const struct blob *blob, struct bytes *ret)
{
    const struct block_in *in = &trace->parts->in;

    *ret = in->data(in->from, blob->offset, (size_t)blob->packed_bytes);
    if (hash64(*ret) == blob->hash)
        return true;
    trace->parts->damaged = true;
    return false;
}

static enum status unpack_blob(const struct trace *trace, struct blob blob, struct arena *arena,
                               struct bytes *ret, struct error *err)
{
    struct bytes packed;
    uint8_t *unpacked;

    *ret = (struct bytes){0};
    if (blob.bytes == 0)
        return OK;
    if (!find_blob(trace, &blob, &packed))
        return fail(err, ERR_FORMAT, "the index of this program is damaged");
    unpacked = arena_array(arena, uint8_t, (size_t)blob.bytes);
    TRY(zstd_unpack(unpacked, (size_t)blob.bytes, packed, err));
    *ret = (struct bytes){.at = unpacked, .count = (size_t)blob.bytes};
    return OK;
}

enum status trace_program_blob(const struct trace *trace, const struct program *program,
                               struct arena *arena, struct bytes *ret, struct error *err)
{
    return unpack_blob(trace, blob_of_program(program), arena, ret, err);
}

enum status trace_document_blob(const struct trace *trace, const struct document *document,
                                struct arena *arena, struct bytes *ret, struct error *err)
{
    return unpack_blob(trace, blob_of_document(document), arena, ret, err);
}

void programs_check(const struct trace *trace)
{
    struct bytes packed;

    for (uint32_t i = 0; i < trace->program_count; i++) {
        struct blob blob = blob_of_program(&trace->programs[i]);

        (void)(blob.bytes > 0 && find_blob(trace, &blob, &packed));
    }
    for (uint32_t i = 0; i < trace->document_count; i++) {
        struct blob blob = blob_of_document(&trace->documents[i]);

        (void)(blob.bytes > 0 && find_blob(trace, &blob, &packed));
    }
}
