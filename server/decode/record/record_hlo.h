/* SPDX-License-Identifier: Apache-2.0 */
/* Which HLO op a kernel is of: XLA opens a range around each op while it launches it.
 *
 *   thread   [ XlaModule:#hlo_module=jit_f,program_id=3# ------------ ]
 *              [ Thunk:#hlo_op=while.1# -------------------- ]
 *                [ Thunk:#hlo_op=fusion.3# ]
 *                   ^ call 41
 *
 *   kernel 41    tf_op "XlaModule:", hlo_op "while.1::fusion.3", hlo_module "jit_f", program_id 3
 *
 * As XLA's own profiler joins them. A call is told from a range by the beginning of both, on one
 * thread; its number (correlation) finds it for what it started. What a range says stands in its
 * name, or in the payload that its program gave it.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_HLO_H
#define JVIEWD_DECODE_RECORD_RECORD_HLO_H

#include "decode/id_map.h"
#include "decode/pair_table.h"
#include "decode/record/record_read.h"
#include "trace/sink.h"

struct record;

struct record_hlo {
    struct hlo_range {
        int64_t start_ps, end_ps;
        uint32_t thread;
        uint32_t words;  /* its own; behind record_hlo_join with those of the ranges around it */
        uint32_t parent; /* the range around it, HLO_NO_RANGE */
        uint32_t depth;
    } * ranges;
    uint32_t range_count, range_capacity;
    struct hlo_words { /* 0: it does not say */
        name_id title, op, module;
        uint64_t program;
        bool has_program;
    } * words;
    uint32_t word_count, word_capacity;
    struct pair_table words_of; /* name, payload -> words + 1; 0: it says none */
    struct pair_table joined;   /* words around it, its own -> words */
    struct id_map launches;     /* correlation -> words */
    uint64_t refused;           /* ranges and launches beyond what is kept */
};

/* Says an XLA range of its op and module in its name, "Thunk:#hlo_op=fusion.3#"? */
bool record_hlo_is_name(struct str domain, struct str name);

/* First all ranges, in any order; then joined; then all calls. */
void record_hlo_ranges(struct record *record, const struct record_columns *columns, bool is_open);
void record_hlo_join(struct record *record);
void record_hlo_calls(struct record *record, const struct record_columns *columns);
/* What a range says, PAIR_NONE nothing; and with what the one around it says. */
uint32_t record_hlo_words(struct record *record, name_id domain, name_id name, name_id payload);
uint32_t record_hlo_within(struct record *record, uint32_t outer, uint32_t inner);
/* The args of what the call started: how many. What its node says (PAIR_NONE) comes first. */
enum { RECORD_HLO_ARGS_MAX = 5 }; /* with the one of record_nodes_args */
uint32_t record_hlo_args(struct record *record, int64_t correlation, uint32_t of_node,
                         struct arg *ret);
void record_hlo_note(struct record *record);
void record_hlo_free(struct record_hlo *hlo);

#endif
