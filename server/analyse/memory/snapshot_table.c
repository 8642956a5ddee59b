/* SPDX-License-Identifier: Apache-2.0 */
/* Samples summed by what owns them, of one snapshot or of two side by side. */
#include "analyse/memory/snapshot.h"

#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/table.h"

enum snapshot_column {
    SNAPSHOT_NAME,
    SNAPSHOT_SOURCE,
    SNAPSHOT_DEVICE,
    SNAPSHOT_KIND,
    SNAPSHOT_VALUE,
    SNAPSHOT_SHARE,
    SNAPSHOT_COUNT,
    SNAPSHOT_BASE_VALUE, /* from here on only with a base */
    SNAPSHOT_DELTA,
    SNAPSHOT_BASE_COUNT,
    SNAPSHOT_COLUMN_COUNT,
};

static const struct column columns[] = {
    [SNAPSHOT_NAME] = {"name", "Owner", UNIT_TEXT, true},
    [SNAPSHOT_SOURCE] = {"source", "Source", UNIT_TEXT, true},
    [SNAPSHOT_DEVICE] = {"device", "Device", UNIT_TEXT, true},
    [SNAPSHOT_KIND] = {"kind", "Kind", UNIT_TEXT, true},
    [SNAPSHOT_VALUE] = {"value", "Value", UNIT_COUNT, true},
    [SNAPSHOT_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [SNAPSHOT_COUNT] = {"count", "Count", UNIT_COUNT, true},
    [SNAPSHOT_BASE_VALUE] = {"base_value", "Before", UNIT_COUNT, true},
    [SNAPSHOT_DELTA] = {"delta", "Change", UNIT_COUNT, true},
    [SNAPSHOT_BASE_COUNT] = {"base_count", "Count before", UNIT_COUNT, false},
};

enum snapshot_by { BY_OWNER, BY_FUNCTION, BY_SOURCE, BY_FRAME, BY_DEVICE, BY_KIND };
static const char *const by_words[] = {"owner", "function", "source", "frame", "device", "kind"};

enum { NOW, BEFORE, SIDES };

struct group { /* a row: texts are ids of the names of both snapshots, 0 unknown */
    name_id name, source, device, kind;
    int64_t values[SIDES], counts[SIDES];
};

struct grouping {
    enum snapshot_by by;
    struct names *texts;
    struct map64 calls, labels, group_of; /* (name, source), (device, kind), both */
    struct group *groups;
    uint32_t count, capacity;
    int64_t totals[SIDES];
    bool has_base;
};

struct side { /* one of the snapshots while it is summed */
    const struct trace *trace;
    int side;
    uint32_t type, count_type; /* UINT32_MAX: samples are counted */
    int64_t scale;
    const stack_id *owners;
    name_id *texts;   /* by name of the trace, plus one; 0 not asked yet */
    name_id *sources; /* by stack, plus one */
    name_id device_key, kind_key;
};

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b); /* a file's own numbers may wrap */
}

static name_id text_of(struct grouping *grouping, struct side *side, name_id name)
{
    if (side->texts[name] == 0)
        side->texts[name] = names_add(grouping->texts, trace_name(side->trace, name)) + 1;
    return side->texts[name] - 1;
}

/* "train.py:41" of a frame. */
static name_id source_of(struct grouping *grouping, struct side *side, stack_id stack)
{
    const struct frame *frame = &side->trace->stacks[stack].frame;
    struct str file = trace_name(side->trace, frame->file);

    if (side->sources[stack] == 0 && file.count > 0) {
        struct text text = {0};

        text_putf(&text, frame->line > 0 ? "%.*s:%u" : "%.*s", STR_ARG(file), frame->line);
        side->sources[stack] = names_add(grouping->texts, text_str(&text)) + 1;
        text_free(&text);
    }
    return side->sources[stack] > 0 ? side->sources[stack] - 1 : 0;
}

static name_id label_of(struct grouping *grouping, struct side *side, const struct sample *sample,
                        name_id key)
{
    if (key == 0)
        return 0;
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const struct arg *label = &side->trace->sample_labels[sample->first_label + i];

        if (label->key == key && label->type == ARG_STRING)
            return text_of(grouping, side, (name_id)label->bits);
    }
    return 0;
}

static struct group key_of(struct grouping *grouping, struct side *side,
                           const struct sample *sample)
{
    struct group key = {0};

    if (grouping->by == BY_DEVICE || grouping->by == BY_OWNER)
        key.device = label_of(grouping, side, sample, side->device_key);
    if (grouping->by == BY_KIND || grouping->by == BY_OWNER)
        key.kind = label_of(grouping, side, sample, side->kind_key);
    if (grouping->by == BY_DEVICE || grouping->by == BY_KIND || sample->stack == NO_STACK)
        return key;

    stack_id stack = grouping->by == BY_FRAME ? sample->stack : side->owners[sample->stack];

    if (grouping->by != BY_SOURCE)
        key.name = text_of(grouping, side, side->trace->stacks[stack].frame.function);
    if (grouping->by != BY_FUNCTION)
        key.source = source_of(grouping, side, stack);
    return key;
}

static struct group *group_at(struct grouping *grouping, const struct group *key)
{
    uint32_t *call = map64_at(&grouping->calls, map64_pair(key->name, key->source), UINT32_MAX);

    if (*call == UINT32_MAX)
        *call = grouping->calls.count;

    const uint32_t call_id = *call;
    uint32_t *labels = map64_at(&grouping->labels, map64_pair(key->device, key->kind), UINT32_MAX);

    if (*labels == UINT32_MAX)
        *labels = grouping->labels.count;

    uint32_t *index = map64_at(&grouping->group_of, map64_pair(call_id, *labels), UINT32_MAX);

    if (*index == UINT32_MAX) {
        if (grouping->count == grouping->capacity) {
            grouping->capacity = grouping->capacity == 0 ? 64 : 2 * grouping->capacity;
            grouping->groups =
                memory_resize(grouping->groups, grouping->capacity, sizeof(*grouping->groups));
        }
        grouping->groups[grouping->count] = *key;
        *index = grouping->count++;
    }
    return &grouping->groups[*index];
}

static void sum_side(struct grouping *grouping, struct side *side)
{
    const struct trace *trace = side->trace;

    for (uint32_t i = 0; i < trace->stack_sample_count; i++) {
        const struct sample *sample = &trace->samples[i];
        const int64_t *values = &trace->sample_values[(uint64_t)i * trace->sample_type_count];
        const struct group key = key_of(grouping, side, sample);
        struct group *group = group_at(grouping, &key);
        int64_t value = (int64_t)((uint64_t)values[side->type] * (uint64_t)side->scale);
        int64_t count = side->count_type == UINT32_MAX ? 1 : values[side->count_type];

        group->values[side->side] = add(group->values[side->side], value);
        group->counts[side->side] = add(group->counts[side->side], count);
        grouping->totals[side->side] = add(grouping->totals[side->side], value);
    }
}

static void add_side(struct grouping *grouping, const struct trace *trace, uint32_t type,
                     int64_t scale, int which, struct arena *arena)
{
    struct side side = {
        .trace = trace,
        .side = which,
        .type = type,
        .scale = scale,
        .owners = owners_of(trace, arena),
        .texts = arena_array(arena, name_id, trace->name_count),
        .sources = arena_array(arena, name_id, trace->stack_count),
    };

    memset(side.texts, 0, trace->name_count * sizeof(name_id));
    memset(side.sources, 0, trace->stack_count * sizeof(name_id));
    if (!sample_type_find(trace, STR(""), STR("count"), &side.count_type) ||
        side.count_type == type)
        side.count_type = UINT32_MAX;
    if (!trace_find_name(trace, STR("device"), &side.device_key))
        side.device_key = 0;
    if (!trace_find_name(trace, STR("kind"), &side.kind_key))
        side.kind_key = 0;
    sum_side(grouping, &side);
}

static struct cell text_cell(const struct grouping *grouping, name_id text, const char *reason)
{
    struct str found = names_get(grouping->texts, text);

    return found.count > 0 ? cell_text(found) : cell_null(str_of(reason));
}

static bool is_labelled(const struct grouping *grouping, enum snapshot_by by)
{
    return grouping->by == by || grouping->by == BY_OWNER;
}

static struct cell share_cell(const struct grouping *grouping, const struct group *group)
{
    if (grouping->totals[NOW] <= 0)
        return cell_null(STR("the total is zero"));
    return cell_real((double)group->values[NOW] / (double)grouping->totals[NOW]);
}

static struct cell cell_of(const void *data, uint32_t row, uint32_t column)
{
    const struct grouping *grouping = data;
    const struct group *group = &grouping->groups[row];

    switch ((enum snapshot_column)column) {
    case SNAPSHOT_NAME:
        if (grouping->by == BY_SOURCE)
            return text_cell(grouping, group->source, "the frames of the samples name no file");
        if (grouping->by == BY_DEVICE)
            return text_cell(grouping, group->device, "the samples name no device");
        if (grouping->by == BY_KIND)
            return text_cell(grouping, group->kind, "the samples name no kind");
        return text_cell(grouping, group->name, "the samples have no stack");
    case SNAPSHOT_SOURCE:
        return text_cell(grouping, group->source,
                         grouping->by == BY_OWNER ? "the frame names no file" : "");
    case SNAPSHOT_DEVICE:
        return text_cell(grouping, group->device,
                         is_labelled(grouping, BY_DEVICE) ? "the samples name no device" : "");
    case SNAPSHOT_KIND:
        return text_cell(grouping, group->kind,
                         is_labelled(grouping, BY_KIND) ? "the samples name no kind" : "");
    case SNAPSHOT_VALUE:
        return cell_integer(group->values[NOW]);
    case SNAPSHOT_SHARE:
        return share_cell(grouping, group);
    case SNAPSHOT_COUNT:
        return cell_integer(group->counts[NOW]);
    case SNAPSHOT_BASE_VALUE:
        return cell_integer(group->values[BEFORE]);
    case SNAPSHOT_DELTA:
        return cell_integer(
            (int64_t)((uint64_t)group->values[NOW] - (uint64_t)group->values[BEFORE]));
    case SNAPSHOT_BASE_COUNT:
        return cell_integer(group->counts[BEFORE]);
    case SNAPSHOT_COLUMN_COUNT:
        break;
    }
    return cell_null(STR(""));
}

/* The columns with the unit that values have here. */
static const struct column *columns_in(struct str unit, struct arena *arena)
{
    struct column *mine = arena_array(arena, struct column, COUNT(columns));
    enum unit in = str_equal(unit, STR("bytes")) ? UNIT_BYTES
                   : str_equal(unit, STR("ps"))  ? UNIT_PS
                                                 : UNIT_COUNT;

    memcpy(mine, columns, sizeof(columns));
    if (in != UNIT_COUNT)
        mine[SNAPSHOT_VALUE].title = in == UNIT_BYTES ? "Bytes" : "Time";
    mine[SNAPSHOT_VALUE].unit = mine[SNAPSHOT_BASE_VALUE].unit = mine[SNAPSHOT_DELTA].unit = in;
    return mine;
}

static enum status fill(const struct grouping *grouping, const struct page *page,
                        struct arena *arena, struct snapshot_table *ret, struct error *err)
{
    const struct table_source source = {
        .columns = columns_in(ret->unit, arena),
        .column_count = grouping->has_base ? SNAPSHOT_COLUMN_COUNT : SNAPSHOT_BASE_VALUE,
        .row_count = grouping->count,
        .cell = cell_of,
        .data = grouping,
    };
    uint32_t *order;

    TRY(table_order(&source, page->sort,
                    grouping->has_base ? "-delta,name,source,device,kind"
                                       : "-value,name,source,device,kind",
                    arena, &order, err));
    table_fill(&source, order, page, arena, &ret->table);
    for (uint64_t i = 0; i < (uint64_t)ret->table.row_count * ret->table.column_count; i++) {
        struct cell *cell = (struct cell *)(uintptr_t)&ret->table.cells[i];

        if (cell->kind == CELL_TEXT) /* the names end with this answer */
            cell->of.text = str_copy(arena, cell->of.text);
    }
    return OK;
}

static enum status choose(const struct snapshot_question *question, struct snapshot_table *ret,
                          struct error *err)
{
    const struct trace *trace;

    TRY(snapshot_find(&ret->snapshots, question->snapshot, &ret->snapshot, err));
    trace = ret->snapshot->trace;
    if (!sample_type_find(trace, question->type, STR(""), &ret->type))
        return fail(err, ERR_NOT_FOUND, "the snapshot has no samples of type \"%.*s\"",
                    STR_ARG(question->type));

    const struct sample_type *type = &trace->sample_types[ret->type];

    ret->unit = trace_name(trace, type->unit);
    if (question->base.count == 0)
        return OK;
    TRY(snapshot_find(&ret->snapshots, question->base, &ret->base, err));
    if (!sample_type_find(ret->base->trace, trace_name(trace, type->name), ret->unit,
                          &ret->base_type))
        return fail(err, ERR_NOT_FOUND, "the base has no samples of type \"%.*s\" in %.*s",
                    STR_ARG(trace_name(trace, type->name)), STR_ARG(ret->unit));
    return OK;
}

static enum status parse_by(struct str word, enum snapshot_by *ret, struct error *err)
{
    *ret = BY_OWNER;
    if (word.count == 0)
        return OK;
    for (size_t i = 0; i < COUNT(by_words); i++) {
        *ret = (enum snapshot_by)i;
        if (str_equal(word, str_of(by_words[i])))
            return OK;
    }
    return fail(err, ERR_INVALID, "by=%.*s is none of owner, function, source, frame, device, kind",
                STR_ARG(word));
}

static enum status tabulate(struct grouping *grouping, const struct page *page, struct arena *arena,
                            struct snapshot_table *ret, struct error *err)
{
    int64_t scale = unit_ps(ret->unit);

    if (scale > 0)
        ret->unit = STR("ps");
    else
        scale = 1;
    add_side(grouping, ret->snapshot->trace, ret->type, scale, NOW, arena);
    if (ret->base != NULL)
        add_side(grouping, ret->base->trace, ret->base_type, scale, BEFORE, arena);
    ret->total = grouping->totals[NOW];
    ret->base_total = grouping->totals[BEFORE];
    return fill(grouping, page, arena, ret, err);
}

enum status snapshot_table(const struct run_traces *run, const struct snapshot_question *question,
                           const struct page *page, struct arena *arena, struct snapshot_table *ret,
                           struct error *err)
{
    struct grouping grouping = {0};

    *ret = (struct snapshot_table){0};
    snapshots_of(run, arena, &ret->snapshots);
    TRY(parse_by(question->by, &grouping.by, err));
    ret->by = str_of(by_words[grouping.by]);
    if (ret->snapshots.count == 0)
        return OK;
    TRY(choose(question, ret, err));
    grouping.has_base = ret->base != NULL;
    grouping.texts = names_create();

    enum status status = tabulate(&grouping, page, arena, ret, err);

    names_destroy(grouping.texts);
    map64_free(&grouping.calls);
    map64_free(&grouping.labels);
    map64_free(&grouping.group_of);
    free(grouping.groups);
    return status;
}
