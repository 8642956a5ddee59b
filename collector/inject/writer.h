/* The one thread of the library: empties the rings, and appends frames to the process's spool.
 *
 * It wakes when a ring is a quarter full, else every 50 ms; a frame is closed when it is full or
 * 250 ms old, so that a killed process loses no more than that. The file is made when there is
 * something to write: a process that records nothing leaves nothing behind.
 */
#ifndef JVIEWD_INJECT_WRITER_H
#define JVIEWD_INJECT_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct control_asked;

/* Once a process; what fails is told on stderr, once, and the program goes on unrecorded. */
void writer_start(void);
bool writer_is_awake(void); /* runs, and the process is the one it was started in */
extern _Atomic uint32_t *writer_gate_word;
/* Is what happens now to be recorded? */
static inline bool writer_gate(void)
{
    return atomic_load_explicit(writer_gate_word, memory_order_relaxed) != 0;
}
const struct control_asked *writer_asked(void);
void writer_wake(void);
/* At the process's end: all that is there goes out, within `budget_ms`; nothing is taken after. */
void writer_stop(int budget_ms);

/* In a forked child. */
void writer_forget(void);

/* Names that are told seldom. */
void writer_name_thread(uint32_t thread, uint32_t name);
void writer_name_category(uint32_t domain, uint32_t category, uint32_t name);
void writer_name_stream(uint32_t stream, uint32_t name); /* as CUPTI counts them */

#endif
