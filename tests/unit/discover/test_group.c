/* Files -> runs, as pictures: a line a run, its files below it.
 *
 *   step_1000 = step_1000/plugins/profile/S
 *     trace hostA  hostA.xplane.pb
 */
#include <stdlib.h>

#include "check.h"
#include "discover/scan.h"

static const char *const role_words[] = {"trace", "copy", "beside", "other"};

struct row {
    const char *what;
    const char *root;
    const char *files; /* one a line: path, then perhaps " @seconds" of its mtime */
    const char *want;
};

static struct scan_file *read_files(const char *text, struct arena *arena, uint32_t *ret_count)
{
    struct scan_file *files = arena_array(arena, struct scan_file, 64);
    uint32_t count = 0;

    while (*text != '\0') {
        const char *end = strchr(text, '\n');
        struct str line = {.at = text, .count = (size_t)(end - text)};
        const char *at = memchr(line.at, '@', line.count);

        files[count] = (struct scan_file){.path = line, .bytes = 10};
        if (at != NULL) {
            files[count].path.count = (size_t)(at - line.at) - 1;
            files[count].modified_ns = atoll(at + 1) * 1000000000;
        }
        count++;
        text = end + 1;
    }
    *ret_count = count;
    return files;
}

static void draw(struct text *picture, const struct scan_file *files, const struct scan_run *runs,
                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        text_putf(picture, "%.*s =", STR_ARG(runs[i].name));
        for (uint32_t dir = 0; dir < runs[i].dir_count; dir++)
            text_putf(picture, " %.*s", STR_ARG(runs[i].dirs[dir]));
        text_puts(picture, runs[i].certain ? "\n" : " ?\n");
        for (uint32_t k = 0; k < runs[i].file_count; k++) {
            const struct scan_run_file *file = &runs[i].files[k];
            struct str path = files[file->file].path;
            size_t at = path.count;

            while (at > 0 && path.at[at - 1] != '/')
                at--;
            text_putf(picture, "  %s %.*s: %.*s\n", role_words[file->role], STR_ARG(file->host),
                      STR_ARG(str_skip(path, at)));
        }
    }
}

static const struct row rows[] = {
    {"a log directory's only session has no name of its own", "/p",
     "step_1000/plugins/profile/2026_11_21_09_30_00/vm.xplane.pb\n",
     "step_1000 = step_1000/plugins/profile/2026_11_21_09_30_00\n"
     "  trace vm: vm.xplane.pb\n"},
    {"a repeated component is folded", "/p",
     "step_1000/step_1000/plugins/profile/S/vm.xplane.pb\n"
     "step_00001000/plugins/profile/S/vm.xplane.pb\n",
     "step_00001000 = step_00001000/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"
     "step_1000 = step_1000/step_1000/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"},
    {"... unless two would share the name", "/p",
     "a/plugins/profile/S/vm.xplane.pb\n"
     "a/a/plugins/profile/S/vm.xplane.pb\n",
     "a = a/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"
     "a/a = a/a/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"},
    {"several sessions are told apart; newest first", "/p",
     "x/plugins/profile/conv/tw.xplane.pb @5\n"
     "x/plugins/profile/gemm/tw.xplane.pb @9\n",
     "x/gemm = x/plugins/profile/gemm\n"
     "  trace tw: tw.xplane.pb\n"
     "x/conv = x/plugins/profile/conv\n"
     "  trace tw: tw.xplane.pb\n"},
    {"copies are never hosts", "/p",
     "plugins/profile/S/127.0.0.1_9999.xplane.pb\n"
     "plugins/profile/S/remote.trace.json.gz\n"
     "plugins/profile/S/perfetto_trace.json.gz\n"
     "plugins/profile/S/jit_f(3).hlo_proto.pb\n"
     "plugins/profile/S/SSTABLE\n",
     "p = plugins/profile/S\n"
     "  trace 127.0.0.1_9999: 127.0.0.1_9999.xplane.pb\n"
     "  copy 127.0.0.1_9999: remote.trace.json.gz\n"
     "  copy 127.0.0.1_9999: perfetto_trace.json.gz\n"
     "  other : jit_f(3).hlo_proto.pb\n"
     "  other : SSTABLE\n"},
    {"hosts with dots, two of them, one without xplane", "/p",
     "plugins/profile/S/a.b.c.xplane.pb\n"
     "plugins/profile/S/a.b.c.trace.json.gz\n"
     "plugins/profile/S/a.b.d.trace.json.gz\n"
     "plugins/profile/S/perfetto_trace.json.gz\n",
     "p = plugins/profile/S\n"
     "  trace a.b.c: a.b.c.xplane.pb\n"
     "  trace a.b.d: a.b.d.trace.json.gz\n"
     "  copy : perfetto_trace.json.gz\n"
     "  copy a.b.c: a.b.c.trace.json.gz\n"},
    {"an export alone is the host's trace", "/p",
     "plugins/profile/S/vm.trace.json.gz\nplugins/profile/S/perfetto_trace.json.gz\n",
     "p = plugins/profile/S\n"
     "  trace vm: vm.trace.json.gz\n"
     "  copy vm: perfetto_trace.json.gz\n"},
    {"a perfetto trace all alone", "/p", "plugins/profile/S/perfetto_trace.json.gz\n",
     "p = plugins/profile/S\n"
     "  trace perfetto_trace: perfetto_trace.json.gz\n"},
    {"hosts that exported within two minutes are one run", "/p",
     "r/plugins/profile/2026_11_21_10_41_47/hostA.xplane.pb\n"
     "r/plugins/profile/2026_11_21_10_41_47/hostA.trace.json.gz\n"
     "r/plugins/profile/2026_11_21_10_41_49/hostB.xplane.pb\n",
     "r = r/plugins/profile/2026_11_21_10_41_47 r/plugins/profile/2026_11_21_10_41_49\n"
     "  trace hostA: hostA.xplane.pb\n"
     "  trace hostB: hostB.xplane.pb\n"
     "  copy hostA: hostA.trace.json.gz\n"},
    {"... each to the nearest", "/p",
     "r/plugins/profile/2026_11_21_10_00_00/A.xplane.pb @1\n"
     "r/plugins/profile/2026_11_21_10_01_00/A.xplane.pb @2\n"
     "r/plugins/profile/2026_11_21_10_01_02/B.xplane.pb @2\n",
     "r/2026_11_21_10_01_00 = r/plugins/profile/2026_11_21_10_01_00 "
     "r/plugins/profile/2026_11_21_10_01_02\n"
     "  trace A: A.xplane.pb\n"
     "  trace B: B.xplane.pb\n"
     "r/2026_11_21_10_00_00 = r/plugins/profile/2026_11_21_10_00_00\n"
     "  trace A: A.xplane.pb\n"},
    {"... three minutes apart they are two", "/p",
     "r/plugins/profile/2026_11_21_10_41_47/A.xplane.pb\n"
     "r/plugins/profile/2026_11_21_10_44_47/B.xplane.pb\n",
     "r/2026_11_21_10_41_47 = r/plugins/profile/2026_11_21_10_41_47\n"
     "  trace A: A.xplane.pb\n"
     "r/2026_11_21_10_44_47 = r/plugins/profile/2026_11_21_10_44_47\n"
     "  trace B: B.xplane.pb\n"},
    {"two hosts in one directory", "/p",
     "t/plugins/profile/shared_session/hostA.xplane.pb\n"
     "t/plugins/profile/shared_session/hostB.xplane.pb\n",
     "t = t/plugins/profile/shared_session\n"
     "  trace hostA: hostA.xplane.pb\n"
     "  trace hostB: hostB.xplane.pb\n"},
    {"the root is a session", "/x/plugins/profile/S1", "vm.xplane.pb\nvm.trace.json.gz\n",
     "S1 = \n"
     "  trace vm: vm.xplane.pb\n"
     "  copy vm: vm.trace.json.gz\n"},
    {"the root is plugins/profile", "/x/step_7/plugins/profile", "S1/vm.trace.json.gz\n",
     "step_7 = S1\n"
     "  trace vm: vm.trace.json.gz\n"},
    {"... with two sessions", "/x/step_7/plugins/profile",
     "S1/vm.xplane.pb @1\nS2/vm.xplane.pb @2\n",
     "S2 = S2\n"
     "  trace vm: vm.xplane.pb\n"
     "S1 = S1\n"
     "  trace vm: vm.xplane.pb\n"},
    {"any directory that holds an xplane is a session", "/p",
     "old/a.xplane.pb\nold/a.xplane.pb.xz\nold/README\nb.xplane.pb\n",
     "old = old\n"
     "  trace a: a.xplane.pb\n"
     "  copy a: a.xplane.pb.xz\n"
     "p = \n"
     "  trace b: b.xplane.pb\n"},
    {"a trace outside a session is a run", "/p",
     "k/worker0.123.pt.trace.json.gz\nk/worker1.123.pt.trace.json.gz\nk/odd.json\n",
     "k/odd = k ?\n"
     "  trace odd: odd.json\n"
     "k/worker0.123 = k\n"
     "  trace worker0.123: worker0.123.pt.trace.json.gz\n"
     "k/worker1.123 = k\n"
     "  trace worker1.123: worker1.123.pt.trace.json.gz\n"},
    {"the same trace packed and plain is one run", "/p", "t.trace.json\nt.trace.json.gz\n",
     "t = \n"
     "  trace t: t.trace.json\n"
     "  copy t: t.trace.json.gz\n"},
    {"an nsys export speaks for its report", "/p", "n/report1.nsys-rep\nn/report1.sqlite\n",
     "n/report1 = n\n"
     "  trace report1: report1.sqlite\n"
     "  copy report1: report1.nsys-rep\n"},
    {"memory profiles of a directory are one run", "/p",
     "leak/leak-0.prof\nleak/leak-1.prof\nleak/x.trace.json\n",
     "leak = leak\n"
     "  trace leak-0: leak-0.prof\n"
     "  trace leak-1: leak-1.prof\n"
     "leak/x = leak\n"
     "  trace x: x.trace.json\n"},
    {"memory profiles beside plugins belong to the nearest session", "/p",
     "r/memory.prof @18\n"
     "r/plugins/profile/S1/vm.xplane.pb @10\n"
     "r/plugins/profile/S2/vm.xplane.pb @20\n",
     "r/S2 = r/plugins/profile/S2\n"
     "  trace vm: vm.xplane.pb\n"
     "  beside memory: memory.prof\n"
     "r/S1 = r/plugins/profile/S1\n"
     "  trace vm: vm.xplane.pb\n"},
    {"checkpoints, sources and dumps are no runs", "/p",
     "ckpt/saved_model.pb\nckpt/config.json\nckpt/d/manifest.ocdbt\nsrc/train.py\n"
     "dump/module_0001.jit_f.hlo.pb\ndata.tar.gz\n",
     ""},
    {"a session of tool outputs is a run that content decides on", "/p",
     "plugins/profile/old/10.0.0.1.overview_page.json\n",
     "p = plugins/profile/old ?\n"
     "  other : 10.0.0.1.overview_page.json\n"},
};

static void grouping(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct text picture = {0};
        struct scan_run *runs;
        uint32_t file_count, run_count;
        struct scan_file *files = read_files(rows[i].files, arena, &file_count);

        scan_group(str_of(rows[i].root), files, file_count, arena, &runs, &run_count);
        draw(&picture, files, runs, run_count);
        CHECK_STR(rows[i].what, text_str(&picture), rows[i].want);
        text_free(&picture);
        arena_destroy(arena);
    }
}

/* Ten thousand log directories, and ten thousand sessions of one. */
static void thousands(void **state)
{
    (void)state;
    enum { EACH = 10000 };
    struct arena *arena = arena_create();
    struct scan_file *files = arena_array(arena, struct scan_file, 2 * EACH);
    struct scan_run *runs;
    uint32_t run_count, ambiguous = 0;

    for (uint32_t i = 0; i < EACH; i++) {
        files[i].path = str_format(arena, "step_%u/plugins/profile/S/vm.xplane.pb", i);
        files[EACH + i].path =
            str_format(arena, "one/plugins/profile/2026_01_%02u_%02u_%02u_00/vm.xplane.pb",
                       1 + i / 1440, i / 60 % 24, i % 60);
    }
    scan_group(STR("/p"), files, 2 * EACH, arena, &runs, &run_count);
    CHECK_INT("runs", run_count, 2 * EACH);
    for (uint32_t i = 1; i < run_count; i++)
        ambiguous += str_equal(runs[i - 1].name, runs[i].name);
    CHECK_INT("runs of one name", ambiguous, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouping),
        cmocka_unit_test(thousands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
