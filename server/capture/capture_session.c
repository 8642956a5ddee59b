/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the one recording of a server under a lock, for many who start, look or cancel. */
#include "capture/capture_session.h"

#include <pthread.h>
#include <stdlib.h>

struct capture_session {
    pthread_mutex_t mutex;
    const char *profile_dir;
    struct capture_rule rule;
    struct capture_delivery delivery;
    struct capture *capture; /* NULL: none yet */
    int64_t duration_ms;
    double done_seconds; /* 0: not seen done */
    bool is_starting;
};

const struct capture_rule *capture_session_rule(const struct capture_session *session)
{
    return &session->rule;
}

struct capture_session *capture_session_open(const char *profile_dir, struct capture_rule rule,
                                             struct capture_delivery delivery)
{
    struct capture_session *session = memory_resize(NULL, 1, sizeof *session);

    *session =
        (struct capture_session){.profile_dir = profile_dir, .rule = rule, .delivery = delivery};
    pthread_mutex_init(&session->mutex, NULL);
    return session;
}

enum status capture_session_start(struct capture_session *session, struct capture_wish *wish,
                                  struct error *err)
{
    struct capture *capture = NULL, *before = NULL;

    pthread_mutex_lock(&session->mutex);
    bool busy =
        session->is_starting || (session->capture != NULL && !capture_is_done(session->capture));
    session->is_starting |= !busy;
    pthread_mutex_unlock(&session->mutex);
    if (busy)
        return fail(err, ERR_CONFLICT, "another recording is in progress: wait until it has ended");
    wish->profile_dir = session->profile_dir;
    wish->rule = &session->rule;
    wish->delivery = session->delivery;
    enum status status = capture_start(wish, &capture, err); /* its directory may be slow */
    pthread_mutex_lock(&session->mutex);
    session->is_starting = false;
    if (status == OK) {
        before = session->capture;
        session->capture = capture;
        session->duration_ms = wish->duration_ms;
        session->done_seconds = 0;
    }
    pthread_mutex_unlock(&session->mutex);
    if (before != NULL)
        capture_close(before);
    return status;
}

void capture_session_look(struct capture_session *session, struct arena *arena,
                          struct capture_report *ret)
{
    *ret = (struct capture_report){.directory = STR("")};
    pthread_mutex_lock(&session->mutex);
    if (session->capture != NULL) {
        ret->any = true;
        ret->is_done = capture_is_done(session->capture);
        if (ret->is_done && session->done_seconds == 0)
            session->done_seconds = capture_seconds(session->capture);
        ret->seconds = ret->is_done ? session->done_seconds : capture_seconds(session->capture);
        ret->duration_ms = session->duration_ms;
        ret->directory = str_copy(arena, str_of(capture_directory(session->capture)));
        ret->target_count = capture_target_count(session->capture);
        ret->targets = arena_array(arena, struct capture_view, ret->target_count);
        for (uint32_t i = 0; i < ret->target_count; i++) {
            capture_look(session->capture, i, &ret->targets[i]);
            ret->targets[i].target = str_c(arena, str_of(ret->targets[i].target));
        }
    }
    pthread_mutex_unlock(&session->mutex);
}

void capture_session_cancel(struct capture_session *session)
{
    pthread_mutex_lock(&session->mutex);
    if (session->capture != NULL)
        capture_cancel(session->capture);
    pthread_mutex_unlock(&session->mutex);
}

void capture_session_close(struct capture_session *session)
{
    if (session == NULL)
        return;
    capture_session_cancel(session);
    if (session->capture != NULL)
        capture_close(session->capture);
    pthread_mutex_destroy(&session->mutex);
    free(session);
}
