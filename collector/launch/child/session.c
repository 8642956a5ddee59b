/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the session's directory and its page, and moves its spools when the program is over. */
#include "launch/child/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "collector/control_memory.h"
#include "launch/capture/spools_place.h"
#include "launch/spool/sample_join.h"

enum { SESSIONS_A_SECOND = 100 };

static enum status absolute(const char *path, char ret[4096], struct error *err)
{
    char *real = realpath(path, NULL);

    if (real == NULL || strlen(real) > 3500) {
        free(real);
        return fail(err, ERR_IO, "the directory %s: %s", path, strerror(errno));
    }
    strcpy(ret, real);
    free(real);
    return OK;
}

/* Of a session that has ended in the same second. */
static bool has_profile(const struct launched *session)
{
    char path[4096];

    snprintf(path, sizeof path, "%.3500s/plugins/profile/%s", session->out, session->name);
    return access(path, F_OK) == 0;
}

/* The time of the start, as TensorBoard names its sessions; the next second where that is taken. */
static enum status make_directory(struct launched *session, struct error *err)
{
    time_t now = time(NULL);
    char path[4096];
    struct tm at;

    snprintf(path, sizeof path, "%.3500s/.jview-spool", session->out);
    TRY(directory_make(path, err));
    for (int later = 0; later < SESSIONS_A_SECOND; later++, now++) {
        localtime_r(&now, &at);
        strftime(session->name, sizeof session->name, "%Y_%m_%d_%H_%M_%S", &at);
        snprintf(session->directory, sizeof session->directory, "%.3600s/%s", path, session->name);
        if (mkdir(session->directory, 0700) != 0) {
            if (errno != EEXIST)
                break;
            continue;
        }
        if (!has_profile(session))
            return OK;
        rmdir(session->directory);
    }
    return fail(err, ERR_IO, "cannot make %s: %s", session->directory, strerror(errno));
}

/* Sealed: from here on it is as large as it is. */
static struct control *make_memory(int *ret_fd)
{
    struct control *control = MAP_FAILED;
    int fd = memfd_create("jview-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, sizeof *control) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *ret_fd = fd;
    return control != MAP_FAILED ? control : NULL;
}

static enum status make_control(struct launched *session, const struct control_asked *asked,
                                bool is_open, struct error *err)
{
    char path[4200];
    int memory_fd;
    struct control *control = make_memory(&memory_fd);

    if (control == NULL)
        return fail(err, ERR_IO, "no memory for the session's page: %s", strerror(errno));
    control->launcher = getpid();
    control->memory_fd = memory_fd;
    control->token = clock_monotonic_ns();
    control->asked = *asked;
    control->version = CONTROL_VERSION;
    control->is_on = is_open;
    control->capture = is_open;
    control->magic = CONTROL_MAGIC;
    session->control = control;
    snprintf(path, sizeof path, "%s/%s", session->directory, CONTROL_FILE);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || pwrite(fd, control, CONTROL_HEAD_BYTES, 0) != CONTROL_HEAD_BYTES ||
        flock(fd, LOCK_EX | LOCK_NB) != 0) {
        fail(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err->code;
    }
    session->control_fd = fd;
    return OK;
}

enum status session_begin(const char *out, const struct control_asked *asked, bool is_open,
                          struct launched *ret, struct error *err)
{
    *ret = (struct launched){0};
    TRY(directory_make(out, err));
    TRY(absolute(out, ret->out, err));
    TRY(make_directory(ret, err));
    return make_control(ret, asked, is_open, err);
}

enum status session_end(struct launched *session, struct session_result *ret, struct error *err)
{
    struct spools spools;

    *ret = (struct session_result){.records = session->control->records,
                                   .activity = session->control->activity,
                                   .lost = session->control->lost};
    if (atomic_load(&session->control->complaint_state) == 2)
        memcpy(ret->complaint, session->control->complaint, sizeof ret->complaint - 1);
    samples_join(session->directory);
    enum status status =
        spools_place(session->directory, session->out, session->name, &spools, err);
    ret->spools = spools.moved;
    ret->busy = spools.busy;
    ret->profiles = spools.profiles;
    ret->profile_count = spools.profile_count;
    TRY(status);
    if (spools.busy == 0) /* else finalize finds the session as it is */
        spools_leave(session->directory);
    return OK;
}
