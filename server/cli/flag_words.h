/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of an endpoint in the words of the command line. */
#ifndef JVIEWD_CLI_FLAG_WORDS_H
#define JVIEWD_CLI_FLAG_WORDS_H

#include "cli/cli.h"

/* `detail` with the verb's parameters as flags: "limit is 0; ..." becomes "--limit is 0; ...". */
struct str flag_words(struct arena *arena, const struct verb *verb, struct str detail);

#endif
