/* SPDX-License-Identifier: Apache-2.0 */
/* What is piped in, as a file that can be opened like any other. */
#ifndef JVIEWD_CLI_STANDARD_INPUT_H
#define JVIEWD_CLI_STANDARD_INPUT_H

#include "base/bytes.h"
#include "base/error.h"

/* Reads stdin to its end into a file of a directory of its own below $TMPDIR or /tmp; both are
 * removed when the process ends. *ret lives in the arena. */
MUST_CHECK enum status standard_input_file(struct arena *arena, const char **ret,
                                           struct error *err);

#endif
