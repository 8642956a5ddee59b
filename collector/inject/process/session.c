/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the session's directory in the environment, and maps the launcher's page. */
#include "inject/process/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/control_memory.h"

static struct control own_control = {.magic = CONTROL_MAGIC,
                                     .version = CONTROL_VERSION,
                                     .asked.system_hz = 2,
                                     .is_on = 1,
                                     .capture = 1};

/* Where the page itself cannot be reached, what was asked for at the start holds. */
static struct control *find_control(const char *directory)
{
    static struct control head; /* too large for a stack */
    char path[4200];

    snprintf(path, sizeof path, "%s/%s", directory, CONTROL_FILE);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    bool is_ours = control_read(fd, &head);
    close(fd);
    if (!is_ours)
        return NULL;
    struct control *control = control_map(&head);
    if (control != NULL)
        return control;
    memcpy((void *)&own_control, &head, CONTROL_HEAD_BYTES);
    if (own_control.is_on == 0 &&
        (head.asked.range == CAPTURE_NONE || head.asked.range == CAPTURE_SIGNAL))
        fprintf(stderr,
                "jview-collect: process %ld cannot reach its launcher (another container or "
                "machine?): --delay, signals and ctl do not affect its recording\n",
                (long)getpid());
    return &own_control;
}

/* As the launcher and TensorBoard name them: a run that jviewd finds. The program may go to another
 * directory later, so the path is absolute. */
static bool name_session(struct session *session, const char *out)
{
    char here[2048] = "", name[32];
    time_t now = time(NULL);
    struct tm at;

    if (out[0] != '/' && getcwd(here, sizeof here - 1) == NULL)
        return false;
    localtime_r(&now, &at);
    strftime(name, sizeof name, "%Y_%m_%d_%H_%M_%S", &at);
    return snprintf(session->directory, sizeof session->directory, "%s%s%s/plugins/profile/%s",
                    here, here[0] != '\0' ? "/" : "", out, name) < (int)sizeof session->directory;
}

bool session_open(struct session *session)
{
    const char *launched = getenv(ENV_SESSION), *out = getenv(ENV_OUT);
    int count;

    session->control = &own_control;
    if (launched != NULL && launched[0] == '/') {
        struct control *control = find_control(launched);
        count = snprintf(session->directory, sizeof session->directory, "%s", launched);
        session->is_launched = control != NULL;
        if (control != NULL) {
            session->control = control;
            atomic_fetch_add(&control->loaded, 1);
        }
        return control != NULL && count < (int)sizeof session->directory;
    }
    return out != NULL && out[0] != '\0' && name_session(session, out);
}

bool session_make(const struct session *session)
{
    char path[sizeof session->directory];

    if (session->is_launched)
        return true;
    memcpy(path, session->directory, sizeof path);
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}
