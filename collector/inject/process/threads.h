/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread keeps: its open ranges, and a ring of those that ended.
 *
 * The thread alone writes `head` and the ranges, the writer alone `tail`; nobody waits. A full ring
 * loses the range and counts it. A thread that ended leaves its ring to the writer, who gives it to
 * the next thread once it is empty.
 */
#ifndef JVIEWD_INJECT_THREADS_H
#define JVIEWD_INJECT_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/record.h"

#define NOT_SEEN UINT32_MAX
#define FORM_NODE                                                                                  \
    0xff /* no range: `payload` is a node, `end` the one it is from, `name` the stack */

enum { RING_RANGES = 1024, OPEN_MAX = 128, THREADS_MAX = 1024 };

struct range {
    int64_t start, end;
    uint64_t payload;
    uint32_t domain, name, category, color;
    uint32_t end_thread;
    /* of FORM_FREE: in a ring, who started it */
    uint8_t form, payload_kind, zero[2];
};
_Static_assert(sizeof(struct range) % 8 == 0, "ranges are read by words");

/* The writer looks at them while their thread goes on: what it read counts where `turn` was even
 * before and the same after. Words, since a half-written struct would be a race. */
struct open_ranges {
    _Atomic uint32_t turn, count;
    uint32_t too_deep; /* pushes beyond OPEN_MAX that wait for their pops */
    _Atomic uint64_t words[OPEN_MAX][sizeof(struct range) / 8];
};

struct thread {
    uint32_t id;
    uint32_t unseen; /* open ranges that began while nothing was recorded, below `open` */
    _Atomic uint32_t head, tail; /* both only grow; the ring holds head - tail ranges */
    _Atomic uint32_t is_over;
    _Atomic uint64_t lost[LOST_CAUSES];
    struct open_ranges open;
    struct range ring[RING_RANGES];
};

extern _Thread_local struct thread *thread_mine; /* NULL until it is found */
struct thread *thread_find(void);

/* The calling thread's own; NULL where there are too many threads, or the library sleeps. */
static inline struct thread *thread_own(void)
{
    return thread_mine != NULL ? thread_mine : thread_find();
}

void thread_lose(struct thread *thread, enum spool_cause cause);
/* False where the ring was full. */
bool thread_put(struct thread *thread, const struct range *range);

/* A range begins. */
void thread_push(struct thread *thread, const struct range *range);
/* The innermost open one of the domain ends; false where none is open. */
bool thread_pop(struct thread *thread, uint32_t domain, struct range *ret);
/* For the writer: those open now, outermost first; NOT_SEEN where the thread was too busy for
 * that. */
uint32_t thread_open_ranges(struct thread *thread, struct range ret[OPEN_MAX]);

/* For the writer: the threads in the order they came; NULL for one that is just being made. */
uint32_t threads_begun(void);
struct thread *thread_at(uint32_t index);
/* Its ring is empty and it is over: another thread may take it. */
void thread_free(struct thread *thread);
uint64_t threads_refused(void); /* ranges of threads beyond THREADS_MAX */
bool threads_open(void);
void threads_forget(void); /* in a forked child: the others are not there */

#endif
