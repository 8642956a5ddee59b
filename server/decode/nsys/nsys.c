/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite exports of Nsight Systems: `nsys export --type sqlite`.
 *
 *   META_DATA_..., TARGET_INFO_...   of the file, the host, its GPUs          nsys_about.c
 *   StringIds, ENUM_...              texts and words by number                nsys_words.c
 *   PROCESSES, ThreadNames           names                                    nsys_tracks.c
 *   NVTX_EVENTS                      what the program says of itself          nsys_nvtx.c
 *   CUPTI_ACTIVITY_KIND_..., ...     calls, kernels, copies, waits            nsys_events.c
 *   ..._CALLCHAINS, SCHED_EVENTS, GPU_METRICS, ...   what is sampled          nsys_samples.c
 *
 * A table is there only when it has rows; columns come and go with versions; rows are in no order.
 * Times are nanoseconds since the session started, which is file time 0.
 *
 * Facts: columns and words of exports of schema 3.16 to 3.25, and the vendor's published
 * description of the export schema.
 */
#include "decode/nsys/nsys.h"

#include <stdlib.h>

#include "decode/decode.h"

static bool contains(const struct input *input, struct str word)
{
    return str_contains(
        (struct str){.at = (const char *)input->head.at, .count = input->head.count}, word);
}

/* The schema, as text, lies in the first pages. */
static bool sniff(const struct input *input)
{
    return input->head.count >= 16 && memcmp(input->head.at, "SQLite format 3", 16) == 0 &&
           (contains(input, STR("META_DATA_EXPORT")) || contains(input, STR("TARGET_INFO_")) ||
            contains(input, STR("CUPTI_ACTIVITY")) || contains(input, STR("StringIds")));
}

static void read_events(struct nsys *nsys)
{
    const struct nsys_table *kernels =
        nsys_table_find(&nsys->db, STR("CUPTI_ACTIVITY_KIND_KERNEL"));

    nsys->by_correlation = kernels != NULL && !nsys_table_has(kernels, STR("globalPid"));
    nsys_read_nvtx(nsys);
    nsys_read_threads(nsys);
    nsys_find_hlo(nsys);
    nsys_find_waits(nsys);
    nsys_read_devices(nsys);
    nsys_read_samples(nsys);
    nsys_read_open_ranges(nsys);
    nsys_project_ranges(nsys);
    nsys_tracks_finish(nsys);
}

static void open_parts(struct nsys *nsys)
{
    struct sink *sink = nsys->sink;

    nsys->launch_kind = sink_name(sink, STR("kernel launch"));
    nsys->node_kind = sink_name(sink, STR("graph node"));
    nsys->wait_kind = sink_name(sink, STR("event wait"));
    nsys->key_correlation = sink_name(sink, STR("correlation_id"));
    nsys->key_stack = sink_name(sink, STR("stack_id"));
    nsys->key_bytes = sink_name(sink, STR("bytes"));
    nsys->key_node = sink_name(sink, STR("graph_node_id"));
    nsys->key_gpu_ops = sink_name(sink, STR("gpu_ops"));
    nsys_words_open(nsys);
    nsys_tracks_open(nsys);
}

static void close_parts(struct nsys *nsys)
{
    nsys_words_close(nsys);
    nsys_tracks_close(nsys);
    pair_table_free(&nsys->shapes);
    pair_table_free(&nsys->kinds);
    pair_table_free(&nsys->domains);
    pair_table_free(&nsys->categories);
    pair_table_free(&nsys->nvtx_lanes);
    pair_table_free(&nsys->stacks);
    id_map_free(&nsys->chain_tables);
    free(nsys->shape);
}

static enum status decode_file(struct nsys *nsys, struct bytes file, struct error *err)
{
    TRY(nsys_db_open(&nsys->db, file, nsys->sink, nsys->arena, err));
    open_parts(nsys);
    nsys_about_read(nsys);
    read_events(nsys);
    nsys_about_end(nsys);
    if (sink_failed(nsys->sink))
        return fail(err, sink_error(nsys->sink)->code, "%s", sink_error(nsys->sink)->message);
    return OK;
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct nsys nsys = {.sink = sink};
    struct bytes file;
    bool packing_cut;

    TRY(input_whole(input, &file, &packing_cut, err));
    sink_format(sink, decode_nsys.name);
    if (packing_cut)
        sink_note(sink, "truncated", NOTE_ERROR, 1,
                  "The compressed file is truncated or damaged; the part that could be unpacked is "
                  "shown. Copy it again.");
    nsys.arena = arena_create();
    nsys.scratch = scratch_create(input_temporary_dir(input));
    enum status status = decode_file(&nsys, file, err);
    close_parts(&nsys);
    nsys_db_close(&nsys.db);
    scratch_destroy(nsys.scratch);
    arena_destroy(nsys.arena);
    return status;
}

const struct decoder decode_nsys = {
    .name = "nsys-sqlite", .part = PART_TIMELINE, .sniff = sniff, .decode = decode};
