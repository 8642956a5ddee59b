/* SPDX-License-Identifier: Apache-2.0 */
/* What a module would need if it were changed: donated inputs, half the batch, a scope computed
 * again.
 *
 *   values   one a piece of memory: [first, last] by position, from the buffer assignment
 *   level    the sum of those alive at a position; its most over the program is the need
 *
 * The compiler is not run. What is predicted is a difference: the values are changed as the
 * compiler would change them, both levels are summed up, and what lies between them is taken from
 * what the module's allocations come to now. So what no such sum explains (gaps between buffers)
 * stays as it is. Where the module does not say enough, there is no number and a reason instead.
 *
 * The need is what XLA's own memory_analysis() adds up to: arguments, outputs and temporaries less
 * what outputs take over from arguments.
 */
#ifndef JVIEWD_ANALYSE_MEMORY_HEAP_FIT_H
#define JVIEWD_ANALYSE_MEMORY_HEAP_FIT_H

#include "analyse/memory/heap.h"

struct fit_question {
    uint64_t batch;   /* its size now; 0: not told */
    struct str remat; /* how the names of the scopes begin that are computed again; "" none */
};

struct fit_option {
    const char *what;  /* "donate", "half-batch", "remat", "bf16-arguments" */
    struct str text;   /* what to change, one sentence */
    int64_t bytes;     /* the need then; -1: cannot be said */
    struct str reason; /* why not */
};

enum { FIT_OPTIONS_MAX = 4 };

struct fit {
    int64_t arguments, outputs, temporaries, total; /* bytes of allocations; total: all of them */
    int64_t donated; /* outputs that take over an argument's memory */
    struct fit_option options[FIT_OPTIONS_MAX];
    uint32_t option_count;
};

/* ERR_NOT_FOUND: the module has no buffer assignment. */
MUST_CHECK enum status fit_of(const struct hlo_module *module, const struct fit_question *question,
                              struct arena *arena, struct fit *ret, struct error *err);

/* Rows of what it needs now ("now"), of what would fit ("option") and of the largest that are alive
 * at the heap's peak ("holder"), in this order. Columns: row_kind what bytes share less_bytes scope
 * source text. */
void fit_table(const struct hlo_module *module, const struct heap *heap, const struct fit *fit,
               const struct page *page, struct arena *arena, struct table *ret);

/* The same rows of what a message, a snapshot or a memory profile tells: its sums ("now") and who
 * held memory ("holder"). False: it tells nothing in bytes. */
bool oom_told_table(const struct trace *trace, const struct page *page, struct arena *arena,
                    struct table *ret);

#endif
