/* Nearest-rank quantiles and the spread of many lengths.
 *
 * Exact up to 65,536 values; beyond that from the histogram of trace/quantile.h.
 */
#ifndef JVIEWD_ANALYSE_QUANTILE_H
#define JVIEWD_ANALYSE_QUANTILE_H

#include <stdbool.h>
#include <stdint.h>

enum { QUANTILE_EXACT_MAX = 65536 };

struct quantiles;
/* For `count` values in all. */
struct quantiles *quantiles_create(uint64_t count);
void quantiles_free(struct quantiles *quantiles);
void quantiles_add(struct quantiles *quantiles, int64_t value);
/* The value of rank ceil(percent / 100 * n), percent 1 ... 100; 0 of none. */
int64_t quantiles_at(struct quantiles *quantiles, unsigned percent);
bool quantiles_exact(const struct quantiles *quantiles);
/* Of the population, to whole units. */
int64_t quantiles_stdev(const struct quantiles *quantiles);

/* The same of an array that may be reordered. */
int64_t quantile_of(int64_t *values, uint64_t count, unsigned percent);

#endif
