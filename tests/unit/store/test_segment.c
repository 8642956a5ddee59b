/* SPDX-License-Identifier: Apache-2.0 */
/* A segment comes back as it was written; any damage is found; memory does not grow with it. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc does not bring its header */
#endif

#include "base/file.h"
#include "picture.h"
#include "store/segment.h"
#include "trace/readers.h"

static const char content[33] = "0123456789abcdef0123456789abcdef";

static const char picture[] = "GPU:0 / Stream #7\n"
                              "  0 +30 step 1\n"
                              "    10 +5 fusion.3\n"
                              "    20 +8 all-reduce.1\n"
                              "host / python\n"
                              "  -5 +100 train\n"
                              "    7 +0 mark\n"
                              "host / memory\n"
                              "  3 = 17\n";

static char directory[] = "/tmp/jviewd-segment-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static const char *path_of(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void write_segment(const char *path, void (*feed)(struct sink *sink))
{
    struct error err = {0};
    struct segment_writer *writer;

    CHECK_OK("open", segment_writer_open(path, &writer, &err), &err);
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default,
                                    (struct sink_hooks){0}, directory, &err);
    feed(sink);
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("commit", segment_writer_commit(writer, content, &err), &err);
    segment_writer_abandon(writer);
}

static void feed_picture(struct sink *sink)
{
    sink_format(sink, "drawn");
    sink_epoch(sink, 1795253400000000000);
    sink_hostname(sink, STR("hostA"));
    sink_note(sink, "odd", NOTE_WARNING, 2, "%d things", 3);
    picture_draw(sink, picture);
}

static uint64_t mix(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1;
    return *seed >> 33;
}

/* Enough for several chunks a row, two tracks in turn, one of them out of order at its end. */
static void feed_many(struct sink *sink)
{
    struct sink_track given = {.parent = NO_TRACK, .name = STR("t"), .device = -1};
    track_id tracks[] = {sink_track(sink, given), sink_track(sink, given)};
    name_id names[64];
    uint64_t seed = 7;

    for (int i = 0; i < 64; i++) {
        char text[16];
        snprintf(text, sizeof(text), "op.%d", i);
        names[i] = sink_name(sink, str_of(text));
    }
    for (int64_t i = 0; i < 30000; i++) {
        int64_t start = i == 29999 ? 5 : i * 1000;
        sink_slice(sink, (struct sink_slice){.track = tracks[i & 1],
                                             .start_ps = start,
                                             .dur_ps = (int64_t)(mix(&seed) % 5000),
                                             .name = names[mix(&seed) % 64]});
        sink_arg(sink, (struct arg){names[0], ARG_INT64, mix(&seed) % 100});
    }
}

static struct bytes read_file(const char *path, struct arena *arena)
{
    struct error err = {0};
    struct bytes bytes = {0};

    CHECK_OK("read", file_read(path, arena, 1 << 30, &bytes, &err), &err);
    return bytes;
}

static void write_file(const char *path, struct bytes bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes.at, 1, bytes.count, file), bytes.count);
    fclose(file);
}

static void comes_back(void **state)
{
    (void)state;
    struct error err = {0};
    struct segment *segment;
    const char *path = path_of("a.seg");

    write_segment(path, feed_picture);
    CHECK_OK("open", segment_open(path, &segment, &err), &err);
    const struct trace *trace = segment_trace(segment);
    CHECK_PICTURE("slices", trace, PICTURE_NOTES,
                  "GPU:0 / Stream #7\n"
                  "  0 +30 step 1\n"
                  "    10 +5 fusion.3\n"
                  "    20 +8 all-reduce.1\n"
                  "host / python\n"
                  "  -5 +100 train\n"
                  "    7 +0 mark\n"
                  "host / memory\n"
                  "  3 = 17\n"
                  "note odd 2 3 things\n");
    CHECK_STR("content", str_of(trace->content), content);
    CHECK_STR("format", str_of(trace->format), "drawn");
    CHECK_STR("hostname", trace->hostname, "hostA");
    CHECK_INT("epoch", trace->epoch_ns, 1795253400000000000);
    CHECK_INT("start", trace->start_ps, -5);
    CHECK_INT("end", trace->end_ps, 95);
    CHECK("whole", !trace_damaged(trace));
    segment_close(segment);
    unlink(path);
}

static void equal_input_equal_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    write_segment(path_of("a.seg"), feed_many);
    struct bytes one = read_file(path_of("a.seg"), arena);
    write_segment(path_of("a.seg"), feed_many);
    struct bytes other = read_file(path_of("a.seg"), arena);
    CHECK_INT("size", one.count, other.count);
    CHECK("bytes", memcmp(one.at, other.at, one.count) == 0);
    unlink(path_of("a.seg"));
    arena_destroy(arena);
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    struct error err = {0};
    struct segment_writer *writer;

    CHECK_OK("open", segment_writer_open(path_of("a.seg"), &writer, &err), &err);
    segment_writer_abandon(writer);
    segment_writer_abandon(NULL);
    CHECK_INT("no file", access(path_of("a.seg"), F_OK), -1);
    /* remove_directory fails where a temporary one stays. */
}

/* Reads every slice; a damaged chunk answers as nothing. */
static void read_all(const struct trace *trace)
{
    struct chunk *chunk = malloc(sizeof(*chunk));

    assert_non_null(chunk);
    for (row_id row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].chunk_count; i++)
            chunk_unpack(trace, trace->rows[row].first_chunk + i, 127, chunk);
    for (slice_id id = 0; id < trace->slice_count; id += 97)
        (void)trace_slice(trace, id);
    free(chunk);
}

static void check_damaged(const char *what, struct bytes bytes, bool may_open)
{
    struct error err = {0};
    struct segment *segment = NULL;
    const char *path = path_of("d.seg");

    write_file(path, bytes);
    enum status status = segment_open(path, &segment, &err);
    if (status == OK) {
        CHECK(what, may_open);
        read_all(segment_trace(segment));
        segment_close(segment);
    } else {
        CHECK_INT(what, status, ERR_FORMAT);
        CHECK_HAS(what, err.message, "d.seg");
    }
}

static void cut_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    write_segment(path_of("a.seg"), feed_picture);
    struct bytes whole = read_file(path_of("a.seg"), arena);
    for (size_t count = 0; count < whole.count; count += 1 + count / 40)
        check_damaged("cut", (struct bytes){.at = whole.at, .count = count}, false);
    unlink(path_of("a.seg"));
    unlink(path_of("d.seg"));
    arena_destroy(arena);
}

/* Every byte counts, except in chunks that are checked when they are touched. */
static void one_bit_wrong(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    write_segment(path_of("a.seg"), feed_picture);
    struct bytes whole = read_file(path_of("a.seg"), arena);
    uint8_t *changed = arena_array(arena, uint8_t, whole.count);
    for (size_t at = 0; at < whole.count; at++) {
        memcpy(changed, whole.at, whole.count);
        changed[at] ^= (uint8_t)(1 << at % 8);
        check_damaged("flipped", (struct bytes){.at = changed, .count = whole.count}, true);
    }
    memcpy(changed, whole.at, whole.count);
    changed[8] ^= 1;
    check_damaged("another version", (struct bytes){.at = changed, .count = whole.count}, false);
    unlink(path_of("a.seg"));
    unlink(path_of("d.seg"));
    arena_destroy(arena);
}

/* A damaged chunk is empty and says so; the others answer. */
static void damaged_chunk(void **state)
{
    (void)state;
    struct error err = {0};
    struct arena *arena = arena_create();
    struct segment *segment;
    struct chunk *chunk = malloc(sizeof(*chunk));

    assert_non_null(chunk);
    write_segment(path_of("a.seg"), feed_many);
    struct bytes whole = read_file(path_of("a.seg"), arena);
    uint8_t *changed = arena_array(arena, uint8_t, whole.count);
    memcpy(changed, whole.at, whole.count);
    CHECK_OK("open", segment_open(path_of("a.seg"), &segment, &err), &err);
    changed[segment_trace(segment)->parts->chunks[1].offset + 100] ^= 0x10;
    segment_close(segment);
    write_file(path_of("d.seg"), (struct bytes){.at = changed, .count = whole.count});
    CHECK_OK("open", segment_open(path_of("d.seg"), &segment, &err), &err);
    const struct trace *trace = segment_trace(segment);
    CHECK("not known yet", !trace_damaged(trace));
    uint32_t empty = 0, chunk_count = 0;
    for (row_id row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].chunk_count; i++, chunk_count++) {
            chunk_unpack(trace, trace->rows[row].first_chunk + i, 127, chunk);
            empty += chunk->count == 0;
        }
    CHECK_INT("one is empty", empty, 1);
    CHECK("others are not", chunk_count > 3);
    CHECK("known now", trace_damaged(trace));
    segment_close(segment);
    unlink(path_of("a.seg"));
    unlink(path_of("d.seg"));
    free(chunk);
    arena_destroy(arena);
}

/* What the process holds on its heap. */
static size_t heap_bytes(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#endif
}

/* Two million slices, nested ten deep, need no more memory than twenty thousand. */
static void memory_does_not_grow(void **state)
{
    (void)state;
    enum { SLICES = 2000000, DEPTH = 10 };
    struct error err = {0};
    struct segment_writer *writer;
    const size_t before = heap_bytes();
    size_t peak = 0;

    CHECK_OK("open", segment_writer_open(path_of("a.seg"), &writer, &err), &err);
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default,
                                    (struct sink_hooks){0}, directory, &err);
    track_id track =
        sink_track(sink, (struct sink_track){.parent = NO_TRACK, .name = STR("t"), .device = -1});
    name_id name = sink_name(sink, STR("x")), key = sink_name(sink, STR("id"));
    for (int64_t i = 0; i < SLICES; i++) {
        int64_t depth = i % DEPTH;
        sink_slice(sink, (struct sink_slice){.track = track,
                                             .start_ps = i / DEPTH * 100000 + depth,
                                             .dur_ps = 90000 - 2 * depth,
                                             .name = name});
        sink_arg(sink, (struct arg){key, ARG_INT64, (uint64_t)i * 2654435761});
        if (i % 1000 == 0 && heap_bytes() > peak)
            peak = heap_bytes();
    }
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    if (heap_bytes() > peak)
        peak = heap_bytes();
    sink_destroy(sink);
    CHECK_OK("commit", segment_writer_commit(writer, content, &err), &err);
    segment_writer_abandon(writer);
    CHECK("peak", peak - before < (size_t)24 << 20);
    unlink(path_of("a.seg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(equal_input_equal_bytes),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(one_bit_wrong),
        cmocka_unit_test(damaged_chunk),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(memory_does_not_grow),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
