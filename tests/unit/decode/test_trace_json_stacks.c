/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome JSON beside slices: objects, memory dumps, samples of call stacks, what stands around. */
#include "json_feed.h"

#define FRAMES                                                                                     \
    "\"stackFrames\":{\"1\":{\"name\":\"main\",\"category\":\"app\"},"                             \
    "\"7\":{\"name\":\"f\",\"category\":\"libm\",\"parent\":\"1\"},"                               \
    "\"8\":{\"name\":\"g\",\"parent\":7},"                                                         \
    "\"9\":{\"name\":\"loop\",\"parent\":9}}"
#define CHUNK(inside) "{\"ph\":\"P\",\"pid\":1,\"tid\":5,\"ts\":100,\"id\":\"0x2\"," inside "}"

static const struct json_row rows[] = {
    {"objects are moments in a lane of their process",
     "[{\"ph\":\"N\",\"cat\":\"cc\",\"name\":\"Layer\",\"id\":\"0x1\",\"ts\":1},"
     "{\"ph\":\"O\",\"name\":\"Layer\",\"id\":\"0x1\",\"ts\":2,\"args\":{\"snapshot\":{\"w\":3}}},"
     "{\"args\":{\"k\":1},\"ph\":\"D\",\"name\":\"Layer\",\"id\":\"0x1\",\"ts\":3}]",
     PICTURE_ARGS | PICTURE_NOTES,
     "process 0 / objects\n"
     "  1000000 +0 Layer [async] {object: \"created\", id: \"0x1\", cat: \"cc\"}\n"
     "  2000000 +0 Layer [async] {object: \"snapshot\", id: \"0x1\", snapshot: {\"w\":3}}\n"
     "  3000000 +0 Layer [async] {object: \"deleted\", id: \"0x1\", k: 1}\n"},
    {"memory dumps, with their totals; clock marks",
     "[{\"ph\":\"v\",\"name\":\"periodic\",\"pid\":3,\"id\":\"0x9\",\"ts\":1,\"args\":{\"dumps\":"
     "{\"process_totals\":{\"resident_set_bytes\":\"ff0\",\"odd\":\"x\"}}}},"
     "{\"ph\":\"c\",\"name\":\"clock_sync\",\"pid\":3,\"ts\":2,\"args\":{\"sync_id\":\"s\"}}]",
     PICTURE_ARGS | PICTURE_NOTES,
     "process 3 / memory dumps\n  1000000 +0 periodic [async] {id: \"0x9\", dumps: "
     "{\"process_totals\":{\"resident_set_bytes\":\"ff0\",\"odd\":\"x\"}}}\n"
     "process 3 / memory: resident_set_bytes\n  1000000 = 4080\n"
     "process 3 / clock marks\n  2000000 +0 clock_sync [async] {sync_id: \"s\"}\n"},
    {"samples name frames that stand behind them",
     "{\"traceEvents\":[{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":5,\"sf\":8},"
     "{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":6,\"name\":\"cycles\",\"sf\":\"7\"},"
     "{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":7,\"name\":\"alone\"},"
     "{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":8,\"sf\":99}]," FRAMES "}",
     PICTURE_NOTES,
     "samples samples/count\n"
     "  1 main in app; f in libm; g @5000000 on process 1 / thread 2\n"
     "  1 main in app; f in libm @6000000 on process 1 / thread 2 {event: \"cycles\"}\n"
     "  1 alone @7000000 on process 1 / thread 2 {event: \"alone\"}\n"
     "  1  @8000000 on process 1 / thread 2\n"
     "note unknown-frame 1 Samples name a stack frame that is not in the file.\n"},
    {"a list of samples, with weights; frames that call themselves",
     "{\"samples\":[{\"cpu\":\"-1\",\"pid\":1,\"tid\":\"2\",\"ts\":\"5\",\"weight\":\"3\",\"sf\":1}"
     ","
     "{\"pid\":1,\"tid\":2,\"ts\":6,\"weight\":2,\"sf\":7}],\"traceEvents\":[]," FRAMES "}",
     PICTURE_NOTES,
     "samples samples/count\n  3 main in app @5000000 on process 1 / thread 2\n  2 main in app; f "
     "in libm @6000000 on process 1 / thread 2\n"},
    {"V8's profile: nodes and samples in chunks, the thread of the first",
     "[{\"ph\":\"P\",\"name\":\"Profile\",\"pid\":1,\"tid\":2,\"ts\":9,\"id\":\"0x2\","
     "\"args\":{\"data\":{\"startTime\":10}}}," CHUNK(
         "\"name\":\"ProfileChunk\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":["
         "{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":0}},"
         "{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":\"f\",\"url\":\"x.js\","
         "\"lineNumber\":0}}],\"samples\":[2,1]},\"timeDeltas\":[4,-1]}}") "," CHUNK("\"args\":{"
                                                                                     "\"data\":{"
                                                                                     "\"cpuProfile"
                                                                                     "\":{"
                                                                                     "\"nodes\":[{"
                                                                                     "\"id\":3,"
                                                                                     "\"parent\":2,"
                                                                                     "\"callFrame\""
                                                                                     ":"
                                                                                     "{\"functionNa"
                                                                                     "me\":\"\","
                                                                                     "\"lineNumber"
                                                                                     "\":6}}],"
                                                                                     "\"samples\":["
                                                                                     "3,2]},"
                                                                                     "\"timeDeltas"
                                                                                     "\":[10]}},"
                                                                                     "\"name\":"
                                                                                     "\"ProfileChun"
                                                                                     "k\"") "]",
     PICTURE_NOTES,
     "samples samples/count\n"
     "  1 (root); f x.js:1 @14000000 on process 1 / thread 2\n  1 (root) @13000000 on process 1 / "
     "thread 2\n"
     "  1 (root); f x.js:1; (anonymous):7 @23000000 on process 1 / thread 2\n"
     "  1 (root); f x.js:1 @23000000 on process 1 / thread 2\n"},
    {"an older profile names children",
     "[{\"ph\":\"P\",\"name\":\"CpuProfile\",\"pid\":1,\"tid\":2,\"ts\":9,\"id\":1,"
     "\"args\":{\"data\":{\"cpuProfile\":{\"startTime\":20,\"nodes\":["
     "{\"id\":1,\"callFrame\":{\"functionName\":\"r\"},\"children\":[2]},"
     "{\"id\":2,\"callFrame\":{\"functionName\":\"f\"}}],\"samples\":[2],\"timeDeltas\":[1]}}}}]",
     0, "samples samples/count\n  1 r; f @21000000 on process 1 / thread 2\n"},
    {"the kernel's own trace is counted",
     "{\"traceEvents\":[],\"systemTraceEvents\":\"# tracer: nop\\nline\\nline\\n\"}", PICTURE_NOTES,
     "note not-read 3 Lines of the kernel's own trace (systemTraceEvents) are not read.\n"},
};

static void pictures(void **state)
{
    (void)state;
    check_rows(rows, COUNT(rows));
}

static void damage(void **state)
{
    (void)state;
    check_damaged(rows, COUNT(rows));
}

static void around(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct feed feed = {
        .text = STR("{\"traceEvents\":[],\"otherData\":{\"version\":\"1.2\",\"a\":{\"b\":[1]}},"
                    "\"metadata\":{\"n\":3},\"clientInfo\":{\"x\":1}}")};
    const struct trace *trace = decode(&feed, arena);
    const struct {
        const char *key, *text; /* NULL: an integer */
    } wants[] = {{"otherData.version", "1.2"},
                 {"otherData.a", "{\"b\":[1]}"},
                 {"metadata.n", NULL},
                 {"clientInfo", "{\"x\":1}"}};

    for (size_t i = 0; i < COUNT(wants); i++) {
        const struct property *property = &trace->properties[i];

        CHECK_STR("key", trace_name(trace, property->arg.key), wants[i].key);
        if (wants[i].text != NULL)
            CHECK_STR(wants[i].key, trace_name(trace, (name_id)property->arg.bits), wants[i].text);
        else
            CHECK_INT(wants[i].key, property->arg.bits, 3);
    }
    arena_destroy(arena);
}

/* A chain of callers longer than is shown keeps its innermost frames. */
static void deep(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text text = {0};

    text_puts(&text, "{\"traceEvents\":[{\"ph\":\"P\",\"ts\":1,\"sf\":2000}],\"stackFrames\":{");
    for (int i = 0; i <= 2000; i++)
        text_putf(&text, "%s\"%d\":{\"name\":\"f%d\",\"parent\":%d}", i > 0 ? "," : "", i, i,
                  i - 1);
    text_puts(&text, "}}");
    struct feed feed = {.text = text_str(&text)};
    const struct trace *trace = decode(&feed, arena);
    const struct stack *innermost = &trace->stacks[trace->samples[0].stack];

    CHECK_INT("frames", trace->stack_count, 1024);
    CHECK_STR("innermost", trace_name(trace, innermost->frame.function), "f2000");
    CHECK_HAS("said", trace_name(trace, trace->notes[0].message).at, "deeper than 1,024");
    text_free(&text);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),
        cmocka_unit_test(damage),
        cmocka_unit_test(around),
        cmocka_unit_test(deep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
