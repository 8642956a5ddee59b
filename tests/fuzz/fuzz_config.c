/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a config file: options come of it, or a sentence that says what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES = 64 };

static const char *file_of(const uint8_t *data, size_t size)
{
    static char path[PATH_BYTES];
    FILE *file;

    snprintf(path, sizeof path, "/tmp/jviewd-fuzz-config-%d", (int)getpid());
    file = fopen(path, "we");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path;
}

static void check(const struct options *options)
{
    if (options->port < 0 || options->port > UINT16_MAX || options->roots.count == 0 ||
        options->workers > 1024)
        abort();
    for (uint32_t i = 0; i < options->capture_targets.count; i++)
        if (memchr(options->capture_targets.at[i].at, ':', options->capture_targets.at[i].count) ==
            NULL)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    const char *path = file_of(data, size);
    char *argv[] = {str_c(arena, STR("serve")), str_c(arena, STR("--config")),
                    str_c(arena, str_of(path))};
    struct error err = {0};
    struct options options;

    if (options_read(COUNT(argv), argv, arena, &options, &err) == OK)
        check(&options);
    else if (err.message[0] == '\0')
        abort();
    unlink(path);
    arena_destroy(arena);
    return 0;
}
