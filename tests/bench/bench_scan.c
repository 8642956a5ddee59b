/* SPDX-License-Identifier: Apache-2.0 */
/* bench_scan DIR: looking at a tree of runs, against a bare walk of it with a stat of each file.
 *
 * Makes the tree where DIR is not there yet: 10,000 run directories of three files. Prints, in ms
 * of CPU time (kernel and program),
 *
 *   walk     opendir, readdir and fstatat of everything: the best of several
 *   first    a scan into an empty catalog, until every run is told
 *   again    a scan when nothing has changed: the best of several
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ingest/ingest_parts.h"

enum { RUNS = 10000, ROUNDS = 5, PATH_SIZE = 4096 };

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void make_directory(const char *path)
{
    if (mkdir(path, 0777) != 0)
        die(path);
}

static void make_file(const char *path, int number)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fprintf(file, "%d\n", number) < 0 || fclose(file) != 0)
        die(path);
}

static void make_run(const char *tree, int number)
{
    static const char *const below[] = {"", "/plugins", "/plugins/profile",
                                        "/plugins/profile/2026_01_01_00_00_00"};
    static const char *const files[] = {"host.xplane.pb", "host.trace.json.gz",
                                        "jit_step(3).hlo_proto.pb"};
    char path[PATH_SIZE];

    for (size_t i = 0; i < COUNT(below); i++) {
        snprintf(path, sizeof path, "%s/step_%05d%s", tree, number, below[i]);
        make_directory(path);
    }
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/step_%05d%s/%s", tree, number, below[3], files[i]);
        make_file(path, number);
    }
}

static void make_tree(const char *tree)
{
    make_directory(tree);
    for (int i = 0; i < RUNS; i++)
        make_run(tree, i);
}

static uint64_t walk(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    uint64_t count = 0;
    struct stat info;

    if (stream == NULL)
        die(name);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            die(entry->d_name);
        count += S_ISDIR(info.st_mode) ? walk(fd, entry->d_name) : 1;
    }
    closedir(stream);
    return count;
}

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static double ms_since(int64_t start_ns)
{
    return (double)(cpu_ns() - start_ns) / 1e6;
}

static double best_walk_ms(const char *tree)
{
    double best_ms = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t start_ns = cpu_ns();

        if (walk(AT_FDCWD, tree) != 3 * RUNS)
            die("the tree is not whole");
        double ms = ms_since(start_ns);
        best_ms = ms < best_ms ? ms : best_ms;
    }
    return best_ms;
}

static void scan(struct ingest_root *root, double *ret_first_ms, double *ret_again_ms)
{
    int64_t start_ns = cpu_ns();

    ingest_scan_once(root);
    *ret_first_ms = ms_since(start_ns);
    if (root->run_count != RUNS)
        die("not all runs were found");
    *ret_again_ms = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        start_ns = cpu_ns();
        ingest_scan_once(root);
        double ms = ms_since(start_ns);
        *ret_again_ms = ms < *ret_again_ms ? ms : *ret_again_ms;
    }
}

static struct ingest *make_ingest(struct ingest_root *root, const char *cache)
{
    struct ingest *ingest = memory_resize(NULL, 1, sizeof *ingest);
    struct error err = {0};

    *ingest = (struct ingest){.options.root_count = 1, .roots = root};
    root->ingest = ingest;
    pthread_mutex_init(&ingest->lock, NULL);
    pthread_cond_init(&ingest->changed, NULL);
    for (size_t i = 0; i < PUBLISHING_COUNT; i++)
        pthread_mutex_init(&ingest->publishing[i], NULL);
    if (catalog_open(cache, &ingest->catalog, &err) != OK)
        die(err.message);
    return ingest;
}

int main(int argc, char **argv)
{
    char cache[] = "/tmp/jview-bench-XXXXXX", command[64];
    double first_ms, again_ms;

    if (argc != 2 || mkdtemp(cache) == NULL)
        die("usage: bench_scan DIR");
    if (access(argv[1], F_OK) != 0)
        make_tree(argv[1]);
    struct ingest_root root = {.given = str_of(argv[1])};
    struct ingest *ingest = make_ingest(&root, cache);
    double walk_ms = best_walk_ms(argv[1]);

    scan(&root, &first_ms, &again_ms);
    printf("walk %.1f first %.1f again %.1f\n", walk_ms, first_ms, again_ms);
    catalog_close(ingest->catalog);
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command);
}
