/* SPDX-License-Identifier: Apache-2.0 */
/* A session runs while its launcher holds the lock on its control page.
 *
 *   DIR                        the one session of DIR/.jview-spool that runs
 *   DIR/.jview-spool/SESSION   that one
 *   SESSION                    that one of ./profile
 */
#include "launch/ctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/human.h"
#include "collector/control_memory.h"
#include "launch/child/progress.h"

struct live {
    char directory[4096];
    struct control *control; /* NULL: none */
};

/* NULL where no launcher holds it, or it is another version's. */
static struct control *map_live(const char *directory)
{
    char path[4200];
    static struct control head; /* too large for a stack */

    snprintf(path, sizeof path, "%s/" CONTROL_FILE, directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    bool is_held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    bool is_ours = control_read(fd, &head);
    close(fd);
    return is_held && is_ours ? control_map(&head) : NULL;
}

static enum status take(struct live *live, const char *directory, struct error *err)
{
    struct control *control = map_live(directory);

    if (control == NULL)
        return OK;
    if (live->control != NULL)
        return fail(err, ERR_AMBIGUOUS, "more than one session is running, %s and %s: name one",
                    live->directory, directory);
    live->control = control;
    snprintf(live->directory, sizeof live->directory, "%s", directory);
    return OK;
}

static enum status find_below(const char *out, struct live *live, struct error *err)
{
    char path[4096];
    enum status status = OK;

    snprintf(path, sizeof path, "%.3500s/.jview-spool", out);
    DIR *open = opendir(path);
    for (struct dirent *entry; status == OK && open != NULL && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%.3500s/.jview-spool/%.255s", out, entry->d_name);
        if (entry->d_name[0] != '.')
            status = take(live, path, err);
    }
    if (open != NULL)
        closedir(open);
    return status;
}

static enum status find(const char *place, struct live *live, struct error *err)
{
    char path[4096];

    snprintf(path, sizeof path, "profile/.jview-spool/%.3500s", place);
    TRY(take(live, place, err));
    if (live->control == NULL && strchr(place, '/') == NULL)
        TRY(take(live, path, err));
    if (live->control == NULL)
        TRY(find_below(place, live, err));
    if (live->control == NULL)
        return fail(err, ERR_NOT_FOUND,
                    "no session is running in %s; name the directory given to jview-collect -o",
                    place);
    return OK;
}

static void print_status(const struct live *live)
{
    const struct control *control = live->control;
    const char *slash = strrchr(live->directory, '/');

    printf("session    %s\n"
           "state      %s\n"
           "captures   %" PRIu32 "\n"
           "processes  %" PRIu32 "\n"
           "ranges     %" PRIu64 "\n"
           "activity   %" PRIu64 "\n"
           "bytes      %" PRIu64 "\n"
           "lost       %" PRIu64 "\n"
           "launcher   %d\n"
           "program    %d\n",
           slash != NULL ? slash + 1 : live->directory, progress_state(control),
           atomic_load(&control->capture), atomic_load(&control->loaded),
           atomic_load(&control->records), atomic_load(&control->activity),
           atomic_load(&control->bytes), atomic_load(&control->lost), control->launcher,
           control->child);
    if (atomic_load(&control->complaint_state) == 2)
        printf("missing    %.*s\n", COMPLAINT_MAX - 1, control->complaint);
}

enum status ctl_run(char **words, struct error *err)
{
    const char *verb = words[0] != NULL ? words[0] : "";
    bool is_status = strcmp(verb, "status") == 0, is_toggle = strcmp(verb, "toggle") == 0,
         is_start = strcmp(verb, "start") == 0, is_stop = strcmp(verb, "stop") == 0;
    struct live live = {0};

    if (!(is_status || is_toggle || is_start || is_stop) || (words[1] != NULL && words[2] != NULL))
        return fail(err, ERR_INVALID, "jview-collect ctl start|stop|toggle|status [SESSION|DIR]");
    TRY(find(words[1] != NULL ? words[1] : "profile", &live, err));
    bool opens = is_start || (is_toggle && atomic_load(&live.control->is_on) == 0);
    if (!is_status)
        control_turn(live.control, opens);
    atomic_fetch_add(&live.control->flush, 1);
    print_status(&live);
    munmap(live.control, sizeof *live.control);
    return OK;
}
