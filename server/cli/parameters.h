/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a verb's endpoint, as flags. */
#ifndef JVIEWD_CLI_PARAMETERS_H
#define JVIEWD_CLI_PARAMETERS_H

#include "cli/cli.h"
#include "serve/answer/query.h"

/* Ends with a nameless one; NULL: none. */
const struct param *parameters_of(const struct verb *verb);
/* Typed as a flag: not the run, not the format, not what an operand fills. */
bool parameter_is_flag(const struct verb *verb, const struct param *param);
/* "--start-ps" */
void parameter_flag(const struct param *param, char *ret, size_t size);
/* Said by its flag alone: it is no or yes. */
bool parameter_is_switch(const struct param *param);
/* What a printer makes, the first unless told otherwise: "table|json|csv|md"; NULL: it has no
 * --format. */
const char *formats_of(const struct verb *verb);

#endif
