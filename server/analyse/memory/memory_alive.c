/* SPDX-License-Identifier: Apache-2.0 */
/* Who held memory at a moment, joined by op, scope, shape and category.
 *
 *   in use   = owners + allocated before the capture + reserved
 *
 * The second is what the allocator says is allocated less what the replay finds: it has no event,
 * so the event names no owner. Below zero it says that events are missing, and stands as such.
 */
#include <stdlib.h>

#include "analyse/memory/memory_allocators.h"
#include "analyse/table.h"
#include "base/bisect.h"

enum alive_column {
    ALIVE_NAME,
    ALIVE_SCOPE,
    ALIVE_CATEGORY,
    ALIVE_SHAPE,
    ALIVE_DTYPE,
    ALIVE_BYTES,
    ALIVE_SHARE,
    ALIVE_COUNT,
    ALIVE_SINCE,
    ALIVE_SLICE,
    ALIVE_KIND,
    ALIVE_COLUMN_COUNT,
};

static const struct column columns[] = {
    [ALIVE_NAME] = {"name", "op", UNIT_TEXT, true},
    [ALIVE_SCOPE] = {"scope", "scope", UNIT_TEXT, true},
    [ALIVE_CATEGORY] = {"category", "category", UNIT_TEXT, true},
    [ALIVE_SHAPE] = {"shape", "shape", UNIT_TEXT, true},
    [ALIVE_DTYPE] = {"dtype", "type", UNIT_TEXT, false},
    [ALIVE_BYTES] = {"bytes", "size", UNIT_BYTES, true},
    [ALIVE_SHARE] = {"share", "share", UNIT_SHARE, true},
    [ALIVE_COUNT] = {"count", "count", UNIT_COUNT, true},
    [ALIVE_SINCE] = {"since_ps", "since", UNIT_PS, true},
    [ALIVE_SLICE] = {"slice", "slice", UNIT_TEXT, false},
    [ALIVE_KIND] = {"row_kind", "kind of row", UNIT_TEXT, false},
};

struct alive_rows {
    const struct allocator *allocator;
    const struct memory_owner *owners;
    const char *const *kinds; /* by row: owner, before, reserved, missing */
    uint32_t count;
    int64_t total_bytes;
    struct arena *arena;
};

static int compare_texts(struct str a, struct str b, bool counts)
{
    return counts ? str_compare(a, b) : 0;
}

static int compare_owners(const void *left, const void *right, void *data)
{
    const struct memory_owner *a = left, *b = right;
    unsigned by = *(const unsigned *)data;
    int order = compare_texts(a->op, b->op, by & OWNER_OP);

    if (order == 0)
        order = compare_texts(a->scope, b->scope, by & OWNER_SCOPE);
    if (order == 0)
        order = compare_texts(a->shape, b->shape, by & OWNER_SHAPE);
    if (order == 0)
        order = compare_texts(a->dtype, b->dtype, by & OWNER_SHAPE);
    if (order == 0)
        order = compare_texts(a->category, b->category, by & OWNER_CATEGORY);
    return order;
}

static int compare_found(const void *left, const void *right, void *data)
{
    const struct memory_owner *a = left, *b = right;
    int order = compare_owners(left, right, data);

    if (order == 0 && a->since_ps != b->since_ps)
        order = a->since_ps < b->since_ps ? -1 : 1;
    return order != 0 ? order : (a->slice > b->slice) - (a->slice < b->slice);
}

static int compare_bytes(const void *left, const void *right)
{
    const struct memory_owner *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->since_ps != b->since_ps)
        return a->since_ps < b->since_ps ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

uint32_t memory_join(struct memory_owner *owners, uint32_t count, unsigned by)
{
    uint32_t joined = 0;

    if (by != 0)
        qsort_r(owners, count, sizeof *owners, compare_found, &by);
    for (uint32_t i = 0; i < count; i++) {
        if (by == 0 || joined == 0 || compare_owners(&owners[joined - 1], &owners[i], &by) != 0) {
            owners[joined++] = owners[i];
            continue;
        }
        owners[joined - 1].bytes += owners[i].bytes; /* their sum fits: see memory_replay */
        owners[joined - 1].count += owners[i].count;
    }
    qsort(owners, joined, sizeof *owners, compare_bytes);
    return joined;
}

static struct cell text_cell(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell alive_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct alive_rows *rows = data;
    const struct memory_owner *owner = &rows->owners[row];
    const struct host_trace *host = rows->allocator->selection->host;
    bool is_owner = owner->count > 0;

    switch ((enum alive_column)column) {
    case ALIVE_NAME:
        return text_cell(owner->op, "the event names no op and lies in no slice");
    case ALIVE_SCOPE:
        return text_cell(owner->scope,
                         is_owner ? "the op has no scope" : "the event names no owner");
    case ALIVE_CATEGORY:
        return text_cell(owner->category, "the event does not say");
    case ALIVE_SHAPE:
        return text_cell(owner->shape, "the event does not state the shape");
    case ALIVE_DTYPE:
        return text_cell(owner->dtype, "the event does not state the type");
    case ALIVE_BYTES:
        return cell_integer(owner->bytes);
    case ALIVE_SHARE:
        return rows->total_bytes > 0 ? cell_real((double)owner->bytes / (double)rows->total_bytes)
                                     : cell_null(STR("nothing is in use"));
    case ALIVE_COUNT:
        return is_owner ? cell_integer(owner->count) : cell_null(STR("no event states how many"));
    case ALIVE_SINCE:
        return is_owner ? cell_integer(owner->since_ps + host->offset_ps)
                        : cell_null(STR("no event states since when"));
    case ALIVE_SLICE:
        return is_owner && owner->slice != NO_SLICE
                   ? cell_text(str_format(rows->arena, "%.*s-%u", STR_ARG(host->key), owner->slice))
                   : cell_null(STR("no event records it"));
    case ALIVE_KIND:
        return cell_text(str_of(rows->kinds[row]));
    case ALIVE_COLUMN_COUNT:
        break;
    }
    return cell_null(STR(""));
}

bool owner_by(struct str word, unsigned *ret)
{
    static const struct {
        const char *word;
        unsigned by;
    } words[] = {
        {"owner", OWNER_OP | OWNER_SCOPE | OWNER_SHAPE | OWNER_CATEGORY},
        {"op", OWNER_OP | OWNER_SCOPE},
        {"scope", OWNER_SCOPE},
        {"shape", OWNER_SHAPE},
        {"category", OWNER_CATEGORY},
        {"allocation", 0},
    };

    for (size_t i = 0; i < COUNT(words); i++)
        if (str_equal(word, str_of(words[i].word)) || (word.count == 0 && i == 0)) {
            *ret = words[i].by;
            return true;
        }
    return false;
}

/* What was joined by no longer tells what it was not joined by. */
static void forget(struct memory_owner *owners, uint32_t count, unsigned by)
{
    for (uint32_t i = 0; by != 0 && i < count; i++) {
        if (!(by & OWNER_OP))
            owners[i].op = by & OWNER_SCOPE      ? owners[i].scope
                           : by & OWNER_CATEGORY ? owners[i].category
                                                 : owners[i].shape;
        if (!(by & OWNER_SCOPE))
            owners[i].scope = STR("");
        if (!(by & OWNER_SHAPE))
            owners[i].shape = owners[i].dtype = STR("");
        if (!(by & OWNER_CATEGORY))
            owners[i].category = STR("");
    }
}

static void add_row(struct memory_owner *owners, const char **kinds, uint32_t *count,
                    const char *kind, struct str name, int64_t bytes)
{
    if (bytes == 0)
        return;
    kinds[*count] = kind;
    owners[(*count)++] = (struct memory_owner){.op = name, .bytes = bytes, .slice = NO_SLICE};
}

/* The events that count: those up to the peak, or up to the moment. */
static uint32_t events_until(const struct allocator *allocator,
                             const struct memory_question *question)
{
    int64_t at_ps;

    if (!question->has_at)
        return allocator->peak + 1;
    if (__builtin_sub_overflow(question->at_ps, allocator->selection->host->offset_ps, &at_ps))
        at_ps = question->at_ps < 0 ? INT64_MIN : INT64_MAX;
    return BISECT(0, allocator->count, i, allocator_event(allocator, i)->at_ps <= at_ps);
}

static void say_notes(const struct alives *alives, const struct allocator *allocator,
                      struct arena *arena, struct table *table)
{
    struct answer_note *notes = arena_array(arena, struct answer_note, 3);
    uint32_t count = 0;

    if (alives->replaced_count > 0)
        notes[count++] =
            (struct answer_note){.kind = "allocated-twice",
                                 .severity = NOTE_WARNING,
                                 .message = STR("Some addresses were allocated again without being "
                                                "freed: the file does not hold the frees between."),
                                 .count = alives->replaced_count};
    if (alives->unplaced_count > 0)
        notes[count++] = (struct answer_note){
            .kind = "no-address",
            .severity = NOTE_WARNING,
            .message =
                STR("Events without an address cannot be tracked; their bytes have no owner."),
            .count = alives->unplaced_count};
    if (allocator->is_summed)
        notes[count++] = (struct answer_note){
            .kind = "summed-levels",
            .severity = NOTE_INFO,
            .message =
                STR("The events hold no totals, so allocations and frees were added up. Memory "
                    "that was allocated before the capture and never freed is not known."),
            .count = 1};
    table->notes = notes;
    table->note_count = count;
}

static enum status fill_table(const struct allocator *allocator, uint32_t end, unsigned by,
                              const struct page *page, struct arena *arena,
                              struct memory_alive *ret, struct error *err)
{
    struct alives alives;
    uint32_t *order, count;

    memory_replay(allocator, end, arena, &alives);

    struct memory_owner *owners = arena_array(arena, struct memory_owner, alives.count + 3u);
    const char **kinds = arena_array(arena, const char *, alives.count + 3u);
    int64_t allocated = end > 0 ? allocator->allocated[end - 1] : allocator->before_bytes;

    memcpy(owners, memory_owners(allocator, &alives, arena), alives.count * sizeof *owners);
    count = memory_join(owners, alives.count, by);
    forget(owners, count, by);
    for (uint32_t i = 0; i < count; i++)
        kinds[i] = "owner";
    ret->total_bytes = end > 0 ? allocator_in_use(allocator, end - 1) : allocated;
    if (allocated >= alives.owned_bytes)
        add_row(owners, kinds, &count, "before",
                alives.unplaced_count > 0
                    ? STR("(allocated before the capture, or without an address)")
                    : STR("(allocated before the capture)"),
                allocated - alives.owned_bytes);
    else
        add_row(owners, kinds, &count, "missing", STR("(freed, but no event says so)"),
                allocated - alives.owned_bytes);
    add_row(owners, kinds, &count, "reserved", STR("(reserved)"), ret->total_bytes - allocated);

    struct alive_rows rows = {.allocator = allocator,
                              .owners = owners,
                              .kinds = kinds,
                              .count = count,
                              .total_bytes = ret->total_bytes,
                              .arena = arena};
    struct table_source source = {.columns = columns,
                                  .column_count = ALIVE_COLUMN_COUNT,
                                  .row_count = count,
                                  .cell = alive_cell,
                                  .data = &rows};

    TRY(table_order(&source, page->sort, "-bytes,name", arena, &order, err));
    table_fill(&source, order, page, arena, &ret->table);
    say_notes(&alives, allocator, arena, &ret->table);
    return OK;
}

enum status fail_owner_by(struct str word, struct error *err)
{
    return fail(err, ERR_INVALID, "by=%.*s is not owner, op, scope, shape, category or allocation",
                STR_ARG(word));
}

enum status fail_unknown_allocator(const struct allocators *all, struct str name, struct error *err)
{
    struct text names = {0};

    for (uint32_t i = 0; i < all->count && i < 8; i++)
        text_putf(&names, "%s\"%.*s\"", i > 0 ? ", " : "", STR_ARG(all->items[i].name));
    enum status ret = fail(err, ERR_NOT_FOUND, "no allocator \"%.*s\"; there are %s",
                           name.count > 200 ? 200 : (int)name.count, name.at, names.at);
    text_free(&names);
    return ret;
}

enum status memory_alive(const struct run_traces *run, const struct restriction *restriction,
                         const struct memory_question *question, const struct page *page,
                         struct arena *arena, struct memory_alive *ret, struct error *err)
{
    struct allocators all;
    const struct allocator *allocator;
    unsigned by;

    *ret = (struct memory_alive){.by = question->by.count > 0 ? question->by : STR("owner")};
    if (!owner_by(question->by, &by))
        return fail_owner_by(question->by, err);
    TRY(memory_allocators(run, restriction, arena, &all, err));
    if (all.count == 0) {
        ret->reason = memory_absent_reason(run);
        ret->table = (struct table){.columns = columns, .column_count = ALIVE_COLUMN_COUNT};
        return OK;
    }
    allocator = allocator_pick(&all, question->allocator);
    if (allocator == NULL)
        return fail_unknown_allocator(&all, question->allocator, err);
    ret->allocator = allocator_told(allocator);
    ret->at_ps = question->has_at ? question->at_ps : ret->allocator.peak_at_ps;
    return fill_table(allocator, events_until(allocator, question), by, page, arena, ret, err);
}
