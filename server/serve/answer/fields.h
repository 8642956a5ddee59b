/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that is one thing, not rows, as a table of its fields: for CSV and Markdown.
 *
 *   {"run": {"id": "r7"}, "args": [{"name": "n", "value": 18446744073709551615}], "op": null}
 *
 *   field           value
 *   run.id          r7
 *   args[0].name    n
 *   args[0].value   18446744073709551615
 *   op
 *
 * Read off the JSON itself, so it says the same. Numbers keep all their digits. An empty list or
 * object is a field without a value; what is null has its reason among the fields.
 */
#ifndef JVIEWD_SERVE_ANSWER_FIELDS_H
#define JVIEWD_SERVE_ANSWER_FIELDS_H

#include "analyse/analyse.h"

/* `humanised`: fields that end in _ps, _bytes or _share as prose has them. */
MUST_CHECK enum status fields_table(struct str answer, bool humanised, struct arena *arena,
                                    struct table *ret, struct error *err);

#endif
