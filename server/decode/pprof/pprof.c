/* SPDX-License-Identifier: Apache-2.0 */
/* pprof: what jax.profiler.save_device_memory_profile, Go and many CPU profilers write, mostly
 * gzipped.
 *
 *   Profile  1 sample types*: what the values are   2 samples*   3 mappings*   4 locations*
 *            5 functions*   6 strings*              9 time_nanos   10 duration_nanos
 *            11 period type   12 period   13 comments*   14 default sample type
 *
 * Texts are numbers of strings, and the strings mostly stand last; locations and functions are
 * found by id and stand in any order. So the file is walked twice: all tables, then the samples.
 *
 * A profile has no timeline: its samples are sums over the time it was taken, or what was
 * allocated at one moment. A file that is cut off keeps every sample that is whole, although the
 * names that stood behind them are lost.
 *
 * The fields are those of profile.proto in the pprof project.
 */
#include "decode/pprof/pprof.h"

#include <inttypes.h>

#include "decode/decode.h"
#include "decode/foreign.h"

enum { TYPES_MAX = 64, COMMENTS_MAX = 100, PROGRESS_SAMPLES = 1 << 16 };

static bool sniff(const struct input *input)
{
    return shape_fits(input->head, &shape_pprof);
}

static void put_property(struct pprof *profile, const char *key, enum arg_type type, uint64_t bits)
{
    sink_property(
        profile->sink, NO_TRACK,
        (struct arg){.key = sink_name(profile->sink, str_of(key)), .type = type, .bits = bits});
}

static void put_text_property(struct pprof *profile, const char *key, uint64_t string)
{
    name_id text = pprof_string(profile, pprof_string_number(string));

    if (text != 0)
        put_property(profile, key, ARG_STRING, text);
}

/* A damaged part is left out; the first one is told. */
static void damaged(struct pprof *profile, const struct pb *pb, const struct pb_field *field)
{
    if (profile->damage_count++ == 0)
        profile->damage_first = pb_position(pb, field->bytes.at);
}

static bool read_value_type(const struct pb *outer, struct bytes message, struct value_type *ret)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    *ret = (struct value_type){0};
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            ret->type = pprof_string_number(field.varint);
        else if (field.number == 2)
            ret->unit = pprof_string_number(field.varint);
    }
    return broken.code == OK;
}

static bool add_type(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    struct value_type type;

    if (!read_value_type(outer, message, &type))
        return false;
    struct value_type *kept = pprof_add(profile, &profile->types, sizeof *kept, TYPES_MAX);
    if (kept != NULL)
        *kept = type;
    return true;
}

static bool take_table(struct pprof *profile, const struct pb *pb, const struct pb_field *field)
{
    switch (field->number) {
    case PROFILE_SAMPLE_TYPE:
        return add_type(profile, pb, field->bytes);
    case PROFILE_MAPPING:
        return pprof_read_mapping(profile, pb, field->bytes);
    case PROFILE_LOCATION:
        return pprof_read_location(profile, pb, field->bytes);
    case PROFILE_FUNCTION:
        return pprof_read_function(profile, pb, field->bytes);
    case PROFILE_STRING:
        pprof_add_string(profile, pb_text(field));
        return true;
    default:
        return true;
    }
}

/* The first walk. `broken` is set to what ended the file early. */
static void read_tables(struct pprof *profile, struct error *broken)
{
    struct pb pb = pb_open(profile->file, broken);

    for (struct pb_field field; !sink_failed(profile->sink) && pb_next(&pb, &field);)
        if (field.wire == PB_BYTES && !take_table(profile, &pb, &field))
            damaged(profile, &pb, &field);
}

static void say_types(struct pprof *profile)
{
    const struct value_type *types = profile->types.at;

    for (uint32_t i = 0; i < profile->types.count; i++) {
        name_id name = pprof_string(profile, types[i].type),
                unit = pprof_string(profile, types[i].unit);

        /* Types that look alike would be one: then the second is called by its place. */
        if (sink_sample_type(profile->sink, name, unit) < i) {
            struct text text = {0};
            text_putf(&text, "%.*s (value %" PRIu32 ")", STR_ARG(sink_text(profile->sink, name)),
                      i + 1);
            sink_sample_type(profile->sink, sink_name(profile->sink, text_str(&text)), unit);
            text_free(&text);
        }
    }
}

static void say_period_type(struct pprof *profile, const struct value_type *type)
{
    struct text text = {0};

    if (type->type == 0 && type->unit == 0)
        return;
    text_putf(&text, "%.*s/%.*s", STR_ARG(pprof_string_text(profile, type->type)),
              STR_ARG(pprof_string_text(profile, type->unit)));
    put_property(profile, "period_type", ARG_STRING, sink_name(profile->sink, text_str(&text)));
    text_free(&text);
}

struct about { /* what stands once in a profile, comments apart; the last one counts */
    int64_t time_ns, duration_ns, period;
    uint64_t drop_frames, keep_frames, default_type, doc_url; /* strings */
    struct value_type period_type;
    uint32_t comment_count;
};

static void take_about(struct pprof *profile, const struct pb *pb, const struct pb_field *field,
                       struct about *about)
{
    switch (field->number) {
    case PROFILE_DROP_FRAMES:
        about->drop_frames = field->varint;
        break;
    case PROFILE_KEEP_FRAMES:
        about->keep_frames = field->varint;
        break;
    case PROFILE_TIME_NANOS:
        about->time_ns = (int64_t)field->varint;
        break;
    case PROFILE_DURATION_NANOS:
        about->duration_ns = (int64_t)field->varint;
        break;
    case PROFILE_PERIOD_TYPE:
        if (!read_value_type(pb, field->bytes, &about->period_type))
            about->period_type = (struct value_type){0};
        break;
    case PROFILE_PERIOD:
        about->period = (int64_t)field->varint;
        break;
    case PROFILE_COMMENT:
        if (about->comment_count++ < COMMENTS_MAX)
            put_text_property(profile, "comment", field->varint);
        break;
    case PROFILE_DEFAULT_TYPE:
        about->default_type = field->varint;
        break;
    case PROFILE_DOC_URL:
        about->doc_url = field->varint;
        break;
    }
}

static void say_about(struct pprof *profile, const struct about *about)
{
    if (about->time_ns > 0)
        sink_epoch(profile->sink, about->time_ns);
    else
        sink_no_epoch(profile->sink, STR("the profile does not record when it was taken"));
    put_text_property(profile, "drop_frames", about->drop_frames);
    put_text_property(profile, "keep_frames", about->keep_frames);
    put_text_property(profile, "default_sample_type", about->default_type);
    put_text_property(profile, "doc_url", about->doc_url);
    say_period_type(profile, &about->period_type);
    if (about->duration_ns > 0)
        put_property(profile, "duration_ns", ARG_INT64, (uint64_t)about->duration_ns);
    if (about->period > 0)
        put_property(profile, "period", ARG_INT64, (uint64_t)about->period);
    put_property(profile, "profile_samples", ARG_INT64, profile->sample_count);
    put_property(profile, "profile_locations", ARG_INT64, profile->tables.locations.count);
    put_property(profile, "profile_functions", ARG_INT64, profile->tables.functions.count);
    put_property(profile, "profile_mappings", ARG_INT64, profile->tables.mappings.count);
    put_property(profile, "profile_depth", ARG_INT64, profile->max_depth);
}

/* The second walk; it ends where the first one did. */
static void read_samples(struct pprof *profile)
{
    struct error broken = {0};
    struct pb pb = pb_open(profile->file, &broken);
    struct about about = {0};

    for (struct pb_field field; !sink_failed(profile->sink) && pb_next(&pb, &field);) {
        if (field.number != PROFILE_SAMPLE) {
            take_about(profile, &pb, &field, &about);
            continue;
        }
        if (field.wire != PB_BYTES || !pprof_read_sample(profile, &pb, field.bytes))
            damaged(profile, &pb, &field);
        if (profile->sample_count % PROGRESS_SAMPLES == 0)
            sink_progress(profile->sink, pb_position(&pb, pb.at), profile->file.count);
    }
    say_about(profile, &about);
}

static void say_what_was_odd(const struct pprof *profile)
{
    const struct pprof_tables *tables = &profile->tables;
    struct sink *sink = profile->sink;

    if (profile->damage_count > 0)
        sink_note(sink, "corrupt", NOTE_ERROR, profile->damage_count,
                  "Parts of the file could not be read and are left out, the first at byte %" PRIu64
                  " of the unpacked file; copy the file again if the original is intact.",
                  profile->damage_first);
    if (tables->lost_string_count > 0)
        sink_note(sink, "lost-names", NOTE_WARNING, tables->lost_string_count,
                  "Some names are not in the file; functions without one are shown by their "
                  "address.");
    if (tables->lost_location_count + tables->lost_function_count > 0)
        sink_note(sink, "lost-frames", NOTE_WARNING,
                  tables->lost_location_count + tables->lost_function_count,
                  "Some frames of stacks are not in the file and are left out or shown by their "
                  "address.");
    if (profile->odd_value_count > 0)
        sink_note(sink, "odd-values", NOTE_WARNING, profile->odd_value_count,
                  "Some samples have fewer or more values than there are sample types; missing "
                  "values count as 0, extra ones are left out.");
    if (profile->negative_count > 0)
        sink_note(sink, "unknown-sizes", NOTE_WARNING, profile->negative_count,
                  "Some values are negative: JAX writes -1 for an executable of unknown size. They "
                  "are summed as they are.");
    if (profile->too_deep_count > 0)
        sink_note(sink, "too-deep", NOTE_WARNING, profile->too_deep_count,
                  "Some stacks are too deep; their outermost calls are left out.");
    if (profile->label_left_count > 0)
        sink_note(sink, "args-left-out", NOTE_WARNING, profile->label_left_count,
                  "Some samples have too many labels; the last ones are left out.");
}

/* The file's top level ended early. Bearable when a sample before that was whole. */
static enum status end_early(const struct pprof *profile, const struct error *broken,
                             struct error *err)
{
    bool is_cut = broken->code == ERR_TRUNCATED;

    if (profile->sample_count == 0)
        return fail(err, broken->code,
                    is_cut ? "%s; the file was probably truncated while copied: copy it again"
                           : "%s; the file is damaged: copy it again",
                    broken->message);
    sink_note(
        profile->sink, is_cut ? "truncated" : "corrupt", NOTE_ERROR, 1,
        "The file ends early, at byte %zu: %s. Later samples are missing, and names of others may "
        "be missing too; the file was probably truncated while copied: copy it again.",
        profile->file.count, broken->message);
    return OK;
}

static enum status decode_profile(struct pprof *profile, struct error *err)
{
    struct error broken = {0};

    read_tables(profile, &broken);
    say_types(profile);
    read_samples(profile);
    say_what_was_odd(profile);
    if (broken.code != OK)
        TRY(end_early(profile, &broken, err));
    if (sink_failed(profile->sink))
        return fail(err, sink_error(profile->sink)->code, "%s", sink_error(profile->sink)->message);
    return OK;
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct pprof profile = {.sink = sink};
    bool packing_cut;

    TRY(input_whole(input, &profile.file, &packing_cut, err));
    if (profile.file.count == 0)
        return fail(err, ERR_TRUNCATED, "the file is empty");
    sink_format(sink, decode_pprof.name);
    if (packing_cut)
        sink_note(sink, "truncated", NOTE_ERROR, 1,
                  "The compressed file is truncated or damaged; the part that could be unpacked is "
                  "shown. Copy it again.");
    profile.tables.scratch = scratch_create(input_temporary_dir(input));
    enum status status = decode_profile(&profile, err);
    pprof_stacks_free(profile.stacks);
    pprof_tables_free(&profile.tables);
    return status;
}

const struct decoder decode_pprof = {
    .name = "pprof", .part = PART_SNAPSHOT, .sniff = sniff, .decode = decode};
