/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of one host made in memory, for tests of analyses. */
#ifndef JVIEWD_TESTS_MADE_RUN_H
#define JVIEWD_TESTS_MADE_RUN_H

#include <stdlib.h>

#include "unit/trace/made_trace.h"

#include "analyse/analyse.h"
#include "analyse/attribute/attribute.h"

struct made_run {
    struct made made;
    struct scratch *scratch;
    struct attribution attribution; /* as it is made: records */
    struct attribution packed;      /* the same as it is read from a disk: columns */
    struct host_trace host;
    struct run_traces run;
};

static inline void run_begin(struct made_run *run)
{
    *run = (struct made_run){0};
    made_begin(&run->made);
}

static inline track_id run_thread(struct made_run *run, const char *name)
{
    return made_track(&run->made, name, NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
}

static inline track_id run_stream(struct made_run *run, const char *name, enum track_role role,
                                  int32_t device)
{
    return sink_track(run->made.sink, (struct sink_track){.parent = NO_TRACK,
                                                          .kind = TRACK_STREAM,
                                                          .role = role,
                                                          .name = str_of(name),
                                                          .device = device});
}

static inline void run_slice(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                             const char *name, enum kind kind)
{
    made_slice(&run->made, track, start_ps, dur_ps, name, kind);
}

/* Args of the slice just made. */
static inline void run_int(struct made_run *run, const char *key, int64_t value)
{
    sink_arg(run->made.sink, (struct arg){.key = sink_name(run->made.sink, str_of(key)),
                                          .type = ARG_INT64,
                                          .bits = (uint64_t)value});
}

static inline void run_text(struct made_run *run, const char *key, const char *value)
{
    sink_arg(run->made.sink, (struct arg){.key = sink_name(run->made.sink, str_of(key)),
                                          .type = ARG_STRING,
                                          .bits = sink_name(run->made.sink, str_of(value))});
}

/* An op as XLA:CPU writes it. `pair` 0: no partner will come. */
static inline void run_cpu_op(struct made_run *run, track_id track, int64_t start_ps,
                              int64_t dur_ps, const char *op, int64_t program, int64_t run_id,
                              int64_t device, int64_t pair)
{
    run_slice(run, track, start_ps, dur_ps, op, KIND_COMPUTE);
    run_text(run, "hlo_op", op);
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "program_id", program);
    run_int(run, "run_id", run_id);
    run_int(run, "device_ordinal", device);
    if (pair != 0) {
        run_int(run, "_pt", 0);
        run_int(run, "_p", pair);
        sink_flow(run->made.sink, FLOW_FROM, sink_name(run->made.sink, STR("end")), (uint64_t)pair);
    }
}

/* Its partner, and the arrow between the two as decoders make it. */
static inline void run_cpu_end_of(struct made_run *run, track_id track, int64_t start_ps,
                                  int64_t dur_ps, const char *op, int64_t pair, bool arrow)
{
    run_slice(run, track, start_ps, dur_ps, op, KIND_COMPUTE);
    run_int(run, "_ct", 0);
    run_int(run, "_c", pair);
    if (arrow)
        sink_flow(run->made.sink, FLOW_TO, sink_name(run->made.sink, STR("end")), (uint64_t)pair);
}

static inline void run_cpu_end(struct made_run *run, track_id track, int64_t start_ps,
                               int64_t dur_ps, const char *op, int64_t pair)
{
    run_cpu_end_of(run, track, start_ps, dur_ps, op, pair, true);
}

/* HloProto 1 module; HloModule 4 program shape; its 1 parameters are two arrays of 64 floats, as
 * parameters and gradients, and its 2 result is one. */
#define FLOATS(count) "\x05\x10\x0b\x1a\x01" count
#define HLO_PROTO(count)                                                                           \
    BYTES("\x0a\x17\x22\x15"                                                                       \
          "\x0a" FLOATS("\x40") "\x0a" FLOATS("\x40") "\x12" FLOATS(count))

/* A program with its instructions: name, scope pairs, a NULL at the end. */
static inline void run_program_of(struct made_run *run, uint64_t id, const char *name,
                                  uint64_t fingerprint, struct bytes proto,
                                  const char *const *names)
{
    struct sink *sink = run->made.sink;
    program_id program = sink_program(sink, id, sink_name(sink, str_of(name)), fingerprint, proto);

    for (; *names != NULL; names += 2)
        sink_instruction(sink, (struct instruction){
                                   .program = program,
                                   .name = sink_name(sink, str_of(names[0])),
                                   .opcode = sink_name(sink, STR("dot")),
                                   .scope = sink_name(sink, str_of(names[1])),
                                   .source = sink_name(sink, STR("model.py:41")),
                                   .category = sink_name(sink, STR("loop fusion")),
                               });
}

static inline void run_program(struct made_run *run, uint64_t id, const char *name,
                               uint64_t fingerprint, const char *const *names)
{
    run_program_of(run, id, name, fingerprint, BYTES("proto"), names);
}

/* So that analyses see only what they ask for. */
static inline void run_pack(struct made_run *run)
{
    const struct attribution *from = &run->attribution;
    uint32_t block_count = entry_block_count(from->entry_count);
    struct entry_columns *blocks =
        memory_resize(NULL, (size_t)block_count + 1, sizeof(struct entry_columns));
    uint8_t *data =
        memory_resize(NULL, (size_t)block_count * ENTRY_BLOCK_BYTES_MAX + ENTRY_DATA_PAD, 1);
    uint64_t offset = 0;

    for (uint32_t i = 0; i < block_count; i++) {
        uint32_t first = i * ENTRY_BLOCK, rest = from->entry_count - first;

        entries_pack(from->entries, from->kernel_count > 0 ? from->kernel_of : NULL,
                     from->by_device_time, first, rest < ENTRY_BLOCK ? rest : ENTRY_BLOCK,
                     data + offset, &blocks[i]);
        blocks[i].offset = offset;
        offset += (uint64_t)blocks[i].words * 8;
    }
    run->packed = *from;
    run->packed.entries = NULL;
    run->packed.by_device_time = run->packed.kernel_of = NULL;
    run->packed.entry_columns = blocks;
    run->packed.entry_data = data;
}

static inline void run_finish(struct made_run *run)
{
    made_finish(&run->made);
    run->scratch = scratch_create(NULL);
    CHECK_OK("attribute",
             attribute(&run->made.trace, run->scratch, (struct attribute_hooks){0},
                       &run->attribution, &run->made.err),
             &run->made.err);
    run_pack(run);
    run->host = (struct host_trace){.trace = &run->made.trace,
                                    .attribution = &run->packed,
                                    .name = STR("hostA"),
                                    .key = STR("0a0a0a0a")};
    run->run = (struct run_traces){
        .hosts = &run->host, .host_count = 1, .id = STR("r1"), .name = STR("run")};
}

static inline void run_end(struct made_run *run)
{
    free((void *)(uintptr_t)run->packed.entry_columns);
    free((void *)(uintptr_t)run->packed.entry_data);
    scratch_destroy(run->scratch);
    made_end(&run->made);
}

/* The only cell of a table with that key in that column. */
static inline const struct cell *cell_of(const struct table *table, uint32_t row,
                                         const char *column)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].key, column) == 0 && row < table->row_count)
            return &table->cells[(size_t)row * table->column_count + i];
    }
    check_failed(__FILE__, __LINE__, column, "no such cell in row %u", row);
    return NULL;
}

#endif
