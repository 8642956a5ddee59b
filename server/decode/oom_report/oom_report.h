/* SPDX-License-Identifier: Apache-2.0 */
/* Inside oom_report*.c: what a program said when memory ran out.
 *
 *   oom_report.c        the decoder: the sums of the message, its list of buffers
 *   oom_report_text.c   sizes as such messages write them; words found in lines
 */
#ifndef JVIEWD_DECODE_OOM_REPORT_OOM_REPORT_H
#define JVIEWD_DECODE_OOM_REPORT_OOM_REPORT_H

#include "decode/decode.h"

/* "6.00MiB", "384.0KiB", "16.00G", "2.00 GiB", "12 bytes", "0B" at the beginning of the text: its
 * bytes, and how many characters that takes. False: there is no size. */
bool oom_size(struct str text, int64_t *ret, size_t *ret_count);
/* What stands behind the first `word` of the text, to its end; false: it is not there. */
bool oom_behind(struct str text, const char *word, struct str *ret);
struct str oom_trim(struct str text);
/* `op_name="..."` of a line: what is between the quotes; "" where it is not there. */
struct str oom_quoted(struct str line, const char *key);

#endif
