/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files: how every build replays the seeds.
 *
 *   fuzz_NAME PATH...   each file, and every file below each directory; of each also what its first
 *                       bytes are alone: every prefix of a short one, of a long one some, spread
 *
 * The fuzz build links libFuzzer's main instead of this one.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PREFIXES_MAX = 256 };

static unsigned run_count;

/* In memory of its own size: who reads beyond its end is seen. */
static void run_prefix(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    run_count++;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;

    if (file == NULL || fstat(fileno(file), &info) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size + 1);
    if (data == NULL || fread(data, 1, size, file) != size) {
        fprintf(stderr, "%s cannot be read whole\n", path);
        return 1;
    }
    for (size_t step = size / PREFIXES_MAX + 1, count = 0; count < size; count += step)
        run_prefix(data, count);
    run_prefix(data, size);
    free(data);
    fclose(file);
    return 0;
}

static int run_path(const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        return run_file(path);
    DIR *directory = opendir(path);
    if (directory == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char below[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        failed |= run_path(below);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;

    for (int i = 1; i < argc; i++)
        failed |= run_path(argv[i]);
    printf("%u inputs\n", run_count);
    return failed || run_count == 0;
}
