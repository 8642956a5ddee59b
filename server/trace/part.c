/* SPDX-License-Identifier: Apache-2.0 */
/* The words for what a file is to its run. */
#include "trace/part.h"

#include <stddef.h>

const char *decode_part_word(enum decode_part part)
{
    static const char *const words[] = {
        [PART_TIMELINE] = "timeline", [PART_PROGRAMS] = "programs", [PART_SNAPSHOT] = "snapshot"};

    return (size_t)part < PART_COUNT ? words[part] : words[PART_TIMELINE];
}
