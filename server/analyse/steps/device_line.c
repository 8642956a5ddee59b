/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the rows of a device into one sequence of pieces; at each moment the kind that tells
 * most wins. */
#include "analyse/steps/device_line.h"

#include <stdlib.h>

#include "analyse/scan/scan.h"

/* Slots in the order of telling: work of each kind, waits of each kind, containers. */
static const enum kind telling[KIND_COUNT] = {
    KIND_COMPUTE, KIND_COMMUNICATION, KIND_COPY, KIND_INPUT, KIND_COMPILE, KIND_HOST, KIND_OTHER,
};
static const uint8_t place_of_kind[KIND_COUNT] = {
    [KIND_COMPUTE] = 0, [KIND_COMMUNICATION] = 1, [KIND_COPY] = 2,  [KIND_INPUT] = 3,
    [KIND_COMPILE] = 4, [KIND_HOST] = 5,          [KIND_OTHER] = 6,
};

enum {
    SLOT_COMMUNICATION = 1,
    SLOT_WAIT = KIND_COUNT,
    SLOT_CONTAINER = 2 * KIND_COUNT,
    NO_SLOT = DEVICE_SLOTS
};

/* "all-reduce-done.3" -> "all-reduce-done" */
static struct str without_suffix(struct str name)
{
    for (size_t i = 0; i < name.count; i++) {
        if (name.at[i] == '.')
            return (struct str){.at = name.at, .count = i};
    }
    return name;
}

enum op_role op_role_of(const struct trace *trace, const struct op *op)
{
    static const char *const containers[] = {"while", "conditional", "call"};
    const struct instruction *instruction =
        op->program < trace->program_count ? trace_instruction(trace, op->program, op->name) : NULL;
    struct str word = instruction != NULL && instruction->opcode != 0
                          ? trace_name(trace, instruction->opcode)
                          : without_suffix(trace_name(trace, op->name));

    for (size_t i = 0; i < COUNT(containers); i++) {
        if (str_equal(word, str_of(containers[i])))
            return ROLE_OF_CONTAINER;
    }
    return str_ends(word, STR("-done")) ? ROLE_OF_WAIT : ROLE_OF_WORK;
}

struct op_roles op_roles_create(const struct host_trace *host)
{
    const struct attribution *attribution = host->attribution;
    size_t count = attribution == NULL ? 0 : attribution->op_count;
    struct op_roles roles = {.host = host,
                             .on_tracks = device_work_on_tracks(host->trace),
                             .known = memory_zeroed(count + 1, 1)};
    for (size_t op = 0; op < count; op++) {
        if (attribution->totals == NULL)
            roles.longest_ps = INT64_MAX;
        else if (attribution->totals[op].max_ps > roles.longest_ps)
            roles.longest_ps = attribution->totals[op].max_ps;
    }
    return roles;
}

void op_roles_free(struct op_roles *roles)
{
    free(roles->known);
}

/* Threads that find the same out at once write the same. */
static enum op_role role_of(const struct op_roles *roles, uint32_t op)
{
    uint8_t known = __atomic_load_n(&roles->known[op], __ATOMIC_RELAXED);

    if (known == 0) {
        known = (uint8_t)(1 + op_role_of(roles->host->trace, &roles->host->attribution->ops[op]));
        __atomic_store_n(&roles->known[op], known, __ATOMIC_RELAXED);
    }
    return (enum op_role)(known - 1);
}

static inline __attribute__((always_inline)) struct attributed
op_at(const struct attribution *attribution, uint32_t at)
{
    return entry_at(attribution, entry_in_time(attribution, at));
}

bool device_work_on_tracks(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++)
        if (track_is_device_work(&trace->tracks[id]) && trace->tracks[id].slice_count > 0)
            return true;
    return false;
}

/* The event that ends an op, of those that it points to; it is later than `end_ps` where what needs
 * the result had begun before. */
static bool find_end(const struct trace *trace, slice_id op, int64_t end_ps, struct slice *ret)
{
    bool found = false;

    for (uint64_t i = flow_first_from(trace, op);
         i < trace->flow_count && trace->flows[i].from == op; i++) {
        struct slice to = trace_slice(trace, trace->flows[i].to);

        if (to.start_ps + to.dur_ps < end_ps ||
            (found && to.start_ps + to.dur_ps >= ret->start_ps + ret->dur_ps))
            continue;
        *ret = to;
        found = true;
    }
    return found;
}

static bool is_execute(const struct trace *trace, const struct slice *slice)
{
    return str_starts(trace_name(trace, slice->name), STR("ThunkExecutor::Execute"));
}

/* Until then the thread that began the op goes on with others that need not wait for it. */
static int64_t begun_with_until(const struct trace *trace, const struct slice *event)
{
    struct slice call;

    if (event->parent == NO_SLICE)
        return event->start_ps + event->dur_ps;
    call = trace_slice(trace, event->parent);
    return is_execute(trace, &call) ? call.start_ps + call.dur_ps : event->start_ps + event->dur_ps;
}

/* What its thread did before it; a call that ended long before had nothing to do with it. */
static bool find_before(const struct trace *trace, const struct slice *end, struct slice *ret,
                        bool *ret_calls)
{
    static const int64_t at_once_ps = 10000000; /* 10 us; measured: 0.1 to 2 */
    int64_t gap_ps;

    if (end->id <= trace->rows[end->row].first_slice)
        return false;
    *ret = trace_slice(trace, end->id - 1);
    gap_ps = end->start_ps - (ret->start_ps + ret->dur_ps);
    *ret_calls = is_execute(trace, ret);
    return gap_ps >= 0 && (!*ret_calls || gap_ps <= at_once_ps);
}

/* The first op of the device that begins within (at, end_ps), on this track if it is one, and then
 * not before `from_ps`. */
static int64_t next_begin(const struct host_trace *host, uint32_t at, int64_t end_ps,
                          track_id track, int64_t from_ps)
{
    enum { LOOKED_AT = 64 };
    const struct attribution *attribution = host->attribution;
    int32_t device = op_at(attribution, at).device;

    for (uint32_t i = at + 1; i < attribution->entry_count && i <= at + LOOKED_AT; i++) {
        const struct attributed next = op_at(attribution, i);

        if (next.device != device || next.start_ps >= end_ps)
            break;
        if (track == NO_TRACK ||
            (next.start_ps >= from_ps &&
             host->trace->rows[trace_row_of(host->trace, next.slice)].track == track))
            return next.start_ps;
    }
    return end_ps;
}

/* When what stands before an op's end began, of an end that was found. */
static int64_t over_by_end(const struct host_trace *host, uint32_t at, const struct slice *event,
                           const struct slice *end, int64_t end_ps)
{
    const struct trace *trace = host->trace;
    track_id track = trace->rows[end->row].track;
    bool same = trace->rows[event->row].track == track;
    struct slice before;
    bool calls;

    if (!find_before(trace, end, &before, &calls) || before.id == event->parent)
        return end_ps;
    if (calls)
        return before.start_ps < end_ps ? before.start_ps : end_ps;
    return next_begin(host, at, end_ps, track,
                      same ? begun_with_until(trace, event) : event->start_ps);
}

/* Of the op at `at`, within which the next one begins; see device_op_over. */
static int64_t over_within(const struct host_trace *host, uint32_t at, slice_id slice,
                           int64_t end_ps)
{
    const struct trace *trace = host->trace;
    int64_t event_end_ps, over_ps;
    struct slice event, end;

    event = trace_slice(trace, slice);
    event_end_ps = event.start_ps + event.dur_ps;
    if (event_end_ps >= end_ps)
        return end_ps;
    if (find_end(trace, slice, end_ps, &end))
        over_ps = over_by_end(host, at, &event, &end, end_ps);
    else
        over_ps = next_begin(host, at, end_ps, NO_TRACK, INT64_MIN);
    return over_ps > event_end_ps ? over_ps : event_end_ps;
}

int64_t device_op_over(const struct host_trace *host, uint32_t at)
{
    const struct attributed entry = op_at(host->attribution, at);
    int64_t end_ps = entry.start_ps + entry.dur_ps;
    struct attributed next;

    if (at + 1 >= host->attribution->entry_count)
        return end_ps;
    next = op_at(host->attribution, at + 1);
    return next.device == entry.device && next.start_ps < end_ps
               ? over_within(host, at, entry.slice, end_ps)
               : end_ps; /* of most nothing more need be read */
}

/* Reads when the op at `at` begins and ends, in the window or not. */
static inline void read_op(struct device_line *line)
{
    struct attributed entry;

    if (line->at == line->end) {
        line->next_ps = INT64_MAX;
        return;
    }
    line->entry = entry_in_time(line->attribution, line->at);
    entry = entry_at(line->attribution, line->entry);
    line->next_ps = entry.start_ps;
    line->next_end_ps = entry.start_ps + entry.dur_ps;
}

/* From the op that was read to the next one in the window, or to the end. */
static void seek(struct device_line *line)
{
    while (line->at < line->end && line->next_ps < line->window.to_ps) {
        if (line->next_end_ps > line->next_ps && line->next_end_ps > line->window.from_ps)
            return;
        line->at++;
        read_op(line);
    }
    line->at = line->end;
    line->next_ps = INT64_MAX;
}

struct device_line device_line_open(const struct host_trace *host, int32_t device,
                                    struct window window, const struct op_roles *roles)
{
    struct device_line line = {.attribution = host->attribution,
                               .roles = roles,
                               .window = window,
                               .now_ps = INT64_MIN,
                               .next_ps = INT64_MAX,
                               .container = KIND_COMPUTE};

    if (host->attribution != NULL) {
        int64_t from_ps;

        if (__builtin_sub_overflow(window.from_ps, roles->longest_ps, &from_ps))
            from_ps = INT64_MIN;
        line.at = attribution_time_from(host->attribution, device, from_ps);
        line.end = attribution_time_from(host->attribution, (int64_t)device + 1, INT64_MIN);
        read_op(&line);
        seek(&line);
    }
    return line;
}

/* Does the op that was read begin before one of the host's threads ends? Of most nothing more need
 * be read. */
static bool begins_within(const struct device_line *line, int64_t end_ps)
{
    return line->next_ps < end_ps && !line->roles->on_tracks;
}

static void begin_op(struct device_line *line)
{
    const struct attribution *attribution = line->attribution;
    uint32_t at = line->at++, entry = line->entry, op = entry_op(attribution, entry);
    enum kind kind = attribution->ops[op].kind;
    enum op_role role = role_of(line->roles, op);
    int slot = role == ROLE_OF_CONTAINER
                   ? SLOT_CONTAINER
                   : place_of_kind[kind] + (role == ROLE_OF_WAIT ? SLOT_WAIT : 0);
    int64_t end_ps = line->next_end_ps;

    read_op(line);
    if (role != ROLE_OF_CONTAINER && begins_within(line, end_ps)) /* a loop lasts as its body */
        end_ps = over_within(line->roles->host, at, entry_slice(attribution, entry), end_ps);
    if (role == ROLE_OF_CONTAINER)
        line->container = kind;
    if ((line->open >> slot & 1) == 0 || end_ps > line->until_ps[slot])
        line->until_ps[slot] = end_ps;
    line->open |= 1u << slot;
    seek(line);
}

/* The slot that tells most of those that are open. */
static int telling_slot(struct device_line *line)
{
    while (line->open != 0) {
        int slot = __builtin_ctz(line->open);

        if (line->until_ps[slot] > line->now_ps)
            return slot;
        line->open &= line->open - 1;
    }
    return NO_SLOT;
}

/* Until when the slot is the one that tells: nothing that tells more begins before, and
 * communication beneath it goes on or stays away. */
static struct device_piece piece_of(const struct device_line *line, int slot)
{
    static const int beneath[] = {SLOT_COMMUNICATION, SLOT_WAIT + SLOT_COMMUNICATION};
    struct device_piece piece = {
        .from_ps = line->now_ps,
        .to_ps = line->until_ps[slot] < line->next_ps ? line->until_ps[slot] : line->next_ps,
        .kind = slot == SLOT_CONTAINER ? line->container : telling[slot % KIND_COUNT],
        .waits = slot >= SLOT_WAIT && slot < SLOT_CONTAINER,
    };

    for (size_t i = 0; i < COUNT(beneath) && piece.kind != KIND_COMMUNICATION; i++) {
        int64_t until_ps = line->until_ps[beneath[i]];

        if ((line->open >> beneath[i] & 1) == 0 || until_ps <= line->now_ps)
            continue;
        piece.covers = true;
        piece.to_ps = until_ps < piece.to_ps ? until_ps : piece.to_ps;
    }
    return piece;
}

bool device_line_next(struct device_line *line, struct device_piece *ret)
{
    for (;;) {
        int slot = telling_slot(line);

        if (slot < NO_SLOT && line->now_ps < line->next_ps) {
            *ret = piece_of(line, slot);
            line->now_ps = ret->to_ps;
            return true;
        }
        if (line->at == line->end)
            return false;
        if (line->next_ps > line->now_ps)
            line->now_ps = line->next_ps;
        begin_op(line);
    }
}

void device_gaps(const struct host_trace *host, int32_t device, struct window window,
                 const struct op_roles *roles, device_gap *visit, void *data)
{
    const struct attribution *attribution = host->attribution;
    struct device_line line = device_line_open(host, device, window, roles);
    int64_t at_ps = window.from_ps;

    while (line.at < line.end && line.next_ps < window.to_ps) {
        const uint32_t at = line.at++, entry = line.entry;
        const int64_t start_ps = line.next_ps;
        int64_t end_ps = line.next_end_ps;

        read_op(&line);
        if (end_ps <= start_ps)
            continue;
        if (start_ps > at_ps)
            visit(data, at_ps, start_ps);
        if (begins_within(&line, end_ps) &&
            role_of(roles, entry_op(attribution, entry)) != ROLE_OF_CONTAINER)
            end_ps = over_within(host, at, entry_slice(attribution, entry), end_ps);
        at_ps = end_ps > at_ps ? end_ps : at_ps;
    }
    if (at_ps < window.to_ps)
        visit(data, at_ps, window.to_ps);
}

slice_id device_op_before(const struct attribution *attribution, int32_t device, int64_t at_ps)
{
    enum { LOOKED_AT = 64 };
    uint32_t end = attribution_time_from(attribution, device, at_ps);
    slice_id best = NO_SLICE;
    int64_t best_ps = INT64_MIN;

    for (uint32_t i = 0; i < LOOKED_AT && i < end; i++) {
        const struct attributed entry = op_at(attribution, end - 1 - i);
        int64_t end_ps = entry.start_ps + entry.dur_ps;

        if (entry.device != device)
            break;
        if (end_ps <= at_ps && end_ps > best_ps) {
            best = entry.slice;
            best_ps = end_ps;
        }
    }
    return best;
}

slice_id device_op_after(const struct attribution *attribution, int32_t device, int64_t at_ps)
{
    uint32_t at = attribution_time_from(attribution, device, at_ps);

    if (at >= attribution->entry_count || op_at(attribution, at).device != device)
        return NO_SLICE;
    return op_at(attribution, at).slice;
}
