/* SPDX-License-Identifier: Apache-2.0 */
/* A thread for each program records its profile into one session's directory. */
#include "capture/capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/profile_service.h"

enum { HOST_BYTES_MAX = 255, PORT_BYTES_MAX = 5, SESSION_TRIES = 60 };

struct target {
    struct capture *capture;
    char text[HOST_BYTES_MAX + PORT_BYTES_MAX + 4], host[HOST_BYTES_MAX + 1];
    char port[PORT_BYTES_MAX + 1];
    pthread_t thread;
    bool started, is_kept; /* a file of it stands there */
    _Atomic enum capture_state state;
    atomic_uint_fast64_t bytes;
    struct error problem; /* written before the state says so */
};

struct capture {
    char directory[4096]; /* where files are made, beneath the two below */
    char shown[4096];     /* where they are in the end, for people */
    struct capture_delivery delivery;
    size_t existed;    /* so many bytes of `directory` name what was there before */
    int parent_fd, fd; /* of "plugins/profile" and of the session in it */
    char session[32];
    int64_t begin_ns;
    struct profile_wish wish; /* of all; host and port are each one's own */
    atomic_bool is_cancelled;
    uint32_t target_count;
    struct target targets[];
};

/* "HOST:PORT"; an address of IPv6 stands in brackets. */
static bool split_target(struct str text, struct target *ret)
{
    const char *colon = text.count > 0 ? memrchr(text.at, ':', text.count) : NULL;
    uint64_t port;

    if (colon == NULL || memchr(text.at, '\0', text.count) != NULL)
        return false;
    struct str host = {text.at, (size_t)(colon - text.at)};
    struct str port_text = str_skip(text, host.count + 1);
    bool bracketed = host.count > 2 && host.at[0] == '[' && host.at[host.count - 1] == ']';
    if (bracketed)
        host = (struct str){host.at + 1, host.count - 2};
    else if (memchr(host.at, ':', host.count) != NULL)
        return false;
    if (host.count == 0 || host.count > HOST_BYTES_MAX || port_text.count > PORT_BYTES_MAX ||
        !str_to_u64(port_text, &port) || port == 0 || port > UINT16_MAX)
        return false;
    snprintf(ret->host, sizeof ret->host, "%.*s", (int)host.count, host.at);
    snprintf(ret->port, sizeof ret->port, "%u", (unsigned)port);
    snprintf(ret->text, sizeof ret->text, "%.*s", (int)text.count, text.at);
    return true;
}

static void came(void *data, uint64_t bytes)
{
    struct target *target = data;

    atomic_store(&target->bytes, bytes);
    atomic_store(&target->state, CAPTURE_RECEIVING);
}

static bool go_on(void *data)
{
    struct target *target = data;

    return !atomic_load(&target->capture->is_cancelled);
}

/* A program's file: its host's name without what a path would mean. */
static void name_of(const struct target *target, char ret[HOST_BYTES_MAX + 1])
{
    snprintf(ret, HOST_BYTES_MAX + 1, "%s", target->host);
    for (char *at = ret; *at != '\0'; at++)
        if (*at == '/' || *at == ':' || *at == '%' || (at == ret && *at == '.'))
            *at = '_';
}

/* Within the session's directory. */
static void file_of(const struct target *target, const char *suffix, char ret[NAME_MAX + 1])
{
    char name[HOST_BYTES_MAX + 1];

    name_of(target, name);
    snprintf(ret, NAME_MAX + 1, "%.200s_%s.xplane.pb%s", name, target->port, suffix);
}

static bool is_same_file(const struct target *a, const struct target *b)
{
    char a_name[NAME_MAX + 1], b_name[NAME_MAX + 1];

    file_of(a, "", a_name);
    file_of(b, "", b_name);
    return strcmp(a_name, b_name) == 0;
}

/* What came stands under its name; that it is not all, the failure says. */
static void keep_part(struct target *target)
{
    char rest[sizeof target->problem.message];

    snprintf(rest, sizeof rest, "%s", target->problem.message);
    snprintf(target->problem.message, sizeof target->problem.message,
             "%.400s; what was received before is kept", rest);
}

/* The failure of a recording stays the first one; that the file stays here is told either way. */
static enum status deliver(const struct target *target, const char *name, int fd, struct error *err)
{
    const struct capture *capture = target->capture;
    const struct capture_delivery *delivery = &capture->delivery;
    struct error why = {0};

    if (delivery->take(delivery->data, capture->session, name, fd, atomic_load(&target->bytes),
                       &why) == OK) {
        unlinkat(capture->fd, name, 0);
        return OK;
    }
    return fail(err, why.code, "%.300s; the profile is kept in %.160s/%s", why.message,
                capture->directory, name);
}

static enum status record(struct target *target, struct error *err)
{
    char temporary[NAME_MAX + 1], final[NAME_MAX + 1];
    struct profile_wish wish = target->capture->wish;
    int directory = target->capture->fd;

    file_of(target, ".tmp", temporary);
    file_of(target, "", final);
    wish.host = target->host;
    wish.port = target->port;
    int fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return fail(err, ERR_IO, "%s/%s cannot be written: %s", target->capture->directory,
                    temporary, strerror(errno));
    const struct profile_sink sink = {.fd = fd, .data = target, .came = came, .go_on = go_on};
    enum status status = profile_record(&wish, &sink, err);
    target->is_kept = atomic_load(&target->bytes) > 0 && fsync(fd) == 0 &&
                      renameat(directory, temporary, directory, final) == 0;
    if (!target->is_kept && status == OK)
        status = fail(err, ERR_IO, "%s/%s cannot be written: %s", target->capture->directory, final,
                      strerror(errno));
    if (target->is_kept && status != OK)
        keep_part(target);
    if (!target->is_kept)
        unlinkat(directory, temporary, 0);
    else if (target->capture->delivery.take != NULL)
        status = deliver(target, final, fd, err) == OK ? status : err->code;
    close(fd);
    return status;
}

static void *record_one(void *data)
{
    struct target *target = data;
    enum status status = record(target, &target->problem);

    atomic_store(&target->state, status == OK ? CAPTURE_DONE : CAPTURE_FAILED);
    return NULL;
}

static enum status not_made(const char *path, struct error *err)
{
    return fail(err, errno == EACCES ? ERR_PERMISSION : ERR_IO, "%s cannot be made: %s", path,
                strerror(errno));
}

/* mkdir -p with the user's usual rights: others read profiles as well. */
static enum status make_root(const char *path, struct error *err)
{
    char part[4096];

    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return not_made(part, err);
        if (slash == NULL)
            return OK;
        *slash = '/';
    }
}

/* The one beneath; no link leads out of the profile directory, whoever else may write there.
 * Closes `parent`; -1 where it cannot be. */
static int enter(int parent, const char *name)
{
    int fd = parent >= 0 ? openat(parent, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int reason = errno;
    if (parent >= 0)
        close(parent);
    errno = reason;
    return fd;
}

/* The same, made where it is not there. */
static int make(int parent, const char *name)
{
    if (parent < 0 || mkdirat(parent, name, 0777) == 0 || errno == EEXIST)
        return enter(parent, name);
    int reason = errno;
    close(parent);
    errno = reason;
    return -1;
}

/* How much of a path is there: "runs" of "runs/profiles/plugins" is 4. */
static size_t existing(const char *path)
{
    char part[4096];
    struct stat seen;

    snprintf(part, sizeof part, "%s", path);
    while (part[0] != '\0' && stat(part, &seen) != 0) {
        char *slash = strrchr(part, '/');

        *(slash != NULL ? slash : part) = '\0';
    }
    return strlen(part);
}

/* Of a recording that failed nothing stays: neither its session nor the directories made for it. */
static void remove_made(const struct capture *capture)
{
    char path[sizeof capture->directory];
    char *slash;

    if (unlinkat(capture->parent_fd, capture->session, AT_REMOVEDIR) != 0)
        return; /* something came */
    snprintf(path, sizeof path, "%s", capture->directory);
    while ((slash = strrchr(path, '/')) != NULL && (size_t)(slash - path) > capture->existed) {
        *slash = '\0';
        if (rmdir(path) != 0)
            return;
    }
}

static enum status open_parent(struct capture *capture, const char *profile_dir, char parent[3072],
                               struct error *err)
{
    if (snprintf(parent, 3072, "%s/plugins/profile", profile_dir) >= 3072)
        return fail(err, ERR_INVALID, "the directory's path is too long");
    capture->existed = existing(parent);
    TRY(make_root(profile_dir, err));
    capture->parent_fd =
        make(make(open(profile_dir, O_DIRECTORY | O_CLOEXEC), "plugins"), "profile");
    return capture->parent_fd >= 0 ? OK : not_made(parent, err);
}

/* A session of its own, named by its second as JAX does; the next one where that is taken. */
static enum status make_session(struct capture *capture, const char *profile_dir, struct error *err)
{
    char parent[3072];
    struct tm now;

    TRY(open_parent(capture, profile_dir, parent, err));
    time_t second = time(NULL);
    for (int tries = 0; tries < SESSION_TRIES; tries++, second++) {
        localtime_r(&second, &now);
        strftime(capture->session, sizeof capture->session, "%Y_%m_%d_%H_%M_%S", &now);
        snprintf(capture->directory, sizeof capture->directory, "%s/%s", parent, capture->session);
        snprintf(capture->shown, sizeof capture->shown, "%s", capture->directory);
        if (capture->delivery.take != NULL)
            snprintf(capture->shown, sizeof capture->shown, "%.3000s/plugins/profile/%s",
                     capture->delivery.place, capture->session);
        if (mkdirat(capture->parent_fd, capture->session, 0777) == 0) {
            capture->fd =
                openat(capture->parent_fd, capture->session, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (capture->fd >= 0)
                return OK;
            break;
        }
        if (errno != EEXIST)
            break;
    }
    return not_made(capture->directory, err);
}

static void forget(struct capture *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    if (capture->parent_fd >= 0)
        close(capture->parent_fd);
    free(capture);
}

bool capture_is_target(struct str text)
{
    struct target ignored;

    return split_target(text, &ignored);
}

static bool is_named(const struct capture_rule *rule, struct str target)
{
    for (uint32_t i = 0; i < rule->count; i++)
        if (str_equal(rule->targets[i], target))
            return true;
    return false;
}

static enum status check_rule(const struct capture_rule *rule, struct str target, struct error *err)
{
    if (rule == NULL || rule->count == 0 || is_named(rule, target))
        return OK;
    return fail(err, ERR_UNSUPPORTED,
                "%.*s is not among the programs of --allow-capture=HOST:PORT,... with which this "
                "server was started",
                STR_ARG(target));
}

static enum status read_wish(struct capture *capture, const struct capture_wish *wish,
                             struct error *err)
{
    if (wish->duration_ms < 1 || wish->duration_ms > CAPTURE_MS_MAX)
        return fail(err, ERR_INVALID, "a recording must last 1 ms to 1 hour");
    for (uint32_t i = 0; i < wish->target_count; i++) {
        struct target *target = &capture->targets[i];

        target->capture = capture;
        if (!split_target(wish->targets[i], target))
            return fail(err, ERR_INVALID, "\"%.*s\" is not HOST:PORT", STR_ARG(wish->targets[i]));
        TRY(check_rule(wish->rule, wish->targets[i], err));
        for (uint32_t j = 0; j < i; j++)
            if (is_same_file(target, &capture->targets[j]))
                return fail(err, ERR_INVALID, "%s is given twice", target->text);
    }
    capture->wish =
        (struct profile_wish){.duration_ms = wish->duration_ms,
                              .public_only = wish->rule != NULL && wish->rule->count == 0,
                              .host_level = wish->host_level,
                              .device_level = wish->device_level,
                              .python_level = wish->python_level};
    return OK;
}

enum status capture_start(const struct capture_wish *wish, struct capture **ret, struct error *err)
{
    if (wish->target_count == 0 || wish->target_count > CAPTURE_TARGETS_MAX)
        return fail(err, ERR_INVALID, "a recording may cover 1 to %d programs",
                    CAPTURE_TARGETS_MAX);
    struct capture *capture =
        calloc(1, sizeof *capture + wish->target_count * sizeof capture->targets[0]);
    if (capture == NULL)
        return fail(err, ERR_LIMIT, "not enough memory for a recording");
    capture->target_count = wish->target_count;
    capture->begin_ns = clock_monotonic_ns();
    capture->delivery = wish->delivery;
    capture->fd = capture->parent_fd = -1;
    enum status status = read_wish(capture, wish, err);
    if (status == OK)
        status = make_session(capture, wish->profile_dir, err);
    if (status != OK) {
        forget(capture);
        return status;
    }
    for (uint32_t i = 0; i < capture->target_count; i++) {
        struct target *target = &capture->targets[i];

        target->started = pthread_create(&target->thread, NULL, record_one, target) == 0;
        if (!target->started) {
            (void)fail(&target->problem, ERR_LIMIT, "no thread can be started for the recording");
            atomic_store(&target->state, CAPTURE_FAILED);
        }
    }
    *ret = capture;
    return OK;
}

bool capture_is_done(struct capture *capture)
{
    for (uint32_t i = 0; i < capture->target_count; i++)
        if (atomic_load(&capture->targets[i].state) < CAPTURE_DONE)
            return false;
    remove_made(capture);
    return true;
}

void capture_look(struct capture *capture, uint32_t index, struct capture_view *ret)
{
    struct target *target = &capture->targets[index];

    *ret = (struct capture_view){.target = target->text,
                                 .state = atomic_load(&target->state),
                                 .bytes = atomic_load(&target->bytes)};
    if (ret->state == CAPTURE_FAILED)
        snprintf(ret->problem, sizeof ret->problem, "%s", target->problem.message);
}

uint32_t capture_target_count(const struct capture *capture)
{
    return capture->target_count;
}

const char *capture_directory(const struct capture *capture)
{
    return capture->shown;
}

double capture_seconds(const struct capture *capture)
{
    return (double)(clock_monotonic_ns() - capture->begin_ns) / 1e9;
}

void capture_cancel(struct capture *capture)
{
    atomic_store(&capture->is_cancelled, true);
}

bool capture_is_kept(const struct capture *capture)
{
    bool kept = false;

    for (uint32_t i = 0; i < capture->target_count; i++)
        kept = kept || capture->targets[i].is_kept;
    return kept;
}

void capture_remove(const char *profile_dir, const char *directory)
{
    const char *slash = strrchr(directory, '/'), *session = slash != NULL ? slash + 1 : directory;
    int parent = enter(enter(open(profile_dir, O_DIRECTORY | O_CLOEXEC), "plugins"), "profile");
    int fd = parent >= 0 ? openat(parent, session, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    DIR *open_directory = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *entry; open_directory != NULL && (entry = readdir(open_directory)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(fd, entry->d_name, 0);
    if (open_directory != NULL) {
        closedir(open_directory);
        unlinkat(parent, session, AT_REMOVEDIR);
    } else if (fd >= 0) {
        close(fd);
    }
    if (parent >= 0)
        close(parent);
}

uint32_t capture_close(struct capture *capture)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < capture->target_count; i++) {
        struct target *target = &capture->targets[i];

        if (target->started)
            pthread_join(target->thread, NULL);
        done += atomic_load(&target->state) == CAPTURE_DONE;
    }
    forget(capture);
    return done;
}
