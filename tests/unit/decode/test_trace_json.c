/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome JSON -> pictures. Rows hold the events; times are microseconds there, picoseconds here. */
#include <stdio.h>

#include "json_feed.h"
#include "trace/args/args.h"

#define HEAD "process 0 / thread 0\n"

static const struct json_row rows[] = {
    {"complete slices nest",
     "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5.5},"
     "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":11,\"dur\":2}]",
     0,
     "process 1 / thread 2\n"
     "  10000000 +5500000 a\n"
     "    11000000 +2000000 b\n"},
    {"the object form; an empty event at the end",
     "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}"
     ","
     "{}]}",
     PICTURE_NOTES, HEAD "  1000000 +1000000 a\n"},
    {"a byte order mark, blanks, trailing commas",
     "\xef\xbb\xbf [\n {\"ph\":\"X\" , \"name\" : \"a\",\"ts\":1,\"dur\":1,} , ] \n", PICTURE_NOTES,
     HEAD "  1000000 +1000000 a\n"},
    {"names come before or after",
     "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"main\"}},"
     "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1},"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"worker\"}}]",
     0, "main / worker\n  1000000 +1000000 a\n"},
    {"texts as pid and tid, a text as time",
     "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":\"Spans\",\"tid\":\"P\",\"ts\":\"1.5\",\"dur\":\"2\"}]",
     0, "Spans / P\n  1500000 +2000000 a\n"},
    {"negative and huge ids",
     "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":-1,\"tid\":9007199254740993,\"ts\":1,\"dur\":1}]", 0,
     "process -1 / thread 9007199254740993\n  1000000 +1000000 a\n"},
    {"times below a nanosecond",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1211905.757553,\"dur\":4.3961589999999999}]", 0,
     HEAD "  1211905757553 +4396159 a\n"},
    {"times from 1970 start at the first",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1669783687464181,\"dur\":45},"
     "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1669783687464180.5,\"dur\":0.25}]",
     0, HEAD "  -500000 +250000 b\n  0 +45000000 a\n"},
    {"a time far from the others is set aside",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1669783687464181,\"dur\":1},"
     "{\"ph\":\"i\",\"name\":\"b\",\"ts\":5}]",
     PICTURE_NOTES,
     HEAD "  0 +1000000 a\nnote stray-times 1 Events more than 53 days away from all others are "
          "left out.\n"},
    {"a length of 236 years is set aside",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1000,\"dur\":1},"
     "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1300,\"dur\":7447446000000000}]",
     PICTURE_NOTES,
     HEAD "  1000000000 +1000000 a\nnote stray-times 1 Slices longer than 53 days are left out: "
          "their end was probably not recorded.\n"},
    {"B and E",
     "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1},{\"ph\":\"B\",\"name\":\"b\",\"ts\":2},"
     "{\"ph\":\"E\",\"ts\":3},{\"ph\":\"E\",\"ts\":5}]",
     PICTURE_NOTES, HEAD "  1000000 +4000000 a\n    2000000 +1000000 b\n"},
    {"B and E that begin and end together nest in the order of the file",
     "[{\"ph\":\"B\",\"name\":\"main\",\"ts\":0},{\"ph\":\"B\",\"name\":\"a\",\"ts\":5},"
     "{\"ph\":\"B\",\"name\":\"b\",\"ts\":5,\"args\":{\"x\":1}},{\"ph\":\"B\",\"name\":\"c\","
     "\"ts\":5},"
     "{\"ph\":\"E\",\"ts\":7},{\"ph\":\"E\",\"ts\":7,\"args\":{\"x\":2}},{\"ph\":\"E\",\"ts\":7},"
     "{\"ph\":\"E\",\"ts\":9}]",
     PICTURE_ARGS,
     HEAD "  0 +9000000 main\n    5000000 +2000000 a\n      5000000 +2000000 b {x: 1, x: 2}\n"
          "        5000000 +2000000 c\n"},
    {"X in a B of its times, and a B in an X",
     "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1},{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":2},"
     "{\"ph\":\"E\",\"ts\":3},{\"ph\":\"X\",\"name\":\"c\",\"ts\":5,\"dur\":2},"
     "{\"ph\":\"B\",\"name\":\"d\",\"ts\":5},{\"ph\":\"E\",\"ts\":7}]",
     0,
     HEAD "  1000000 +2000000 a\n    1000000 +2000000 b\n  5000000 +2000000 c\n"
          "    5000000 +2000000 d\n"},
    {"those cut together nest in the order of the file",
     "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1},{\"ph\":\"B\",\"name\":\"b\",\"ts\":1},"
     "{\"ph\":\"B\",\"name\":\"c\",\"ts\":1},{\"ph\":\"E\",\"name\":\"b\",\"ts\":4}]",
     0,
     HEAD "  1000000 +3000000 a [cut]\n    1000000 +3000000 b\n      1000000 +3000000 c [cut]\n"},
    {"args of both ends, in order",
     "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":1}},"
     "{\"ph\":\"E\",\"ts\":3,\"args\":{\"x\":2,\"y\":\"z\"}}]",
     PICTURE_ARGS, HEAD "  1000000 +2000000 a {x: 1, x: 2, y: \"z\"}\n"},
    {"an end by name cuts what it encloses",
     "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1},{\"ph\":\"B\",\"name\":\"b\",\"ts\":2},"
     "{\"ph\":\"E\",\"name\":\"a\",\"ts\":5}]",
     PICTURE_NOTES,
     HEAD "  1000000 +4000000 a\n    2000000 +3000000 b [cut]\nnote unfinished 1 Slices whose end "
          "is not in the file end with the slice around them.\n"},
    {"ends without beginnings, beginnings without ends",
     "[{\"ph\":\"E\",\"ts\":1},{\"ph\":\"B\",\"name\":\"a\",\"ts\":2},"
     "{\"ph\":\"X\",\"name\":\"x\",\"ts\":3,\"dur\":4}]",
     PICTURE_NOTES,
     HEAD "  2000000 +5000000 a [cut]\n    3000000 +4000000 x\nnote unbalanced 1 Ends of slices "
          "whose begin is not in the file are left out.\nnote unfinished 1 Slices whose end is not "
          "in the file end with the slice around them.\n"},
    {"an end before its beginning",
     "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":5},{\"ph\":\"E\",\"ts\":3}]", PICTURE_NOTES,
     HEAD "  5000000 +0 a [clamped]\n"
          "note negative-duration 1 Slices that end before they begin are shown as instants.\n"},
    {"a negative length, no length, no time",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-1},{\"ph\":\"X\",\"name\":\"b\",\"ts\":2},"
     "{\"ph\":\"X\",\"name\":\"c\",\"dur\":1}]",
     PICTURE_NOTES,
     HEAD "  1000000 +0 a [clamped]\n  2000000 +0 b [cut]\nnote without-time 1 Events without a "
          "readable time (ts) are left out.\nnote unfinished 1 Slices without a duration (dur) are "
          "shown as instants.\nnote negative-duration 1 Slices that end before they begin are "
          "shown as instants.\n"},
    {"instants of every spelling",
     "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"s\":\"g\"},{\"ph\":\"I\",\"name\":\"b\",\"ts\":2},"
     "{\"ph\":\"R\",\"name\":\"c\",\"ts\":3}]",
     0, HEAD "  1000000 +0 a\n  2000000 +0 b\n  3000000 +0 c\n"},
    {"asynchronous slices lie in lanes, by id and name",
     "[{\"ph\":\"b\",\"cat\":\"req\",\"id\":1,\"name\":\"a\",\"ts\":1},"
     "{\"ph\":\"b\",\"cat\":\"req\",\"id\":\"0x2\",\"name\":\"b\",\"ts\":2},"
     "{\"ph\":\"n\",\"cat\":\"req\",\"id\":1,\"name\":\"m\",\"ts\":2.5},"
     "{\"ph\":\"e\",\"cat\":\"req\",\"id\":\"1\",\"name\":\"a\",\"ts\":3},"
     "{\"ph\":\"e\",\"cat\":\"req\",\"id\":2,\"name\":\"b\",\"ts\":4}]",
     PICTURE_NOTES,
     "process 0 / req\n  1000000 +2000000 a [async]\n    2000000 +2000000 b [async]\n"
     "      2500000 +0 m [async]\n"},
    {"asynchronous slices of one id end by name",
     "[{\"ph\":\"b\",\"cat\":\"req\",\"id\":1,\"name\":\"a\",\"ts\":1},"
     "{\"ph\":\"b\",\"cat\":\"req\",\"id\":1,\"name\":\"b\",\"ts\":2},"
     "{\"ph\":\"e\",\"cat\":\"req\",\"id\":1,\"name\":\"a\",\"ts\":3},"
     "{\"ph\":\"e\",\"cat\":\"req\",\"id\":1,\"name\":\"b\",\"ts\":5}]",
     PICTURE_NOTES,
     "process 0 / req\n  1000000 +2000000 a [async]\n    2000000 +3000000 b [async]\n"},
    {"asynchronous slices of one id that begin and end together lie in the order of the file",
     "[{\"ph\":\"b\",\"cat\":\"c\",\"id\":1,\"name\":\"a\",\"ts\":1},"
     "{\"ph\":\"b\",\"cat\":\"c\",\"id\":1,\"name\":\"b\",\"ts\":1},"
     "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"name\":\"b\",\"ts\":9},"
     "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"name\":\"a\",\"ts\":9}]",
     0, "process 0 / c\n  1000000 +8000000 a [async]\n    1000000 +8000000 b [async]\n"},
    {"the elders S T F, and local ids",
     "[{\"ph\":\"S\",\"id\":7,\"name\":\"a\",\"ts\":1},{\"ph\":\"T\",\"id\":7,\"name\":\"a\","
     "\"ts\":2},"
     "{\"ph\":\"F\",\"id\":7,\"name\":\"a\",\"ts\":3},"
     "{\"ph\":\"b\",\"pid\":1,\"id2\":{\"local\":\"7\"},\"name\":\"x\",\"ts\":4},"
     "{\"ph\":\"e\",\"pid\":2,\"id2\":{\"local\":\"7\"},\"name\":\"x\",\"ts\":5},"
     "{\"ph\":\"e\",\"pid\":1,\"id2\":{\"local\":\"7\"},\"name\":\"x\",\"ts\":6}]",
     PICTURE_NOTES,
     "process 0 / async\n  1000000 +2000000 a [async]\n    2000000 +0 a [async]\nprocess 1 / "
     "async\n  4000000 +2000000 x [async]\nnote unbalanced 1 Ends of slices whose begin is not in "
     "the file are left out.\n"},
    {"counters: a track a name, id and series",
     "[{\"ph\":\"C\",\"name\":\"mem\",\"ts\":1,\"args\":{\"used\":5,\"free\":2.5}},"
     "{\"ph\":\"C\",\"name\":\"load\",\"id\":3,\"ts\":1,\"args\":{\"value\":\"7\"}},"
     "{\"ph\":\"C\",\"name\":\"mem\",\"ts\":2,\"args\":{\"used\":6,\"free\":\"none\"}}]",
     PICTURE_NOTES,
     "process 0 / mem: used\n  1000000 = 5\n  2000000 = 6\nprocess 0 / mem: free\n  1000000 = "
     "2.5\nprocess 0 / load[3]\n  1000000 = 7\nnote left-out 1 Counter values that are not numbers "
     "are left out.\n"},
    {"args keep order, types and doubles",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"i\":-3,"
     "\"u\":18446744073709551615,\"d\":0.1,\"s\":\"t\",\"q\":\"123\",\"z\":\"007\",\"b\":true,"
     "\"n\":null,\"o\":{\"k\":[1]},\"i\":4},\"tts\":9}]",
     PICTURE_ARGS,
     HEAD "  1000000 +1000000 a {i: -3, u: 18446744073709551615u, d: 0.10000000000000001, "
          "s: \"t\", q: \"123\", z: \"007\", b: true, n: null, o: {\"k\":[1]}, i: 4, tts: 9}\n"},
    {"quoted integers beyond 64 bits are texts",
     "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":\"18446744073709551616\","
     "\"y\":\"18446744073709551615\",\"z\":\"99999999999999999999\",\"w\":\"0\",\"v\":\"1x\"}}]",
     PICTURE_ARGS,
     HEAD "  1000000 +0 a {x: \"18446744073709551616\", y: \"18446744073709551615\", "
          "z: \"99999999999999999999\", w: \"0\", v: \"1x\"}\n"},
    {"escapes in names, keys and values",
     "[{\"ph\":\"X\",\"name\":\"\\u00e9\\n\",\"ts\":1,\"dur\":1,\"args\":{\"a\\\"b\":"
     "\"\\ud83d\\ude00\"}}]",
     PICTURE_ARGS, HEAD "  1000000 +1000000 \xc3\xa9\n {a\"b: \"\xf0\x9f\x98\x80\"}\n"},
    {"flows bind to what encloses, or to what comes next",
     "[{\"ph\":\"X\",\"name\":\"launch\",\"tid\":1,\"ts\":1,\"dur\":2},"
     "{\"ph\":\"s\",\"cat\":\"ac2g\",\"id\":5,\"tid\":1,\"ts\":2},"
     "{\"ph\":\"f\",\"cat\":\"ac2g\",\"id\":5,\"tid\":2,\"ts\":3},"
     "{\"ph\":\"f\",\"cat\":\"ac2g\",\"id\":5,\"tid\":2,\"ts\":6,\"bp\":\"e\"},"
     "{\"ph\":\"X\",\"name\":\"kernel\",\"tid\":2,\"ts\":4,\"dur\":1},"
     "{\"ph\":\"X\",\"name\":\"other\",\"tid\":2,\"ts\":5.5,\"dur\":1}]",
     PICTURE_FLOWS,
     "process 0 / thread 1\n  1000000 +2000000 launch\n"
     "process 0 / thread 2\n  4000000 +1000000 kernel\n  5500000 +1000000 other\n"
     "launch -> kernel\nlaunch -> other\n"},
    {"flows by bind_id",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"bind_id\":\"0x9\",\"flow_out\":true},"
     "{\"ph\":\"X\",\"name\":\"b\",\"ts\":3,\"dur\":1,\"bind_id\":\"9\",\"flow_in\":true}]",
     PICTURE_FLOWS, HEAD "  1000000 +1000000 a\n  3000000 +1000000 b\na -> b\n"},
    {"kinds: by category, by track, by hlo_op",
     "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"/device:TPU:0\"}},"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"XLA Ops\"}},"
     "{\"ph\":\"X\",\"name\":\"all-reduce.1\",\"pid\":1,\"tid\":3,\"ts\":1,\"dur\":1},"
     "{\"ph\":\"X\",\"name\":\"fusion.1\",\"pid\":1,\"tid\":3,\"ts\":2,\"dur\":1},"
     "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"/host:CPU\"}},"
     "{\"ph\":\"X\",\"name\":\"dot.1\",\"pid\":7,\"tid\":1,\"ts\":3,\"dur\":1,\"args\":{\"hlo_op\":"
     "\"dot.1\"}},"
     "{\"ph\":\"X\",\"name\":\"end: "
     "dot.1\",\"pid\":7,\"tid\":1,\"ts\":4,\"dur\":1,\"args\":{\"hlo_op\":\"dot.1\"}},"
     "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"x\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1}]",
     PICTURE_KINDS,
     "/device:TPU:0 / XLA Ops\n  1000000 +1000000 all-reduce.1 (communication)\n"
     "  2000000 +1000000 fusion.1 (compute)\n"
     "/host:CPU / thread 1\n  3000000 +1000000 dot.1 (compute)\n  4000000 +1000000 end: dot.1 "
     "(host)\n"
     "GPU 0 / stream 7\n  5000000 +1000000 x (copy)\n"},
    {"what is not shown is counted",
     "[{\"ph\":\"?\",\"name\":\"o\",\"ts\":1},{\"ph\":\"?\"},{\"name\":\"no phase\"}]",
     PICTURE_NOTES,
     "note not-shown 1 Events without a known phase are not shown.\n"
     "note not-shown 2 Events of the unknown phase \"?\" are not shown.\n"},
    {"args that stand before the phase",
     "[{\"args\":{\"x\":1},\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"tts\":2},"
     "{\"args\":\"odd\",\"name\":\"b\",\"ph\":\"i\",\"ts\":1}]",
     PICTURE_ARGS, HEAD "  1000000 +1000000 a {tts: 2, x: 1}\n    1000000 +0 b {args: \"odd\"}\n"},
    {"arrows of one number and category are told apart by name",
     "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},"
     "{\"ph\":\"s\",\"cat\":\"c\",\"name\":\"p\",\"id\":1,\"ts\":1},"
     "{\"ph\":\"f\",\"cat\":\"c\",\"name\":\"q\",\"id\":1,\"ts\":3},"
     "{\"ph\":\"X\",\"name\":\"b\",\"ts\":3,\"dur\":1}]",
     PICTURE_FLOWS, HEAD "  1000000 +1000000 a\n  3000000 +1000000 b\n"},
    {"ids of a process, and of a scope, do not meet others",
     "[{\"ph\":\"b\",\"pid\":1,\"id\":7,\"scope\":\"s\",\"name\":\"a\",\"ts\":1},"
     "{\"ph\":\"b\",\"pid\":1,\"id\":7,\"name\":\"a\",\"ts\":2},"
     "{\"ph\":\"e\",\"pid\":1,\"id\":7,\"scope\":\"s\",\"name\":\"a\",\"ts\":3},"
     "{\"ph\":\"e\",\"pid\":1,\"id\":7,\"name\":\"a\",\"ts\":5}]",
     PICTURE_NOTES,
     "process 1 / async\n  1000000 +2000000 a [async]\n    2000000 +3000000 a [async]\n"},
    {"a quoted thread is the number; what has no name of its own is global",
     "[{\"ph\":\"i\",\"name\":\"a\",\"pid\":\"-1\",\"tid\":\"7\",\"ts\":1},"
     "{\"ph\":\"i\",\"name\":\"b\",\"pid\":-1,\"tid\":7,\"ts\":2},"
     "{\"ph\":\"i\",\"name\":\"c\",\"pid\":\"\",\"tid\":\"\",\"ts\":3}]",
     0,
     "process -1 / thread 7\n  1000000 +0 a\n  2000000 +0 b\n(global) / (global)\n  3000000 +0 "
     "c\n"},
    {"the closing bracket is missing", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},\n", PICTURE_NOTES,
     HEAD "  1000000 +0 a\nnote truncated 1 The closing bracket is missing: the file ends after an "
          "event, as when its writer is stopped.\n"},
    {"cut off in an event", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},{\"ph\":\"i\",\"na",
     PICTURE_NOTES,
     HEAD
     "  1000000 +0 a\nnote truncated 1 The file ends in the middle of an event or member, at byte "
     "43; everything before was read. It was probably truncated while copied: copy it again.\n"},
    {"a comma is missing",
     "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1} {\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
     PICTURE_NOTES,
     HEAD "  1000000 +0 a\n  2000000 +0 b\n"
          "note damaged 1 A comma is missing between two events.\n"},
    {"quotes that are not escaped lose one event",
     "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},\n"
     "{\"ph\":\"i\",\"name\":\"{\"device\": \"cpu\"}(12): run\",\"ts\":2},\n"
     "{\"ph\":\"i\",\"name\":\"b\",\"ts\":3},{\"ph\":\"i\",\"name\":\"c\",\"ts\":4}]",
     PICTURE_NOTES,
     HEAD "  1000000 +0 a\n  3000000 +0 b\n  4000000 +0 c\nnote damaged 1 Events that are not "
          "valid JSON are left out, 55 bytes in total; the events after them were read. The first "
          "is at byte 31 (a comma is missing between the members of an object): "
          "{\"ph\":\"i\",\"name\":\"{\"device\": \"cpu\"}(12): run\",\"ts\":2},\n"},
    {"the last event is broken",
     "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},{\"ph\":\"i\",\"name\":\"\"x\"\"}]", PICTURE_NOTES,
     HEAD "  1000000 +0 a\nnote damaged 1 Events that are not valid JSON are left out, 24 bytes in "
          "total; the events after them were read. The first is at byte 30 (a comma is missing "
          "between the members of an object): {\"ph\":\"i\",\"name\":\"\"x\"\"}]\n"},
    {"what is no event among events",
     "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},7,null,\"x\",[],{\"ph\":\"i\",\"name\":\"b\",\"ts\":"
     "2}]",
     PICTURE_NOTES,
     HEAD "  1000000 +0 a\n  2000000 +0 b\nnote left-out 4 Items of the event list that are not "
          "objects are left out.\n"},
    {"an event a line, without an array around them",
     "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1}\n{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}\n",
     PICTURE_NOTES, HEAD "  1000000 +0 a\n  2000000 +0 b\n"},
    {"something behind the end", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1}] x", PICTURE_NOTES,
     HEAD "  1000000 +0 a\nnote trailing 1 Data after the end of the trace is not read.\n"},
};

static void pictures(void **state)
{
    (void)state;
    check_rows(rows, COUNT(rows));
}

/* 100 kernels of 50 us, and one event that has no time or one of hours before: it moves nothing. */
static void strays(void **state)
{
    (void)state;
    const struct {
        const char *what, *ts;
        int at;
        uint64_t slices, notes;
    } rows_of[] = {
        {"none", "1694128201426555", 0, 101, 0},
        {"0 comes first", "0", 0, 100, 1},
        {"0 comes late", "0", 100, 100, 1},
        {"2^64 ns comes in between", "1.844674407370955e+16", 50, 100, 1},
        {"two hours before", "1694121001426556", 0, 100, 1},
        {"two hours behind", "1694135401426556", 99, 100, 1},
    };

    for (size_t i = 0; i < COUNT(rows_of); i++) {
        struct arena *arena = arena_create();
        struct text text = {0};

        text_puts(&text, "[");
        for (int event = 0; event <= 100; event++) {
            if (event == rows_of[i].at)
                text_putf(&text, "{\"ph\":\"X\",\"name\":\"odd\",\"ts\":%s,\"dur\":0.5},",
                          rows_of[i].ts);
            if (event < 100)
                text_putf(&text, "{\"ph\":\"X\",\"name\":\"k\",\"ts\":%lld,\"dur\":50},",
                          1694128201426556LL + 100LL * event);
        }
        text_puts(&text, "{}]");
        struct feed feed = {.text = text_str(&text)};
        const struct trace *trace = decode(&feed, arena);

        CHECK_OK(rows_of[i].what, feed.status, &feed.err);
        CHECK_INT(rows_of[i].what, trace->slice_count, rows_of[i].slices);
        CHECK_INT(rows_of[i].what, trace->note_count, rows_of[i].notes);
        CHECK(rows_of[i].what, trace->end_ps - trace->start_ps <= INT64_C(9952000000));
        text_free(&text);
        arena_destroy(arena);
    }
}

static const struct property *property(const struct trace *trace, const char *key)
{
    for (uint32_t i = 0; i < trace->property_count; i++)
        if (str_equal(trace_name(trace, trace->properties[i].arg.key), str_of(key)))
            return &trace->properties[i];
    check_failed(__FILE__, __LINE__, key, "there is no such property");
    return NULL;
}

static void about_the_file(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct feed feed = {
        .text = STR("{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0}],\"traceEvents\":["
                    "{\"ph\":\"X\",\"name\":\"a\",\"pid\":4,\"ts\":12,\"dur\":1},"
                    "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":4,"
                    "\"args\":{\"sort_index\":9}}],\"traceName\":\"t\","
                    "\"baseTimeNanoseconds\":1751410836000000000}")};
    const struct trace *trace = decode(&feed, arena);

    CHECK_STR("format", str_of(trace->format), "chrome-json");
    CHECK("epoch", trace->has_epoch);
    CHECK_INT("epoch", trace->epoch_ns, 1751410836000000000);
    CHECK_INT("events", property(trace, "events")->arg.bits, 2);
    CHECK_INT("by phase", property(trace, "events of phase X")->arg.bits, 1);
    CHECK_INT("sort index", property(trace, "sort_index")->arg.bits, 9);
    CHECK_INT("of the process", property(trace, "sort_index")->track, 0);
    CHECK_STR("a text", trace_name(trace, (name_id)property(trace, "traceName")->arg.bits), "t");
    CHECK_STR("nested", trace_name(trace, (name_id)property(trace, "deviceProperties")->arg.bits),
              "[{\"id\":0}]");

    feed.text =
        STR("{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"i\",\"ts\":1669783687464181}]}");
    trace = decode(&feed, arena);
    CHECK_INT("Kineto of old counts from 1970", trace->epoch_ns, 1669783687464181000);
    feed.text = STR("[{\"ph\":\"i\",\"ts\":1669783687464181}]");
    trace = decode(&feed, arena);
    CHECK("others do not say", !trace->has_epoch && trace->epoch_reason.count > 0);
    arena_destroy(arena);
}

static void memory(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct feed feed = {
        .text =
            STR("[{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Bytes\":-512,"
                "\"Device Type\":1,\"Device Id\":3,\"Total Allocated\":7,\"Total Reserved\":9}},"
                "{\"ph\":\"X\",\"name\":\"MemoryAllocation\",\"ts\":2,\"dur\":1,\"args\":{"
                "\"allocator_name\":\"bfc\",\"requested_bytes\":\"64\","
                "\"bytes_allocated\":\"128\",\"peak_bytes_in_use\":\"-2\"}}]")};
    const struct trace *trace = decode(&feed, arena);
    const struct memory_event *events = trace->memory_events;

    CHECK_INT("events", trace->memory_event_count, 2);
    CHECK_STR("Kineto's", trace_name(trace, events[0].allocator), "GPU 3");
    CHECK("a free", events[0].is_free);
    CHECK_INT("bytes", events[0].bytes, 512);
    CHECK_INT("in use", events[0].bytes_allocated, 7);
    CHECK_INT("held and not in use", events[0].bytes_available, 2);
    CHECK_STR("JAX's", trace_name(trace, events[1].allocator), "bfc");
    CHECK_INT("at", events[1].at_ps, 2000000);
    CHECK_INT("requested", events[1].bytes, 64);
    CHECK_INT("in use", events[1].bytes_allocated, 128);
    CHECK_INT("nonsense is unknown", events[1].peak_bytes, -1);
    arena_destroy(arena);
}

/* JAX's exporter stops at a million. */
static void capped(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text text = {0};

    text_puts(&text, "{\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[");
    for (int i = 0; i < 1000000; i++)
        text_putf(&text, "{\"ph\":\"X\",\"ts\":%d,\"dur\":1e-06},", i);
    text_puts(&text, "{}]}");
    struct feed feed = {.text = text_str(&text)};
    const struct trace *trace = decode(&feed, arena);

    CHECK_INT("slices", trace->slice_count, 1000000);
    CHECK_INT("notes", trace->note_count, 2);
    CHECK_STR("tiny ones", trace_name(trace, trace->notes[0].kind), "tiny");
    CHECK_STR("the cap", trace_name(trace, trace->notes[1].kind), "capped");
    text_free(&text);
    arena_destroy(arena);
}

/* An event's text over a window's edge, at every byte of it. */
static void edges(void **state)
{
    (void)state;
    const char event[] =
        "{\"ph\":\"X\",\"name\":\"a\\\"b\",\"ts\":1.5,\"dur\":2,\"args\":{\"k\":[\"]\"]}}";
    enum { EDGE = 1 << 20 };

    for (size_t back = 0; back < sizeof event + 4; back++) {
        struct arena *arena = arena_create();
        struct text text = {0};

        text_puts(&text, "[");
        while (text.count < EDGE - back)
            text_puts(&text, " ");
        text_putf(&text, "%s,%s]", event, event);
        struct feed feed = {.text = text_str(&text)};
        const struct trace *trace = decode(&feed, arena);

        CHECK_INT("slices", trace->slice_count, 2);
        CHECK_INT("nothing is odd", trace->note_count, 0);
        CHECK_STR("name", trace_name(trace, trace_slice(trace, 1).name), "a\"b");
        text_free(&text);
        arena_destroy(arena);
    }
}

static void put_numbers(struct text *text, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        text_putf(text, "%07u", i);
}

static void check_numbers(const char *what, struct str name, uint32_t count)
{
    CHECK_INT(what, name.count, 7 * count);
    for (uint32_t i = 0; i < count; i += 997) {
        char want[16];
        int size = snprintf(want, sizeof want, "%07u", i);

        CHECK_STR(what, ((struct str){name.at + 7 * (size_t)i, (size_t)size}), want);
    }
}

/* Events of several windows are whole all the same, also where one begins within another's. */
static void long_events(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text text = {0};

    text_puts(&text, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"before\"},"
                     "{\"ph\":\"i\",\"ts\":2,\"name\":\"");
    put_numbers(&text, 400000);
    text_puts(&text, "\"},{\"ph\":\"i\",\"ts\":3,\"name\":\"");
    put_numbers(&text, 900000);
    text_puts(&text, "\"},{\"ph\":\"i\",\"ts\":4,\"name\":\"behind\"}] x");
    struct feed feed = {.text = text_str(&text)};
    const struct trace *trace = decode(&feed, arena);

    CHECK_INT("slices", trace->slice_count, 4);
    CHECK_INT("only the end is odd", trace->note_count, 1);
    check_numbers("first", trace_name(trace, trace_slice(trace, 1).name), 400000);
    check_numbers("second", trace_name(trace, trace_slice(trace, 2).name), 900000);
    text_free(&text);
    arena_destroy(arena);
}

/* An end looks for its beginning among the innermost thousand. */
static void far_beginnings(void **state)
{
    (void)state;
    static const struct {
        const char *what, *begin, *end;
        uint32_t between;
        bool is_far;
    } ends[] = {
        {"near", "\"ph\":\"B\"", "\"ph\":\"E\"", 1000, false},
        {"far", "\"ph\":\"B\"", "\"ph\":\"E\"", 1100, true},
        {"near, by id", "\"ph\":\"b\",\"id\":1", "\"ph\":\"e\",\"id\":1", 1000, false},
        {"far, by id", "\"ph\":\"b\",\"id\":1", "\"ph\":\"e\",\"id\":1", 1100, true},
    };

    for (size_t i = 0; i < COUNT(ends); i++) {
        struct arena *arena = arena_create();
        struct text text = {0};

        text_putf(&text, "[{%s,\"ts\":0,\"name\":\"a\"}", ends[i].begin);
        for (uint32_t between = 1; between <= ends[i].between; between++)
            text_putf(&text, ",{%s,\"ts\":%u,\"name\":\"b\"}", ends[i].begin, between);
        text_putf(&text, ",{%s,\"ts\":5000,\"name\":\"a\"},{\"ph\":\"i\",\"ts\":9000}]",
                  ends[i].end);
        struct feed feed = {.text = text_str(&text)};
        const struct trace *trace = decode(&feed, arena);
        int64_t dur_ps = -1;

        for (slice_id id = 0; id < trace->slice_count; id++)
            if (str_equal(trace_name(trace, trace_slice(trace, id).name), STR("a")))
                dur_ps = trace_slice(trace, id).dur_ps;
        CHECK_INT(ends[i].what, dur_ps, INT64_C(1000000) * (ends[i].is_far ? 9000 : 5000));
        text_free(&text);
        arena_destroy(arena);
    }
}

/* Whole events are kept, the rest is a note or a sentence. */
static void damage(void **state)
{
    (void)state;
    check_damaged(rows, COUNT(rows));
}

static enum status refused(struct str text, struct error *err)
{
    struct arena *arena = arena_create();
    struct feed feed = {.text = text};

    decode(&feed, arena);
    *err = feed.err;
    arena_destroy(arena);
    return feed.status;
}

static void hostile(void **state)
{
    (void)state;
    struct error err;
    struct text text = {0};

    CHECK_INT("no JSON", refused(STR("hello"), &err), ERR_FORMAT);
    CHECK_INT("NUL", refused(STR("[\0]"), &err), ERR_FORMAT);
    CHECK_INT("an event that is none", refused(STR("[1, 2]"), &err), ERR_FORMAT);
    CHECK_HAS("says so", err.message, "an event is not an object");
    text_puts(&text, "[{\"ph\":\"X\",\"args\":{\"a\":");
    for (int i = 0; i < 100000; i++)
        text_puts(&text, "[");
    CHECK_INT("nesting without end", refused(text_str(&text), &err), ERR_FORMAT);
    CHECK_HAS("says so", err.message, "nested deeper than 512");

    text.count = 0;
    text_puts(&text, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"},{\"ph\":\"i\",\"name\":\"");
    size_t start = text.count;

    while (text.count < start + (80u << 20))
        text_puts(&text, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    text_puts(&text, "\"}]");
    struct arena *arena = arena_create();
    struct feed feed = {.text = text_str(&text)};
    const struct trace *trace = decode(&feed, arena);

    CHECK_OK("a string of 80 MiB", feed.status, &feed.err);
    CHECK_INT("what stands before is kept", trace->slice_count, 1);
    CHECK_HAS("says so", trace_name(trace, trace->notes[0].message).at, "longer than 64 MiB");
    arena_destroy(arena);
    text_free(&text);
}

static void sniffing(void **state)
{
    (void)state;
    const struct {
        const char *what, *text;
        bool is;
    } heads[] = {
        {"an object with traceEvents", "{\"a\":{\"b\":[1]},\"traceEvents\":[", true},
        {"an array of events", " [ {\"name\":\"a\",\"ph\":\"B\"", true},
        {"a byte order mark", "\xef\xbb\xbf{\"traceEvents\":[]}", true},
        {"Kineto cut before the events", "{\"schemaVersion\":1,\"deviceProperties\":[", true},
        {"traceEvents deeper", "{\"a\":{\"traceEvents\":[]}}", false},
        {"traceEvents is a text", "{\"traceEvents\":\"no\"}", false},
        {"an array of others", "[{\"name\":\"a\"}]", false},
        {"an array of numbers", "[1,2]", false},
        {"an empty object", "{}", false},
        {"other JSON", "{\"nodes\":[{\"ph\":1}]}", false},
        {"text", "hello", false},
        {"nothing", "", false},
    };

    for (size_t i = 0; i < COUNT(heads); i++) {
        struct arena *arena = arena_create();
        struct input input;
        struct error err = {0};
        struct bytes bytes = {(const uint8_t *)heads[i].text, strlen(heads[i].text)};

        CHECK_OK("open", input_open(STR("x"), bytes, NULL, arena, &input, &err), &err);
        CHECK_INT(heads[i].what, decode_trace_json.sniff(&input), heads[i].is);
        input_close(&input);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),       cmocka_unit_test(strays),
        cmocka_unit_test(about_the_file), cmocka_unit_test(memory),
        cmocka_unit_test(capped),         cmocka_unit_test(long_events),
        cmocka_unit_test(edges),          cmocka_unit_test(far_beginnings),
        cmocka_unit_test(damage),         cmocka_unit_test(hostile),
        cmocka_unit_test(sniffing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
