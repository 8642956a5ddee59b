/* SPDX-License-Identifier: Apache-2.0 */
/* What each flag of a verb means, for its help. */
#ifndef JVIEWD_CLI_FLAG_TEXTS_H
#define JVIEWD_CLI_FLAG_TEXTS_H

#include "cli/cli.h"

struct flag_text {
    const char *verb;  /* NULL: of every verb that has no text of its own */
    const char *name;  /* of the endpoint's parameter */
    const char *value; /* what is to be typed behind the flag, as NAME; NULL: one of its words */
    const char *text;
};

/* NULL where none was written, which a test refuses. */
const struct flag_text *flag_text_find(const struct verb *verb, const char *name);

/* Command lines of a verb, without "jviewd", and what each shows; ends with a command of NULL. */
struct example {
    const char *command, *shows;
};
const struct example *examples_find(const struct verb *verb);

#endif
