/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are whole in themselves: X, instants, counters, flows. */
#include "decode/chrome/trace_json.h"

/* File time 0 is ts 0 where the clock counts from the start of a session or a machine, else, where
 * it counts from 1970, the first time met: picoseconds since then do not fit. */
static const int64_t small_us = INT64_C(2000000000000);

bool file_time(struct trace_json *json, struct micros time, int64_t *ret)
{
    if (!json->has_base) {
        json->has_base = true;
        json->base_us = time.whole < small_us && time.whole > -small_us ? 0 : time.whole;
    }
    bool is_near = micros_since(time, json->base_us, ret);

    json->odd.beyond += !is_near;
    return is_near;
}

static void saw_time(struct trace_json *json, int64_t at_ps)
{
    if (at_ps > json->last_ps)
        json->last_ps = at_ps;
}

bool event_time(struct trace_json *json, int64_t *ret)
{
    if (!json->event.has_time) {
        json->odd.without_time++;
        return false;
    }
    if (!file_time(json, json->event.time, ret))
        return false;
    saw_time(json, *ret);
    return true;
}

/* The length of X: its own, or 0 with the flag that says why; false: too long to be one. */
static bool event_duration(struct trace_json *json, uint8_t *flags, int64_t *ret)
{
    struct micros length = json->event.duration;

    *ret = 0;
    if (!json->event.has_duration) {
        json->odd.without_duration++;
        *flags |= SLICE_CUT;
        return true;
    }
    if (length.whole < 0) {
        json->odd.negative++;
        *flags |= SLICE_CLAMPED;
        return true;
    }
    if (!micros_since(length, 0, ret)) {
        json->odd.too_long++;
        return false;
    }
    json->odd.tiny += *ret == 1;
    return true;
}

static type_id type_of(struct trace_json *json, name_id name, name_id cat)
{
    uint32_t *type = pair_table_at(&json->types, name, cat);

    if (*type == PAIR_NONE) {
        *type = sink_type(json->sink, name);
        sink_type_arg(json->sink, *type,
                      (struct arg){.key = json->key_cat, .type = ARG_STRING, .bits = cat});
    }
    return *type;
}

static void learn_sort(struct trace_json *json, struct sort_of_slice *sort)
{
    const struct thread *thread = &json->tracks.threads[sort->thread];
    const struct process *process = &json->tracks.processes[thread->process];
    bool on_host = thread->place == PLACE_HOST;
    bool is_named_device = tracks_is_ascend(sink_text(json->sink, process->name));
    struct kind_facts facts = {
        .plane = on_host && !is_named_device ? sink_text(json->sink, process->name) : STR("gpu"),
        .line = on_host ? sink_text(json->sink, thread->name) : STR(""),
        .name = sink_text(json->sink, sort->name),
        .category = sink_text(json->sink, sort->category != 0 ? sort->category : sort->cat),
        .is_op = sort->is_op,
    };

    sort->kind = kind_of(&facts);
    sort->type = sort->cat != 0 ? type_of(json, sort->name, sort->cat) : 0;
    sort->known = true;
}

/* On CPU ops run on threads and carry hlo_op. So do the launches of kernels, with a correlation,
 * and "end: NAME", the other end of an asynchronous op. */
static bool is_op(struct trace_json *json, const struct thread *thread,
                  const struct slice_facts *facts)
{
    if (thread->is_ops)
        return true;
    if (facts->has_hlo_op && !facts->has_correlation)
        return !str_starts(sink_text(json->sink, facts->name), STR("end: "));
    return facts->cat != 0 && category_of(json, facts->cat) == CATEGORY_OP;
}

static bool same_sort(const struct sort_of_slice *a, const struct sort_of_slice *b)
{
    return a->known && a->thread == b->thread && a->name == b->name && a->cat == b->cat &&
           a->category == b->category && a->is_op == b->is_op;
}

struct slice_facts facts_of(const struct event *event)
{
    return (struct slice_facts){.name = event->name,
                                .cat = event->cat,
                                .category = event->category,
                                .has_hlo_op = event->has_hlo_op,
                                .has_correlation = event->has_correlation};
}

struct sink_slice slice_of(struct trace_json *json, uint32_t thread, struct slice_facts facts)
{
    struct sort_of_slice wanted = {
        .thread = thread,
        .name = facts.name,
        .cat = facts.cat,
        .category = facts.category,
        .is_op = is_op(json, &json->tracks.threads[thread], &facts),
    };
    uint64_t mixed = ((uint64_t)facts.name << 32 | facts.category) ^ (uint64_t)thread << 20 ^
                     (uint64_t)facts.cat << 8 ^ wanted.is_op;
    struct sort_of_slice *sort =
        &json->sorts[mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (SORT_COUNT - 1)];

    if (!same_sort(sort, &wanted)) {
        *sort = wanted;
        learn_sort(json, sort);
    }
    return (struct sink_slice){.track = json->tracks.threads[thread].track,
                               .name = facts.name,
                               .kind = sort->kind,
                               .type = sort->type};
}

void slice_args(struct trace_json *json, const struct arg *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sink_arg(json->sink, args[i]);
}

uint64_t id_number(struct trace_json *json, struct json_value id)
{
    struct arg number;
    uint64_t value = 0;

    if (id.kind == JSON_NUMBER && number_read(id.text, &number))
        return number.bits;
    if (digits_read(id.text, &value))
        return value;
    if (str_starts(id.text, STR("0x")) && id.text.count > 2 && id.text.count <= 18) {
        for (size_t i = 2; i < id.text.count; i++) {
            char byte = id.text.at[i], letter = (char)(byte | 0x20);
            bool digit = byte >= '0' && byte <= '9', hex = letter >= 'a' && letter <= 'f';

            if (!digit && !hex)
                return UINT64_C(1) << 63 | texts_value(&json->texts, id);
            value = value << 4 | (uint64_t)(digit ? byte - '0' : letter - 'a' + 10);
        }
        return value;
    }
    return UINT64_C(1) << 63 | texts_value(&json->texts, id);
}

/* What an id of this event is unique in: a process where it is local, its scope. 0: the file. */
static uint64_t id_domain(struct trace_json *json)
{
    const struct event *event = &json->event;
    uint64_t scope = event->scope.kind == JSON_STRING ? texts_value(&json->texts, event->scope) : 0;
    uint64_t process =
        event->is_local ? ((uint64_t)event->pid.value << 1 | event->pid.is_text) << 1 | 1 : 0;

    return process ^ scope << 40;
}

/* Ids of different domains must not meet: one number stands for both. */
uint64_t flow_id(struct trace_json *json, struct json_value id)
{
    uint64_t domain = id_domain(json);

    return id_number(json, id) ^ domain * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t rank_of(struct trace_json *json, struct key pid)
{
    struct str text;

    if (!pid.is_text)
        return 0;
    text = tracks_rank_label(sink_text(json->sink, (name_id)pid.value));
    return text.count == 0 ? 0 : texts_name(&json->texts, text) * UINT64_C(0x9e3779b97f4a7c15);
}

void slice_bind(struct trace_json *json, uint64_t id, bool in, bool out)
{
    if (in || out)
        sink_flow(json->sink,
                  in && out ? FLOW_STEP
                  : out     ? FLOW_FROM
                            : FLOW_TO,
                  json->flow_bind, id);
}

static void put_slice(struct trace_json *json, int64_t start_ps, int64_t dur_ps, uint8_t flags)
{
    const struct event *event = &json->event;
    enum category category = event->cat != 0 ? category_of(json, event->cat) : CATEGORY_PLAIN;
    uint32_t thread = tracks_thread(json, event->pid, event->tid, place_of(category));

    if (category == CATEGORY_PLAIN && dur_ps > 0 &&
        open_holds(json, thread, start_ps, dur_ps, flags))
        return;
    struct sink_slice slice = slice_of(json, thread, facts_of(event));

    slice.start_ps = start_ps;
    slice.dur_ps = dur_ps;
    slice.flags = flags;
    if (json->tracks.threads[thread].is_async)
        slice.flags |= SLICE_ASYNC;
    sink_slice(json->sink, slice);
    slice_args(json, json->args.args, json->args.count);
    kineto_launch(json, category, event->correlation);
    memory_event_of(json, start_ps);
    if (event->flow_in || event->flow_out)
        slice_bind(json, flow_id(json, event->bind_id), event->flow_in, event->flow_out);
}

static void put_complete(struct trace_json *json)
{
    uint8_t flags = 0;
    int64_t start_ps, dur_ps, end_ps;

    if (!event_duration(json, &flags, &dur_ps) || !event_time(json, &start_ps))
        return;
    if (!__builtin_add_overflow(start_ps, dur_ps, &end_ps))
        saw_time(json, end_ps);
    put_slice(json, start_ps, dur_ps, flags);
}

static void put_instant(struct trace_json *json)
{
    int64_t start_ps;

    if (event_time(json, &start_ps))
        put_slice(json, start_ps, 0, SLICE_INSTANT);
}

/* {"ph": "C", "name": "memory", "id": "1", "args": {"used": 12, "free": 3}} is two samples. */
static void put_counter(struct trace_json *json)
{
    const struct event *event = &json->event;
    int64_t at_ps;

    tracks_saw(json);
    if (!event_time(json, &at_ps))
        return;
    name_id name = event->name;

    if (event->id.kind != JSON_NOTHING) {
        struct str base = sink_text(json->sink, name), id = event->id.text;
        struct text whole = {0};

        text_putf(&whole, "%.*s[%.*s]", STR_ARG(base), STR_ARG(id));
        name = texts_name(&json->texts, text_str(&whole));
        text_free(&whole);
    }
    for (uint32_t i = 0; i < json->args.count; i++) {
        struct arg *arg = &json->args.args[i];

        if (arg->type == ARG_STRING) { /* "1.5" */
            name_id key = arg->key;

            if (number_read(sink_text(json->sink, (name_id)arg->bits), arg))
                arg->key = key;
        }
        if (arg->type != ARG_INT64 && arg->type != ARG_UINT64 && arg->type != ARG_DOUBLE &&
            arg->type != ARG_DIGITS) {
            json->odd.not_numbers++;
            continue;
        }
        track_id track = tracks_counter(json, event->pid, name, arg->key, json->args.count == 1);

        sink_counter(json->sink, track, at_ps, number_double(*arg));
    }
}

/* Arrows of equal ids are told apart by category and name. */
static name_id arrow_kind(struct trace_json *json, name_id cat, name_id name)
{
    if (cat == 0 || name == 0 || cat == name)
        return cat != 0 ? cat : name;
    uint32_t *kind = pair_table_at(&json->arrows, cat, name);
    struct text both = {0};

    if (*kind != PAIR_NONE)
        return *kind;
    text_putf(&both, "%.*s: %.*s", STR_ARG(sink_text(json->sink, cat)),
              STR_ARG(sink_text(json->sink, name)));
    *kind = texts_name(&json->texts, text_str(&both));
    text_free(&both);
    return *kind;
}

static bool is_launch_arrow(struct trace_json *json)
{
    const struct event *event = &json->event;

    return event->cat != 0 && (category_of(json, event->cat) == CATEGORY_ARROW ||
                               (str_equal(sink_text(json->sink, event->cat), STR("async")) &&
                                str_equal(sink_text(json->sink, event->name), STR("launch"))));
}

/* Where an arrow ends: what launched lies on a thread, what was launched on a stream. */
static track_id arrow_track(struct trace_json *json, enum flow_end end)
{
    static const enum place first[] = {
        [FLOW_FROM] = PLACE_HOST, [FLOW_STEP] = PLACE_HOST, [FLOW_TO] = PLACE_STREAM};
    const struct event *event = &json->event;
    enum place other = first[end] == PLACE_HOST ? PLACE_STREAM : PLACE_HOST;
    track_id track = tracks_known(json, event->pid, event->tid, first[end]);

    if (track == NO_TRACK)
        track = tracks_known(json, event->pid, event->tid, other);
    if (track != NO_TRACK)
        return track;
    return tracks_track(json, event->pid, event->tid);
}

/* One arrow's end. */
static void put_flow(struct trace_json *json, enum flow_end end)
{
    const struct event *event = &json->event;
    int64_t at_ps;

    if (!event_time(json, &at_ps))
        return;
    bool enclosing = end != FLOW_TO || event->binds_enclosing;
    uint64_t id = flow_id(json, event->id.kind != JSON_NOTHING ? event->id : event->bind_id);
    bool is_launch = is_launch_arrow(json);

    tracks_saw(json);
    if (is_launch && id == json->last_correlation)
        return; /* said by the slice itself */
    if (is_launch)
        id ^= rank_of(json, event->pid);
    sink_flow_at(json->sink, end,
                 is_launch ? json->flow_launch : arrow_kind(json, event->cat, event->name), id,
                 arrow_track(json, end), at_ps, !enclosing);
}

void slices_event(struct trace_json *json)
{
    switch (json->event.phase) {
    case 'X':
        put_complete(json);
        break;
    case 'i':
    case 'I':
    case 'R':
        put_instant(json);
        break;
    case 'C':
        put_counter(json);
        break;
    case 's':
        put_flow(json, FLOW_FROM);
        break;
    case 't':
        put_flow(json, FLOW_STEP);
        break;
    case 'f':
        put_flow(json, FLOW_TO);
        break;
    default:
        break;
    }
}
