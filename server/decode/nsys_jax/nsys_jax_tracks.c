/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of nsys-jax, as tracks.
 *
 *   /device:GPU:0
 *     XLA Modules        TSL:XlaModule:#hlo_module=jit_f,program_id=3#     by its first and last
 *     XLA Ops            TSL:Thunk:#hlo_op=fusion.3#                       kernel each
 *     NVTX               any other with work on the device                 derived
 *   process 215733
 *     main (215733)      the same ranges, and all others, where they were opened
 *
 * The device is the one that the launcher's thread names, as where a process drives several; else
 * the number of the recording, one process behind the other in a combined archive. A thunk names no
 * program: it is that of the module around it on its thread.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/sort.h"
#include "decode/nsys_jax/nsys_jax.h"
#include "decode/xla_range.h"

static int64_t ps(int64_t ns)
{
    int64_t value;

    if (!__builtin_mul_overflow(ns, INT64_C(1000), &value))
        return value;
    return ns < 0 ? INT64_MIN : INT64_MAX;
}

static bool range_before(const struct jax_range *a, const struct jax_range *b)
{
    if (a->part != b->part)
        return a->part < b->part;
    if (a->process != b->process)
        return a->process < b->process;
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->dur_ns != b->dur_ns)
        return a->dur_ns > b->dur_ns;
    return a->device_start_ns < b->device_start_ns;
}

SORT_DEFINE(sort_ranges, struct jax_range, range_before)

struct put { /* where ranges go */
    struct nsys_jax *jax;
    struct pair_table tracks; /* (what, number) -> track */
    struct pair_table kinds;  /* (name, program and place) -> kind */
    struct jax_range module;  /* the one around what comes */
    int64_t rank_count;       /* of a process */
};

enum what { WHAT_PROCESS, WHAT_THREAD, WHAT_DEVICE, WHAT_MODULES, WHAT_OPS, WHAT_REST };

static track_id make_track(struct put *put, enum what what, uint32_t part, int64_t number,
                           struct sink_track track)
{
    uint32_t *known =
        pair_table_at(&put->tracks, (uint64_t)part << 32 | (uint64_t)what, (uint64_t)number);

    if (*known == PAIR_NONE)
        *known = sink_track(put->jax->sink, track);
    return *known;
}

static track_id thread_track(struct put *put, const struct jax_range *range)
{
    struct nsys_jax *jax = put->jax;
    const struct jax_part *part = &jax->parts[range->part];
    char process[300], thread[300];
    uint32_t row =
        pair_table_find(&part->thread_rows, (uint64_t)range->process, (uint64_t)range->thread);
    struct str name = STR("thread");

    snprintf(process, sizeof process, "%.*s%sprocess %" PRId64,
             part->name.count < 200 ? (int)part->name.count : 200, part->name.at,
             part->name.count > 0 ? " " : "", range->process);
    track_id parent = make_track(put, WHAT_PROCESS, range->part, range->process,
                                 (struct sink_track){.parent = NO_TRACK,
                                                     .kind = TRACK_PROCESS,
                                                     .name = str_of(process),
                                                     .source_id = range->process,
                                                     .device = -1});
    if (row != PAIR_NONE && part->thread_names[row].kind == CELL_TEXT)
        name = (struct str){.at = (const char *)part->thread_names[row].text,
                            .count = part->thread_names[row].count};
    snprintf(thread, sizeof thread, "%.*s (%" PRId64 ")", name.count < 200 ? (int)name.count : 200,
             name.at, range->thread);
    return make_track(put, WHAT_THREAD, range->part,
                      (int64_t)((uint64_t)range->process << 32 ^ (uint64_t)range->thread),
                      (struct sink_track){.parent = parent,
                                          .kind = TRACK_THREAD,
                                          .role = ROLE_HOST,
                                          .name = str_of(thread),
                                          .source_id = range->thread,
                                          .device = -1});
}

/* Recordings of one process after those of another, where no launcher tells. */
static int32_t device_of(const struct put *put, const struct jax_range *range)
{
    const struct jax_part *part = &put->jax->parts[range->part];
    int64_t device = jax_device_of_thread(part, range->process, range->thread);
    int64_t before = range->part > 0 ? (int64_t)(range->part - 1) * put->rank_count : 0;

    if (device < 0 && range->rank >= 0 && range->rank < JAX_DEVICES_MAX)
        device = before + range->rank;
    return device >= 0 && device < JAX_DEVICES_MAX ? (int32_t)device : 0;
}

static track_id device_lane(struct put *put, int32_t device, enum what what)
{
    static const struct {
        const char *name;
        enum track_role role;
        bool derived;
    } lanes[] = {
        [WHAT_MODULES] = {"XLA Modules", ROLE_MODULES, false},
        [WHAT_OPS] = {"XLA Ops", ROLE_OPS, false},
        [WHAT_REST] = {"NVTX", ROLE_SCOPES, true},
    };
    char name[32];

    snprintf(name, sizeof name, "/device:GPU:%" PRId32, device);
    track_id parent = make_track(put, WHAT_DEVICE, 0, device,
                                 (struct sink_track){.parent = NO_TRACK,
                                                     .kind = TRACK_DEVICE,
                                                     .name = str_of(name),
                                                     .source_id = device,
                                                     .device = device});
    return make_track(put, what, 0, device,
                      (struct sink_track){.parent = parent,
                                          .kind = TRACK_STREAM,
                                          .role = lanes[what].role,
                                          .name = str_of(lanes[what].name),
                                          .source_id = (int64_t)what,
                                          .device = device,
                                          .derived = lanes[what].derived});
}

static void put_arg(struct nsys_jax *jax, struct str key, enum arg_type type, uint64_t bits)
{
    sink_arg(jax->sink, (struct arg){.key = sink_name(jax->sink, key), .type = type, .bits = bits});
}

static enum kind compute_kind(struct nsys_jax *jax, name_id name, bool is_op,
                              const struct hlo_facts *facts)
{
    struct kind_facts known = {
        .plane = is_op ? STR("/device:GPU") : STR("/host:CPU"),
        .line = is_op ? STR("XLA Ops") : STR("thread"),
        .name = sink_text(jax->sink, name),
        .opcode = facts != NULL ? sink_text(jax->sink, facts->opcode) : STR(""),
        .category = facts != NULL ? sink_text(jax->sink, facts->category) : STR(""),
        .is_op = is_op,
    };

    return kind_of(&known);
}

static enum kind kind_of_range(struct put *put, name_id name, bool is_op, uint64_t program)
{
    uint32_t *known = pair_table_at(&put->kinds, (uint64_t)name << 1 | (is_op ? 1 : 0), program);

    if (*known == PAIR_NONE)
        *known = compute_kind(put->jax, name, is_op,
                              is_op ? hlo_find(&put->jax->hlo, program, name) : NULL);
    return (enum kind) * known;
}

/* The module, and the number of its program, that a range names or lies in. */
static bool program_of(const struct nsys_jax *jax, const struct jax_range *range, uint64_t *ret)
{
    uint64_t number;

    if (!str_to_u64(xla_range_value(range->name, STR("program_id")), &number))
        return false;
    *ret = jax_program_id(jax, range->part, number);
    return true;
}

static void put_on_device(struct put *put, const struct jax_range *range)
{
    struct nsys_jax *jax = put->jax;
    struct str op = xla_range_value(range->name, STR("hlo_op"));
    struct str module = xla_range_value(range->name, STR("hlo_module"));
    bool is_module = xla_range_is_module(range->name);
    bool is_op = xla_range_is_op(range->name) && op.count > 0;
    enum what what = is_module ? WHAT_MODULES : is_op ? WHAT_OPS : WHAT_REST;
    uint64_t program = 0;
    bool has_program = program_of(jax, is_op ? &put->module : range, &program);

    if (is_op)
        module = xla_range_value(put->module.name, STR("hlo_module"));
    name_id name = sink_name(jax->sink, is_module && module.count > 0 ? module
                                        : is_op                       ? op
                                                                      : range->name);
    sink_slice(jax->sink,
               (struct sink_slice){
                   .track = device_lane(put, device_of(put, range), what),
                   .start_ps = ps(range->device_start_ns),
                   .dur_ps = ps(range->device_dur_ns),
                   .name = name,
                   .kind = is_op ? kind_of_range(put, name, true, program) : KIND_COMPUTE,
               });
    put_arg(jax, STR("gpu_ops"), ARG_INT64, (uint64_t)range->gpu_ops);
    if (what == WHAT_REST)
        return;
    if (is_op)
        put_arg(jax, STR("hlo_op"), ARG_STRING, name);
    if (module.count > 0)
        put_arg(jax, STR("hlo_module"), ARG_STRING, sink_name(jax->sink, module));
    if (has_program)
        put_arg(jax, STR("program_id"), ARG_UINT64, program);
}

static void put_on_thread(struct put *put, const struct jax_range *range)
{
    struct nsys_jax *jax = put->jax;
    name_id name = sink_name(jax->sink, range->name);

    sink_slice(jax->sink, (struct sink_slice){
                              .track = thread_track(put, range),
                              .start_ps = ps(range->start_ns),
                              .dur_ps = ps(range->dur_ns),
                              .name = name,
                              .kind = kind_of_range(put, name, false, 0),
                          });
}

/* Modules do not lie in one another: the last that began is the one around, until it ends. */
static void follow_module(struct put *put, const struct jax_range *range)
{
    int64_t end_ns;

    if (__builtin_add_overflow(put->module.start_ns, put->module.dur_ns, &end_ns))
        end_ns = INT64_MAX;
    bool is_over = put->module.part != range->part || put->module.process != range->process ||
                   put->module.thread != range->thread || range->start_ns > end_ns;

    if (is_over)
        put->module = (struct jax_range){
            .part = range->part, .process = range->process, .thread = range->thread};
    if (xla_range_is_module(range->name))
        put->module = *range;
}

static int64_t count_ranks(const struct nsys_jax *jax)
{
    int64_t count = 1;

    for (size_t at = 0; at < jax->range_count; at++)
        if (jax->ranges[at].rank >= count && jax->ranges[at].rank < JAX_DEVICES_MAX)
            count = jax->ranges[at].rank + 1;
    return count;
}

void jax_put_ranges(struct nsys_jax *jax)
{
    struct put put = {.jax = jax, .rank_count = count_ranks(jax)};

    sort_ranges(jax->ranges, jax->range_count);
    sort_ranges(jax->calls, jax->call_count);
    for (size_t at = 0; at < jax->range_count && !sink_failed(jax->sink); at++) {
        follow_module(&put, &jax->ranges[at]);
        if (jax->ranges[at].gpu_ops != 0)
            put_on_device(&put, &jax->ranges[at]);
    }
    for (size_t at = 0; at < jax->range_count && !sink_failed(jax->sink); at++)
        if (jax->ranges[at].has_times && !jax->parts[jax->ranges[at].part].has_report)
            put_on_thread(&put, &jax->ranges[at]);
    for (size_t at = 0; at < jax->call_count && !sink_failed(jax->sink); at++)
        put_on_thread(&put, &jax->calls[at]);
    pair_table_free(&put.tracks);
    pair_table_free(&put.kinds);
}
