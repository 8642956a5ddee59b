/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs what two hosts did together, collectives by key and turn, and bounds the distance of
 * their clocks by the ends of each pair. */
#include "analyse/steps/align.h"

#include <stdlib.h>

#include "base/hash.h"

#define SPREAD_PS_MAX INT64_C(100000000) /* 100 us: what a collective's ends differ by anyway */

enum { PAIRS_MIN = 5, SPREAD_SHARE = 10 };

struct mark { /* something that ended on all hosts at once */
    uint64_t key, turn;
    int64_t start_ps, end_ps; /* run time */
};

struct marks { /* by key, turn */
    struct mark *at;
    uint32_t count;
    bool by_turn;     /* the file holds no run ids: the turn is a count */
    bool collectives; /* nobody ends before all have begun */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    return (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
           UINT64_C(0xff51afd7ed558ccd);
}

static uint64_t hash_text(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

/* Equal on every host that runs the same program. */
static uint64_t key_of_program(const struct trace *trace, program_id program, name_id module)
{
    return program < trace->program_count ? trace->programs[program].fingerprint
                                          : hash_text(trace_name(trace, module));
}

static int by_key(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->turn != right->turn)
        return left->turn < right->turn ? -1 : 1;
    return (left->end_ps > right->end_ps) - (left->end_ps < right->end_ps);
}

static int32_t first_device(const struct attribution *attribution)
{
    int32_t first = INT32_MAX;

    for (uint32_t i = 0; i < attribution->execution_count; i++)
        if (attribution->executions[i].device < first)
            first = attribution->executions[i].device;
    return first;
}

/* The last of several events of one turn ends it. */
static void keep_last_of_turns(struct marks *marks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < marks->count; i++) {
        if (count > 0 && marks->at[count - 1].key == marks->at[i].key &&
            marks->at[count - 1].turn == marks->at[i].turn)
            count--;
        marks->at[count++] = marks->at[i];
    }
    marks->count = count;
}

/* Ends of collectives on the host's first device; turns are executions. */
static void add_collectives(const struct host_trace *host, int32_t device, struct marks *ret)
{
    const struct attribution *attribution = host->attribution;
    struct entry_reader reader;

    entry_reader_open(&reader, attribution,
                      ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_EXECUTION) | ENTRY_BIT(ENTRY_DEVICE) |
                          ENTRY_BIT(ENTRY_START) | ENTRY_BIT(ENTRY_DUR));
    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);
        const struct op *op = &attribution->ops[entry->op];

        if (op->kind != KIND_COMMUNICATION || entry->device != device ||
            entry->execution >= attribution->execution_count)
            continue;
        const struct execution *execution = &attribution->executions[entry->execution];
        uint64_t module = key_of_program(host->trace, op->program, op->module);

        ret->by_turn |= execution->run_id == 0;
        ret->at[ret->count++] = (struct mark){
            .key = mix(module, hash_text(trace_name(host->trace, op->name))),
            .turn = execution->run_id != 0 ? execution->run_id : entry->execution,
            .start_ps = entry->start_ps + host->offset_ps,
            .end_ps = entry->start_ps + entry->dur_ps + host->offset_ps,
        };
    }
}

static void add_executions(const struct host_trace *host, int32_t device, struct marks *ret)
{
    const struct attribution *attribution = host->attribution;

    for (uint32_t i = 0; i < attribution->execution_count; i++) {
        const struct execution *execution = &attribution->executions[i];

        if (execution->device == device && execution->run_id != 0)
            ret->at[ret->count++] =
                (struct mark){.key = key_of_program(host->trace, execution->program, 0),
                              .turn = execution->run_id,
                              .start_ps = execution->start_ps + host->offset_ps,
                              .end_ps = execution->end_ps + host->offset_ps};
    }
}

/* Executions are numbered by each host for itself: only their order can be compared. */
static void number_turns(struct marks *marks)
{
    uint64_t turn = 0;

    for (uint32_t i = 0; i < marks->count; i++) {
        turn = i > 0 && marks->at[i].key == marks->at[i - 1].key ? turn + 1 : 0;
        marks->at[i].turn = turn;
    }
}

static int by_key_and_end(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->end_ps > right->end_ps) - (left->end_ps < right->end_ps);
}

static struct marks marks_of(const struct host_trace *host, struct arena *arena)
{
    struct marks ret = {0};

    if (host->attribution == NULL)
        return ret;
    int32_t device = first_device(host->attribution);
    ret.at =
        arena_array(arena, struct mark,
                    (size_t)host->attribution->entry_count + host->attribution->execution_count);
    add_collectives(host, device, &ret);
    ret.collectives = ret.count > 0;
    if (ret.count == 0)
        add_executions(host, device, &ret);
    if (ret.count == 0)
        return ret;
    qsort(ret.at, ret.count, sizeof *ret.at, by_key);
    keep_last_of_turns(&ret);
    if (ret.by_turn) {
        qsort(ret.at, ret.count, sizeof *ret.at, by_key_and_end);
        number_turns(&ret);
    }
    return ret;
}

static uint32_t count_key(const struct marks *marks, uint32_t from)
{
    uint32_t end = from;

    while (end < marks->count && marks->at[end].key == marks->at[from].key)
        end++;
    return end - from;
}

/* Times of a file may lie anywhere: what does not fit is as far as can be. */
static int64_t distance(int64_t from, int64_t to)
{
    int64_t ret;

    return __builtin_sub_overflow(to, from, &ret) ? (to < from ? -INT64_MAX : INT64_MAX) : ret;
}

/* Who ends has met who begins: b's begin is not behind a's end, nor a's behind b's, once b's clock
 * is put right. */
static void bound(struct alignment *bounds, const struct mark *a, const struct mark *b)
{
    int64_t low_ps = distance(a->end_ps, b->start_ps), high_ps = distance(a->start_ps, b->end_ps);

    bounds->low_ps = low_ps > bounds->low_ps ? low_ps : bounds->low_ps;
    bounds->high_ps = high_ps < bounds->high_ps ? high_ps : bounds->high_ps;
}

/* Differences of the ends of what both did; a key whose turns are only counted has to have as many
 * on both. */
static uint32_t pair_up(const struct marks *a, const struct marks *b, int64_t *ret,
                        struct alignment *bounds)
{
    uint32_t i = 0, j = 0, count = 0;

    while (i < a->count && j < b->count) {
        uint32_t ours = count_key(a, i), theirs = count_key(b, j);
        uint64_t key_a = a->at[i].key, key_b = b->at[j].key;

        if (key_a == key_b && (ours == theirs || !(a->by_turn || b->by_turn))) {
            for (uint32_t k = i, m = j; k < i + ours && m < j + theirs;) {
                if (a->at[k].turn == b->at[m].turn) {
                    bound(bounds, &a->at[k], &b->at[m]);
                    ret[count++] = distance(a->at[k++].end_ps, b->at[m++].end_ps);
                } else if (a->at[k].turn < b->at[m].turn) {
                    k++;
                } else {
                    m++;
                }
            }
        }
        i += key_a <= key_b ? ours : 0;
        j += key_b <= key_a ? theirs : 0;
    }
    return count;
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static struct alignment judge(int64_t *differences_ps, uint32_t count, struct alignment bounds,
                              bool collectives)
{
    struct alignment ret = {.pair_count = count};

    if (collectives && count > 0 && bounds.low_ps <= bounds.high_ps) {
        ret.bounded = true;
        ret.low_ps = bounds.low_ps;
        ret.high_ps = bounds.high_ps;
    }

    if (count < PAIRS_MIN) {
        ret.reason = "the hosts share fewer than five collectives or launches";
        return ret;
    }
    qsort(differences_ps, count, sizeof *differences_ps, by_size);
    ret.skew_ps = differences_ps[(count - 1) / 2];
    ret.spread_ps =
        distance(differences_ps[(count - 1) / 10], differences_ps[(count - 1) * 9 / 10]);
    ret.known =
        ret.spread_ps <= SPREAD_PS_MAX || ret.spread_ps <= llabs(ret.skew_ps) / SPREAD_SHARE;
    if (!ret.known)
        ret.reason = "the time between the ends of shared collectives is not constant";
    return ret;
}

struct alignment *align_hosts(const struct run_traces *run, struct arena *arena)
{
    struct alignment *ret = arena_array(arena, struct alignment, run->host_count);

    if (run->host_count == 0)
        return ret;
    ret[0].known = run->host_count > 1;
    ret[0].reason = ret[0].known ? NULL : "the run has one host";
    if (run->host_count == 1)
        return ret;
    struct marks first = marks_of(&run->hosts[0], arena);
    int64_t *differences_ps = arena_array(arena, int64_t, first.count);

    for (uint32_t host = 1; host < run->host_count; host++) {
        struct marks marks = marks_of(&run->hosts[host], arena);

        struct alignment bounds = {.low_ps = INT64_MIN, .high_ps = INT64_MAX};
        uint32_t count = pair_up(&first, &marks, differences_ps, &bounds);

        ret[host] = judge(differences_ps, count, bounds, first.collectives && marks.collectives);
    }
    return ret;
}
