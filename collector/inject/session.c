#include "inject/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct control own_control = {.magic = CONTROL_MAGIC,
                                     .version = CONTROL_VERSION,
                                     .asked.system_hz = 2,
                                     .gate = 1,
                                     .capture = 1};

static struct control *map_control(const char *directory)
{
    char path[4200];
    struct stat about;

    snprintf(path, sizeof path, "%s/%s", directory, CONTROL_FILE);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    struct control *control = MAP_FAILED;
    if (fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof *control)
        control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (control == MAP_FAILED)
        return NULL;
    if (control->magic == CONTROL_MAGIC && control->version == CONTROL_VERSION)
        return control;
    munmap(control, sizeof *control);
    return NULL;
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
        struct control *control = map_control(launched);
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
