/* SPDX-License-Identifier: Apache-2.0 */
/* XSpaces cut, bent and hostile: a trace or a sentence. */
#include "made_space.h"
#include "survives.h"

static void two_planes(struct made *made)
{
    one_event_line(made, 1, "python", 0);
    one_event_line(made, 2, "worker", 10);
    name_event(made, 1, "a");
    end_plane(made, "/host:CPU");
    line_head(made, 3, "late", 0);
    put_event(made, 1, 20, 5);
    put_event(made, 1, 30, 5);
    end_line(made);
    name_event(made, 1, "b");
    end_plane(made, "/device:GPU:0");
}

static void cut_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct error err = {0};
    two_planes(&made);
    struct bytes whole = proto_bytes(&made.file);
    const uint8_t *late = memmem(whole.at, whole.count, "late", 4);
    size_t into_second_event = (size_t)(late - whole.at) + 4 + 10;

    const struct trace *trace = trace_of((struct bytes){whole.at, into_second_event}, arena, &err);
    CHECK_OK("cut", err.code, &err);
    CHECK_PICTURE("what is whole", trace, 0,
                  "/host:CPU / python\n  0 +5 a\n"
                  "/host:CPU / worker\n  10 +5 a\n"
                  "/device:GPU:0 / late\n  20 +5 event 1\n");
    CHECK_STR("note", trace_name(trace, trace->notes[1].kind), "truncated");
    CHECK_HAS("note", str_c(arena, trace_name(trace, trace->notes[1].message)), "copy it again");
    CHECK_STR("note", trace_name(trace, trace->notes[0].kind), "unnamed-events");

    trace = trace_of((struct bytes){whole.at, 12}, arena, &err);
    CHECK("nothing whole", trace == NULL);
    CHECK_INT("nothing whole", err.code, ERR_TRUNCATED);
    CHECK_HAS("nothing whole", err.message, "field 1 at byte 0 says it has");
    CHECK_HAS("nothing whole", err.message, "copy it again");
    free_made(&made);
    arena_destroy(arena);
}

static void damaged(void **state)
{
    (void)state;
    const struct {
        const char *what;
        const char *event; /* bytes in place of the middle one of three events */
        size_t count;
        const char *picture;
    } rows[] = {
        {"wire type 7", "\x22\x01\x0f", 3, "  0 +5 a\n  20 +5 a\n"},
        {"a stat longer than its event", "\x22\x04\x22\x09\x08\x01", 6, "  0 +5 a\n  20 +5 a\n"},
        {"a number that runs out of its event", "\x22\x02\x08\x81", 4, "  0 +5 a\n  20 +5 a\n"},
        {"a number that runs out of its stat", "\x22\x09\x08\x01\x22\x03\x08\x01\x20\x18\x05", 11,
         "  0 +5 a\n  20 +5 a\n"},
        {"a number of eleven bytes", "\x22\x0c\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14,
         "  0 +5 a\n  20 +5 a\n"},
        {"an event longer than its line", "\x22\x7f\x08\x01", 4, "  0 +5 a\n"},
        {"an event of 2^63 bytes", "\x22\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11,
         "  0 +5 a\n"},
        {"a group in a line", "\x0b\x08\x01\x0c", 4, "  0 +5 a\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made made = {0};
        line_head(&made, 1, "python", 0);
        put_event(&made, 1, 0, 5);
        text_put(&made.line, rows[i].event, rows[i].count);
        put_event(&made, 1, 20, 5);
        end_line(&made);
        one_event_line(&made, 2, "worker", 30);
        name_event(&made, 1, "a");
        end_plane(&made, "/host:CPU");
        const struct trace *trace = made_trace(&made, arena);
        struct str want = str_format(arena, "/host:CPU / python\n%s/host:CPU / worker\n  30 +5 a\n",
                                     rows[i].picture);
        CHECK_PICTURE(rows[i].what, trace, 0, want.at);
        CHECK_INT(rows[i].what, trace->note_count, 1);
        CHECK_STR(rows[i].what, trace_name(trace, trace->notes[0].kind), "corrupt");
        free_made(&made);
        arena_destroy(arena);
    }
}

/* The length of an event that runs out of its line, into the next one. */
static void length_across_lines(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 1, "python", 0);
    put_event(&made, 1, 0, 5);
    text_put(&made.line, "\x22\x85", 2);
    end_line(&made);
    one_event_line(&made, 2, "worker", 30);
    name_event(&made, 1, "a");
    end_plane(&made, "/host:CPU");
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE("across", trace, PICTURE_NOTES,
                  "/host:CPU / python\n  0 +5 a\n/host:CPU / worker\n  30 +5 a\nnote corrupt 1 "
                  "Parts of the file could not be read and are left out, the first (the rest of a "
                  "line) at byte 33; copy the file again if the original is intact.\n");
    free_made(&made);
    arena_destroy(arena);
}

static void hostile(void **state)
{
    (void)state;
    struct made made = {0};
    struct text file = {0}, nest = {0};

    for (int i = 0; i < 300000; i++)
        text_put(&made.plane, "\x1a\x00", 2);
    end_plane(&made, "/host:CPU");
    survives(trace_of, "300,000 empty lines", proto_bytes(&made.file));
    for (int i = 0; i < 100000; i++)
        text_put(&file, "\x0a\x00", 2);
    survives(trace_of, "100,000 empty planes", proto_bytes(&file));
    for (int i = 0; i < 1000; i++) {
        file.count = 0;
        put_message(&file, 4, &nest);
        text_put(&nest, file.at, file.count);
    }
    put_message(&made.line, 4, &nest);
    end_line(&made);
    end_plane(&made, "/host:CPU");
    survives(trace_of, "an event in an event in an event", proto_bytes(&made.file));
    name_event(&made, -1, "a");
    name_event(&made, INT64_MAX, "b");
    name_stat(&made, INT64_MIN, "c");
    one_event_line(&made, INT64_MIN, "x", INT64_MIN);
    end_plane(&made, "/host:CPU");
    survives(trace_of, "ids at the ends of their range", proto_bytes(&made.file));
    text_free(&file);
    text_free(&nest);
    free_made(&made);
}

/* Prefixes of what tests build: every one. Of a sample: the first bytes, then in steps. */
static void prefixes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    two_planes(&made);
    for (size_t count = 1; count < made.file.count; count++)
        survives(trace_of, "a prefix", (struct bytes){(const uint8_t *)made.file.at, count});

    struct bytes sample = read_sample("step_500", arena);
    for (size_t count = 1; count < sample.count; count += count < 400 ? 1 : 1499)
        survives(trace_of, "a prefix of a sample", (struct bytes){sample.at, count});
    free_made(&made);
    arena_destroy(arena);
}

static void bit_flips(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes sample = read_sample("step_500", arena);
    uint8_t *copy = arena_array(arena, uint8_t, sample.count);
    uint64_t random = 1;

    memcpy(copy, sample.at, sample.count);
    for (int round = 0; round < 150; round++) {
        for (int flip = 0; flip < 8; flip++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            copy[(random >> 33) % sample.count] ^= (uint8_t)(1 << (random >> 30 & 7));
        }
        survives(trace_of, "flipped bits", (struct bytes){copy, sample.count});
        memcpy(copy, sample.at, sample.count);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_off),
        cmocka_unit_test(damaged),
        cmocka_unit_test(length_across_lines),
        cmocka_unit_test(hostile),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(bit_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
