/* JSON that is no trace, told by what its outermost object or array holds. */
#ifndef JVIEWD_DECODE_JSON_KINDS_H
#define JVIEWD_DECODE_JSON_KINDS_H

#include "base/bytes.h"

/* What it is and what to do instead; of JSON that is not known, what a trace would be. */
const char *json_kind_reason(struct str head);

#endif
