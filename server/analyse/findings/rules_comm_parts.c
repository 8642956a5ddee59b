/* SPDX-License-Identifier: Apache-2.0 */
/* The measures that rules about communication share, each made once. */
#include "analyse/findings/rules_comm_parts.h"

#include <stdlib.h>

#include "trace/ps.h"

enum { PROVED = 3 };

static void count_devices(struct memo *memo, struct comm_asked *asked)
{
    uint32_t *counts = arena_array(memo->arena, uint32_t, memo->run->host_count + 1);
    struct collective_waits waits;

    collectives_waits(asked->found, memo->arena, &waits);
    for (uint32_t i = 0; i < waits.count; i++)
        counts[waits.items[i].host]++;
    asked->device_counts = counts;
}

static void measure_inside(struct memo *memo, struct comm_asked *asked)
{
    int64_t *inside_ps = arena_array(memo->arena, int64_t, (size_t)asked->found->run_count + 1);

    for (uint32_t i = 0; i < asked->found->run_count; i++) {
        const struct collective_run *run = &asked->found->runs[i];

        inside_ps[i] = counted_inside_ps(asked->counted, run->host, run->start_ps,
                                         run->start_ps + run->dur_ps);
    }
    asked->inside_ps = inside_ps;
}

static enum status make_collectives(struct memo *memo, const void **ret, struct error *err)
{
    struct collectives *found = arena_new(memo->arena, struct collectives);

    *ret = found;
    return collectives_find(memo->run, memo->restriction, memo->arena, found, err);
}

enum status memo_collectives(struct memo *memo, const struct collectives **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_collectives, &made, err));
    *ret = made;
    return OK;
}

static enum status make_comm(struct memo *memo, const void **ret, struct error *err)
{
    struct comm_asked *asked = arena_new(memo->arena, struct comm_asked);

    TRY(memo_collectives(memo, &asked->found, err));
    TRY(memo_counted(memo, &asked->counted, err));
    asked->memo = memo;
    count_devices(memo, asked);
    measure_inside(memo, asked);
    *ret = asked;
    return OK;
}

enum status comm_look(struct memo *memo, struct comm_asked *ret, struct error *err)
{
    const void *made;

    *ret = (struct comm_asked){.memo = memo};
    TRY(memo_once(memo, make_comm, &made, err));
    *ret = *(const struct comm_asked *)made;
    return OK;
}

int64_t comm_measured(const struct comm_asked *asked, const struct collective_run *run,
                      enum measure measure)
{
    int64_t inside_ps = asked->inside_ps[run - asked->found->runs];
    int64_t measured_ps = measure == MEASURE_EXPOSED   ? run->inside_ps - run->hidden_ps
                          : measure == MEASURE_WAIT    ? (run->wait_ps < 0 ? 0 : run->wait_ps)
                          : measure == MEASURE_BLOCKED ? run->blocked_ps
                                                       : inside_ps;

    return measured_ps < inside_ps ? measured_ps : inside_ps;
}

int64_t comm_mean(const struct comm_asked *asked, enum measure measure, comm_matters *matters)
{
    int64_t *sums_ps = arena_array(asked->memo->arena, int64_t, asked->memo->run->host_count + 1);
    int64_t mean_ps = 0;

    for (uint32_t i = 0; i < asked->found->run_count; i++) {
        const struct collective_run *run = &asked->found->runs[i];

        if (matters == NULL || matters(&asked->found->items[run->collective], run))
            ps_add(&sums_ps[run->host], comm_measured(asked, run, measure));
    }
    for (uint32_t i = 0; i < asked->memo->run->host_count; i++)
        ps_add(&mean_ps, asked->device_counts[i] > 0 ? sums_ps[i] / asked->device_counts[i] : 0);
    return mean_ps;
}

bool comm_is_share(const struct comm_asked *asked, int64_t ps, int percent)
{
    return ps > 0 && asked->counted->total_ps > 0 &&
           (double)ps * 100 >= (double)asked->counted->total_ps * percent;
}

struct human comm_share(const struct comm_asked *asked, int64_t ps)
{
    return human_share((double)ps / (double)asked->counted->total_ps);
}

struct heavy {
    uint32_t item;
    uint64_t count;
    int64_t ps;
    const struct collective_run *longest;
};

static int heaviest_first(const void *left, const void *right)
{
    const struct heavy *a = left, *b = right;

    if (a->ps != b->ps)
        return a->ps > b->ps ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

void comm_prove(const struct comm_asked *asked, struct finding *finding, enum measure measure,
                comm_matters *matters, const char *what)
{
    struct heavy *heavy = arena_array(asked->memo->arena, struct heavy, asked->found->count + 1);

    for (uint32_t i = 0; i < asked->found->run_count; i++) {
        const struct collective_run *run = &asked->found->runs[i];
        struct heavy *of = &heavy[run->collective];

        of->item = run->collective;
        if (matters != NULL && !matters(&asked->found->items[run->collective], run))
            continue;
        of->count++;
        of->ps += comm_measured(asked, run, measure);
        if (of->longest == NULL || run->dur_ps > of->longest->dur_ps)
            of->longest = run;
    }
    qsort(heavy, asked->found->count, sizeof(*heavy), heaviest_first);
    for (uint32_t i = 0; i < PROVED && i < asked->found->count && heavy[i].ps > 0; i++) {
        const struct collective *item = &asked->found->items[heavy[i].item];
        const struct collective_run *run = heavy[i].longest;
        struct evidence *evidence = finding_prove_ps(
            finding,
            str_format(asked->memo->arena, "%.*s %s on all devices", STR_ARG(item->name), what).at,
            heavy[i].ps);

        evidence_at(evidence, run->host, run->start_ps, run->start_ps + run->dur_ps);
        evidence->slice = run->slice;
    }
}
