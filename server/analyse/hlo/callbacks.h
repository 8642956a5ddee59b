/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from a program on a device back into Python: told by names, and by whom a custom call
 * calls. */
#ifndef JVIEWD_ANALYSE_HLO_CALLBACKS_H
#define JVIEWD_ANALYSE_HLO_CALLBACKS_H

#include "base/bytes.h"

/* Is one of the words in the name, whatever its letters' case? Words are small letters, the last is
 * NULL; '^' begins the name. */
bool name_has_word(struct str name, const char *const *words);

/* A slice's or op's name, or the category of an op. */
bool is_callback_name(struct str name);

#endif
