/* SPDX-License-Identifier: Apache-2.0 */
/* Files -> runs, as pictures: a line a run, its files below it.
 *
 *   step_1000 = step_1000/plugins/profile/S
 *     trace hostA  hostA.xplane.pb
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "discover/scan.h"

static const char *const role_words[] = {"trace", "copy", "beside", "other"};

struct row {
    const char *what;
    const char *root;
    /* One a line: path, then perhaps " @seconds" of its mtime, " [first-last]" seconds of what it
     * turned out to hold, " job:rank". */
    const char *files;
    const char *want;
};

static void read_known(struct str line, size_t at, struct scan_known *ret)
{
    long long first, last;

    *ret = (struct scan_known){.rank = -1};
    for (; at < line.count; at++) {
        const char *word = line.at + at + 1;

        if (line.at[at] != ' ')
            continue;
        if (*word == '[' && sscanf(word, "[%lld-%lld]", &first, &last) == 2)
            *ret = (struct scan_known){true, first * 1000000000, last * 1000000000, {0}, -1};
        const char *colon = memchr(word, ':', line.count - at - 1);
        if (*word != '[' && *word != '@' && colon != NULL) {
            ret->group = (struct str){.at = word, .count = (size_t)(colon - word)};
            ret->rank = atoll(colon + 1);
        }
    }
}

static struct scan_file *read_files(const char *text, struct arena *arena, uint32_t *ret_count)
{
    struct scan_file *files = arena_array(arena, struct scan_file, 64);
    uint32_t count = 0;

    while (*text != '\0') {
        const char *end = strchr(text, '\n');
        struct str line = {.at = text, .count = (size_t)(end - text)};
        const char *space = memchr(line.at, ' ', line.count);
        const char *at = memchr(line.at, '@', line.count);

        files[count] = (struct scan_file){.path = line, .bytes = 10};
        if (space != NULL)
            files[count].path.count = (size_t)(space - line.at);
        if (at != NULL)
            files[count].modified_ns = atoll(at + 1) * 1000000000;
        read_known(line, files[count].path.count, &files[count].known);
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
    {"a bundle is a run of its own, also beside the files of another", "/p",
     "a/step_7.jvz\n"
     "step_1000/plugins/profile/S/copy.jvz @5\n"
     "step_1000/plugins/profile/S/vm.xplane.pb @9\n",
     "step_1000 = step_1000/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"
     "step_1000/S/copy = step_1000/plugins/profile/S\n"
     "  trace copy: copy.jvz\n"
     "a/step_7 = a\n"
     "  trace step_7: step_7.jvz\n"},
    {"... and keeps its suffix beside the run it was made of", "/p",
     "step_1000.jvz\n"
     "step_1000/plugins/profile/S/vm.xplane.pb\n",
     "step_1000 = step_1000/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"
     "step_1000.jvz = \n"
     "  trace step_1000: step_1000.jvz\n"},
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
    {"a memory snapshot of PyTorch is a run", "/p", "t/memory_snapshot.pickle\n",
     "t/memory_snapshot = t\n"
     "  trace memory_snapshot: memory_snapshot.pickle\n"},
    {"an nsys export speaks for its report", "/p", "n/report1.nsys-rep\nn/report1.sqlite\n",
     "n/report1 = n\n"
     "  trace report1: report1.sqlite\n"
     "  copy report1: report1.nsys-rep\n"},
    {"... of any age", "/p", "n/report1.qdrep\nn/report1.sqlite\n",
     "n/report1 = n\n"
     "  trace report1: report1.sqlite\n"
     "  copy report1: report1.qdrep\n"},
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
    {"an archive of one profile has its name", "/p",
     "r/plugins/profile/S/h.xplane.pb.zip\nx.trace.json.zip\ndata.json.zip\n",
     "data.json =  ?\n"
     "  trace data.json: data.json.zip\n"
     "r = r/plugins/profile/S\n"
     "  trace h: h.xplane.pb.zip\n"
     "x = \n"
     "  trace x: x.trace.json.zip\n"},
    {"checkpoints and sources are no runs", "/p",
     "ckpt/saved_model.pb\nckpt/config.json\nckpt/d/manifest.ocdbt\nsrc/train.py\ndata.tar.gz\n",
     ""},
    {"a file that was named is a run, whatever its name", "/p", "notes\n",
     "notes = \n"
     "  trace notes: notes\n"},
    {"a dump of XLA is one run; the text of a message says less", "/p",
     "dump/module_0001.jit_f.before_optimizations.hlo.pb\n"
     "dump/module_0001.jit_f.before_optimizations.txt\n"
     "dump/module_0001.jit_f.thunks.o\n"
     "dump/module_0001.jit_f/module.mlir\n"
     "dump/module_0002.jit_g.hlo.pb.xz\n"
     "dump/x.trace.json\n",
     "dump = dump dump/module_0001.jit_f ?\n"
     "  trace module.mlir: module.mlir\n"
     "  trace module_0001.jit_f.before_optimizations: "
     "module_0001.jit_f.before_optimizations.hlo.pb\n"
     "  trace module_0002.jit_g: module_0002.jit_g.hlo.pb.xz\n"
     "  copy module_0001.jit_f.before_optimizations: "
     "module_0001.jit_f.before_optimizations.txt\n"
     "dump/x = dump\n"
     "  trace x: x.trace.json\n"},
    {"a dump beside plugins belongs to the session", "/p",
     "r/dump/module_0001.jit_f.hlo.pb\n"
     "r/dump/module_0001.jit_f/module.mlir\n"
     "r/jit_f.hlo_proto.pb\n"
     "r/plugins/profile/S/vm.xplane.pb\n",
     "r = r/plugins/profile/S\n"
     "  trace vm: vm.xplane.pb\n"
     "  beside jit_f: jit_f.hlo_proto.pb\n"
     "  beside module.mlir: module.mlir\n"
     "  beside module_0001.jit_f: module_0001.jit_f.hlo.pb\n"},
    {"what nsys-jax wrote is one run", "/p",
     "j/device-metadata.parquet\n"
     "j/dump/module_0001.f.hlo.pb.xz\n"
     "j/nvtx_gpu_proj_trace/trace.parquet\n"
     "j/report_nvtx_pushpop_trace.csv.xz\n"
     "data/trace.parquet\n",
     "j = j j/dump j/nvtx_gpu_proj_trace ?\n"
     "  trace device-metadata.parquet: device-metadata.parquet\n"
     "  trace module_0001.f: module_0001.f.hlo.pb.xz\n"
     "  trace report_nvtx_pushpop_trace.csv: report_nvtx_pushpop_trace.csv.xz\n"
     "  trace trace.parquet: trace.parquet\n"},
    {"names say one capture, the recordings do not", "/p",
     "r/plugins/profile/2026_11_21_10_41_47/A.xplane.pb @1 [100-200]\n"
     "r/plugins/profile/2026_11_21_10_42_47/B.xplane.pb @2 [300-400]\n",
     "r/2026_11_21_10_42_47 = r/plugins/profile/2026_11_21_10_42_47\n"
     "  trace B: B.xplane.pb\n"
     "r/2026_11_21_10_41_47 = r/plugins/profile/2026_11_21_10_41_47\n"
     "  trace A: A.xplane.pb\n"},
    {"... while one of them is not known", "/p",
     "r/plugins/profile/2026_11_21_10_41_47/A.xplane.pb [100-200]\n"
     "r/plugins/profile/2026_11_21_10_42_47/B.xplane.pb\n",
     "r = r/plugins/profile/2026_11_21_10_41_47 r/plugins/profile/2026_11_21_10_42_47\n"
     "  trace A: A.xplane.pb\n"
     "  trace B: B.xplane.pb\n"},
    {"two captures in one directory", "/p",
     "d/n_512.xplane.pb @1 [100-200]\n"
     "d/n_1536.xplane.pb @2 [201-300]\n",
     "d/n_1536 = d\n"
     "  trace n_1536: n_1536.xplane.pb\n"
     "d/n_512 = d\n"
     "  trace n_512: n_512.xplane.pb\n"},
    {"... that are hosts, for they overlap", "/p",
     "d/a.xplane.pb @1 [100-200]\n"
     "d/b.xplane.pb @2 [200-300]\n",
     "d = d\n"
     "  trace a: a.xplane.pb\n"
     "  trace b: b.xplane.pb\n"},
    {"... of which one is not known", "/p",
     "d/n_512.xplane.pb @1 [100-200]\n"
     "d/n_1536.xplane.pb @2\n",
     "d = d\n"
     "  trace n_1536: n_1536.xplane.pb\n"
     "  trace n_512: n_512.xplane.pb\n"},
    {"... beside which a third is not known", "/p",
     "d/a.xplane.pb @1 [100-200]\n"
     "d/b.xplane.pb @2 [300-400]\n"
     "d/c.xplane.pb @3\n",
     "d/c = d\n"
     "  trace c: c.xplane.pb\n"
     "d/b = d\n"
     "  trace b: b.xplane.pb\n"
     "d/a = d\n"
     "  trace a: a.xplane.pb\n"},
    {"... each with what was exported of it", "/p",
     "d/a.trace.json.gz @1 [100-200]\n"
     "d/a.xplane.pb @1 [100-200]\n"
     "d/b.xplane.pb @2 [300-400]\n"
     "d/jit_f.hlo_proto.pb @1\n",
     "d/b = d\n"
     "  trace b: b.xplane.pb\n"
     "d/a = d\n"
     "  trace a: a.xplane.pb\n"
     "  copy a: a.trace.json.gz\n"
     "  other : jit_f.hlo_proto.pb\n"},
    {"one capture twice: a file and an archive of it", "/p",
     "d/again.zip @2 [100-200]\n"
     "d/vm.xplane.pb @1 [100-200]\n",
     "d = d\n"
     "  trace vm: vm.xplane.pb\n"
     "  copy vm: again.zip\n"},
    {"a host that was slow to export", "/p",
     "r/plugins/profile/2026_11_21_10_41_47/A.xplane.pb [100-200]\n"
     "r/plugins/profile/2026_11_21_10_59_47/B.xplane.pb [150-250]\n"
     "r/plugins/profile/2026_11_21_11_58_00/C.xplane.pb [250-260]\n",
     "r = r/plugins/profile/2026_11_21_10_41_47 r/plugins/profile/2026_11_21_10_59_47 "
     "r/plugins/profile/2026_11_21_11_58_00\n"
     "  trace A: A.xplane.pb\n"
     "  trace B: B.xplane.pb\n"
     "  trace C: C.xplane.pb\n"},
    {"sessions with names of their own", "/p",
     "r/plugins/profile/one/A.xplane.pb [100-200]\n"
     "r/plugins/profile/two/A.xplane.pb [150-250]\n"
     "r/plugins/profile/two_b/B.xplane.pb [110-250]\n",
     "r/one = r/plugins/profile/one r/plugins/profile/two_b\n"
     "  trace A: A.xplane.pb\n"
     "  trace B: B.xplane.pb\n"
     "r/two = r/plugins/profile/two\n"
     "  trace A: A.xplane.pb\n"},
    {"log directories of workers side by side", "/p",
     "w/worker0/plugins/profile/2026_11_21_10_00_00/h0.xplane.pb @1\n"
     "w/worker0/plugins/profile/2026_11_21_11_00_00/h0.xplane.pb @2\n"
     "w/worker1/plugins/profile/2026_11_21_10_00_01/h1.xplane.pb @1\n"
     "w/worker1/plugins/profile/2026_11_21_11_00_01/h1.xplane.pb @2\n",
     "w/2026_11_21_11_00_00 = w/worker0/plugins/profile/2026_11_21_11_00_00 "
     "w/worker1/plugins/profile/2026_11_21_11_00_01\n"
     "  trace h0: h0.xplane.pb\n"
     "  trace h1: h1.xplane.pb\n"
     "w/2026_11_21_10_00_00 = w/worker0/plugins/profile/2026_11_21_10_00_00 "
     "w/worker1/plugins/profile/2026_11_21_10_00_01\n"
     "  trace h0: h0.xplane.pb\n"
     "  trace h1: h1.xplane.pb\n"},
    {"... or named as their hosts", "/p",
     "w/n7.site/plugins/profile/2026_11_21_10_00_00/n7.site.xplane.pb\n"
     "w/n8.site/plugins/profile/2026_11_21_10_00_01/n8.site.xplane.pb\n",
     "w = w/n7.site/plugins/profile/2026_11_21_10_00_00 "
     "w/n8.site/plugins/profile/2026_11_21_10_00_01\n"
     "  trace n7.site: n7.site.xplane.pb\n"
     "  trace n8.site: n8.site.xplane.pb\n"},
    {"... but not of experiments", "/p",
     "w/exp0/plugins/profile/2026_11_21_10_00_00/h0.xplane.pb\n"
     "w/exp1/plugins/profile/2026_11_21_10_00_00/h1.xplane.pb\n",
     "w/exp0 = w/exp0/plugins/profile/2026_11_21_10_00_00\n"
     "  trace h0: h0.xplane.pb\n"
     "w/exp1 = w/exp1/plugins/profile/2026_11_21_10_00_00\n"
     "  trace h1: h1.xplane.pb\n"},
    {"ranks of one job that ran at the same time", "/p",
     "k/sampled_rank-0.pt.trace.json.gz [10-20] job:0\n"
     "k/sampled_rank-1.pt.trace.json.gz [11-21] job:1\n",
     "k/sampled = k\n"
     "  trace sampled_rank-0: sampled_rank-0.pt.trace.json.gz\n"
     "  trace sampled_rank-1: sampled_rank-1.pt.trace.json.gz\n"},
    {"... in directories of their own", "/p",
     "k/rank0/t.pt.trace.json [10-20] job:0\nk/rank1/u.pt.trace.json [11-21] job:1\n",
     "k = k/rank0 k/rank1\n"
     "  trace t: t.pt.trace.json\n"
     "  trace u: u.pt.trace.json\n"},
    {"... of equal names in directories of their own", "/p",
     "k/rank0/s_10.pt.trace.json [10-20] job:0\nk/rank1/s_10.pt.trace.json [11-21] job:1\n"
     "k/rank2/s_10.pt.trace.json [12-22] job:2\n"
     "k/rank0/s_20.pt.trace.json [30-40] job:0\nk/rank1/s_20.pt.trace.json [31-41] job:1\n",
     "k/s_10 = k/rank0 k/rank1 k/rank2\n"
     "  trace rank0: s_10.pt.trace.json\n"
     "  trace rank1: s_10.pt.trace.json\n"
     "  trace rank2: s_10.pt.trace.json\n"
     "k/s_20 = k/rank0 k/rank1\n"
     "  trace rank0: s_20.pt.trace.json\n"
     "  trace rank1: s_20.pt.trace.json\n"},
    {"... that share no more than a directory with those of the next step", "/p",
     "tb/worker0_11.100.pt.trace.json [10-20] job:0\n"
     "tb/worker1_12.101.pt.trace.json [10-20] job:1\n"
     "tb/worker0_11.200.pt.trace.json [30-40] job:0\n"
     "tb/worker1_12.201.pt.trace.json [30-40] job:1\n",
     "tb/worker0_11.100 = tb\n"
     "  trace worker0_11.100: worker0_11.100.pt.trace.json\n"
     "  trace worker1_12.101: worker1_12.101.pt.trace.json\n"
     "tb/worker0_11.200 = tb\n"
     "  trace worker0_11.200: worker0_11.200.pt.trace.json\n"
     "  trace worker1_12.201: worker1_12.201.pt.trace.json\n"},
    {"a path that is not a text", "/p", "\xff\xfe/a.pt.trace.json\n",
     "\xef\xbf\xbd\xef\xbf\xbd/a = \xff\xfe\n  trace a: a.pt.trace.json\n"},
    {"... one after another, of another job, or the same rank again", "/p",
     "a0.pt.trace.json @4 [10-20] job:0\na1.pt.trace.json @3 [30-40] job:1\n"
     "b1.pt.trace.json @2 [10-20] other:1\nc0.pt.trace.json @1 [10-20] job:0\n",
     "a0 = \n  trace a0: a0.pt.trace.json\n"
     "a1 = \n  trace a1: a1.pt.trace.json\n"
     "b1 = \n  trace b1: b1.pt.trace.json\n"
     "c0 = \n  trace c0: c0.pt.trace.json\n"},
    {"exports of Nsight Systems that overlap", "/p",
     "n/proc0.sqlite @1 [10-20] nsys:-1\nn/proc1.sqlite @1 [12-20] nsys:-1\n"
     "n/report2.sqlite @2 [30-40] nsys:-1\n",
     "n/report2 = n ?\n  trace report2: report2.sqlite\n"
     "n = n ?\n"
     "  trace proc0: proc0.sqlite\n"
     "  trace proc1: proc1.sqlite\n"},
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
