/* Keeps the one recording of a server under a lock, for many who start, look or cancel. */
#include "capture/desk.h"

#include <pthread.h>
#include <stdlib.h>

struct capture_desk {
    pthread_mutex_t mutex;
    const char *profile_dir;
    struct capture *capture; /* NULL: none yet */
    int64_t duration_ms;
    double done_seconds; /* 0: not seen done */
    bool is_starting;
};

struct capture_desk *capture_desk_open(const char *profile_dir)
{
    struct capture_desk *desk = memory_resize(NULL, 1, sizeof *desk);

    *desk = (struct capture_desk){.profile_dir = profile_dir};
    pthread_mutex_init(&desk->mutex, NULL);
    return desk;
}

enum status capture_desk_start(struct capture_desk *desk, struct capture_wish *wish,
                               struct error *err)
{
    struct capture *capture = NULL, *before = NULL;

    pthread_mutex_lock(&desk->mutex);
    bool busy = desk->is_starting || (desk->capture != NULL && !capture_is_done(desk->capture));
    desk->is_starting |= !busy;
    pthread_mutex_unlock(&desk->mutex);
    if (busy)
        return fail(err, ERR_CONFLICT, "a recording is under way: wait until it has ended");
    wish->profile_dir = desk->profile_dir;
    enum status status = capture_start(wish, &capture, err); /* its directory may be slow */
    pthread_mutex_lock(&desk->mutex);
    desk->is_starting = false;
    if (status == OK) {
        before = desk->capture;
        desk->capture = capture;
        desk->duration_ms = wish->duration_ms;
        desk->done_seconds = 0;
    }
    pthread_mutex_unlock(&desk->mutex);
    if (before != NULL)
        capture_close(before);
    return status;
}

void capture_desk_look(struct capture_desk *desk, struct arena *arena, struct capture_report *ret)
{
    *ret = (struct capture_report){.directory = STR("")};
    pthread_mutex_lock(&desk->mutex);
    if (desk->capture != NULL) {
        ret->any = true;
        ret->is_done = capture_is_done(desk->capture);
        if (ret->is_done && desk->done_seconds == 0)
            desk->done_seconds = capture_seconds(desk->capture);
        ret->seconds = ret->is_done ? desk->done_seconds : capture_seconds(desk->capture);
        ret->duration_ms = desk->duration_ms;
        ret->directory = str_copy(arena, str_of(capture_directory(desk->capture)));
        ret->target_count = capture_target_count(desk->capture);
        ret->targets = arena_array(arena, struct capture_view, ret->target_count);
        for (uint32_t i = 0; i < ret->target_count; i++) {
            capture_look(desk->capture, i, &ret->targets[i]);
            ret->targets[i].target = str_c(arena, str_of(ret->targets[i].target));
        }
    }
    pthread_mutex_unlock(&desk->mutex);
}

void capture_desk_cancel(struct capture_desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    if (desk->capture != NULL)
        capture_cancel(desk->capture);
    pthread_mutex_unlock(&desk->mutex);
}

void capture_desk_close(struct capture_desk *desk)
{
    if (desk == NULL)
        return;
    capture_desk_cancel(desk);
    if (desk->capture != NULL)
        capture_close(desk->capture);
    pthread_mutex_destroy(&desk->mutex);
    free(desk);
}
