/* SPDX-License-Identifier: Apache-2.0 */
/* What someone reads who has no profile yet. */
#ifndef JVIEWD_CLI_NO_PROFILE_H
#define JVIEWD_CLI_NO_PROFILE_H

#include <stdio.h>

#include "store/catalog.h"

/* No run was found below any root. */
bool catalog_is_empty(struct catalog *catalog);
/* Where was looked, and the lines to type, each of which writes into `directory`. */
void tell_no_profile(FILE *to, struct str directory);

#endif
