/* Which of CUPTI's records belong to the recording: they come long after what they tell.
 *
 *   gate     ____|‾‾‾‾‾‾‾‾|______|‾‾‾‾‾
 *   records   --      --  ---   -- ---      kept: what was under way while it was open
 *             no      yes yes  no  yes
 */
#ifndef JVIEWD_INJECT_CUPTI_GATE_H
#define JVIEWD_INJECT_CUPTI_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* The gate as it is now; looked at several times a second. Of the writer's thread alone. */
void cupti_gate_look(bool is_open, int64_t now_ns);
/* Times in CLOCK_REALTIME; a record without times is kept while the gate is open. */
bool cupti_gate_keeps(int64_t start_ns, int64_t end_ns);

#endif
