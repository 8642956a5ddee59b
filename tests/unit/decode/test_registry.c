/* SPDX-License-Identifier: Apache-2.0 */
/* The content decides which decoder reads a file, and each refusal has a sentence. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "decode/decode.h"

static struct identity identify(struct arena *arena, struct str name, struct bytes bytes)
{
    struct error err = {0};
    struct input input;

    CHECK_OK("open", input_open(name, bytes, NULL, arena, &input, &err), &err);
    struct identity identity = decode_identify(&input);
    input_close(&input);
    return identity;
}

static void by_content(void **state)
{
    (void)state;
    const struct {
        const char *what;
        const char *format;
        struct bytes bytes;
    } rows[] = {
        {"nothing", "empty", BYTES("")},
        {"a byte of a message", "cut-off", BYTES("\x0a")},
        {"a byte of SQLite", "cut-off", BYTES("S")},
        {"a byte of JSON", "cut-off", BYTES("{")},
        {"JSON cut in its first key", "cut-off", BYTES("{\n  \"sche")},
        {"JSON cut behind a value", "cut-off", BYTES("{\"a\": 1, \n")},
        {"JSON behind an empty line", "cut-off", BYTES("\n{\n  \"sche")},
        {"whole JSON of two bytes", "json", BYTES("{}")},
        {"a plane", "xplane", BYTES("\x0a\x0d\x08\x02\x12\x09/host:CPU")},
        {"a plane cut in its name", "xplane", BYTES("\x0a\x0d\x08\x02\x12\x09/host")},
        {"a plane cut in its first line", "xplane",
         BYTES("\x0a\x7f\x12\x09/host:CPU\x1a\x60\x08\x01\x22\x09\x08")},
        {"a plane with a field of tomorrow", "xplane", BYTES("\x0a\x06\x12\x02gh\x78\x01")},
        {"a plane, then no field", "unknown", BYTES("\x0a\x04\x12\x02gh\x0f\x00")},
        {"a plane whose name is a number", "unknown", BYTES("\x0a\x02\x10\x05\x0a\x01\xff")},
        {"an HLO module", "hlo-proto", BYTES("\x0a\x0e\x0a\x04jit_\x12\x01m\x1a\x03\x0a\x01m")},
        {"two texts", "unknown", BYTES("\x0a\x09\x0a\x04jit_\x12\x01m")},
        {"a profile of speedscope", "json-profile",
         BYTES("{\"$schema\":\"x\",\"profiles\":[],\"shared\":{}}")},
        {"a table of TensorBoard", "json", BYTES("{\"cols\":[]}")},
        {"an array of events", "chrome-json", BYTES("[{\"ph\":\"X\",\"ts\":1,\"pid\":1}]")},
        {"an object with events", "chrome-json", BYTES("{\"traceEvents\":[]}")},
        {"an event a line", "chrome-json", BYTES("{\"ph\":\"X\",\"ts\":1,\"pid\":1}\n{\"ph\"")},
        {"JSON in UTF-16", "utf-16", BYTES("\xff\xfe{\0\"\0a\0\"\0")},
        {"the same, the other way round", "utf-16", BYTES("\xfe\xff\0 \0[\0{\0\"")},
        {"the same without a mark", "utf-16", BYTES("\0{\0\"\0a\0\"\0:")},
        {"text in UTF-16 that is no JSON", "unknown",
         BYTES("\xff\xfe"
               "a\0b\0c\0")},
        {"packets packed by zlib", "perfetto", BYTES("\x0a\x08\x92\x03\x05\x78\x9c\x01\x02\x03")},
        {"packets packed by zstd behind one that says its writer", "perfetto",
         BYTES("\x0a\x02\x50\x01\x0a\x09\xaa\x08\x06\x28\xb5\x2f\xfd\x01\x02")},
        {"an object without", "json", BYTES("{\"a\":1}")},
        {"memory by allocator", "memory-profile-json", BYTES("{\"memoryProfilePerAllocator\":{}}")},
        {"module text", "hlo-text", BYTES("HloModule jit_f, entry\n")},
        {"buffer text", "xla-dump", BYTES("BufferAssignment:\nallocation 0")},
        {"prose", "text", BYTES("PeriodType: space bytes\n")},
        {"a report of ranges", "nsys-jax-report",
         BYTES("Start (ns),End (ns),Duration (ns),DurChild (ns),Name\n1,2,1,0,a\n")},
        {"UTF-8", "text", BYTES("gr\xc3\xbc\xc3\x9f dich\n")},
        {"SQLite", "sqlite", BYTES("SQLite format 3\0 CREATE TABLE a")},
        {"nsys export", "nsys-sqlite", BYTES("SQLite format 3\0 CREATE TABLE StringIds")},
        {"nsys report", "nsys-rep", BYTES("NVIDIA Tegra Profiler Report 2025@5@1@121")},
        {"a report of 2020", "nsys-rep", BYTES("QDSTRM\0\0")},
        {"rocprofv3", "rocpd", BYTES("SQLite format 3\0 CREATE TABLE rocpd_info_node_0a")},
        {"rocmProfileData", "rpd", BYTES("SQLite format 3\0 CREATE TABLE rocpd_op")},
        {"Nsight Compute report", "ncu-rep", BYTES("NVR\0\x12\0\0\0")},
        {"Parquet", "parquet", BYTES("PAR1\x15\x04")},
        {"ZIP", "zip", BYTES("PK\x03\x04\x14\x00")},
        {"Riegeli", "riegeli", BYTES("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\x00\x00")},
        {"LevelDB table", "sstable", BYTES("\x01\x02\x03\x57\xfb\x80\x8b\x24\x75\x47\xdb")},
        {"TensorBoard events", "tfevents",
         BYTES("\x18\0\0\0\0\0\0\0\xa3\x7fK\"\x09\0\0@\xe4\x9fR\xd9"
               "A\x1a\x0d"
               "brain.Event:2\xca\xda")},
        {"pprof", "pprof", BYTES("\x0a\x04\x08\x01\x10\x02\x12\x04\x0a\x02\x01\x02")},
        {"Perfetto", "perfetto", BYTES("\x0a\x06\x32\x02\x10\x06\x50\x01")},
        {"noise", "unknown", BYTES("\xde\xad\xbe\xef\x00\x01\x02")},
        {"a broken gzip", "damaged", BYTES("\x1f\x8b\x08")},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct identity identity = identify(arena, STR("file"), rows[i].bytes);
        CHECK_STR(rows[i].what, str_of(identity.format), rows[i].format);
        CHECK(rows[i].what, (identity.decoder == NULL) == (identity.reason != NULL));
    }
    arena_destroy(arena);
}

/* The content decides in a packing too, and the name never does. */
static void packed_and_misnamed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes plane = BYTES("\x0a\x0d\x08\x02\x12\x09/host:CPU");

    CHECK_STR("gzip", str_of(identify(arena, STR("a"), pack_gzip(arena, plane)).format), "xplane");
    CHECK_STR("zstd", str_of(identify(arena, STR("a"), pack_zstd(arena, plane)).format), "xplane");
    struct bytes once = pack_gzip(arena, plane), twice = pack_zstd(arena, once);

    CHECK_STR("twice", str_of(identify(arena, STR("a"), twice).format), "packed-twice");
    once = pack_gzip(arena, BYTES("PK\x03\x04\x14\x00"));
    CHECK_STR("a ZIP", str_of(identify(arena, STR("a"), once).format), "packed-twice");
    CHECK_STR("misnamed", str_of(identify(arena, STR("a.json"), plane).format), "xplane");
    CHECK_STR("misnamed", str_of(identify(arena, STR("a.xplane.pb"), BYTES("{}")).format), "json");
    arena_destroy(arena);
}

static void archives(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    uint8_t *tar = arena_alloc(arena, 1024, 1);

    memcpy(tar, "h.xplane.pb", 11);
    memcpy(tar + 257, "ustar", 5);
    struct bytes packed = pack_gzip(arena, (struct bytes){.at = tar, .count = 1024});
    struct identity identity = identify(arena, STR("a.tar.gz"), packed);

    CHECK_STR("TAR", str_of(identity.format), "tar");
    CHECK_HAS("how to open it", decode_reason(&identity, STR("a.tar.gz"), arena).at,
              "`gzip -dc a.tar.gz > a.tar && tar -xf a.tar`");
    arena_destroy(arena);
}

/* XProf's caches have nothing in them that tells; content that does is not called one. */
static void caches(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct bytes bytes;
        const char *format;
    } rows[] = {
        {"ALL_HOSTS.smart_suggestion.pb", BYTES(""), "xprof-cache"},
        {"NO_HOST.dcn_collective_stats.pb", BYTES(""), "xprof-cache"},
        {"NO_MODULE.hlo_proto.pb", BYTES(""), "xprof-cache"},
        {"jit_f(3).hlo_proto.pb", BYTES(""), "empty"},
        {"h.smart_suggestion.pb", BYTES("\x0a\x09\x0a\x04rule\x12\x01t"), "xprof-cache"},
        {"h.op_stats_v2.pb", BYTES("\x0a\x02\x1a\x00"), "xprof-cache"},
        {"ALL_HOSTS.flat_op_stats_v2.pb", BYTES("\x1a\x02\x10\x01"), "xprof-cache"},
        {"cache_version.txt", BYTES("2.24.2"), "xprof-cache"},
        {"h.trie.SSTABLE", BYTES("\x01\x02"), "xprof-cache"},
        {"h.op_stats_v2.pb", BYTES("\x0a\x0d\x08\x02\x12\x09/host:CPU"), "xplane"},
        {"version.txt", BYTES("2.24.2"), "text"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct identity identity = identify(arena, str_of(rows[i].name), rows[i].bytes);
        CHECK_STR(rows[i].name, str_of(identity.format), rows[i].format);
        if (strcmp(rows[i].format, "xprof-cache") == 0)
            CHECK_HAS(rows[i].name, identity.reason, "can be deleted");
    }
    arena_destroy(arena);
}

/* What is worth a line in a list of runs although it is not read. */
static void recordings(void **state)
{
    (void)state;
    const struct {
        const char *format;
        bool is_recording;
    } rows[] = {
        {"rocpd", true},        {"gperftools-cpu", true}, {"gperftools-heap", true},
        {"json-profile", true}, {"overview-page", false}, {"zip-of-profiles", true},
        {"nsys-rep", true},     {"json", false},          {"text", false},
        {"sqlite", false},      {"zip", false},           {"tfevents", false},
        {"xprof-cache", false}, {"unknown", false},       {"", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK(rows[i].format,
              decode_is_recording(str_of(rows[i].format), STR("a.pb")) == rows[i].is_recording);
    CHECK("by its name", decode_is_recording(STR("overview-page"), STR("d/h.overview_page.pb")));
    CHECK("not by its place",
          !decode_is_recording(STR("overview-page"), STR("overview_page/h.pb")));
}

/* The command is one that a shell takes, whatever the file is called. */
static void reasons(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct {
        const char *name, *command;
        struct bytes bytes;
    } rows[] = {
        {"a.nsys-rep", "`nsys export --type sqlite a.nsys-rep`",
         BYTES("NVIDIA Tegra Profiler Report")},
        {"my run.qdrep", "`nsys export --type sqlite 'my run.qdrep'`", BYTES("QDSTRM")},
        {"it's", "`nsys export --type sqlite 'it'\\''s'`", BYTES("QDSTRM")},
        {"-o", "`nsys export --type sqlite ./-o`", BYTES("QDSTRM")},
        {"a;b", "`nsys export --type sqlite 'a;b'`", BYTES("QDSTRM")},
        {"cut.zip", "`unzip -t cut.zip`", BYTES("PK\x03\x04\x14\x00")},
        {"no.zip", "unpack it, and give the directory",
         BYTES("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
        {"k.ncu-rep", "`ncu --import k.ncu-rep --csv`", BYTES("NVR\0")},
        {"7_results.db", "`rocpd convert -i 7_results.db --output-format pftrace`",
         BYTES("SQLite format 3\0 CREATE TABLE rocpd_info_node_0a")},
        {"a.rpd", "`python3 rpd2tracing.py a.rpd a.rpd.trace.json`",
         BYTES("SQLite format 3\0 CREATE TABLE rocpd_op")},
        {"a.nsys-rep.gz",
         "`gzip -dc a.nsys-rep.gz > a.nsys-rep && nsys export --type sqlite a.nsys-rep`",
         pack_gzip(arena, BYTES("QDSTRM"))},
        {"my run",
         "`zstd -dc 'my run' > 'my run.unpacked' && nsys export --type sqlite 'my run.unpacked'`",
         pack_zstd(arena, BYTES("QDSTRM"))},
        {"t.trace.gz", "`gzip -dc t.trace.gz > t.trace && pprof t.trace`",
         pack_gzip(arena, BYTES("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\x10\x27\0\0\0\0\0\0\0\0\0\0\0\0\0\0"))},
        {"traces.otf2", "`rocprofv3 --output-format pftrace`", BYTES("\x03#\0\0")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str name = str_of(rows[i].name);
        struct identity identity = identify(arena, name, rows[i].bytes);
        struct str reason = decode_reason(&identity, name, arena);

        CHECK(rows[i].name, identity.decoder == NULL);
        CHECK_HAS(rows[i].name, str_c(arena, reason), rows[i].command);
        CHECK(rows[i].name, !str_contains(reason, STR("{}")));
    }
    arena_destroy(arena);
}

static void mangled(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text text = {0};

    for (int i = 0; i < 64; i++)
        text_put(&text, "\n\xef\xbf\xbd\x08\x02", 6);
    struct identity identity =
        identify(arena, STR("a"), (struct bytes){(const uint8_t *)text.at, text.count});
    CHECK_STR("mangled", str_of(identity.format), "mangled");
    CHECK_HAS("mangled", identity.reason, "as binary");
    text_free(&text);
    arena_destroy(arena);
}

/* Formats of a whole corpus, as its manifest tells them: lines of "FORMAT<TAB>PATH". */
static const struct {
    const char *manifest, *ours;
} corpus_words[] = {
    {"xplane", "xplane"},
    {"xplane-malformed", "mangled"},
    {"chrome-trace-json", "chrome-json"},
    {"hlo-proto", "hlo-proto"},
    {"pprof", "pprof"},
    {"nsys-sqlite", "nsys-sqlite"},
    {"nsys-rep", "nsys-rep"},
    {"perfetto-protobuf", "perfetto"},
    {"tfevents", "tfevents"},
    {"xprof-sstable", "sstable"},
    {"parquet", "parquet"},
    {"parquet", "nsys-jax-ranges"},
    {"KernelStatsDb", "kernel-stats"},
    {"overview_page", "overview-page"},
    {"input_pipeline", "input-pipeline"},
    {"tensorflow_stats", "tensorflow-stats"},
    {"memory-profile-json", "memory-profile-json"},
    {"json", "json"},
    {"json", "json-profile"},
    {"zip", "nsys-jax"},
    {"zip", "chrome-json"}, /* of one file */
    {"binary", "gperftools-cpu"},
};

static bool is_expected(struct str manifest, const char *ours)
{
    bool is_known = false;

    for (size_t i = 0; i < COUNT(corpus_words); i++) {
        if (!str_equal(manifest, str_of(corpus_words[i].manifest)))
            continue;
        if (strcmp(corpus_words[i].ours, ours) == 0)
            return true;
        is_known = true;
    }
    return !is_known && (strcmp(ours, "text") == 0 || strcmp(ours, "hlo-text") == 0 ||
                         strcmp(ours, "xla-dump") == 0 || strcmp(ours, "gperftools-heap") == 0 ||
                         strcmp(ours, "nsys-jax-report") == 0);
}

static bool next_text(const char **at, const char *key, struct str *ret)
{
    const char *found = strstr(*at, key);
    if (found == NULL)
        return false;
    ret->at = found + strlen(key);
    const char *end = strchr(ret->at, '"');
    ret->count = (size_t)(end - ret->at);
    *at = end;
    return true;
}

static void corpus(void **state)
{
    (void)state;
    const char *root = getenv("JVIEW_CORPUS");
    if (root == NULL) {
        print_message("JVIEW_CORPUS is not set: the corpus is not checked\n");
        skip();
    }
    struct arena *arena = arena_create(), *file_arena = arena_create();
    struct error err = {0};
    struct bytes manifest;
    struct str path = str_format(arena, "%s/MANIFEST.json", root);
    CHECK_OK("manifest", file_read(path.at, arena, 64 << 20, &manifest, &err), &err);

    unsigned count = 0;
    const char *at = str_c(arena, (struct str){(const char *)manifest.at, manifest.count});
    for (struct str format, name; next_text(&at, "\"format\": \"", &format); count++) {
        CHECK("path", next_text(&at, "\"path\": \"", &name));
        struct bytes bytes;
        path = str_format(file_arena, "%s/%.*s", root, STR_ARG(name));
        CHECK_OK(path.at, file_read(path.at, file_arena, 64 << 20, &bytes, &err), &err);
        struct identity identity = identify(file_arena, name, bytes);
        if (!is_expected(format, identity.format))
            check_failed(__FILE__, __LINE__, path.at, "is %.*s, was called %s", STR_ARG(format),
                         identity.format);
        arena_reset(file_arena);
    }
    CHECK("files", count > 200);
    print_message("%u files of the corpus named\n", count);
    arena_destroy(file_arena);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_content), cmocka_unit_test(packed_and_misnamed),
        cmocka_unit_test(reasons),    cmocka_unit_test(mangled),
        cmocka_unit_test(archives),   cmocka_unit_test(caches),
        cmocka_unit_test(recordings), cmocka_unit_test(corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
