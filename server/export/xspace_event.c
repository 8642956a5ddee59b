/* SPDX-License-Identifier: Apache-2.0 */
/* One event on its way out.
 *
 *   XEvent  1 metadata id  2 offset_ps  3 duration_ps  4 stats*
 *   XStat   1 metadata id  one of: 2 double  3 uint64  4 int64  5 text  6 bytes  7 ref
 *
 * Its args stand as they came, in their order; behind them what only XSpaces tell by stats: details
 * of kernels and copies, arrows, what overlaps, what never ended.
 */
#include "export/xspace_out.h"

enum {
    SHORT_TEXT = 8,       /* is as short as a reference to it */
    REFS_MAX = 1 << 20,   /* of a plane; further texts stand where they are used */
    PRODUCER_GENERIC = 0, /* type of context of arrows that name none */
};

void stat_put_text(struct plane_out *plane, struct text *to, uint32_t field, key_id key,
                   struct str text)
{
    pb_put_number(&plane->stat, XSTAT_ID, names_stat_id(plane, key));
    pb_put_text(&plane->stat, XSTAT_TEXT, str_utf8(plane->space->arena, text));
    pb_put_message(to, field, &plane->stat);
}

void stat_put_number(struct plane_out *plane, struct text *to, uint32_t field, enum xspace_word key,
                     uint64_t value)
{
    pb_put_pair(to, field, XSTAT_ID, names_stat_id(plane, plane->space->words[key]), XSTAT_UINT64,
                value);
}

/* A text that is longer than a reference to it is referred to. */
static void put_text(struct plane_out *plane, struct text *to, uint32_t field, key_id key,
                     name_id name)
{
    struct str text = space_text(plane->space, name);
    uint64_t id = names_stat_id(plane, key); /* ids count in the order of first use */

    if (text.count > SHORT_TEXT && plane->stat_count < REFS_MAX)
        pb_put_pair(to, field, XSTAT_ID, id, XSTAT_REF, names_stat_id(plane, name));
    else
        stat_put_text(plane, to, field, key, text);
}

static void put_other(struct plane_out *plane, struct text *to, uint32_t field,
                      const struct arg *arg)
{
    struct text *stat = &plane->stat;
    double real;

    pb_put_number(stat, XSTAT_ID, names_stat_id(plane, arg->key));
    if (arg->type == ARG_DOUBLE) {
        memcpy(&real, &arg->bits, sizeof real);
        pb_put_double(stat, XSTAT_DOUBLE, real);
    } else if (arg->type == ARG_BYTES) {
        struct str text = space_text(plane->space, (name_id)arg->bits);
        pb_put_bytes(stat, XSTAT_BYTES, text.at, text.count);
    }
    pb_put_message(to, field, stat);
}

void stat_put(struct plane_out *plane, struct text *to, uint32_t field, struct arg arg)
{
    switch (arg.type) {
    case ARG_INT64:
    case ARG_BOOL:
        pb_put_pair(to, field, XSTAT_ID, names_stat_id(plane, arg.key), XSTAT_INT64, arg.bits);
        break;
    case ARG_UINT64:
    case ARG_DIGITS:
        pb_put_pair(to, field, XSTAT_ID, names_stat_id(plane, arg.key), XSTAT_UINT64, arg.bits);
        break;
    case ARG_STRING:
    case ARG_JSON:
        put_text(plane, to, field, arg.key, (name_id)arg.bits);
        break;
    case ARG_DOUBLE:
    case ARG_BYTES:
    case ARG_NULL:
        put_other(plane, to, field, &arg);
        break;
    case ARG_NONE:
        break;
    }
}

void stat_put_name(struct plane_out *plane, struct text *to, uint32_t field, enum xspace_word key,
                   name_id name)
{
    put_text(plane, to, field, plane->space->words[key], name);
}

static void put_number(struct plane_out *plane, struct text *to, enum xspace_word key,
                       uint64_t value)
{
    stat_put_number(plane, to, XEVENT_STATS, key, value);
}

static bool is_on_device(const struct trace *trace, slice_id slice)
{
    row_id row = trace_row_of(trace, slice);

    return row != NO_ROW && trace->tracks[trace->rows[row].track].device >= 0;
}

/* A launch and its work share a correlation id, as XProf looks for it; other arrows a context. The
 * id is that of the slice where the arrow begins, so many may end what one began. */
static void put_arrow(struct plane_out *plane, struct text *to, const struct flow *flow,
                      bool is_begin)
{
    const struct trace *trace = plane->space->trace;
    bool is_launch = !is_on_device(trace, flow->from) && is_on_device(trace, flow->to);
    uint64_t id = (uint64_t)flow->from + 1;

    if (is_launch) {
        put_number(plane, to, WORD_CORRELATION, id);
        return;
    }
    put_number(plane, to, is_begin ? WORD_PRODUCER_TYPE : WORD_CONSUMER_TYPE, PRODUCER_GENERIC);
    put_number(plane, to, is_begin ? WORD_PRODUCER : WORD_CONSUMER, id);
}

static void put_arrows(struct plane_out *plane, struct text *to, slice_id slice)
{
    const struct trace *trace = plane->space->trace;
    uint64_t from = flow_first_from(trace, slice), end = flow_first_to(trace, slice);

    if (from < trace->flow_count && trace->flows[from].from == slice)
        put_arrow(plane, to, &trace->flows[from], true);
    if (end < trace->flow_count && trace->flows[trace->flow_by_to[end]].to == slice)
        put_arrow(plane, to, &trace->flows[trace->flow_by_to[end]], false);
}

static bool has_key(const struct arg *args, uint32_t count, key_id key)
{
    for (uint32_t index = 0; index < count; index++)
        if (args[index].key == key)
            return true;
    return false;
}

/* What only XSpaces tell by stats. */
static void put_beside(struct plane_out *plane, struct text *to, const struct event_out *out)
{
    const struct xspace_out *space = plane->space;

    if (plane->is_device)
        details_put(plane, to, out);
    if (!space->has_told_arrows &&
        !has_key(out->args, out->arg_count, space->words[WORD_CORRELATION]))
        put_arrows(plane, to, out->id);
    if ((out->flags & SLICE_ASYNC) != 0 &&
        !has_key(out->args, out->arg_count, space->words[WORD_ASYNC]))
        put_number(plane, to, WORD_ASYNC, 1);
    if ((out->flags & SLICE_CUT) != 0)
        put_number(plane, to, WORD_UNFINISHED, 1);
}

void event_put_stats(struct plane_out *plane, struct text *to, const struct event_out *out)
{
    for (uint32_t index = 0; index < out->arg_count; index++)
        stat_put(plane, to, XEVENT_STATS, out->args[index]);
    if (!plane->space->is_xplane)
        put_beside(plane, to, out);
}

void event_put(struct plane_out *plane, const struct event_out *out, int64_t base_ps)
{
    struct text *event = &plane->event;

    pb_put_number(event, XEVENT_ID, names_event_id(plane, out->name, out->type));
    pb_put_number(event, XEVENT_OFFSET_PS,
                  (uint64_t)space_time(plane->space, out->start_ps) - (uint64_t)base_ps);
    pb_put_number(event, XEVENT_DURATION_PS, (uint64_t)out->dur_ps);
    event_put_stats(plane, event, out);
    pb_put_message(&plane->events, XLINE_EVENTS, event);
}
