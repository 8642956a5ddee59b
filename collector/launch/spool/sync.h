/* SPDX-License-Identifier: Apache-2.0 */
/* What must be on the disk before what it was made of goes. */
#ifndef JVIEWD_LAUNCH_SYNC_H
#define JVIEWD_LAUNCH_SYNC_H

#include "base/error.h"

/* Names reach the disk with their directory. */
MUST_CHECK enum status sync_directory(const char *path, struct error *err);

#endif
