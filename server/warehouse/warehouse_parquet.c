/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet is written by pyarrow, in a process of Python that is told which files to turn.
 *
 *   us   FROM <tab> TO <newline> ...  ──stdin──>  python -m jviewd.parquet
 *        ok, or why not               <──stdout──
 *
 * Which Python: the one that $JVIEWD_PYTHON names (the wheel's `jviewd` names its own), else
 * python3 of the PATH.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"
#include "warehouse/warehouse_parts.h"

struct parquet {
    pid_t pid;
    FILE *to, *from;
};

#define REMEDY                                                                                     \
    "Parquet is written by pyarrow: pip install 'jviewd[arrow]', and name that Python by "         \
    "JVIEWD_PYTHON where it is not the one of the PATH; or take --format arrow, csv or jsonl, "    \
    "which need nothing"

static enum status read_answer(struct parquet *parquet, struct error *err)
{
    char line[1024];

    if (fgets(line, sizeof line, parquet->from) == NULL)
        return fail(err, ERR_UNSUPPORTED, "%s", REMEDY);
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "ok") == 0)
        return OK;
    return fail(err, ERR_IO, "Parquet cannot be written: %s", line);
}

enum status parquet_start(struct parquet **ret, struct error *err)
{
    const char *named = getenv("JVIEWD_PYTHON");
    const char *python = named != NULL && named[0] != '\0' ? named : "python3";
    /* A Python without the package ends at once, without its own words about that. */
    char *argv[] = {(char *)(uintptr_t)python, "-c",
                    "import importlib.util as u, runpy, sys\n"
                    "if u.find_spec('jviewd') is None: sys.exit(1)\n"
                    "runpy.run_module('jviewd.parquet', run_name='__main__', alter_sys=True)",
                    NULL};
    struct parquet *parquet = memory_resize(NULL, 1, sizeof *parquet);
    int to[2] = {-1, -1}, from[2] = {-1, -1};

    *parquet = (struct parquet){0};
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        free(parquet);
        return fail(err, ERR_IO, "no pipe for the writer of Parquet: %s", strerror(errno));
    }
    const struct spawn_end ends[] = {{to[0], STDIN_FILENO}, {from[1], STDOUT_FILENO}};
    int error = spawn_program(python, argv, ends, COUNT(ends), &parquet->pid);
    close(to[0]);
    close(from[1]);
    parquet->to = fdopen(to[1], "w");
    parquet->from = fdopen(from[0], "r");
    enum status status =
        error == 0 ? read_answer(parquet, err)
                   : fail(err, ERR_UNSUPPORTED, "%s (%s: %s)", REMEDY, python, strerror(error));
    *ret = parquet;
    if (status != OK) {
        parquet_end(parquet);
        *ret = NULL;
    }
    return status;
}

enum status parquet_write(struct parquet *parquet, const struct place_file *from,
                          const struct place_file *to, struct error *err)
{
    fprintf(parquet->to, "%s\t%s\n", from->path, to->path);
    if (fflush(parquet->to) != 0)
        return fail(err, ERR_IO, "the writer of Parquet has ended: %s", strerror(errno));
    return read_answer(parquet, err);
}

void parquet_end(struct parquet *parquet)
{
    int ignored;

    if (parquet == NULL)
        return;
    fclose(parquet->to);
    fclose(parquet->from);
    while (parquet->pid > 0 && waitpid(parquet->pid, &ignored, 0) < 0 && errno == EINTR)
        ;
    free(parquet);
}
