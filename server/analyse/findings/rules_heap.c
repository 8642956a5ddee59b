/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about memory that was planned or saved: compiled modules' heaps, and series of
 * snapshots. */
#include <stdlib.h>

#include "analyse/findings/findings.h"
#include "analyse/memory/heap.h"
#include "analyse/memory/snapshot.h"
#include "base/human.h"

#define NO_TIME STR("it saves memory; what more memory would save in time is not in the file")

enum { MODULES_MAX = 16, BLOB_BYTES_MAX = 16 << 20 /* of all that are opened */ };

struct planned {
    const struct hlo_listed *listed;
    struct hlo_module module;
    struct heap heap;
};

struct plans { /* of the modules that ran longest */
    struct planned *items;
    uint32_t count;
};

static int by_time(const void *a, const void *b)
{
    const struct hlo_listed *const *one = a, *const *other = b;

    if ((*one)->self_ps != (*other)->self_ps)
        return (*one)->self_ps < (*other)->self_ps ? 1 : -1;
    return (*one > *other) - (*one < *other);
}

static enum status make_plans(struct memo *memo, const void **ret, struct error *err)
{
    struct plans *plans = arena_new(memo->arena, struct plans);
    struct hlo_modules modules;
    uint64_t bytes = 0;
    uint32_t count = 0;

    hlo_modules(memo->run, memo->arena, &modules);

    const struct hlo_listed **ran =
        arena_array(memo->arena, const struct hlo_listed *, modules.count + 1u);

    for (uint32_t i = 0; i < modules.count; i++)
        if (modules.items[i].has_buffers && modules.items[i].execution_count > 0)
            ran[count++] = &modules.items[i];
    qsort(ran, count, sizeof *ran, by_time);
    plans->items = arena_array(memo->arena, struct planned, MODULES_MAX);
    for (uint32_t i = 0; i < count && plans->count < MODULES_MAX; i++) {
        struct planned *planned = &plans->items[plans->count];

        bytes += ran[i]->copies[0].program->blob_bytes;
        if (bytes > BLOB_BYTES_MAX)
            break;
        planned->listed = ran[i];
        TRY(hlo_open(memo->run, ran[i], memo->arena, &planned->module, err));
        TRY(heap_of(&planned->module, 0, memo->arena, &planned->heap, err));
        plans->count++;
    }
    *ret = plans;
    return OK;
}

static enum status memo_plans(struct memo *memo, const struct plans **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_plans, &made, err));
    *ret = made;
    return OK;
}

static struct human bytes_text(int64_t bytes)
{
    return human_bytes(bytes > 0 ? (uint64_t)bytes : 0);
}

static struct evidence *prove_bytes(struct finding *finding, const char *name, int64_t bytes,
                                    struct str module)
{
    struct evidence *proof = finding_prove(
        finding, name, (struct cell){.kind = CELL_INTEGER, .of.integer = bytes}, UNIT_BYTES);

    proof->view = "memory";
    proof->module = module;
    return proof;
}

static struct str name_of(const struct planned *planned, const struct heap_buffer *buffer)
{
    return buffer->instruction == HLO_NONE ? STR("an unnamed value")
                                           : planned->module.instructions[buffer->instruction].name;
}

/* Its largest buffers of that sort, as evidence. */
static void prove_buffers(struct memo *memo, struct finding *finding, const struct planned *planned,
                          bool (*is_meant)(const struct heap_buffer *))
{
    enum { SHOWN = 3 };
    const struct heap_buffer *shown[SHOWN] = {NULL};

    for (uint32_t i = 0; i < planned->heap.buffer_count; i++) {
        const struct heap_buffer *one = &planned->heap.buffers[i];

        if (!is_meant(one))
            continue;
        for (int k = 0; k < SHOWN && one != NULL; k++) {
            if (shown[k] != NULL && shown[k]->bytes >= one->bytes)
                continue;
            const struct heap_buffer *moved = shown[k];
            shown[k] = one;
            one = moved;
        }
    }
    for (int k = 0; k < SHOWN && shown[k] != NULL; k++) {
        struct str name = name_of(planned, shown[k]);
        struct str words = str_format(memo->arena, "buffer of %.*s", STR_ARG(name));

        prove_bytes(finding, words.at, shown[k]->bytes, planned->listed->key)->find = name;
    }
}

static bool is_cheap(const struct heap_buffer *buffer)
{
    return buffer->could_rematerialise;
}

enum { SHARE_PERCENT_MIN = 10, BYTES_MIN = 1 << 20 };

static bool is_much(int64_t bytes, const struct heap *heap)
{
    return bytes >= BYTES_MIN && bytes / SHARE_PERCENT_MIN >= heap->peak_bytes / 100;
}

static enum status find_again(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct plans *plans;

    TRY(memo_plans(memo, &plans, err));
    for (uint32_t i = 0; i < plans->count; i++) {
        const struct planned *planned = &plans->items[i];
        const struct heap *heap = &planned->heap;

        if (!is_much(heap->rematerialise_bytes, heap))
            continue;

        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_MEDIUM,
            .text = str_format(
                memo->arena,
                "At the peak of %.*s (%s), %s (%s) hold values that are cheap to recompute: they "
                "are made long before it and used long after it, from values that stay alive "
                "anyway.",
                STR_ARG(planned->listed->key), bytes_text(heap->peak_bytes).text,
                bytes_text(heap->rematerialise_bytes).text,
                human_share((double)heap->rematerialise_bytes / (double)heap->peak_bytes).text),
            .remedy = STR(
                "{jax:Where memory is short wrap the layer in `jax.checkpoint` with a policy "
                "that saves products only (`dots_saveable`).}{!jax:Where memory is short compute "
                "such values again instead of keeping them.}"),
            .win_reason = NO_TIME,
        };

        prove_bytes(&finding, "at most", heap->rematerialise_bytes, planned->listed->key);
        prove_buffers(memo, &finding, planned, is_cheap);
        findings_add(list, &finding);
    }
    return OK;
}

static bool is_reusing(const struct heap_buffer *buffer)
{
    return buffer->reuses != HLO_NONE;
}

/* Of a module that carries its state from run to run; a product of square matrices is none. */
enum { RUNS_MIN = 2, DONATION_PERCENT = 25 };

static enum status find_donation(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct plans *plans;

    TRY(memo_plans(memo, &plans, err));
    for (uint32_t i = 0; i < plans->count; i++) {
        const struct planned *planned = &plans->items[i];
        const struct heap *heap = &planned->heap;

        if (heap->donation_bytes < BYTES_MIN ||
            heap->donation_bytes / DONATION_PERCENT < heap->peak_bytes / 100 ||
            planned->listed->execution_count < RUNS_MIN)
            continue;

        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_LOW,
            .text = str_format(
                memo->arena,
                "%.*s writes %s of outputs in the shapes of inputs that are not donated: donating "
                "them saves %s of its peak of %s, if the program no longer needs those inputs.",
                STR_ARG(planned->listed->key), bytes_text(heap->donation_bytes).text,
                human_share((double)heap->donation_bytes / (double)heap->peak_bytes).text,
                bytes_text(heap->peak_bytes).text),
            .remedy = STR(
                "{jax:Pass state that is replaced (parameters, optimizer, caches) with "
                "`donate_argnums` or `donate_argnames` of `jax.jit`.}{!jax:Let outputs take the "
                "memory of inputs that nothing needs any more.}"),
            .win_reason = NO_TIME,
        };

        prove_bytes(&finding, "at most", heap->donation_bytes, planned->listed->key);
        prove_buffers(memo, &finding, planned, is_reusing);
        findings_add(list, &finding);
    }
    return OK;
}

enum { TEMPORARY_PERCENT = 33, TEMPORARY_BYTES_MIN = 16 << 20 };

static enum status find_temporary(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct plans *plans;

    TRY(memo_plans(memo, &plans, err));
    for (uint32_t i = 0; i < plans->count; i++) {
        const struct planned *planned = &plans->items[i];
        const struct heap *heap = &planned->heap;
        const struct heap_buffer *largest = NULL;

        for (uint32_t k = 0; k < heap->buffer_count; k++) {
            const struct heap_buffer *one = &heap->buffers[k];

            if (one->class == HEAP_TEMPORARY && heap_is_alive(one, heap->peak_change) &&
                (largest == NULL || one->bytes > largest->bytes))
                largest = one;
        }
        if (largest == NULL || largest->bytes < TEMPORARY_BYTES_MIN ||
            largest->bytes / TEMPORARY_PERCENT < heap->peak_bytes / 100)
            continue;

        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_HIGH,
            .text = str_format(memo->arena,
                               "One temporary value, %.*s (%s), is %s of the peak of %.*s.",
                               STR_ARG(name_of(planned, largest)), bytes_text(largest->bytes).text,
                               human_share((double)largest->bytes / (double)heap->peak_bytes).text,
                               STR_ARG(planned->listed->key)),
            .remedy = STR("If memory is short, start here: compute it in parts{jax: "
                          "(`jax.lax.map`, `scan`)}, fuse it, or keep it in bfloat16."),
            .win_reason = NO_TIME,
        };

        prove_bytes(&finding, "buffer", largest->bytes, planned->listed->key)->find =
            name_of(planned, largest);
        prove_bytes(&finding, "the module's peak", heap->peak_bytes, planned->listed->key);
        findings_add(list, &finding);
    }
    return OK;
}

/* "leak-12.prof" and "leak-3.prof" are of one series: "leak-#.prof". */
static struct str series_of(struct str name, struct arena *arena)
{
    char *text = arena_array(arena, char, name.count + 1);
    size_t count = 0;

    for (size_t i = 0; i < name.count; i++) {
        bool is_digit = name.at[i] >= '0' && name.at[i] <= '9';

        if (!is_digit || count == 0 || text[count - 1] != '#')
            text[count++] = is_digit ? '#' : name.at[i];
    }
    return (struct str){.at = text, .count = count};
}

struct owner_row {
    struct str name, source, device;
    int64_t value, delta;
};

static bool read_row(const struct table *table, uint32_t row, struct owner_row *ret)
{
    *ret = (struct owner_row){.name = table_text_at(table, row, "name"),
                              .source = table_text_at(table, row, "source"),
                              .device = table_text_at(table, row, "device")};
    return table_integer_at(table, row, "value", &ret->value) &&
           table_integer_at(table, row, "delta", &ret->delta);
}

static bool grows_in(const struct table *table, const struct owner_row *wanted)
{
    struct owner_row row;

    for (uint32_t i = 0; i < table->row_count; i++)
        if (read_row(table, i, &row) && str_equal(row.name, wanted->name) &&
            str_equal(row.source, wanted->source) && str_equal(row.device, wanted->device) &&
            row.delta > 0)
            return true;
    return false;
}

static enum status difference(struct memo *memo, struct str now, struct str base,
                              struct snapshot_table *ret, struct error *err)
{
    return snapshot_table(memo->run, &(struct snapshot_question){.snapshot = now, .base = base},
                          &(struct page){.limit = 10000, .sort = STR("-delta")}, memo->arena, ret,
                          err);
}

static void add_leak(struct memo *memo, struct finding_list *list, const struct owner_row *owner,
                     const struct host_trace *const *series, uint32_t count)
{
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = count > 2 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
        .text = str_format(memo->arena,
                           "From %.*s to %.*s, memory held by %.*s (%.*s) grew by %s to %s, and "
                           "grew in each of %u snapshots.",
                           STR_ARG(series[0]->name), STR_ARG(series[count - 1]->name),
                           STR_ARG(owner->name), STR_ARG(owner->source),
                           bytes_text(owner->delta).text, bytes_text(owner->value).text, count),
        .remedy = STR("Something keeps these arrays alive: a growing list, a closure, an unbounded "
                      "cache. Delete them, or keep numbers (`float(x)`) instead of arrays."),
        .win_reason = NO_TIME,
    };

    prove_bytes(&finding, "growth", owner->delta, STR(""))->find = owner->name;
    prove_bytes(&finding, "now", owner->value, STR(""))->find = owner->name;
    findings_add(list, &finding);
}

enum { OWNERS_MAX = 16 }; /* that grew most: each is looked up in every snapshot */

/* Owners that grow from each snapshot of a series to the next. */
static enum status look_at_series(struct memo *memo, struct finding_list *list,
                                  const struct host_trace *const *series, uint32_t count,
                                  struct error *err)
{
    struct snapshot_table whole;
    struct snapshot_table *parts = arena_array(memo->arena, struct snapshot_table, count);
    struct owner_row owner;

    TRY(difference(memo, series[count - 1]->name, series[0]->name, &whole, err));
    if (!str_equal(whole.unit, STR("bytes")))
        return OK; /* samples of a processor are no memory */
    for (uint32_t i = 1; i < count; i++)
        TRY(difference(memo, series[i]->name, series[i - 1]->name, &parts[i], err));
    for (uint32_t row = 0; row < whole.table.row_count && row < OWNERS_MAX; row++) {
        bool grows = read_row(&whole.table, row, &owner) && owner.delta >= BYTES_MIN;

        for (uint32_t i = 1; grows && i < count; i++)
            grows = grows_in(&parts[i].table, &owner);
        if (grows)
            add_leak(memo, list, &owner, series, count);
    }
    return OK;
}

enum { SERIES_MAX = 64, SNAPSHOTS_COMPARED_MAX = 24 };

static enum status find_leak(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct snapshots all;
    uint32_t looked_at = 0;

    snapshots_of(memo->run, memo->arena, &all);

    struct str *names = arena_array(memo->arena, struct str, all.count + 1u);
    const struct host_trace **series =
        arena_array(memo->arena, const struct host_trace *, all.count + 1u);

    for (uint32_t i = 0; i < all.count; i++)
        names[i] = series_of(all.items[i]->name, memo->arena);
    for (uint32_t i = 0; i < all.count && looked_at < SERIES_MAX; i++) {
        uint32_t count = 0;
        bool is_first = true;

        for (uint32_t k = 0; k < i && is_first; k++)
            is_first = !str_equal(names[k], names[i]);
        for (uint32_t k = i; is_first && k < all.count; k++)
            if (str_equal(names[k], names[i]))
                series[count++] = all.items[k];
        if (count < 2)
            continue;
        looked_at++;
        /* Of a long series its last ones: what grew there is what will grow on. */
        if (count > SNAPSHOTS_COMPARED_MAX) {
            memmove(series, &series[count - SNAPSHOTS_COMPARED_MAX],
                    SNAPSHOTS_COMPARED_MAX * sizeof(struct host_trace *));
            count = SNAPSHOTS_COMPARED_MAX;
        }
        TRY(look_at_series(memo, list, series, count, err));
    }
    return OK;
}

const struct rule rules_heap[] = {
    {.name = "memory-leak",
     .theme = "memory",
     .when = "an owner's memory grows from each snapshot to the next",
     .find = find_leak},
    {.name = "memory-rematerialise",
     .theme = "memory",
     .when = "cheap values that stay alive for long are 10 % of a module's peak or more",
     .find = find_again},
    {.name = "memory-donation",
     .theme = "memory",
     .when = "outputs of 25 % of a module's peak or more could reuse the memory of inputs",
     .find = find_donation},
    {.name = "memory-large-temporary",
     .theme = "memory",
     .when = "one temporary value is a third of a module's peak or more",
     .find = find_temporary},
    {.name = NULL},
};
