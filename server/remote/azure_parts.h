/* SPDX-License-Identifier: Apache-2.0 */
/* Which account of Azure is meant, and where it answers. */
#ifndef JVIEWD_REMOTE_AZURE_PARTS_H
#define JVIEWD_REMOTE_AZURE_PARTS_H

#include "remote/remote_parts.h"

struct azure_account {         /* "" not said */
    struct str name, endpoint; /* no slash at its end */
    struct str key, sas, from;
};
/* Of the place itself, a connection string, or AZURE_STORAGE_*. ERR_INVALID: none is named. */
MUST_CHECK enum status azure_account_read(const struct address *address, struct arena *arena,
                                          struct azure_account *ret, struct error *err);

#endif
