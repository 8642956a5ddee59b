/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a pprof profile.
 *
 *   Sample  1 location ids*, innermost first   2 values*, one a sample type   3 labels*
 *   Label   1 key  2 text, else  3 number  4 its unit
 *
 * The same location below the same stack is met again and again: a table of its own remembers
 * which stack that makes, and the first of them stands with the stack itself, so that a location of
 * many inlined frames costs no more than one. What a sample has in common with the one before, from
 * the outermost call on, is not even looked up.
 */
#include <stdlib.h>

#include "decode/pprof/pprof.h"

enum {
    LOCATIONS_MAX = 1 << 14, /* a sample: Python's own limit is a sixteenth of it */
    LABELS_MAX = 4096,
    STEPS_MIN = 1 << 10,
    STEPS_MAX = 1 << 25, /* what is more is not remembered */
    UNITS_MAX = 64,
};

struct step { /* below `parent` stands `location`; free where stack is NO_STACK */
    stack_id parent;
    uint32_t location;
    stack_id stack;
};

struct child { /* the first step below a stack: most have no other */
    uint32_t location;
    stack_id stack_plus_one; /* 0: none yet */
};

struct pprof_stacks {
    struct child *children; /* in scratch, by parent + 1: below NO_STACK stands the outermost */
    uint32_t child_capacity;
    struct step *steps; /* in scratch; a power of two, at most half full */
    uint32_t step_count, step_capacity;

    uint32_t locations[LOCATIONS_MAX]; /* of the sample at hand */
    uint32_t location_count;
    struct step last[LOCATIONS_MAX]; /* of the one before, from the outermost; parents unused */
    uint32_t last_count;
    struct arg labels[LABELS_MAX];
    uint32_t label_count;
    int64_t *values; /* of the sample types */
    uint32_t value_count;
    struct {
        name_id key, unit;
    } units[UNITS_MAX]; /* of labels that are numbers, told already */
    uint32_t unit_count;
};

void pprof_stacks_free(struct pprof_stacks *stacks)
{
    if (stacks != NULL)
        free(stacks->values);
    free(stacks);
}

static struct step *step_at(const struct pprof_stacks *stacks, stack_id parent, uint32_t location)
{
    const uint32_t mask = stacks->step_capacity - 1;
    uint64_t mixed = ((uint64_t)parent << 32 | location) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> 32 ^ mixed >> 13) & mask;

    while (stacks->steps[at].stack != NO_STACK &&
           (stacks->steps[at].parent != parent || stacks->steps[at].location != location))
        at = (at + 1) & mask;
    return &stacks->steps[at];
}

static void grow_steps(struct pprof *profile)
{
    struct pprof_stacks *stacks = profile->stacks;
    struct scratch *scratch = profile->tables.scratch;
    struct step *old = stacks->steps;
    const uint32_t old_capacity = stacks->step_capacity;

    stacks->step_capacity = old_capacity == 0 ? STEPS_MIN : old_capacity * 2;
    stacks->steps = scratch_array(scratch, struct step, stacks->step_capacity);
    for (uint32_t i = 0; i < stacks->step_capacity; i++)
        stacks->steps[i].stack = NO_STACK;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].stack != NO_STACK)
            *step_at(stacks, old[i].parent, old[i].location) = old[i];
    scratch_free(scratch, old);
}

static struct child *child_of(struct pprof *profile, stack_id parent)
{
    struct pprof_stacks *stacks = profile->stacks;
    const uint32_t at = parent + 1; /* NO_STACK is the last number there is */

    if (at >= stacks->child_capacity) {
        stacks->child_capacity = at < STEPS_MIN / 2 ? STEPS_MIN : at * 2;
        stacks->children = scratch_resize(profile->tables.scratch, stacks->children,
                                          stacks->child_capacity, sizeof(struct child));
    }
    return &stacks->children[at];
}

static stack_id push_step(struct pprof *profile, stack_id parent, uint32_t location)
{
    struct pprof_stacks *stacks = profile->stacks;

    if (stacks->step_count * 2 >= stacks->step_capacity && stacks->step_capacity < STEPS_MAX)
        grow_steps(profile);
    struct step *step = step_at(stacks, parent, location);
    if (step->stack != NO_STACK)
        return step->stack;
    stack_id stack = pprof_push_location(profile, parent, location);
    if (stack != NO_STACK && stacks->step_count * 2 < stacks->step_capacity) {
        *step = (struct step){.parent = parent, .location = location, .stack = stack};
        stacks->step_count++;
    }
    return stack;
}

static stack_id push_location(struct pprof *profile, stack_id parent, uint32_t location)
{
    struct child *child = child_of(profile, parent);

    if (child->stack_plus_one != 0 && child->location == location)
        return child->stack_plus_one - 1;
    stack_id stack = push_step(profile, parent, location);
    if (stack != NO_STACK && child->stack_plus_one == 0)
        *child = (struct child){.location = location, .stack_plus_one = stack + 1};
    return stack;
}

static void add_location(struct pprof *profile, uint64_t id)
{
    struct pprof_stacks *stacks = profile->stacks;
    uint32_t location = pprof_location(&profile->tables, id);

    if (location == NO_LOCATION)
        profile->tables.lost_location_count++;
    else if (stacks->location_count < LOCATIONS_MAX)
        stacks->locations[stacks->location_count++] = location;
    else
        profile->too_deep_count++;
}

static void add_value(struct pprof *profile, uint64_t value)
{
    struct pprof_stacks *stacks = profile->stacks;

    if (stacks->value_count < profile->types.count)
        stacks->values[stacks->value_count] = (int64_t)value;
    stacks->value_count++;
}

/* Numbers of a repeated field, packed or one by one. */
static bool read_numbers(struct pprof *profile, const struct pb_field *field,
                         void (*add)(struct pprof *profile, uint64_t value))
{
    if (field->wire == PB_VARINT) {
        add(profile, field->varint);
        return true;
    }
    if (field->wire != PB_BYTES)
        return false;
    const uint8_t *end = field->bytes.at + field->bytes.count;
    for (const uint8_t *at = field->bytes.at; at < end;) {
        uint64_t value;
        at = pb_read_varint(at, end, &value);
        if (at == NULL)
            return false;
        add(profile, value);
    }
    return true;
}

/* The unit of a label's numbers is the same in all samples: a property of the file. */
static void say_unit(struct pprof *profile, name_id key, uint32_t string)
{
    struct pprof_stacks *stacks = profile->stacks;
    name_id unit = pprof_string(profile, string);

    if (unit == 0 || stacks->unit_count == UNITS_MAX)
        return;
    for (uint32_t i = 0; i < stacks->unit_count; i++)
        if (stacks->units[i].key == key && stacks->units[i].unit == unit)
            return;
    stacks->units[stacks->unit_count].key = key;
    stacks->units[stacks->unit_count++].unit = unit;

    struct text text = {0};
    text_putf(&text, "unit of label %.*s", STR_ARG(sink_text(profile->sink, key)));
    sink_property(profile->sink, NO_TRACK,
                  (struct arg){.key = sink_name(profile->sink, text_str(&text)),
                               .type = ARG_STRING,
                               .bits = unit});
    text_free(&text);
}

static bool read_label(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    uint64_t parts[5] = {0};

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number < COUNT(parts) && field.wire == PB_VARINT)
            parts[field.number] = field.varint;
    if (broken.code != OK)
        return false;
    struct pprof_stacks *stacks = profile->stacks;
    if (stacks->label_count == LABELS_MAX) {
        profile->label_left_count++;
        return true;
    }
    struct arg label = {.key = pprof_string(profile, pprof_string_number(parts[1]))};
    if (parts[2] != 0) {
        label.type = ARG_STRING;
        label.bits = pprof_string(profile, pprof_string_number(parts[2]));
    } else {
        label.type = ARG_INT64;
        label.bits = parts[3];
        say_unit(profile, label.key, pprof_string_number(parts[4]));
    }
    stacks->labels[stacks->label_count++] = label;
    return true;
}

static bool read_fields(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    bool is_whole = true;

    for (struct pb_field field; is_whole && pb_next(&pb, &field);) {
        if (field.number == 1)
            is_whole = read_numbers(profile, &field, add_location);
        else if (field.number == 2)
            is_whole = read_numbers(profile, &field, add_value);
        else if (field.number == 3)
            is_whole = field.wire == PB_BYTES && read_label(profile, &pb, field.bytes);
    }
    return is_whole && broken.code == OK;
}

static void begin(struct pprof *profile)
{
    if (profile->stacks == NULL) {
        profile->stacks = memory_resize(NULL, 1, sizeof *profile->stacks);
        memset(profile->stacks, 0, sizeof *profile->stacks);
        profile->stacks->values = memory_resize(NULL, profile->types.count + 1u, sizeof(int64_t));
    }
    profile->stacks->location_count = 0;
    profile->stacks->label_count = 0;
    profile->stacks->value_count = 0;
    memset(profile->stacks->values, 0, profile->types.count * sizeof(int64_t));
}

static stack_id push_stack(struct pprof *profile)
{
    struct pprof_stacks *stacks = profile->stacks;
    stack_id stack = NO_STACK;
    uint32_t depth = 0;
    bool is_shared = true;

    for (uint32_t i = 0; i < stacks->location_count; i++) {
        uint32_t location = stacks->locations[stacks->location_count - 1 - i];
        struct step *last = &stacks->last[i];

        is_shared = is_shared && i < stacks->last_count && last->location == location;
        if (!is_shared)
            *last = (struct step){.location = location,
                                  .stack = push_location(profile, stack, location)};
        stack = last->stack;
        depth += pprof_frame_count(&profile->tables, location);
    }
    stacks->last_count = stacks->location_count;
    profile->max_depth = depth > profile->max_depth ? depth : profile->max_depth;
    return stack;
}

bool pprof_read_sample(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    begin(profile);
    if (!read_fields(profile, outer, message))
        return false;

    struct pprof_stacks *stacks = profile->stacks;
    struct sample sample = {.at_ps = SAMPLE_NO_TIME, .track = NO_TRACK};

    sample.stack = push_stack(profile);
    profile->odd_value_count += stacks->value_count != profile->types.count;
    for (uint32_t i = 0; i < profile->types.count; i++)
        profile->negative_count += stacks->values[i] < 0;
    profile->sample_count++;
    sink_sample(profile->sink, sample, stacks->values, stacks->labels, stacks->label_count);
    return true;
}
