/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files that are handed out. */
#ifndef JVIEWD_SERVE_ANSWER_FILE_NAME_H
#define JVIEWD_SERVE_ANSWER_FILE_NAME_H

#include "base/bytes.h"

/* What a shell and a browser take for a name: letters, digits, dots, dashes; others are "_". */
struct str file_name_safe(struct arena *arena, struct str name);
/* Content-Disposition for a download: the name made safe, then the suffix. */
struct str attachment(struct arena *arena, struct str name, const char *suffix);

#endif
