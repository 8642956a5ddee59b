/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator reads at the start, and the programs opened for them. */
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/app.h"
#include "app/libraries.h"
#include "base/file.h"

extern char **environ;

bool age_read(struct str text, int64_t *ret_ns)
{
    static const struct {
        char unit;
        int64_t ns;
    } units[] = {
        {'d', INT64_C(86400000000000)}, {'h', INT64_C(3600000000000)}, {'m', INT64_C(60000000000)}};
    uint64_t number;

    for (size_t i = 0; i < COUNT(units) && text.count > 1; i++) {
        struct str digits = {text.at, text.count - 1};

        if (text.at[text.count - 1] == units[i].unit && str_to_u64(digits, &number) && number > 0 &&
            number < (uint64_t)(INT64_MAX / units[i].ns)) {
            *ret_ns = (int64_t)number * units[i].ns;
            return true;
        }
    }
    return false;
}

struct str size_text(uint64_t bytes, struct arena *arena)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 999.5 && unit + 1 < COUNT(units)) {
        value /= 1000;
        unit++;
    }
    return unit == 0 ? str_format(arena, "%llu B", (unsigned long long)bytes)
                     : str_format(arena, "%.*f %s", value < 99.95 ? 1 : 0, value, units[unit]);
}

/* Windows' own Linux: browsers run outside, and reach us by the same name. */
static bool is_wsl(void)
{
    struct arena *arena = arena_create();
    struct error none = {0};
    struct bytes text = {0};
    bool found = file_read("/proc/sys/kernel/osrelease", arena, 4096, &text, &none) == OK &&
                 memmem(text.at, text.count, "icrosoft", 8) != NULL;

    arena_destroy(arena);
    return found;
}

static bool is_everywhere(const char *bind)
{
    return strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0;
}

static bool is_local(const char *bind)
{
    return strncmp(bind, "127.", 4) == 0 || strcmp(bind, "localhost") == 0 || is_everywhere(bind);
}

void address_of(const struct options *options, int port, const char *launch, char ret[1024])
{
    const char *host = is_local(options->bind) ? "localhost" : options->bind;
    size_t end = strlen(options->public_url);

    if (options->public_url[0] != '\0')
        snprintf(ret, 1024, "%s%s%s", options->public_url,
                 options->public_url[end - 1] == '/' ? "" : "/", launch);
    else
        snprintf(ret, 1024, "http://%s:%d%s/%s", host, port, options->base_path, launch);
}

void tell_start(const struct options *options, const char *cache_dir, int port, const char *launch)
{
    char url[1024], host[256] = "";

    for (uint32_t i = 0; i < options->roots.count; i++)
        printf("jviewd %s shows %.*s\n", JVIEWD_VERSION, STR_ARG(options->roots.at[i]));
    if (options->root_rule != NULL)
        printf("  chosen because no path was given (%s)\n", options->root_rule);
    address_of(options, port, launch, url);
    printf("  open     %s\n", url);
    if (is_wsl())
        printf("  Windows  %s (in a browser there)\n", url);
    if (gethostname(host, sizeof host - 1) == 0 && is_local(options->bind))
        printf("  remote   ssh -L %d:localhost:%d %s, then the same address\n", port, port, host);
    printf("  cache    %s\n", cache_dir);
    if (launch[0] != '\0')
        printf("  The link works once, within 10 minutes; scripts send the token as Authorization: "
               "Bearer\n");
    fflush(stdout);
}

/* Starts a program that nobody waits for; false when it is not there. */
static bool start(char *const argv[])
{
    posix_spawn_file_actions_t actions;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0;
}

void open_url(const char *url)
{
    static const char *const openers[] = {"xdg-open", "wslview", "open"};

    for (size_t i = 0; i < COUNT(openers); i++) {
        char *const argv[] = {(char *)(uintptr_t)openers[i], (char *)(uintptr_t)url, NULL};

        if (start(argv))
            return;
    }
    fprintf(stderr, "jviewd: no program to open a browser was found; the address is %s\n", url);
}

void open_browser(const struct options *options, int port, const char *launch)
{
    char url[2048];
    const char *page = options->page;

    if (page[0] == '\0' && strcmp(options->ui, "perfetto") == 0)
        page = "?run=latest&view=perfetto";
    address_of(options, port, launch, url);
    if (launch[0] == '\0')
        strncat(url, page, sizeof url - strlen(url) - 1);
    open_url(url);
}

void start_tensorboard(const char *profile_dir)
{
    static const char *const programs[] = {"xprof", "tensorboard"};

    for (size_t i = 0; i < COUNT(programs); i++) {
        char *const argv[] = {(char *)(uintptr_t)programs[i], (char *)(uintptr_t) "--logdir",
                              (char *)(uintptr_t)profile_dir, NULL};

        if (start(argv))
            return;
    }
    fprintf(stderr, "jviewd: neither xprof nor tensorboard is in the PATH: pip install xprof\n");
}

static int print_library(struct dl_phdr_info *info, size_t size, void *data)
{
    char path[4096];
    (void)size;
    (void)data;

    if (strstr(info->dlpi_name, "/lib") != NULL)
        printf("  %s\n", realpath(info->dlpi_name, path) != NULL ? path : info->dlpi_name);
    return 0;
}

void tell_version(bool verbose)
{
    printf("jviewd %s\n", JVIEWD_VERSION);
    if (!verbose)
        return;
    for (uint32_t i = 0; i < library_count; i++)
        printf("  %-12s %s\n", library_at(i).name, library_at(i).version);
    printf("Licence: Apache-2.0, the jviewd authors%s\n",
           JVIEWD_URL[0] == '\0' ? "" : ", " JVIEWD_URL);
    printf("Loaded from:\n");
    dl_iterate_phdr(print_library, NULL);
    for (uint32_t i = 0; i < library_count; i++) {
        const char *fault = library_fault(library_at(i));

        if (fault != NULL)
            printf("warning: %s %s %s\n", library_at(i).name, library_at(i).version, fault);
    }
}
