/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the XLA range around a kernel's launch, and gives its words to the kernel as args.
 * Facts: names as XLA writes NVTX ranges. */
#include "decode/record/record_hlo.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/sort.h"
#include "decode/record/record_state.h"
#include "decode/xla_range.h"

enum {
    RANGES_MAX = 1 << 23,
    LAUNCHES_MAX = 1 << 23,
    WORDS_MAX = 1 << 20,
    DEPTH_MAX = 128, /* as many as the collector keeps open on a thread */
    OP_MAX = 4096    /* bytes of ops joined */
};
#define HLO_NO_RANGE UINT32_MAX

static bool range_before(const struct hlo_range *a, const struct hlo_range *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    if (a->end_ps != b->end_ps)
        return a->end_ps > b->end_ps;
    return a->words < b->words;
}

SORT_DEFINE(sort_ranges, struct hlo_range, range_before)

bool record_hlo_is_name(struct str domain, struct str name)
{
    return str_starts(name, STR("TSL:")) || str_equal(domain, STR("TSL")) ||
           str_starts(name, STR("XlaModule:#")) || str_starts(name, STR("Thunk:#"));
}

static name_id value_of(struct record *record, struct str name, struct str key)
{
    struct str value = xla_range_value(name, key);

    return value.count > 0 ? sink_name(record->sink, value) : 0;
}

/* Of a payload of fields: "sHLO Op=fusion.3", see api/record.h. */
static void take_field(struct record *record, struct str field, struct hlo_words *words)
{
    struct str key, value;

    if (!record_split_field(field, &key, &value))
        return;
    key = record_key_of_field(key);
    if (str_equal(key, STR("hlo_op")) && value.count > 0)
        words->op = sink_name(record->sink, value);
    else if (str_equal(key, STR("hlo_module")) && value.count > 0)
        words->module = sink_name(record->sink, value);
    else if (str_equal(key, STR("program_id")))
        words->has_program = str_to_u64(value, &words->program);
}

/* The title is what stands in front of the values: "Thunk:". */
static struct str title_of(struct str name)
{
    const char *hash = name.count > 0 ? memchr(name.at, '#', name.count) : NULL;

    return hash != NULL ? (struct str){name.at, (size_t)(hash - name.at)} : name;
}

static bool words_read(struct record *record, name_id domain, name_id text, name_id payload,
                       struct hlo_words *ret)
{
    struct str name = sink_text(record->sink, text), field,
               rest = payload != 0 ? sink_text(record->sink, payload) : STR("");

    *ret = (struct hlo_words){0};
    if (rest.count == 0 && !record_hlo_is_name(sink_text(record->sink, domain), name))
        return false;
    /* Copied: names move when one is added. */
    name = str_format(record->arena, "%.*s", STR_ARG(name));
    rest = str_format(record->arena, "%.*s", STR_ARG(rest));
    ret->op = value_of(record, name, STR("hlo_op"));
    ret->module = value_of(record, name, STR("hlo_module"));
    ret->has_program = str_to_u64(xla_range_value(name, STR("program_id")), &ret->program);
    while (record_next_field(&rest, &field))
        take_field(record, field, ret);
    if (ret->op == 0 && ret->module == 0 && !ret->has_program)
        return false;
    ret->title = sink_name(record->sink, title_of(name));
    return true;
}

/* PAIR_NONE beyond what is kept. */
static uint32_t words_add(struct record_hlo *hlo, struct hlo_words words)
{
    if (hlo->word_count == WORDS_MAX)
        return PAIR_NONE;
    if (hlo->word_count == hlo->word_capacity) {
        hlo->word_capacity = hlo->word_capacity == 0 ? 256 : hlo->word_capacity * 2;
        hlo->words = memory_resize(hlo->words, hlo->word_capacity, sizeof *hlo->words);
    }
    hlo->words[hlo->word_count] = words;
    return hlo->word_count++;
}

uint32_t record_hlo_words(struct record *record, name_id domain, name_id name, name_id payload)
{
    struct record_hlo *hlo = &record->hlo;
    struct hlo_words words;
    uint64_t key = (uint64_t)name << 32 | payload;
    uint32_t known = pair_table_find(&hlo->words_of, domain, key);

    if (known != PAIR_NONE)
        return known == 0 ? PAIR_NONE : known - 1;
    if (hlo->words_of.count >= WORDS_MAX) {
        hlo->refused++;
        return PAIR_NONE;
    }
    bool says = words_read(record, domain, name, payload, &words);
    known = says ? words_add(hlo, words) : PAIR_NONE;
    *pair_table_at(&hlo->words_of, domain, key) = known == PAIR_NONE ? 0 : known + 1;
    return known;
}

static uint32_t words_of(struct record *record, const struct record_columns *columns, uint32_t row)
{
    int64_t kind = record_at(columns, RANGE_PAYLOAD_KIND, row);

    return record_hlo_words(record, record_text_of(record, record_at(columns, RANGE_DOMAIN, row)),
                            record_text_of(record, record_at(columns, RANGE_NAME, row)),
                            kind == PAYLOAD_FIELDS
                                ? record_text_of(record, record_at(columns, RANGE_PAYLOAD, row))
                                : 0);
}

static void range_add(struct record_hlo *hlo, struct hlo_range range)
{
    if (hlo->range_count == RANGES_MAX) {
        hlo->refused++;
        return;
    }
    if (hlo->range_count == hlo->range_capacity) {
        hlo->range_capacity = hlo->range_capacity == 0 ? 1024 : hlo->range_capacity * 2;
        hlo->ranges = memory_resize(hlo->ranges, hlo->range_capacity, sizeof *hlo->ranges);
    }
    hlo->ranges[hlo->range_count++] = range;
}

void record_hlo_ranges(struct record *record, const struct record_columns *columns, bool is_open)
{
    for (uint32_t row = 0; row < columns->count; row++) {
        struct hlo_range range = {.thread = (uint32_t)record_at(columns, RANGE_THREAD, row),
                                  .parent = HLO_NO_RANGE};
        if (record_at(columns, RANGE_FORM, row) != FORM_NESTED ||
            (range.words = words_of(record, columns, row)) == PAIR_NONE ||
            !record_clock_ps(&record->clock, record_at(columns, RANGE_START, row),
                             &range.start_ps) ||
            !record_clock_ps(&record->clock, record_at(columns, RANGE_END, row), &range.end_ps))
            continue;
        if (is_open) /* what ended behind the look is here twice: see record_hlo_join */
            range.end_ps = TIME_PS_MAX;
        range_add(&record->hlo, range);
    }
}

static struct str text_of(const struct record *record, name_id name)
{
    return sink_text(record->sink, name);
}

/* What `words` does not say is as around it. */
static struct hlo_words words_fill(struct hlo_words words, struct hlo_words around)
{
    if (around.title != 0)
        words.title = around.title;
    if (words.op == 0)
        words.op = around.op;
    if (words.module == 0)
        words.module = around.module;
    if (!words.has_program) {
        words.has_program = around.has_program;
        words.program = around.program;
    }
    return words;
}

/* As XLA's profiler does: the outermost title, all ops, else what the innermost says. */
uint32_t record_hlo_within(struct record *record, uint32_t outer, uint32_t inner)
{
    struct record_hlo *hlo = &record->hlo;
    uint32_t known = pair_table_find(&hlo->joined, outer, inner);

    if (known != PAIR_NONE)
        return known;
    struct hlo_words around = hlo->words[outer], own = hlo->words[inner];
    struct hlo_words words = words_fill(own, around);
    if (own.op != 0 && around.op != 0 &&
        text_of(record, around.op).count + text_of(record, words.op).count < OP_MAX)
        words.op = sink_name(record->sink, str_format(record->arena, "%.*s::%.*s",
                                                      STR_ARG(text_of(record, around.op)),
                                                      STR_ARG(text_of(record, words.op))));
    known = words_add(hlo, words);
    if (known == PAIR_NONE)
        known = inner;
    *pair_table_at(&hlo->joined, outer, inner) = known;
    return known;
}

/* Ranges in order, each with the one around it. Those of the last look that ended behind it stand
 * twice, one in the other: the end that is known counts. */
void record_hlo_join(struct record *record)
{
    struct record_hlo *hlo = &record->hlo;
    uint32_t open = HLO_NO_RANGE, own = 0, kept = 0;

    sort_ranges(hlo->ranges, hlo->range_count);
    for (uint32_t index = 0; index < hlo->range_count; index++) {
        struct hlo_range range = hlo->ranges[index];
        if (kept > 0 && own == range.words && hlo->ranges[kept - 1].thread == range.thread &&
            hlo->ranges[kept - 1].start_ps == range.start_ps &&
            hlo->ranges[kept - 1].end_ps == TIME_PS_MAX) {
            hlo->ranges[kept - 1].end_ps = range.end_ps;
            continue;
        }
        while (open != HLO_NO_RANGE && (hlo->ranges[open].thread != range.thread ||
                                        hlo->ranges[open].end_ps < range.end_ps))
            open = hlo->ranges[open].parent;
        if (open != HLO_NO_RANGE && hlo->ranges[open].depth + 1 >= DEPTH_MAX) {
            hlo->refused++;
            continue;
        }
        own = range.words;
        range.parent = open;
        if (open != HLO_NO_RANGE) {
            range.depth = hlo->ranges[open].depth + 1;
            range.words = record_hlo_within(record, hlo->ranges[open].words, own);
        }
        hlo->ranges[kept] = range;
        open = kept++;
    }
    hlo->range_count = kept;
    arena_reset(record->arena);
}

static bool has_begun(const struct hlo_range *range, uint32_t thread, int64_t at_ps)
{
    return range->thread < thread || (range->thread == thread && range->start_ps <= at_ps);
}

/* The innermost one that is open then; NULL none. */
static const struct hlo_range *range_at(const struct record_hlo *hlo, uint32_t thread,
                                        int64_t at_ps)
{
    uint32_t low = BISECT(0, hlo->range_count, i, has_begun(&hlo->ranges[i], thread, at_ps));
    const struct hlo_range *range = low > 0 ? &hlo->ranges[low - 1] : NULL;
    while (range != NULL && (range->thread != thread || range->end_ps < at_ps))
        range = range->parent != HLO_NO_RANGE ? &hlo->ranges[range->parent] : NULL;
    return range;
}

void record_hlo_calls(struct record *record, const struct record_columns *columns)
{
    struct record_hlo *hlo = &record->hlo;
    bool is_new;

    for (uint32_t row = 0; row < columns->count; row++) {
        int64_t correlation = record_at(columns, CALL_CORRELATION, row);
        int64_t at_ns = record_at(columns, CALL_START, row);
        if (correlation == 0 || at_ns <= 0)
            continue;
        const struct hlo_range *range =
            range_at(hlo, (uint32_t)record_at(columns, CALL_THREAD, row),
                     record_clock_ps_of_realtime(&record->clock, at_ns));
        if (range != NULL && hlo->launches.count < LAUNCHES_MAX)
            id_map_add(&hlo->launches, (uint64_t)correlation, range->words, &is_new);
        else if (range != NULL)
            hlo->refused++;
    }
}

uint32_t record_hlo_args(struct record *record, int64_t correlation, uint32_t of_node,
                         struct arg *ret)
{
    static const char *const keys[] = {"tf_op", "hlo_op", "hlo_module"};
    struct hlo_words words = {0};
    uint32_t index, count = 0;

    if (of_node != PAIR_NONE)
        words = record->hlo.words[of_node];
    if (record->hlo.launches.count > 0 &&
        id_map_find(&record->hlo.launches, (uint64_t)correlation, &index))
        words = words_fill(words, record->hlo.words[index]);
    const name_id values[] = {words.title, words.op, words.module};

    for (size_t key = 0; key < COUNT(keys); key++)
        if (values[key] != 0)
            ret[count++] = (struct arg){.key = sink_name(record->sink, str_of(keys[key])),
                                        .type = ARG_STRING,
                                        .bits = values[key]};
    if (words.has_program)
        ret[count++] = (struct arg){.key = sink_name(record->sink, STR("program_id")),
                                    .type = ARG_UINT64,
                                    .bits = words.program};
    return count;
}

void record_hlo_note(struct record *record)
{
    if (record->hlo.refused > 0)
        sink_note(record->sink, "unjoined", NOTE_WARNING, record->hlo.refused,
                  "Not joined, because the spool has too many: %" PRIu64
                  " ranges and launches; kernels that they started have no HLO op.",
                  record->hlo.refused);
}

void record_hlo_free(struct record_hlo *hlo)
{
    free(hlo->ranges);
    free(hlo->words);
    pair_table_free(&hlo->words_of);
    pair_table_free(&hlo->joined);
    id_map_free(&hlo->launches);
}
