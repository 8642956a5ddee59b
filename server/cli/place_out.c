/* SPDX-License-Identifier: Apache-2.0 */
/* -o s3://bucket/step_500.jvz: the file is made in the cache first, so the object appears whole. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/ask.h"
#include "cli/verbs.h"
#include "remote/remote.h"
#include "store/cache.h"

static void show(void *data, uint64_t done, uint64_t total)
{
    (void)data;
    progress_show("Uploading", (double)done / (double)total);
}

static enum status put(struct remote *remote, int fd, struct error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return fail(err, ERR_IO, "the file that was made cannot be read");
    enum status status = remote_put(remote, STR(""), fd, (uint64_t)info.st_size, false,
                                    (struct remote_progress){.tell = show}, err);

    progress_clear();
    return status;
}

static int failed(const struct error *err)
{
    fprintf(stderr, "jviewd: %s\n", err->message);
    return err->code == ERR_INVALID || err->code == ERR_UNSUPPORTED ? EXIT_USAGE : EXIT_IO;
}

static int make_and_put(const struct cli_call *call, const struct services *services,
                        const char *path, struct str format, struct remote *remote)
{
    char directory[4096], making[4200];
    struct error err = {0};

    if (cache_job_dir(services->cache, directory, &err) != OK)
        return failed(&err);
    snprintf(making, sizeof making, "%s/output", directory);
    int fd = open(making, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int code = fd < 0 ? EXIT_IO : write_answer(call, services, path, format, fd);

    if (fd < 0)
        fprintf(stderr, "jviewd: %s cannot be written\n", making);
    if (code == EXIT_OK && put(remote, fd, &err) != OK)
        code = failed(&err);
    file_close(fd);
    cache_remove_dir(directory);
    if (code == EXIT_OK)
        fprintf(stderr, "%.*s\n", STR_ARG(remote_name(remote)));
    return code;
}

int write_place(const struct cli_call *call, const struct services *services, const char *path,
                struct str format, const char *target)
{
    struct remote *remote;
    struct error err = {0};

    if (remote_open(str_of(target), &remote, &err) != OK)
        return failed(&err);
    int code = make_and_put(call, services, path, format, remote);

    remote_close(remote);
    return code;
}
