/* SPDX-License-Identifier: Apache-2.0 */
/* Spools of jview-collect that are no runs yet, for their launcher was killed. */
#ifndef JVIEWD_DISCOVER_SPOOL_H
#define JVIEWD_DISCOVER_SPOOL_H

#include "base/bytes.h"

#define SPOOL_DIRECTORY ".jview-spool"

/* Does this directory, open, hold some? A recording that still goes on has none. */
bool spools_are_left(int directory);

#endif
