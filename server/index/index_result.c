/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the line of result about an indexed file from its trace, and parses such a line. The line
 * is JSON. */
#include "index/index_result.h"

#include <jansson.h>
#include <stdlib.h>

#include "analyse/stats/stats.h"
#include "analyse/steps/steps.h"
#include "analyse/steps/steps_doubt.h"

static const char *const outcome_words[] = {
    [OUTCOME_INDEXED] = "indexed", [OUTCOME_IGNORED] = "ignored", [OUTCOME_FAILED] = "failed",
    [OUTCOME_CHANGED] = "changed", [OUTCOME_SAME] = "same",
};

static const char *const severity_words[] = {
    [NOTE_INFO] = "info", [NOTE_WARNING] = "warning", [NOTE_ERROR] = "error"};

/* Kinds of notes that say that part of the file is not shown. */
static const char *const losses[] = {"truncated", "corrupt", "cut", "damaged"};

static bool tells_of_loss(struct str kind)
{
    for (size_t i = 0; i < COUNT(losses); i++) {
        if (str_starts(kind, str_of(losses[i])))
            return true;
    }
    return false;
}

static bool has_badge(const struct index_result *result, struct str badge)
{
    for (uint32_t i = 0; i < result->badge_count; i++) {
        if (str_equal(result->badges[i], badge))
            return true;
    }
    return false;
}

/* Warnings and errors are badges; what is lost makes the file partial. */
static void read_notes(const struct trace *trace, struct arena *arena, struct index_result *result)
{
    for (uint32_t i = 0; i < trace->note_count; i++) {
        const struct note *note = &trace->notes[i];
        struct str kind = trace_name(trace, note->kind);

        result->partial = result->partial || note->severity == NOTE_ERROR || tells_of_loss(kind);
        if (note->severity != NOTE_INFO && result->badge_count < COUNT(result->badges) &&
            !has_badge(result, kind))
            result->badges[result->badge_count++] = str_copy(arena, kind);
    }
}

static struct str property_text(const struct trace *trace, const struct property *property)
{
    if (property->arg.type != ARG_STRING || property->arg.bits > UINT32_MAX)
        return STR("");
    return trace_name(trace, (name_id)property->arg.bits);
}

static void read_properties(const struct trace *trace, struct arena *arena,
                            struct index_result *result)
{
    static const struct {
        const char *key, *framework; /* NULL: names the device */
    } keys[] = {
        {"gpu_device_name", NULL},
        {"device_type_string", NULL},
        {"device_name", NULL},
        {"jax_version", "jax"},
        {"tf_version", "tensorflow"},
        {"tensorflow_version", "tensorflow"},
        {"pytorch_version", "pytorch"},
        {"torch_version", "pytorch"},
        {"framework", ""},
    };

    for (uint32_t i = 0; i < trace->property_count; i++) {
        struct str key = trace_name(trace, trace->properties[i].arg.key);
        struct str text = property_text(trace, &trace->properties[i]);

        for (size_t j = 0; j < COUNT(keys) && text.count > 0; j++) {
            if (!str_equal(key, str_of(keys[j].key)))
                continue;
            if (keys[j].framework == NULL && result->device_kind.count == 0)
                result->device_kind = str_copy(arena, text);
            else if (keys[j].framework != NULL && result->framework.count == 0)
                result->framework =
                    str_format(arena, "%s%s%.*s", keys[j].framework,
                               keys[j].framework[0] != '\0' ? " " : "", STR_ARG(text));
        }
    }
}

/* What the decoder says of the job that the file is a part of. */
static void read_job(const struct trace *trace, struct arena *arena, struct index_result *result)
{
    result->rank = -1;
    for (uint32_t i = 0; i < trace->property_count; i++) {
        const struct property *property = &trace->properties[i];
        struct str key = trace_name(trace, property->arg.key);

        if (property->track != NO_TRACK)
            continue;
        if (str_equal(key, STR("run_group")))
            result->group = str_copy(arena, property_text(trace, property));
        if (str_equal(key, STR("run_rank")) && property->arg.type == ARG_INT64 &&
            property->arg.bits <= INT64_MAX)
            result->rank = (int64_t)property->arg.bits;
    }
}

enum { DEVICES_MAX = 4096 };

static void mark_device(uint8_t *seen, int32_t device, struct index_result *result)
{
    if (device < 0 || device >= DEVICES_MAX || seen[device])
        return;
    seen[device] = 1;
    result->device_count++;
}

/* Devices with a track of their own; else the ordinals that ops ran on. */
static void count_devices(const struct trace *trace, const struct attribution *attribution,
                          struct arena *arena, struct index_result *result)
{
    uint8_t *seen = arena_array(arena, uint8_t, DEVICES_MAX);

    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind == TRACK_DEVICE)
            mark_device(seen, trace->tracks[i].device, result);
    }
    if (result->device_count == 0 && attribution != NULL) {
        for (uint32_t i = 0; i < attribution->entry_count; i++)
            mark_device(seen, entry_at(attribution, i).device, result);
    }
    result->device_count_known = result->device_count > 0;
}

/* The median of the steps that count, where a time of them may be stated. */
static void read_steps(const struct trace *trace, const struct attribution *attribution,
                       struct arena *arena, struct index_result *result)
{
    const struct host_trace host = {.trace = trace, .attribution = attribution};
    const struct run_traces run = {.hosts = &host, .host_count = 1};
    const struct restriction all = {0};
    struct error ignored = {0}; /* no steps are no failure of the file */
    struct steps steps = {0};
    uint32_t count = 0;

    result->step_count = result->step_median_ps = -1;
    if (steps_find(&run, &all, arena, &steps, &ignored) != OK)
        return;
    result->step_rule = str_of(step_rule_word(steps.rule));
    if (steps.rule == STEP_NONE || steps.count == 0)
        return;
    result->step_count = steps.count;
    int64_t *lengths = arena_array(arena, int64_t, steps.count);
    for (uint32_t i = 0; i < steps.count; i++) {
        if (step_counts(&steps, &steps.items[i]))
            lengths[count++] = steps.items[i].dur_ps;
    }
    if (count == 0 || steps_doubt_spans(&run, &steps, arena).count > 0)
        return;
    result->step_median_ps = median_of(lengths, count);
    result->step_lengths = lengths;
    result->step_length_count = count <= STEP_LENGTHS_MAX ? count : 0;
}

void index_result_of_trace(const struct trace *trace, const struct attribution *attribution,
                           enum decode_part part, struct arena *arena, struct index_result *ret)
{
    *ret = (struct index_result){
        .format = str_of(trace->format),
        .part = part,
        .hostname = trace->hostname,
        .has_epoch = trace->has_epoch,
        .epoch_ns = trace->epoch_ns,
        .start_ps = trace->start_ps,
        .end_ps = trace->end_ps,
        .slice_count = trace->slice_count,
    };
    memcpy(ret->content, trace->content, sizeof ret->content);
    read_notes(trace, arena, ret);
    read_properties(trace, arena, ret);
    read_job(trace, arena, ret);
    count_devices(trace, attribution, arena, ret);
    read_steps(trace, attribution, arena, ret);
}

static void put_text(json_t *object, const char *key, struct str text, struct arena *arena)
{
    struct str clean = str_utf8(arena, text);

    if (clean.count > 0)
        json_object_set_new(object, key, json_stringn(clean.at, clean.count));
}

static void put_integer(json_t *object, const char *key, bool known, int64_t value)
{
    if (known)
        json_object_set_new(object, key, json_integer(value));
}

static json_t *notes_of(const struct trace *trace, struct arena *arena)
{
    json_t *notes = json_array();

    for (uint32_t i = 0; i < trace->note_count; i++) {
        const struct note *note = &trace->notes[i];
        json_t *object = json_object();

        put_text(object, "kind", trace_name(trace, note->kind), arena);
        put_text(object, "severity", str_of(severity_words[note->severity]), arena);
        put_text(object, "message", trace_name(trace, note->message), arena);
        put_integer(object, "count", true, (int64_t)note->count);
        json_array_append_new(notes, object);
    }
    return notes;
}

static json_t *lengths_of(const struct index_result *result)
{
    json_t *lengths = json_array();

    for (uint32_t i = 0; i < result->step_length_count; i++)
        json_array_append_new(lengths, json_integer(result->step_lengths[i]));
    return lengths;
}

static json_t *badges_of(const struct index_result *result)
{
    json_t *badges = json_array();

    for (uint32_t i = 0; i < result->badge_count; i++)
        json_array_append_new(badges, json_stringn(result->badges[i].at, result->badges[i].count));
    return badges;
}

static void put_json(json_t *object, const char *key, struct str text)
{
    json_t *value = json_loadb(text.at, text.count, 0, NULL);

    if (value != NULL)
        json_object_set_new(object, key, value);
}

static void put_bundle(json_t *object, const struct index_result *result, struct arena *arena)
{
    put_text(object, "host", result->host, arena);
    put_text(object, "origin", str_of(result->origin), arena);
    if (result->said.count == 0)
        return;
    put_json(object, "said", result->said);
    json_t *members = json_array();
    for (uint32_t i = 0; i < result->member_count; i++)
        json_array_append_new(members,
                              json_loadb(result->members[i].at, result->members[i].count, 0, NULL));
    json_object_set_new(object, "members", members);
}

struct str index_result_line(const struct index_result *result, const struct trace *trace,
                             struct arena *arena)
{
    json_t *object = json_object();
    bool indexed = result->outcome == OUTCOME_INDEXED;

    put_text(object, "outcome", str_of(outcome_words[result->outcome]), arena);
    put_text(object, "error", result->error, arena);
    put_text(object, "content", str_of(result->content), arena);
    put_text(object, "format", result->format, arena);
    if (indexed)
        put_text(object, "part", str_of(decode_part_word(result->part)), arena);
    put_integer(object, "bytes", true, (int64_t)result->bytes);
    put_text(object, "hostname", result->hostname, arena);
    put_integer(object, "epoch_ns", result->has_epoch, result->epoch_ns);
    put_integer(object, "start_ps", indexed, result->start_ps);
    put_integer(object, "end_ps", indexed, result->end_ps);
    put_integer(object, "slice_count", indexed, (int64_t)result->slice_count);
    put_integer(object, "device_count", result->device_count_known, result->device_count);
    put_text(object, "device_kind", result->device_kind, arena);
    put_text(object, "framework", result->framework, arena);
    put_integer(object, "step_count", indexed && result->step_count >= 0, result->step_count);
    put_integer(object, "step_median_ps", indexed && result->step_median_ps >= 0,
                result->step_median_ps);
    if (indexed && result->step_length_count > 0)
        json_object_set_new(object, "step_lengths_ps", lengths_of(result));
    put_text(object, "step_rule", result->step_rule, arena);
    put_text(object, "group", result->group, arena);
    put_integer(object, "rank", indexed && result->rank >= 0, result->rank);
    if (indexed) {
        json_object_set_new(object, "partial", json_boolean(result->partial));
        json_object_set_new(object, "badges", badges_of(result));
    }
    if (trace != NULL)
        json_object_set_new(object, "notes", notes_of(trace, arena));
    put_bundle(object, result, arena);
    char *line = json_dumps(object, JSON_COMPACT);
    struct str ret = str_copy(arena, str_of(line));
    free(line);
    json_decref(object);
    return ret;
}

static struct str text_at(const json_t *object, const char *key, struct arena *arena)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_string(value))
        return STR("");
    return str_copy(
        arena, (struct str){.at = json_string_value(value), .count = json_string_length(value)});
}

static int64_t integer_at(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static bool read_outcome(struct str word, enum outcome *ret)
{
    for (size_t i = 0; i < COUNT(outcome_words); i++) {
        if (str_equal(word, str_of(outcome_words[i]))) {
            *ret = (enum outcome)i;
            return true;
        }
    }
    return false;
}

static bool read_part(struct str word, enum decode_part *ret)
{
    for (enum decode_part part = 0; part < PART_COUNT; part++) {
        if (str_equal(word, str_of(decode_part_word(part)))) {
            *ret = part;
            return true;
        }
    }
    return false;
}

static void read_badges(const json_t *object, struct arena *arena, struct index_result *ret)
{
    const json_t *badges = json_object_get(object, "badges");

    for (size_t i = 0; i < json_array_size(badges) && i < COUNT(ret->badges); i++) {
        const json_t *badge = json_array_get(badges, i);

        if (json_is_string(badge))
            ret->badges[ret->badge_count++] = str_copy(arena, str_of(json_string_value(badge)));
    }
}

/* All of them or none. */
static void read_lengths(const json_t *object, struct arena *arena, struct index_result *ret)
{
    const json_t *lengths = json_object_get(object, "step_lengths_ps");
    size_t count = json_array_size(lengths);
    int64_t *read = arena_array(arena, int64_t, count <= STEP_LENGTHS_MAX ? count : 0);

    for (size_t i = 0; i < count; i++) {
        if (count > STEP_LENGTHS_MAX || !json_is_integer(json_array_get(lengths, i)))
            return;
        read[i] = json_integer_value(json_array_get(lengths, i));
    }
    ret->step_lengths = read;
    ret->step_length_count = (uint32_t)count;
}

static struct str dump(const json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT);
    struct str ret = str_copy(arena, str_of(text));

    free(text);
    return ret;
}

static void read_bundle(const json_t *object, struct arena *arena, struct index_result *ret)
{
    const json_t *members = json_object_get(object, "members");
    struct str origin = text_at(object, "origin", arena);
    const size_t count = json_array_size(members);
    struct str *lines = arena_array(arena, struct str, count + 1);

    if (origin.count == 32)
        memcpy(ret->origin, origin.at, 32);
    ret->host = text_at(object, "host", arena);
    ret->said = dump(json_object_get(object, "said"), arena);
    for (size_t i = 0; i < count; i++)
        lines[i] = dump(json_array_get(members, i), arena);
    ret->members = lines;
    ret->member_count = (uint32_t)count;
}

static void read_object(const json_t *object, struct arena *arena, struct index_result *ret)
{
    struct str content = text_at(object, "content", arena);
    int64_t devices = integer_at(object, "device_count", -1);

    if (content.count == 32)
        memcpy(ret->content, content.at, 32);
    ret->error = text_at(object, "error", arena);
    ret->format = text_at(object, "format", arena);
    ret->bytes = (uint64_t)integer_at(object, "bytes", 0);
    ret->hostname = text_at(object, "hostname", arena);
    ret->has_epoch = json_is_integer(json_object_get(object, "epoch_ns"));
    ret->epoch_ns = integer_at(object, "epoch_ns", 0);
    ret->start_ps = integer_at(object, "start_ps", 0);
    ret->end_ps = integer_at(object, "end_ps", 0);
    ret->slice_count = (uint64_t)integer_at(object, "slice_count", 0);
    ret->device_count_known = devices >= 0 && devices <= DEVICES_MAX;
    ret->device_count = ret->device_count_known ? (uint32_t)devices : 0;
    ret->device_kind = text_at(object, "device_kind", arena);
    ret->framework = text_at(object, "framework", arena);
    ret->step_count = integer_at(object, "step_count", -1);
    ret->step_median_ps = integer_at(object, "step_median_ps", -1);
    ret->step_rule = text_at(object, "step_rule", arena);
    ret->group = text_at(object, "group", arena);
    ret->rank = integer_at(object, "rank", -1);
    ret->partial = json_is_true(json_object_get(object, "partial"));
    read_lengths(object, arena, ret);
    read_badges(object, arena, ret);
    read_bundle(object, arena, ret);
}

enum status index_result_parse(struct str line, struct arena *arena, struct index_result *ret,
                               struct error *err)
{
    json_t *object = json_loadb(line.at, line.count, JSON_REJECT_DUPLICATES, NULL);
    struct index_result result = {.line = str_copy(arena, line)};
    bool whole =
        json_is_object(object) && read_outcome(text_at(object, "outcome", arena), &result.outcome);

    if (whole)
        read_object(object, arena, &result);
    if (whole && result.outcome == OUTCOME_INDEXED)
        whole = read_part(text_at(object, "part", arena), &result.part);
    json_decref(object);
    if (!whole || (result.outcome == OUTCOME_INDEXED && result.content[0] == '\0'))
        return fail(err, ERR_FORMAT, "the indexer's answer is not understood: \"%.200s\"",
                    line.count == 0 ? "" : str_c(arena, line));
    *ret = result;
    return OK;
}
