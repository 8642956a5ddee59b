/* SPDX-License-Identifier: Apache-2.0 */
/* Memory snapshots of PyTorch: what Python pickled becomes lives, levels and stacks; pickles that
 * call are refused; damage. */
#include "check.h"
#include "decode/pickle/pickle.h"
#include "decoded.h"
#include "picture.h"
#include "survives.h"

/* Of pickle.dumps(snapshot, 2), through pickletools.optimize: a free of what was there before, an
 * allocation that stays, a free that another stream delays, out of memory. */
static const char small[] =
    "\x80\x02}(X\x08\x00\x00\x00segments]}(X\x06\x00\x00\x00\x64\x65viceK\x00X\x07\x00\x00"
    "\x00\x61\x64\x64ressq\x00M\x00\x10X\x0a\x00\x00\x00total_sizeJ\x00\x00 \x00X\x06\x00"
    "\x00\x00streamq\x01K\x00X\x06\x00\x00\x00\x62locks](}(h\x00M\x00\x10X\x04\x00\x00\x00si"
    "zeq\x02M\x00\x02X\x0e\x00\x00\x00requested_sizeq\x03M\xf4\x01X\x05\x00\x00\x00stateq"
    "\x04X\x10\x00\x00\x00\x61\x63tive_allocatedq\x05X\x06\x00\x00\x00\x66ramesq\x06]q\x07(}"
    "(X\x04\x00\x00\x00nameq\x08X\x07\x00\x00\x00\x66orwardX\x08\x00\x00\x00\x66ilenameq\x09"
    "X%\x00\x00\x00/opt/site-packages/torch/nn/linear.pyX\x04\x00\x00\x00lineq\x0aK\x09u}(h"
    "\x08X\x04\x00\x00\x00steph\x09X\x10\x00\x00\x00/home/u/train.pyh\x0aK\x0cueu}(h\x00M"
    "\x00\x12h\x02M\x00\x04h\x03M\xe8\x03h\x04h\x05h\x06]u}(h\x00M\x00\x16h\x02M\x00\x02h"
    "\x03K\x08h\x04X\x13\x00\x00\x00\x61\x63tive_pending_freeh\x06]u}(h\x00M\x00\x18h\x02J"
    "\x00\xf8\x1f\x00h\x03J\x00\xf8\x1f\x00h\x04X\x08\x00\x00\x00inactiveh\x06]ueuaX\x0d\x00"
    "\x00\x00\x64\x65vice_traces]](}(X\x06\x00\x00\x00\x61\x63tionq\x0bX\x0e\x00\x00\x00\x66"
    "ree_requestedq\x0cX\x04\x00\x00\x00\x61\x64\x64rq\x0dM\x00\x18h\x02M,\x01h\x01K\x00X"
    "\x07\x00\x00\x00time_usq\x0e\x8a\x07\x00\xe0%\xda\xfe[\x06h\x06h\x07u}(h\x0bX\x0e\x00"
    "\x00\x00\x66ree_completedh\x0dM\x00\x18h\x02M,\x01h\x01K\x00h\x0e\x8a\x07\x01\xe0%\xda"
    "\xfe[\x06h\x06h\x07u}(h\x0bX\x05\x00\x00\x00\x61lloch\x0dM\x00\x10h\x02M\xf4\x01h\x01K"
    "\x00h\x0e\x8a\x07\x03\xe0%\xda\xfe[\x06h\x06h\x07u}(h\x0bh\x0ch\x0dM\x00\x16h\x02K\x08h"
    "\x01K\x00h\x0e\x8a\x07\x05\xe0%\xda\xfe[\x06h\x06]u}(h\x0bX\x03\x00\x00\x00oomX\x0b\x00"
    "\x00\x00\x64\x65vice_freeM\x00\x10h\x02\x8a\x05\x00\x00\x00\x80\x00h\x01K\x00h\x0e\x8a"
    "\x07\x06\xe0%\xda\xfe[\x06h\x06h\x07u}(h\x0bX\x08\x00\x00\x00snapshoth\x0dK\x00h\x02K"
    "\x00h\x01K\x00h\x0e\x8a\x07\x07\xe0%\xda\xfe[\x06h\x06]ueau.";
#define SMALL ((struct bytes){.at = (const uint8_t *)small, .count = sizeof small - 1})

static const struct trace *trace_of(struct bytes bytes, struct arena *arena, struct error *err)
{
    return decoded(&decode_torch_snapshot, STR("memory_snapshot.pickle"), bytes, arena, err);
}

static void lives(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct trace *trace = trace_of(SMALL, arena, &err);

    CHECK_OK("decode", err.code, &err);
    CHECK_PICTURE(
        "a snapshot", trace, PICTURE_ARGS | PICTURE_NOTES,
        "GPU 0 memory / allocator\n  0 +0 free [derived] [async] {addr: 6144u, bytes: 300, stream: "
        "0u, stack: 1u}\n  5000000 +0 free [derived] [async] {addr: 5632u, bytes: 8, stream: 0u}\n "
        " 6000000 +0 out of memory: 2 GiB requested, 4 KiB left on the device [derived] [async] "
        "{addr: 0u, bytes: 2147483648, stream: 0u, stack: 1u}\n  7000000 +0 snapshot [derived] "
        "[async] {addr: 0u, bytes: 0, stream: 0u}\nGPU 0 memory / allocated\n  0 = 300\n  0 = "
        "308\n  0 = 1308\n  0 = 1008\n  3000000 = 1508\n  5000000 = 1500\nGPU 0 memory / "
        "reserved\n  0 = 2.09715e+06\nGPU 0 memory / segment 0x1000 (2 MiB)\n  0 +7000000 (no "
        "stack) [cut] [derived] [async] {addr: 4608u, bytes: 1000, stream: 0u}\n    0 +5000000 (no "
        "stack) [derived] [async] {addr: 5632u, bytes: 8, stream: 0u}\n      0 +0 (no stack) "
        "[derived] [async] {addr: 6144u, bytes: 300, stream: 0u}\n      3000000 +4000000 step "
        "(train.py:12) [cut] [derived] [async] {addr: 4096u, bytes: 500, stream: 0u, stack: "
        "1u}\nsamples space/bytes objects/count peak_space/bytes peak_objects/count\n  0 0 8 1 (no "
        "stack) {device: 0}\n  1000 1 1000 1 (no stack) {device: 0}\n  500 1 500 1 step "
        "/home/u/train.py:12; forward /opt/site-packages/torch/nn/linear.py:9 {device: 0}\nnote "
        "before-history 3 Some allocations were made before the history begins, so their stacks "
        "are not known; record earlier, or with a larger max_entries in "
        "torch.cuda.memory._record_memory_history.\n");
    CHECK_INT("epoch", trace->epoch_ns, INT64_C(1790000000000000000));
    arena_destroy(arena);
}

/* Before, the level of each event, and what memory_stats would tell at the end. */
static void levels(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct trace *trace = trace_of(SMALL, arena, &err);
    static const int64_t wanted[] = {300, 308, 1308, 1008, 1508, 1500};
    const struct {
        const char *key;
        int64_t value;
    } totals[] = {
        {"allocated_bytes.all.current", 1536}, {"active_bytes.all.current", 2048},
        {"requested_bytes.all.current", 1500}, {"reserved_bytes.all.current", 2097152},
        {"allocation.all.current", 2},         {"segment.all.current", 1},
    };

    CHECK_OK("decode", err.code, &err);
    CHECK_INT("events", trace->memory_event_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        CHECK_INT("level", trace->memory_events[i].bytes_allocated, wanted[i]);
        CHECK_INT("pool", trace->memory_events[i].bytes_available, 2097152 - wanted[i]);
    }
    for (size_t i = 0; i < COUNT(totals); i++) {
        int64_t found = -1;

        for (uint32_t k = 0; k < trace->property_count; k++)
            if (str_equal(trace_name(trace, trace->properties[k].arg.key), str_of(totals[i].key)))
                found = (int64_t)trace->properties[k].arg.bits;
        CHECK_INT(totals[i].key, found, totals[i].value);
    }
    arena_destroy(arena);
}

static void refused(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct bytes bytes;
        enum status status;
        const char *says;
    } rows[] = {
        {"GLOBAL", BYTES("\x80\x02}X\x08\0\0\0segmentscos\nsystem\n."), ERR_UNSUPPORTED,
         "GLOBAL os.system at byte 16"},
        {"STACK_GLOBAL", BYTES("\x80\x04}\x8c\x08segments\x8c\x02os\x8c\x06system\x93."),
         ERR_UNSUPPORTED, "STACK_GLOBAL os.system at byte 25"},
        {"REDUCE", BYTES("\x80\x02}X\x08\0\0\0segments)R."), ERR_UNSUPPORTED, "REDUCE at byte 17"},
        {"INST", BYTES("\x80\x02}X\x08\0\0\0segments(ios\nsystem\n."), ERR_UNSUPPORTED, "INST"},
        {"BUILD", BYTES("\x80\x02}X\x08\0\0\0segmentsb."), ERR_UNSUPPORTED, "BUILD at byte 16"},
        {"BINPERSID", BYTES("\x80\x02}X\x08\0\0\0segmentsQ."), ERR_UNSUPPORTED, "BINPERSID"},
        {"EXT1", BYTES("\x80\x02}X\x08\0\0\0segments\x82\x01."), ERR_UNSUPPORTED, "EXT1"},
        {"protocol 0", BYTES("\x80\x02}X\x08\0\0\0segmentsI1\n."), ERR_UNSUPPORTED, "protocol 0"},
        {"no opcode", BYTES("\x80\x02}X\x08\0\0\0segments\xff."), ERR_FORMAT, "0xff"},
        {"no mark", BYTES("\x80\x02}X\x08\0\0\0segmentsu."), ERR_FORMAT, "no MARK"},
        {"a list's values into a dict", BYTES("\x80\x02}(X\x08\0\0\0segmentse."), ERR_FORMAT,
         "does not fill a list"},
        {"nothing below the mark", BYTES("\x80\x04(uX\x08\0\0\0segments."), ERR_FORMAT,
         "no object that could take"},
        {"half a pair", BYTES("\x80\x02}(X\x08\0\0\0segmentsu."), ERR_FORMAT, "without a value"},
        {"nothing kept", BYTES("\x80\x02}X\x08\0\0\0segmentsh\x07."), ERR_FORMAT, "does not exist"},
        {"a far number", BYTES("\x80\x02}r\xff\xff\xff\x0fX\x08\0\0\0segments."), ERR_FORMAT,
         "skips memo numbers"},
        {"an empty stack", BYTES("\x80\x02X\x08\0\0\0segments00."), ERR_FORMAT, "not there"},
        {"another pickle", BYTES("\x80\x02}X\x08\0\0\0segments0."), ERR_FORMAT,
         "without the \"segments\""},
        {"cut", BYTES("\x80\x02}X\x08\0\0\0segments"), ERR_TRUNCATED, "without a STOP"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};

        CHECK(rows[i].what, trace_of(rows[i].bytes, arena, &err) == NULL);
        CHECK_INT(rows[i].what, err.code, rows[i].status);
        CHECK_HAS(rows[i].what, err.message, rows[i].says);
        arena_destroy(arena);
    }
}

/* Numbers as pickles write them. */
static enum status keep(void *to, uint64_t container, const struct pickle_value *items,
                        size_t count, struct error *err)
{
    (void)container;
    (void)err;
    memcpy(to, items, count * sizeof *items);
    return OK;
}

static void numbers(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum pickle_kind kind;
        int64_t bits;
        struct bytes bytes;
    } rows[] = {
        {"BININT1", PICKLE_INT, 255,
         BYTES("]K\xff"
               "a.")},
        {"BININT2", PICKLE_INT, 65535,
         BYTES("]M\xff\xff"
               "a.")},
        {"BININT", PICKLE_INT, -2,
         BYTES("]J\xfe\xff\xff\xff"
               "a.")},
        {"LONG1 0", PICKLE_INT, 0,
         BYTES("]\x8a\x00"
               "a.")},
        {"LONG1 -1", PICKLE_INT, -1,
         BYTES("]\x8a\x01\xff"
               "a.")},
        {"LONG1 address", PICKLE_INT, INT64_C(0x7f0012345678),
         BYTES("]\x8a\x06\x78\x56\x34\x12\x00\x7f"
               "a.")},
        {"LONG1 of 9 bytes", PICKLE_BIG, 0,
         BYTES("]\x8a\x09\0\0\0\0\0\0\0\0\x01"
               "a.")},
        {"LONG4", PICKLE_INT, 5,
         BYTES("]\x8b\x01\0\0\0\x05"
               "a.")},
        {"BINFLOAT", PICKLE_REAL, INT64_C(0x3ff8000000000000),
         BYTES("]G\x3f\xf8\0\0\0\0\0\0"
               "a.")},
        {"NEWTRUE", PICKLE_BOOL, 1,
         BYTES("]\x88"
               "a.")},
        {"NONE", PICKLE_NONE, 0, BYTES("]Na.")},
        {"TUPLE2", PICKLE_TUPLE, 0,
         BYTES("]K\x01K\x02\x86"
               "a.")},
        {"DUP", PICKLE_INT, 3,
         BYTES("]K\x03"
               "20a.")},
        {"the memo", PICKLE_INT, 7,
         BYTES("]K\x07\x94"
               "0h\x00"
               "a.")},
        {"LIST", PICKLE_LIST, 0, BYTES("](la.")},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pickle_value got[4] = {{.kind = PICKLE_SET}}, whole;
        struct error err = {0};
        struct scratch *scratch = scratch_create(NULL);
        const struct pickle_taker taker = {.append = keep, .set = keep, .to = got};
        struct pickle *pickle = pickle_create(rows[i].bytes, scratch, &taker);

        CHECK_INT(rows[i].what, pickle_read(pickle, &whole, &err), OK);
        CHECK_INT(rows[i].what, got[0].kind, rows[i].kind);
        if (rows[i].kind != PICKLE_LIST)
            CHECK_INT(rows[i].what, (int64_t)got[0].bits, rows[i].bits);
        pickle_destroy(pickle);
        scratch_destroy(scratch);
    }
}

/* A prefix keeps the events that are whole, and says that it is one. */
static void cut(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct trace *trace =
        trace_of((struct bytes){.at = SMALL.at, .count = SMALL.count - 20}, arena, &err);

    CHECK_OK("decode", err.code, &err);
    CHECK_STR("note", trace_name(trace, trace->notes[0].kind), "truncated");
    static const int64_t wanted[] = {300, 308, 8, 508, 500};

    CHECK_INT("what stands in the end may be of events that are missing", trace->memory_event_count,
              COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        CHECK_INT("level", trace->memory_events[i].bytes_allocated, wanted[i]);
        CHECK_INT("reserved", trace->memory_events[i].bytes_available, -1);
    }
    CHECK_INT("no other note but that of the beginning", trace->note_count, 2);
    arena_destroy(arena);
}

static void damage(void **state)
{
    (void)state;
    uint8_t changed[sizeof small];

    for (size_t count = 0; count < SMALL.count; count++)
        survives(trace_of, "a prefix", (struct bytes){.at = SMALL.at, .count = count});
    for (size_t i = 2; i < SMALL.count; i++)
        for (unsigned flip = 1; flip < 256; flip = flip * 4 + 1) {
            memcpy(changed, small, SMALL.count);
            changed[i] ^= (uint8_t)flip;
            survives(trace_of, "a changed byte",
                     (struct bytes){.at = changed, .count = SMALL.count});
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives),   cmocka_unit_test(levels), cmocka_unit_test(refused),
        cmocka_unit_test(numbers), cmocka_unit_test(cut),    cmocka_unit_test(damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
