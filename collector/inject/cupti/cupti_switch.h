/* SPDX-License-Identifier: Apache-2.0 */
/* Which of CUPTI's records belong to the recording: they come long after what they tell.
 *
 *   switch   ____|‾‾‾‾‾‾‾‾|______|‾‾‾‾‾
 *   records   --      --  ---   -- ---      kept: what was under way while it was open
 *             no      yes yes  no  yes
 *   launch            call ..... kernel     and what a call then started, whenever it ran
 */
#ifndef JVIEWD_INJECT_CUPTI_GATE_H
#define JVIEWD_INJECT_CUPTI_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* The switch as it was until now. Of the writer's thread alone. */
void cupti_switch_look(void);
/* Times in CLOCK_REALTIME; a record without times is kept while the switch is on. */
bool cupti_switch_keeps(int64_t start_ns, int64_t end_ns);
/* The same of a call, which is remembered; and of work that a call started. */
bool cupti_switch_keeps_call(int64_t start_ns, int64_t end_ns, uint32_t correlation);
bool cupti_switch_keeps_work(int64_t start_ns, int64_t end_ns, uint32_t correlation);

#endif
