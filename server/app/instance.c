/* SPDX-License-Identifier: Apache-2.0 */
/* Announces a running server in a file of the cache, and finds those of others. */
#include "app/instance.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { INSTANCE_BYTES_MAX = 1 << 16, HALF_SECONDS_MAX = 10 };

static void path_of(const char *cache_dir, const char *name, char ret[4096])
{
    snprintf(ret, 4096, "%s/servers%s%s", cache_dir, name[0] != '\0' ? "/" : "", name);
}

void instance_withdraw(const char *cache_dir, int port)
{
    char path[4096], name[16];

    snprintf(name, sizeof name, "%d", port);
    path_of(cache_dir, name, path);
    unlink(path);
}

static struct str line_next(struct str *rest)
{
    const char *end = memchr(rest->at, '\n', rest->count);
    struct str line = {rest->at, end != NULL ? (size_t)(end - rest->at) : rest->count};

    *rest = str_skip(*rest, line.count + (end != NULL));
    return line;
}

static bool is_alive(struct str pid)
{
    int64_t number;

    return str_to_i64(pid, &number) && number > 1 && number < INT32_MAX &&
           (kill((pid_t)number, 0) == 0 || errno == EPERM);
}

/* The address in one announcement; "" when it is another's or nobody's. */
static struct str read_instance(const char *path, const char *root, struct arena *arena)
{
    struct bytes bytes;

    if (file_read(path, arena, INSTANCE_BYTES_MAX, &bytes, NULL) != OK)
        return STR("");
    struct str rest = {(const char *)bytes.at, bytes.count};
    struct str pid = line_next(&rest), url = line_next(&rest);
    if (!is_alive(pid)) {
        unlink(path);
        return STR("");
    }
    while (rest.count > 0) {
        if (str_equal(line_next(&rest), str_of(root)))
            return url;
    }
    return STR("");
}

/* Half announcements of killed processes, once they are too old to be somebody's in the making. */
static void remove_half(const char *path)
{
    struct stat seen;

    if (lstat(path, &seen) == 0 && time(NULL) - seen.st_mtime > HALF_SECONDS_MAX)
        unlink(path);
}

static void sweep(const char *cache_dir)
{
    struct arena *arena = arena_create();
    char path[4096];

    path_of(cache_dir, "", path);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        path_of(cache_dir, entry->d_name, path);
        if (strstr(entry->d_name, ".tmp") != NULL)
            remove_half(path);
        else
            read_instance(path, "", arena);
    }
    if (directory != NULL)
        closedir(directory);
    arena_destroy(arena);
}

void instance_announce(const char *cache_dir, int port, const char *url, const struct str *roots,
                       uint32_t root_count)
{
    char path[4096], name[16];
    struct file_out out;
    struct text text = {0};

    path_of(cache_dir, "", path);
    if (directory_make(path, NULL) != OK)
        return;
    sweep(cache_dir);
    snprintf(name, sizeof name, "%d", port);
    path_of(cache_dir, name, path);
    if (file_out_open(&out, path, NULL) != OK)
        return;
    text_putf(&text, "%ld\n%s\n", (long)getpid(), url);
    for (uint32_t i = 0; i < root_count; i++)
        text_putf(&text, "%.*s\n", STR_ARG(roots[i]));
    if (file_write_all(out.fd, text.at, text.count, 0, NULL) != OK ||
        file_out_commit(&out, NULL) != OK)
        file_out_abandon(&out);
    text_free(&text);
}

struct str instance_find(const char *cache_dir, const char *root, struct arena *arena)
{
    char path[4096];
    struct str found = STR("");

    path_of(cache_dir, "", path);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return found;
    for (struct dirent *entry; found.count == 0 && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".tmp") != NULL)
            continue;
        path_of(cache_dir, entry->d_name, path);
        found = read_instance(path, root, arena);
    }
    closedir(directory);
    return found;
}
