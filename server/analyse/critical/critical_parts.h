/* SPDX-License-Identifier: Apache-2.0 */
/* Inside critical*.c: cells of pieces, steps that count, notes. */
#ifndef JVIEWD_ANALYSE_CRITICAL_CRITICAL_PARTS_H
#define JVIEWD_ANALYSE_CRITICAL_CRITICAL_PARTS_H

#include "analyse/critical/critical.h"

enum {
    CRITICAL_SLICES = 1200000, /* of all steps that are summed: about a second */
    VIEW_ROWS_MAX = 200000,    /* of a view of SQL */
};

enum piece_cell {
    CELL_OF_KIND,
    CELL_OF_NAME,
    CELL_OF_SLICE,
    CELL_OF_TRACK,
    CELL_OF_START,
    CELL_OF_DUR,
    CELL_OF_WAITS_FOR,
    CELL_OF_EDGE,
    CELL_OF_EVIDENCE,
};
struct cell piece_cell(const struct step_graph *graph, const struct path_piece *piece,
                       enum piece_cell cell, struct arena *arena);
/* "jit(step)/jvp(layer_1)/mlp/dot_general" -> "layer_1/mlp"; "" where only the primitive is left.
 * Elements stay neighbours, so that a change may name them. */
struct str place_of_scope(struct str scope, struct arena *arena);
/* Places with numbered ones as one, the largest first, for a sentence; how many. */
uint32_t places_fold(const struct path_places *places, struct arena *arena,
                     struct path_place **ret);
struct cell slice_cell(const struct step_graph *graph, uint32_t node, struct arena *arena);
struct cell track_cell(const struct step_graph *graph, uint32_t node, struct arena *arena);

/* Steps that are summed: those that count, or of very many every n-th. Ends with NULL; one NULL
 * alone stands for the whole run. */
const struct step **critical_steps(const struct run_traces *run, const struct steps *steps,
                                   struct arena *arena, uint32_t *ret_count,
                                   uint32_t *ret_count_all);

/* What of the answer is unexplained, only likely, cut, or left out; room for CRITICAL_NOTES. */
enum { CRITICAL_NOTES = 7 };
struct critical_doubts {
    int64_t total_ps, unexplained_ps, likely_ps;
    uint64_t cut_count, left_out_count;
    uint32_t step_count, step_count_all;
    bool no_steps, hosts_apart;
    struct str doubt;
    const struct run_traces *run;
};
uint32_t critical_notes(const struct critical_doubts *doubts, struct arena *arena,
                        struct answer_note *ret);

#endif
