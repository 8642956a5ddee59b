/* Clocks. Profile times are int64_t picoseconds and never come from here. */
#ifndef JVIEWD_BASE_CLOCK_H
#define JVIEWD_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_monotonic_ns(void);
int64_t clock_unix_ns(void);

#endif
