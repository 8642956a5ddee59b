/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a directory that is no session by its place are of one capture: those that were
 * recorded at the same time.
 *
 *   profiles/n_512.xplane.pb     13:06:40.1 ... 40.2    two captures: two runs
 *   profiles/n_1536.xplane.pb    13:06:44.9 ... 47.5
 *   profiles/again.zip           13:06:40.1 ... 40.2    the very times of n_512: a copy of it
 *
 * Until they were read they are one run, and may part.
 */
#include <stdlib.h>

#include "discover/run_builder.h"

struct span { /* of a file that was read */
    int64_t start_ns, end_ns;
    enum scan_role role;
    uint32_t at; /* into the place's files */
};

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint32_t find_spans(const struct group *group, const struct scan_run_file *files,
                           uint32_t count, struct span *ret)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct scan_known *known = &group->files[files[i].file].known;

        if (known->has_window && (files[i].role == SCAN_TRACE || files[i].role == SCAN_OTHER))
            ret[found++] = (struct span){known->start_ns, known->end_ns, files[i].role, i};
    }
    if (found > 0)
        qsort(ret, found, sizeof *ret, by_start);
    return found;
}

static void make_copy(struct scan_run_file *files, uint32_t of, uint32_t copy)
{
    files[copy].role = SCAN_COPY;
    files[copy].rank = UINT32_MAX;
    files[copy].host = files[of].host;
}

/* Spans that overlap are of one capture, and equal ones are one recording. */
static uint32_t sweep(struct scan_run_file *files, const struct span *spans, uint32_t count,
                      uint32_t *of)
{
    uint32_t captures = 0;
    int64_t end_ns = 0;

    for (uint32_t i = 0, first = 0; i < count; i++) {
        if (i == 0 || spans[i].start_ns > end_ns)
            captures++;
        if (i == 0 || spans[i].start_ns > end_ns || spans[i].end_ns > end_ns)
            end_ns = spans[i].end_ns;
        of[spans[i].at] = captures - 1;
        if (i > 0 && spans[i].start_ns == spans[first].start_ns &&
            spans[i].end_ns == spans[first].end_ns)
            make_copy(files, spans[first].at, spans[i].at);
        else
            first = i;
    }
    return captures;
}

/* A trace that was not read yet is of the one capture there is, else a capture of its own. */
static uint32_t place_unread(const struct group *group, const struct scan_run_file *files,
                             uint32_t count, uint32_t captures, uint32_t *of)
{
    uint32_t known = captures;

    for (uint32_t i = 0; i < count && known > 1; i++)
        if (files[i].role == SCAN_TRACE && !group->files[files[i].file].known.has_window)
            of[i] = captures++;
    return captures > 0 ? captures : 1;
}

static void follow_hosts(const struct scan_run_file *files, uint32_t count, uint32_t *of)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count && files[i].role == SCAN_COPY; k++)
            if (files[k].role == SCAN_TRACE && str_equal(files[k].host, files[i].host))
                of[i] = of[k];
    }
}

uint32_t captures_of(const struct group *group, struct scan_run_file *files, uint32_t count,
                     uint32_t *ret_of)
{
    struct span *spans = arena_array(group->arena, struct span, count);
    uint32_t captures = sweep(files, spans, find_spans(group, files, count, spans), ret_of);

    captures = place_unread(group, files, count, captures, ret_of);
    if (captures > 1)
        follow_hosts(files, count, ret_of);
    return captures;
}
