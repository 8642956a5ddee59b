/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn traces, exported: the events as they stand in the file. */
#include <stdlib.h>

#include "export/export.h"
#include "picture.h"

static enum status gather(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    text_put(to, (const char *)piece.at, piece.count);
    return OK;
}

static const char drawing[] = "/device:GPU:0 / Stream #7\n"
                              "  1000000 +5000400 step\n"
                              "    1000000 +2000900 a\n"
                              "    3000900 +2999500 b\n"
                              "  4000000 +4000000 late\n"
                              "    5000000 +1000000 child\n"
                              "  9000000 +0 mark\n"
                              "/device:GPU:0 / memory\n"
                              "  2000000 = 0.1\n"
                              "  7000000 = 1024\n";

static struct export_run run_of(const struct export_host *host)
{
    return (struct export_run){.hosts = host, .host_count = 1, .name = STR("r\"1")};
}

/* Everything but metadata, with the head cut off. */
static struct str events_of(const struct text *text, struct arena *arena)
{
    struct text kept = {0};
    struct str rest = text_str(text);

    while (rest.count > 0) {
        const char *end = memchr(rest.at, '\n', rest.count);
        struct str line = {rest.at, end != NULL ? (size_t)(end - rest.at) : rest.count};

        rest = str_skip(rest, line.count + (end != NULL));
        if (!str_starts(line, STR("{\"ph\"")) || str_starts(line, STR("{\"ph\":\"M\"")))
            continue;
        text_put(&kept, line.at, line.count);
        text_puts(&kept, "\n");
    }
    struct str whole = str_copy(arena, text_str(&kept));

    text_free(&kept);
    return whole;
}

static void whole_and_window(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host = {
        .trace = picture_trace(drawing, arena), .name = STR("hostA"), .offset_ps = 500};
    struct export_run run = run_of(&host);
    struct text text = {0};
    struct error err = {0};

    CHECK_OK("whole", export_chrome(&run, gather, &text, &err), &err);
    CHECK_STR("whole", events_of(&text, arena),
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"step\",\"cat\":"
              "\"compute\"},\n"
              "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":9,\"s\":\"t\",\"name\":\"mark\",\"cat\":"
              "\"compute\"},\n"
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2.001,\"name\":\"a\",\"cat\":"
              "\"compute\"},\n"
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":3.001,\"dur\":2.999,\"name\":\"b\",\"cat\":"
              "\"compute\"},\n"
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2000002,\"ts\":4,\"dur\":4,\"name\":\"late\","
              "\"cat\":\"compute\"},\n"
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2000002,\"ts\":5,\"dur\":1,\"name\":\"child\","
              "\"cat\":\"compute\"},\n"
              "{\"ph\":\"C\",\"pid\":1,\"tid\":3,\"ts\":2,\"name\":\"memory\",\"args\":{\"value\":"
              "0.1}},\n"
              "{\"ph\":\"C\",\"pid\":1,\"tid\":3,\"ts\":7,\"name\":\"memory\",\"args\":{\"value\":"
              "1024}}\n");
    CHECK("the run's name", str_contains(text_str(&text), STR("\"run\":\"r\\\"1\"")));
    CHECK("the process",
          str_contains(text_str(&text), STR("\"args\":{\"name\":\"/device:GPU:0\"}")));
    CHECK("the lane", str_contains(text_str(&text), STR("\"name\":\"Stream #7 (lane 3)\"")));
    CHECK("no empty event", !str_contains(text_str(&text), STR("{}")));

    text.count = 0;
    run.has_window = true;
    run.start_ps = 6500000;
    run.end_ps = 8000000;
    CHECK_OK("window", export_chrome(&run, gather, &text, &err), &err);
    CHECK_STR("window", events_of(&text, arena),
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2000002,\"ts\":4,\"dur\":4,\"name\":\"late\","
              "\"cat\":\"compute\"},\n"
              "{\"ph\":\"C\",\"pid\":1,\"tid\":3,\"ts\":7,\"name\":\"memory\",\"args\":{\"value\":"
              "1024}}\n");
    text_free(&text);
    arena_destroy(arena);
}

/* Two hosts keep apart; an empty trace is a whole file. */
static void hosts(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host both[] = {
        {.trace = picture_trace("P / t\n  1000 +1000 a\n", arena), .name = STR("hostA")},
        {.trace = picture_trace("P / t\n  1000 +1000 b\n", arena), .name = STR("hostB")},
    };
    struct export_run run = {.hosts = both, .host_count = 2};
    struct text text = {0};
    struct error err = {0};

    CHECK_OK("two", export_chrome(&run, gather, &text, &err), &err);
    CHECK_STR("two", events_of(&text, arena),
              "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.001,\"dur\":0.001,\"name\":\"a\",\"cat\":"
              "\"compute\"},\n"
              "{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":0.001,\"dur\":0.001,\"name\":\"b\",\"cat\":"
              "\"compute\"}\n");
    CHECK("named by host", str_contains(text_str(&text), STR("\"hostB P\"")));
    text.count = 0;
    run.host_count = 0;
    CHECK_OK("none", export_chrome(&run, gather, &text, &err), &err);
    CHECK_STR("none", text_str(&text),
              "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"run\":\"\"},\"traceEvents\":[\n]}\n");
    text_free(&text);
    arena_destroy(arena);
}

static void feed_args(struct sink *sink, void *data)
{
    (void)data;
    track_id track = sink_track(
        sink, (struct sink_track){
                  .parent = NO_TRACK, .name = STR("t"), .kind = TRACK_THREAD, .device = -1});
    name_id name = sink_name(sink, STR("a\n\xff"));
    type_id type = sink_type(sink, name);
    double real = -0.5;
    struct arg args[] = {
        {sink_name(sink, STR("i")), ARG_INT64, (uint64_t)-3},
        {sink_name(sink, STR("u")), ARG_UINT64, UINT64_MAX},
        {sink_name(sink, STR("d")), ARG_DOUBLE, 0},
        {sink_name(sink, STR("q")), ARG_DIGITS, 42},
        {sink_name(sink, STR("j")), ARG_JSON, sink_name(sink, STR("{\"a\":[1, 2]}"))},
        {sink_name(sink, STR("no")), ARG_JSON, sink_name(sink, STR("[1,}"))},
        {sink_name(sink, STR("b")), ARG_BOOL, 1},
        {sink_name(sink, STR("n")), ARG_NULL, 0},
    };

    memcpy(&args[2].bits, &real, sizeof real);
    sink_type_arg(
        sink, type,
        (struct arg){sink_name(sink, STR("cat")), ARG_STRING, sink_name(sink, STR("kernel"))});
    sink_type_arg(sink, type, (struct arg){sink_name(sink, STR("flops")), ARG_INT64, 7});
    sink_slice(sink,
               (struct sink_slice){
                   .track = track, .start_ps = 1000, .dur_ps = 2000, .name = name, .type = type});
    for (size_t i = 0; i < COUNT(args); i++)
        sink_arg(sink, args[i]);
    sink_flow(sink, FLOW_FROM, name, 9);
    sink_slice(sink, (struct sink_slice){.track = track,
                                         .start_ps = 5000,
                                         .dur_ps = 2000,
                                         .name = sink_name(sink, STR("b")),
                                         .type = 0});
    sink_flow(sink, FLOW_TO, name, 9);
}

static void args_and_flows(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host = {.trace = picture_fed(feed_args, NULL, arena)};
    struct export_run run = run_of(&host);
    struct text text = {0};
    struct error err = {0};

    CHECK_OK("args", export_chrome(&run, gather, &text, &err), &err);
    CHECK_STR(
        "args", events_of(&text, arena),
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0.001,\"dur\":0.002,\"name\":"
        "\"a\\u000a\xef\xbf\xbd\","
        "\"cat\":\"kernel\",\"args\":{\"flops\":7,\"i\":-3,\"u\":18446744073709551615,\"d\":-0.5,"
        "\"q\":\"42\",\"j\":{\"a\":[1, 2]},\"no\":\"[1,}\",\"b\":true,\"n\":null}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0.005,\"dur\":0.002,\"name\":\"b\",\"cat\":"
        "\"compute\"},\n"
        "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":0.001,\"id\":1,\"name\":\"a\\u000a\xef\xbf\xbd\","
        "\"cat\":\"flow\",\"bp\":\"e\"},\n"
        "{\"ph\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0.005,\"id\":1,\"name\":\"a\\u000a\xef\xbf\xbd\","
        "\"cat\":\"flow\",\"bp\":\"e\"}\n");
    text_free(&text);
    arena_destroy(arena);
}

static enum status refuse(void *to, struct bytes piece, struct error *err)
{
    (void)to, (void)piece;
    return error_set(err, ERR_IO, __FILE__, __LINE__, "gone");
}

static bool stop(void *data)
{
    (void)data;
    return true;
}

static void broken_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host = {.trace = picture_trace(drawing, arena)};
    struct export_run run = run_of(&host);
    struct error err = {0};

    CHECK_INT("the reader is gone", export_chrome(&run, refuse, NULL, &err), ERR_IO);
    CHECK_STR("its own words", str_of(err.message), "gone");
    err = (struct error){0};
    CHECK_INT("csv too", export_csv(&run, refuse, NULL, &err), ERR_IO);
    struct text text = {0};

    err = (struct error){0};
    run.cancelled = stop;
    CHECK_INT("stopped", export_chrome(&run, gather, &text, &err), ERR_CANCELLED);
    text_free(&text);
    arena_destroy(arena);
}

static void csv(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host = {
        .trace = picture_trace("P / t,1\n  1000 +5000 say \"hi\"\n    2000 +1000 =cmd\n", arena),
        .name = STR("hostA"),
        .offset_ps = -1000};
    struct export_run run = run_of(&host);
    struct text text = {0};
    struct error err = {0};

    CHECK_OK("csv", export_csv(&run, gather, &text, &err), &err);
    CHECK_STR("csv", text_str(&text),
              "host,process,track,depth,start_ps,dur_ps,self_ps,name,kind,flags\r\n"
              "hostA,P,\"t,1\",0,0,5000,4000,\"say \"\"hi\"\"\",compute,\r\n"
              "hostA,P,\"t,1\",1,1000,1000,1000,\"'=cmd\",compute,\r\n");
    text_free(&text);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_and_window),
        cmocka_unit_test(hosts),
        cmocka_unit_test(args_and_flows),
        cmocka_unit_test(broken_off),
        cmocka_unit_test(csv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
