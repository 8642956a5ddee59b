/* SPDX-License-Identifier: Apache-2.0 */
/* Levenshtein's distance, one row of its table at a time. */
#include "base/distance.h"

enum { EDIT_BYTES_MAX = 255 };

unsigned edit_distance(struct str a, struct str b)
{
    unsigned row[EDIT_BYTES_MAX + 1];

    a.count = a.count > EDIT_BYTES_MAX ? EDIT_BYTES_MAX : a.count;
    b.count = b.count > EDIT_BYTES_MAX ? EDIT_BYTES_MAX : b.count;
    for (unsigned k = 0; k <= b.count; k++)
        row[k] = k;
    for (unsigned i = 1; i <= a.count; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned k = 1; k <= b.count; k++) {
            unsigned change = diagonal + (a.at[i - 1] != b.at[k - 1]);
            unsigned least = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;

            diagonal = row[k];
            row[k] = change < least ? change : least;
        }
    }
    return row[b.count];
}
