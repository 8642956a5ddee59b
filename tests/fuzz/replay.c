/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files: how every build replays the seeds.
 *
 *   fuzz_NAME PATH...   each file, and every file below each directory
 *
 * The fuzz build links libFuzzer's main instead of this one.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned run_count;

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
    LLVMFuzzerTestOneInput(data, size);
    run_count++;
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
