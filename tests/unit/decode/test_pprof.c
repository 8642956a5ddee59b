/* SPDX-License-Identifier: Apache-2.0 */
/* pprof profiles of memory and CPU: stacks, odd fields, cut files, damage. */
#include "made_profile.h"
#include "survives.h"

/* What jax.profiler.save_device_memory_profile writes. */
static void make_memory(struct made *made)
{
    struct text sample = {0};

    put_type(made, 1, "allocations", "count");
    put_type(made, 1, "space", "bytes");
    put_numbers(&sample, 1, true, (int64_t[]){1, 2}, 2);
    put_numbers(&sample, 2, true, (int64_t[]){2, 4096}, 2);
    put_label(made, &sample, "kind", "buffer", 0, NULL);
    put_label(made, &sample, "device", "TPU_0(process=0,(0,0,0,0))", 0, NULL);
    put_message(&made->file, 2, &sample);
    put_numbers(&sample, 1, true, (int64_t[]){3, 2}, 2);
    put_numbers(&sample, 2, true, (int64_t[]){1, -1}, 2);
    put_label(made, &sample, "kind", "executable", 0, NULL);
    put_message(&made->file, 2, &sample);
    put_location(made, 1, 0, 0, &(struct made_line){1, 87}, 1);
    put_location(made, 2, 0, 0, &(struct made_line){2, 12}, 1);
    put_location(made, 3, 0, 0, &(struct made_line){3, 5}, 1);
    put_function(made, 1, "apply_primitive", "jax/_src/dispatch.py");
    put_function(made, 2, "main", "train.py");
    put_function(made, 3, "backend_compile", "jax/_src/compiler.py");
    text_free(&sample);
}

static void device_memory(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    make_memory(&made);
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE(
        "a snapshot", trace, PICTURE_NOTES,
        "samples allocations/count space/bytes\n  2 4096 main train.py:12; apply_primitive "
        "jax/_src/dispatch.py:87 {kind: \"buffer\", device: \"TPU_0(process=0,(0,0,0,0))\"}\n  1 "
        "-1 main train.py:12; backend_compile jax/_src/compiler.py:5 {kind: \"executable\"}\nnote "
        "unknown-sizes 1 Some values are negative: JAX writes -1 for an executable of unknown "
        "size. They are summed as they are.\n");
    CHECK("no epoch", !trace->has_epoch);
    CHECK_HAS("no epoch", str_c(arena, trace->epoch_reason), "when it was taken");
    CHECK_STR("format", str_of(trace->format), "pprof");
    free_made(&made);
    arena_destroy(arena);
}

static void make_cpu(struct made *made)
{
    struct text sample = {0};

    put_number(&made->file, 9, INT64_C(1537130863468834518));
    put_number(&made->file, 10, 2000000000);
    put_number(&made->file, 12, 10000000);
    put_type(made, 1, "samples", "count");
    put_type(made, 1, "cpu", "nanoseconds");
    put_type(made, 11, "cpu", "nanoseconds");
    put_number(&made->file, 13, string_of(made, "made by hand"));
    put_number(&made->file, 14, string_of(made, "samples")); /* the last one counts */
    put_number(&made->file, 14, string_of(made, "cpu"));
    put_mapping(made, 7, 0x400000, 0x1000, "/usr/lib/libc.so.6");
    put_function(made, 900, "outer", "a.cc");
    put_function(made, 901, "inlined", "a.h");
    put_location(made, 100, 7, 0x400123, (struct made_line[]){{901, 3}, {900, 44}},
                 2); /* innermost first */
    put_location(made, 101, 7, 0x400456, NULL, 0);
    put_location(made, 102, 0, 0xdead, NULL, 0);
    put_numbers(&sample, 1, false, (int64_t[]){101, 100, 102}, 3);
    put_numbers(&sample, 2, false, (int64_t[]){1, 10000000}, 2);
    put_label(made, &sample, "request", NULL, 77, "bytes");
    put_message(&made->file, 2, &sample);
    text_free(&sample);
}

/* Inlined frames, addresses without a symbol, numbers that are not packed, ids in any order. */
static void cpu(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    make_cpu(&made);
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE("a CPU profile", trace, PICTURE_NOTES,
                  "samples samples/count cpu/nanoseconds\n"
                  "  1 10000000 0xdead; outer a.cc:44 in /usr/lib/libc.so.6; "
                  "inlined a.h:3 in /usr/lib/libc.so.6; "
                  "libc.so.6+0x1456 in /usr/lib/libc.so.6 {request: 77}\n");
    CHECK("epoch", trace->has_epoch);
    CHECK_INT("epoch", trace->epoch_ns, INT64_C(1537130863468834518));
    const struct {
        const char *key, *text;
        int64_t number;
    } wanted[] = {
        {"comment", "made by hand", 0},
        {"default_sample_type", "cpu", 0},
        {"period_type", "cpu/nanoseconds", 0},
        {"unit of label request", "bytes", 0},
        {"duration_ns", NULL, 2000000000},
        {"period", NULL, 10000000},
        {"profile_samples", NULL, 1},
        {"profile_locations", NULL, 3},
        {"profile_functions", NULL, 2},
        {"profile_mappings", NULL, 1},
        {"profile_depth", NULL, 4},
    };
    CHECK_INT("properties", trace->property_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const struct property *found = NULL;
        for (uint32_t j = 0; j < trace->property_count; j++)
            if (str_equal(trace_name(trace, trace->properties[j].arg.key), str_of(wanted[i].key)))
                found = &trace->properties[j];
        CHECK(wanted[i].key, found != NULL);
        if (wanted[i].text != NULL)
            CHECK_STR(wanted[i].key, trace_name(trace, (name_id)found->arg.bits), wanted[i].text);
        else
            CHECK_INT(wanted[i].key, (int64_t)found->arg.bits, wanted[i].number);
    }
    free_made(&made);
    arena_destroy(arena);
}

/* What does not fit together is kept as far as it goes, and counted. */
static void odd(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct text sample = {0};

    put_type(&made, 1, "space", "bytes");
    put_type(&made, 1, "space", "bytes");
    put_numbers(&sample, 1, true, (int64_t[]){1, 99, 2}, 3);
    put_numbers(&sample, 2, true, (int64_t[]){5}, 1);
    put_message(&made.file, 2, &sample);
    put_numbers(&sample, 2, true, (int64_t[]){6, 7, 8}, 3);
    put_message(&made.file, 2, &sample);
    text_put(&made.file, "\x12\x02\x0a\x09", 4); /* a list longer than its sample */
    put_location(&made, 1, 0, 16, &(struct made_line){55, 1}, 1);
    put_location(&made, 2, 0, 32, &(struct made_line){3, 1}, 1);
    text_put(&made.file, "\x2a\x04\x08\x03\x10\x63", 6); /* function 3, string 99 */
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE(
        "odd", trace, PICTURE_NOTES,
        "samples space/bytes space (value 2)/bytes\n  5 0 0x20:1; 0x10:1\n  6 7 \nnote corrupt 1 "
        "Parts of the file could not be read and are left out, the first at byte 31 of the "
        "unpacked file; copy the file again if the original is intact.\nnote lost-names 1 Some "
        "names are not in the file; functions without one are shown by their address.\nnote "
        "lost-frames 2 Some frames of stacks are not in the file and are left out or shown by "
        "their address.\nnote odd-values 2 Some samples have fewer or more values than there are "
        "sample types; missing values count as 0, extra ones are left out.\n");
    text_free(&sample);
    free_made(&made);
    arena_destroy(arena);
}

/* The strings stand last: whoever cuts the file loses the names, not the samples. */
static void cut_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct error err = {0};

    make_memory(&made);
    size_t before_strings = made.file.count;
    struct bytes whole = made_bytes(&made);
    const struct trace *trace = trace_of((struct bytes){whole.at, before_strings + 3}, arena, &err);
    CHECK_OK("cut", err.code, &err);
    CHECK_INT("samples", trace->stack_sample_count, 2);
    CHECK_INT("values", trace->sample_values[1], 4096);
    CHECK_STR("notes", trace_name(trace, trace->notes[0].kind), "lost-names");
    CHECK_STR("notes", trace_name(trace, trace->notes[trace->note_count - 1].kind), "truncated");

    trace = trace_of((struct bytes){whole.at, 9}, arena, &err);
    CHECK("nothing whole", trace == NULL);
    CHECK_INT("nothing whole", err.code, ERR_TRUNCATED);
    CHECK_HAS("nothing whole", err.message, "copy it again");
    free_made(&made);
    arena_destroy(arena);
}

static void damaged(void **state)
{
    (void)state;
    struct made memory = {0}, cpu_profile = {0};
    struct made *files[] = {&memory, &cpu_profile};

    make_memory(&memory);
    make_cpu(&cpu_profile);
    for (size_t i = 0; i < COUNT(files); i++) {
        struct bytes whole = made_bytes(files[i]);
        uint8_t *at = (uint8_t *)(uintptr_t)whole.at;

        for (size_t count = 0; count <= whole.count; count++)
            survives(trace_of, "a prefix", (struct bytes){whole.at, count});
        for (size_t bit = 0; bit < whole.count * 8; bit++) {
            at[bit / 8] ^= (uint8_t)(1 << bit % 8);
            survives(trace_of, "a flipped bit", whole);
            at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free_made(files[i]);
    }
}

/* One location of many inlined frames, met many times: as cheap as one frame. */
static void many_inlined(void **state)
{
    (void)state;
    enum { FRAMES = 20000, SAMPLES = 20000 };
    struct arena *arena = arena_create();
    struct made made = {0};
    struct text sample = {0};
    struct made_line *lines = arena_array(arena, struct made_line, FRAMES);

    for (size_t i = 0; i < FRAMES; i++)
        lines[i] = (struct made_line){1, (int64_t)i};
    put_type(&made, 1, "cpu", "nanoseconds");
    put_function(&made, 1, "f", "");
    put_location(&made, 1, 0, 0, lines, FRAMES);
    for (size_t i = 0; i < SAMPLES; i++) {
        put_numbers(&sample, 1, true, (int64_t[]){1}, 1);
        put_numbers(&sample, 2, true, (int64_t[]){1}, 1);
        put_message(&made.file, 2, &sample);
    }
    const struct trace *trace = made_trace(&made, arena);
    CHECK_INT("stacks", trace->stack_count, FRAMES);
    CHECK_INT("samples", trace->stack_sample_count, SAMPLES);
    CHECK_INT("the innermost", trace->samples[SAMPLES - 1].stack, FRAMES - 1);
    text_free(&sample);
    free_made(&made);
    arena_destroy(arena);
}

static void told_apart(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made memory = {0}, cpu_profile = {0};
    struct made *files[] = {&memory, &cpu_profile};
    struct error err = {0};
    struct input input;

    make_memory(&memory);
    make_cpu(&cpu_profile);
    for (size_t i = 0; i < COUNT(files); i++) {
        CHECK_OK("open", input_open(STR("x"), made_bytes(files[i]), NULL, arena, &input, &err),
                 &err);
        CHECK("pprof", decode_identify(&input).decoder == &decode_pprof);
        CHECK_INT("part", decode_identify(&input).decoder->part, PART_SNAPSHOT);
        input_close(&input);
        free_made(files[i]);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_memory), cmocka_unit_test(cpu),     cmocka_unit_test(odd),
        cmocka_unit_test(cut_off),       cmocka_unit_test(damaged), cmocka_unit_test(many_inlined),
        cmocka_unit_test(told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
