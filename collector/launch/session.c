#include "launch/session.h"

#include <dirent.h>
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

#include "api/record.h"
#include "base/file.h"

enum { SESSIONS_A_SECOND = 100, NAME_MAX_BYTES = 256 };

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
        if (mkdir(session->directory, 0700) == 0)
            return OK;
        if (errno != EEXIST)
            break;
    }
    return fail(err, ERR_IO, "cannot make %s: %s", session->directory, strerror(errno));
}

static enum status make_control(struct launched *session, const struct control_asked *asked,
                                bool is_open, struct error *err)
{
    char path[4200];
    struct control *control = MAP_FAILED;

    snprintf(path, sizeof path, "%s/%s", session->directory, CONTROL_FILE);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && ftruncate(fd, sizeof *control) == 0)
        control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED || flock(fd, LOCK_EX | LOCK_NB) != 0) {
        fail(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err->code;
    }
    session->control_fd = fd;
    control->launcher = getpid();
    control->asked = *asked;
    control->version = CONTROL_VERSION;
    control->gate = is_open;
    control->capture = is_open;
    control->magic = CONTROL_MAGIC;
    session->control = control;
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

static bool is_spool(const char *name)
{
    size_t count = strlen(name), suffix = strlen(SPOOL_SUFFIX);

    return count > suffix && strcmp(name + count - suffix, SPOOL_SUFFIX) == 0;
}

static uint32_t count_spools(const char *directory)
{
    DIR *open = opendir(directory);
    uint32_t count = 0;

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;)
        count += is_spool(entry->d_name);
    if (open != NULL)
        closedir(open);
    return count;
}

/* "466-3444070.jvs" -> "host_p466.jvs"; the only one of a session is "host.jvs". */
static enum status move_spool(const struct launched *session, const struct session_result *result,
                              const char *name, struct error *err)
{
    char from[4400], to[4800], host[NAME_MAX_BYTES] = "host", of_process[64] = "";

    gethostname(host, sizeof host - 1);
    if (result->spools > 1)
        snprintf(of_process, sizeof of_process, "_p%.*s", (int)strcspn(name, "-"), name);
    snprintf(from, sizeof from, "%s/%s", session->directory, name);
    snprintf(to, sizeof to, "%s/%s%s%s", result->profile, host, of_process, SPOOL_SUFFIX);
    if (rename(from, to) != 0)
        return fail(err, ERR_IO, "cannot move %s to %s: %s", from, to, strerror(errno));
    return OK;
}

static enum status move_spools(const struct launched *session, struct session_result *result,
                               struct error *err)
{
    enum status status = OK;

    snprintf(result->profile, sizeof result->profile, "%.3500s/plugins/profile/%s", session->out,
             session->name);
    TRY(directory_make(result->profile, err));
    DIR *open = opendir(session->directory);
    for (struct dirent *entry; status == OK && open != NULL && (entry = readdir(open)) != NULL;)
        if (is_spool(entry->d_name))
            status = move_spool(session, result, entry->d_name, err);
    if (open != NULL)
        closedir(open);
    return status;
}

enum status session_end(struct launched *session, struct session_result *ret, struct error *err)
{
    char control[4200];

    *ret = (struct session_result){.spools = count_spools(session->directory),
                                   .records = session->control->records,
                                   .activity = session->control->activity,
                                   .lost = session->control->lost};
    if (atomic_load(&session->control->complaint_state) == 2)
        memcpy(ret->complaint, session->control->complaint, sizeof ret->complaint - 1);
    if (ret->spools > 0)
        TRY(move_spools(session, ret, err));
    snprintf(control, sizeof control, "%s/%s", session->directory, CONTROL_FILE);
    unlink(control);
    rmdir(session->directory); /* stays where a process still writes into it */
    return OK;
}
