/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of any size, from a seed, with sums known by construction.
 *
 *   make_profile SHAPE [--events N] [--seed N] [--devices N] -o FILE      facts as JSON on stdout
 *
 *   SHAPE   gpu   /device:GPU:n: streams of kernels and copies; /host:CPU: launches, Python frames
 *           tpu   /device:TPU:n: Steps, XLA Modules, XLA Ops; /host:CPU: Python frames
 *           cpu   /host:CPU: ops of XLA:CPU on threads, with their partners; Python frames
 *   FILE    *.xplane.pb, or *.json or *.json.gz as JAX exports it
 *
 * An event is a function of (seed, line, index), so nothing is kept: the lengths that protobuf
 * wants in front are found by writing twice, the first time into nothing. A step takes STEP_PS; a
 * line has the same number of events in each of its steps but the last, each in its own slot:
 *
 *   slot    |  [   event   ]   |   [ event ]      |      no two overlap
 *   Python  | [ frame                      ]      |      groups of eight nest:
 *           |  [ a         ] [ b         ][c]     |      frame, a, a1, a2, b, b1, b2, c
 *           |   [a1 ] [a2 ]   [b1 ] [b2 ]         |
 */
#include "profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

enum { DEVICES_MAX = 120 }; /* at most two lines each, and two of the host */

_Noreturn void die(const char *what)
{
    fprintf(stderr, "make_profile: %s\n", what);
    exit(1);
}

static enum status write_file(void *to, struct bytes piece, struct error *err)
{
    const int *fd = to;

    while (piece.count > 0) {
        ssize_t done = write(*fd, piece.at, piece.count);

        if (done <= 0)
            return fail(err, ERR_IO, "cannot write");
        piece = (struct bytes){.at = piece.at + done, .count = piece.count - (size_t)done};
    }
    return OK;
}

static void flush(struct out *out)
{
    struct bytes piece = {.at = out->buffer, .count = out->filled};
    struct error err = {0};
    enum status status = out->gzip != NULL ? gzip_out_put(out->gzip, piece, &err)
                                           : write_file(&out->fd, piece, &err);

    if (status != OK)
        die(err.message);
    out->filled = 0;
}

void put(struct out *out, const void *at, size_t count)
{
    out->count += count;
    if (out->counting)
        return;
    if (out->filled + count > BUFFER)
        flush(out);
    memcpy(out->buffer + out->filled, at, count);
    out->filled += count;
}

static void add_line(struct profile *profile, const char *plane, enum pattern pattern, int device,
                     unsigned weight, const char *name)
{
    struct line *line = &profile->lines[profile->line_count++];

    if (profile->plane_count == 0 || strcmp(profile->planes[profile->plane_count - 1], plane) != 0)
        snprintf(profile->planes[profile->plane_count++], 32, "%s", plane);
    line->plane = profile->planes[profile->plane_count - 1];
    snprintf(line->name, sizeof line->name, "%s", name);
    line->id = profile->line_count;
    line->pattern = pattern;
    line->device = device;
    line->weight = weight;
}

static void shape_lines(struct profile *profile)
{
    char text[64];

    for (int device = 0; device < profile->devices; device++) {
        if (strcmp(profile->shape, "gpu") == 0) {
            snprintf(text, sizeof text, "/device:GPU:%d", device);
            add_line(profile, text, KERNELS, device, 400, "Stream #13(Compute)");
            add_line(profile, text, COPIES, device, 50, "Stream #14(MemcpyD2D)");
        } else if (strcmp(profile->shape, "tpu") == 0) {
            snprintf(text, sizeof text, "/device:TPU:%d", device);
            add_line(profile, text, STEPS, device, 0, "Steps");
            add_line(profile, text, MODULES, device, 0, "XLA Modules");
            add_line(profile, text, OPS, device, 800, "XLA Ops");
        }
    }
    if (strcmp(profile->shape, "gpu") == 0)
        add_line(profile, "/host:CPU", LAUNCHES, 0, 250 * (unsigned)profile->devices, "launcher");
    for (int device = 0; strcmp(profile->shape, "cpu") == 0 && device < profile->devices;
         device++) {
        snprintf(text, sizeof text, "tf_XLAEigen/%d", 100 + device);
        add_line(profile, "/host:CPU", CPU_OPS, device, 800, text);
    }
    add_line(profile, "/host:CPU", FRAMES, 0, 300 * (unsigned)profile->devices, "python");
}

/* Shares the events out: a line of weight 0 has one a step. */
static void share_events(struct profile *profile)
{
    uint64_t steps = (profile->events + STEP_EVENTS - 1) / STEP_EVENTS, left = profile->events;
    unsigned weights = 0;

    for (unsigned i = 0; i < profile->line_count; i++) {
        struct line *line = &profile->lines[i];

        weights += line->weight;
        if (line->weight == 0) {
            line->per_step = 1;
            line->count = steps < left ? steps : left;
            left -= line->count;
        }
    }
    uint64_t shared = left;

    for (unsigned i = 0; i < profile->line_count; i++) {
        struct line *line = &profile->lines[i];

        if (line->weight == 0)
            continue;
        line->count = i + 1 == profile->line_count ? left : shared * line->weight / weights;
        left -= line->count;
        line->per_step = (line->count + steps - 1) / steps;
        line->per_step = (line->per_step + 7) / 8 * 8;
    }
}

static void sum_line(const struct profile *profile, struct line *line)
{
    for (uint64_t index = 0; index < line->count; index++) {
        struct made made = make_event(profile, line, index);
        int64_t end_ps = made.start_ps + made.dur_ps;

        line->sum_ps += made.dur_ps;
        line->top_ps += made.outermost ? made.dur_ps : 0;
        line->names[made.name]++;
        line->name_ps[made.name] += made.dur_ps;
        if (index == 0 || made.start_ps < line->start_ps)
            line->start_ps = made.start_ps;
        if (index == 0 || end_ps > line->end_ps)
            line->end_ps = end_ps;
    }
}

static void print_line(const struct line *line)
{
    const char *comma = "";
    char room[160];

    printf("{\"plane\":\"%s\",\"line\":\"%s\",\"id\":%" PRId64 ",\"count\":%" PRIu64
           ",\"sum_ps\":%" PRId64 ",\"self_ps\":%" PRId64 ",\"start_ps\":%" PRId64
           ",\"end_ps\":%" PRId64 ",\"names\":[",
           line->plane, line->name, line->id, line->count, line->sum_ps, line->top_ps,
           line->start_ps, line->end_ps);
    for (unsigned name = 0; name < NAME_COUNT; name++) {
        if (line->names[name] == 0)
            continue;
        printf("%s[\"%s\",%" PRIu64 ",%" PRId64 "]", comma, text_of(name, room), line->names[name],
               line->name_ps[name]);
        comma = ",";
    }
    printf("]}");
}

static void print_facts(struct profile *profile, uint64_t bytes)
{
    printf("{\"shape\":\"%s\",\"events\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"bytes\":%" PRIu64
           ",\"step_ps\":%" PRId64 ",\"lines\":[\n",
           profile->shape, profile->events, profile->seed, bytes, STEP_PS);
    for (unsigned i = 0; i < profile->line_count; i++) {
        sum_line(profile, &profile->lines[i]);
        print_line(&profile->lines[i]);
        printf(i + 1 < profile->line_count ? ",\n" : "\n");
    }
    printf("]}\n");
}

static uint64_t number_of(const char *text)
{
    int64_t value;

    if (text == NULL || !str_to_i64(str_of(text), &value) || value < 1)
        die("a number above 0 is expected");
    return (uint64_t)value;
}

static const char *read_arguments(int count, char **arguments, struct profile *profile)
{
    const char *path = NULL;

    if (count < 2)
        die("usage: make_profile gpu|tpu|cpu [--events N] [--seed N] [--devices N] -o FILE");
    profile->shape = arguments[1];
    for (int i = 2; i < count; i += 2) {
        if (strcmp(arguments[i], "--events") == 0)
            profile->events = number_of(arguments[i + 1]);
        else if (strcmp(arguments[i], "--seed") == 0)
            profile->seed = number_of(arguments[i + 1]);
        else if (strcmp(arguments[i], "--devices") == 0)
            profile->devices = (int)number_of(arguments[i + 1]);
        else if (strcmp(arguments[i], "-o") == 0)
            path = arguments[i + 1];
        else
            die("unknown argument");
    }
    if (path == NULL || profile->devices > DEVICES_MAX)
        die("-o FILE is missing, or there are more than 120 devices");
    if (strcmp(profile->shape, "gpu") != 0 && strcmp(profile->shape, "tpu") != 0 &&
        strcmp(profile->shape, "cpu") != 0)
        die("SHAPE is gpu, tpu or cpu");
    return path;
}

int main(int count, char **arguments)
{
    struct profile profile = {.events = 100000, .seed = 1, .devices = 2};
    const char *path = read_arguments(count, arguments, &profile);
    struct out out = {.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    struct error err = {0};

    if (out.fd < 0)
        die("FILE cannot be written");
    out.buffer = malloc(BUFFER);
    profile.lines = calloc(LINES_MAX, sizeof *profile.lines);
    if (out.buffer == NULL || profile.lines == NULL)
        die("out of memory");
    if (str_ends(str_of(path), STR(".gz")))
        out.gzip = gzip_out_open(write_file, &out.fd);
    shape_lines(&profile);
    share_events(&profile);
    if (strstr(path, ".json") != NULL)
        put_json(&out, &profile);
    else
        put_xspace(&out, &profile);
    flush(&out);
    if (out.gzip != NULL && gzip_out_close(out.gzip, &err) != OK)
        die(err.message);
    if (close(out.fd) != 0)
        die("FILE cannot be written");
    print_facts(&profile, out.count);
    free(profile.lines);
    free(out.buffer);
    return 0;
}
