/* Sorts what mostly is in order: a walk finds out, and only what is not is sorted. */
#ifndef JVIEWD_ANALYSE_ORDER_H
#define JVIEWD_ANALYSE_ORDER_H

#include <stdlib.h>

static inline void order_by(void *items, size_t count, size_t size,
                            int (*compare)(const void *, const void *))
{
    const char *at = items;

    for (size_t i = 1; i < count; i++) {
        if (compare(at + (i - 1) * size, at + i * size) > 0) {
            qsort(items, count, size, compare);
            return;
        }
    }
}

#endif
