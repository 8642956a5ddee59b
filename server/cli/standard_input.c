/* SPDX-License-Identifier: Apache-2.0 */
/* stdin -> $TMPDIR/jviewd-XXXXXX/stdin, gone at the end. Its time is set back: nobody writes it any
 * more, so nobody has to wait until it rests. */
#include "cli/standard_input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char made_directory[PATH_MAX], made_file[PATH_MAX];

static void remove_made(void)
{
    (void)unlink(made_file);
    (void)rmdir(made_directory);
}

static enum status copy_in(int to, struct error *err)
{
    char bytes[1 << 14];
    ssize_t count;

    while ((count = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, now; done < count; done += now)
            if ((now = write(to, bytes + done, (size_t)(count - done))) < 0)
                return fail(err, ERR_IO, "cannot keep what is piped in: %s", strerror(errno));
    return count < 0 ? fail(err, ERR_IO, "cannot read stdin: %s", strerror(errno)) : OK;
}

enum status standard_input_file(struct arena *arena, const char **ret, struct error *err)
{
    enum { REST_S = 60 };
    const char *temporary = getenv("TMPDIR");
    const struct timespec then = {.tv_sec = time(NULL) - REST_S};
    int file;

    if (snprintf(made_directory, sizeof made_directory, "%s/jviewd-XXXXXX",
                 temporary != NULL && temporary[0] == '/' ? temporary : "/tmp") >=
            (int)sizeof made_directory - 16 ||
        mkdtemp(made_directory) == NULL)
        return fail(err, ERR_IO, "cannot make a directory for what is piped in: %s",
                    strerror(errno));
    (void)snprintf(made_file, sizeof made_file, "%.*s/stdin", (int)sizeof made_file - 16,
                   made_directory);
    atexit(remove_made);
    file = open(made_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return fail(err, ERR_IO, "cannot make %s: %s", made_file, strerror(errno));

    enum status status = copy_in(file, err);

    (void)futimens(file, (const struct timespec[]){then, then});
    (void)close(file);
    *ret = str_c(arena, str_of(made_file));
    return status;
}
