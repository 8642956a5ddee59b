/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the ranges in which nodes of CUDA graphs were made, and gives their words to the nodes'
 * kernels. Facts: api/record.h. */
#include "decode/record/record_nodes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "decode/record/record_state.h"

enum { NODES_MAX = 1 << 22, STACKS_MAX = 1 << 20, DEPTH_MAX = 128 };

/* "12." and what is behind it. */
static bool next_number(struct str *rest, uint64_t *ret)
{
    size_t count = 0;

    while (count < rest->count && rest->at[count] >= '0' && rest->at[count] <= '9')
        count++;
    bool is_number = str_to_u64((struct str){rest->at, count}, ret);

    *rest = str_skip(*rest, count < rest->count ? count + 1 : count);
    return is_number && *ret <= UINT32_MAX;
}

static struct node_stack read_stack(struct record *record, struct str text)
{
    struct node_stack stack = {.words = PAIR_NONE};
    uint64_t domain, name, fields;

    for (int depth = 0; depth < DEPTH_MAX && text.count > 0; depth++) {
        if (!next_number(&text, &domain) || !next_number(&text, &name) ||
            !next_number(&text, &fields))
            break;
        stack.innermost = record_text_of(record, (int64_t)name);
        uint32_t words = record_hlo_words(record, record_text_of(record, (int64_t)domain),
                                          stack.innermost, record_text_of(record, (int64_t)fields));
        if (words != PAIR_NONE)
            stack.words =
                stack.words == PAIR_NONE ? words : record_hlo_within(record, stack.words, words);
    }
    return stack;
}

/* UINT32_MAX beyond what is kept. */
static uint32_t stack_of(struct record *record, name_id text)
{
    struct record_nodes *nodes = &record->nodes;
    uint32_t index;
    bool is_new;

    if (id_map_find(&nodes->stacks, text, &index))
        return index;
    if (nodes->count == STACKS_MAX)
        return UINT32_MAX;
    /* Copied: names move when one is added. */
    struct str copy = str_format(record->arena, "%.*s", STR_ARG(sink_text(record->sink, text)));
    struct node_stack stack = read_stack(record, text != 0 ? copy : STR(""));
    if (nodes->count == nodes->capacity) {
        nodes->capacity = nodes->capacity == 0 ? 256 : nodes->capacity * 2;
        nodes->at = memory_resize(nodes->at, nodes->capacity, sizeof *nodes->at);
    }
    nodes->at[nodes->count] = stack;
    return id_map_add(&nodes->stacks, text, nodes->count++, &is_new);
}

void record_nodes_read(struct record *record, const struct record_columns *columns)
{
    struct record_nodes *nodes = &record->nodes;
    bool is_new;

    for (uint32_t row = 0; row < columns->count; row++) {
        int64_t id = record_at(columns, NODE_ID, row), from = record_at(columns, NODE_FROM, row);
        uint32_t stack;
        if (id == 0)
            continue;
        if (from == 0 || !id_map_find(&nodes->nodes, (uint64_t)from, &stack))
            stack = stack_of(record, record_text_of(record, record_at(columns, NODE_STACK, row)));
        if (stack == UINT32_MAX || nodes->nodes.count >= NODES_MAX)
            nodes->refused++;
        else
            id_map_add(&nodes->nodes, (uint64_t)id, stack, &is_new);
    }
}

uint32_t record_nodes_args(struct record *record, int64_t node, int64_t correlation,
                           struct arg ret[RECORD_HLO_ARGS_MAX])
{
    const struct record_nodes *nodes = &record->nodes;
    uint32_t stack, of_node = PAIR_NONE, count = 0;

    if (node != 0 && id_map_find(&nodes->nodes, (uint64_t)node, &stack)) {
        of_node = nodes->at[stack].words;
        if (nodes->at[stack].innermost != 0)
            ret[count++] = (struct arg){.key = sink_name(record->sink, STR("built_in")),
                                        .type = ARG_STRING,
                                        .bits = nodes->at[stack].innermost};
    }
    return count + record_hlo_args(record, correlation, of_node, ret + count);
}

void record_nodes_note(struct record *record)
{
    if (record->nodes.refused > 0)
        sink_note(
            record->sink, "unjoined", NOTE_WARNING, record->nodes.refused,
            "Not joined with the ranges that built them, because the spool has too many: %" PRIu64
            " nodes of CUDA graphs.",
            record->nodes.refused);
}

void record_nodes_free(struct record_nodes *nodes)
{
    id_map_free(&nodes->nodes);
    id_map_free(&nodes->stacks);
    free(nodes->at);
}
