/* SPDX-License-Identifier: Apache-2.0 */
/* -o 'runs/%h-%q{RANK}': %h the host, %p this process, %q{VAR} a variable's value, %% a %. */
#ifndef JVIEWD_LAUNCH_PLACE_H
#define JVIEWD_LAUNCH_PLACE_H

#include <stddef.h>

#include "base/error.h"

MUST_CHECK enum status place_of(const char *pattern, char *ret, size_t ret_size, struct error *err);

#endif
