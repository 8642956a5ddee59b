/* SPDX-License-Identifier: Apache-2.0 */
/* `prune --compress`: which runs, what it would win, and doing it. */
#include <signal.h>
#include <stdio.h>

#include "cli/cli.h"
#include "prune/prune_cold.h"

enum { NAME_SHOWN_MAX = 60 };

struct winning { /* of one run */
    uint64_t bytes, packed;
    uint32_t files, failed;
    const char *reason; /* why nothing is won; of its last file */
};

struct compressing {
    struct arena *arena;
    bool yes;
    int64_t now_ns;
    struct winning all;
};

typedef enum status cold_verb(const char *root, const struct run_file *file, uint64_t *ret_bytes,
                              struct error *err);

/* A file that stays as it is has its reason; another failure is told. */
static void do_file(struct compressing *compressing, const char *root, const struct run_file *file,
                    struct winning *ret)
{
    cold_verb *verb = compressing->yes ? prune_cold_pack : prune_cold_guess;
    struct error err = {0};
    uint64_t packed = 0;
    enum status status = verb(root, file, &packed, &err);

    if (status == OK && packed < file->bytes) {
        ret->files++;
        ret->bytes += file->bytes;
        ret->packed += packed;
    } else if (status == OK || status == ERR_UNSUPPORTED) {
        ret->reason = status == OK ? "compressing it would save little"
                                   : str_c(compressing->arena, str_of(err.message));
    } else {
        fprintf(stderr, "jviewd: %s\n", err.message);
        ret->failed++;
        ret->reason = "failed";
    }
}

static void print_name(struct str name)
{
    for (size_t i = 0; i < name.count && i < NAME_SHOWN_MAX; i++)
        putchar((unsigned char)name.at[i] < ' ' || name.at[i] == 127 ? ' ' : name.at[i]);
    putchar('\n');
}

static void do_run(struct compressing *compressing, const struct prune_run *run,
                   const struct run_record *record)
{
    struct winning won = {.reason = run->kept};
    const char *root = str_c(compressing->arena, record->root);

    for (uint32_t i = 0; run->kept == NULL && i < record->run_file_count; i++) {
        if (record->files[i].state != FILE_GONE && record->files[i].state != FILE_IGNORED)
            do_file(compressing, root, &record->files[i], &won);
    }
    double days = (double)(compressing->now_ns - run->modified_ns) / 86400e9;
    struct str becomes = won.files > 0 ? size_text(won.packed, compressing->arena) : STR("-");
    printf("%10.*s  %6.1f d  %10.*s  %-32s  ", STR_ARG(size_text(run->bytes, compressing->arena)),
           days, STR_ARG(becomes),
           won.files == 0     ? won.reason
           : compressing->yes ? "packed"
                              : "would be packed");
    print_name(run->name);
    compressing->all.files += won.files;
    compressing->all.failed += won.failed;
    compressing->all.bytes += won.bytes;
    compressing->all.packed += won.packed;
}

int prune_compress(struct arena *arena, const struct prune_run *runs,
                   const struct run_record *records, uint32_t count, bool yes, int64_t now_ns)
{
    struct compressing compressing = {.arena = arena, .yes = yes, .now_ns = now_ns};
    const struct winning *all = &compressing.all;

    signal(SIGXFSZ, SIG_IGN); /* the write that is too much fails instead */
    printf("%10s  %8s  %10s  %-32s  %s\n", "size", "age", yes ? "is now" : "about", "", "run");
    for (uint32_t i = 0; i < count; i++)
        do_run(&compressing, &runs[i], &records[i]);
    struct str won = size_text(all->bytes - all->packed, arena);
    if (yes)
        printf("%u file%s packed, %.*s saved.\n", all->files, all->files == 1 ? "" : "s",
               STR_ARG(won));
    else if (all->files > 0)
        printf("Nothing was changed: %u file%s would be packed with --yes, which saves about "
               "%.*s.\n",
               all->files, all->files == 1 ? "" : "s", STR_ARG(won));
    return fflush(stdout) == 0 && all->failed == 0 ? EXIT_OK : EXIT_IO;
}
