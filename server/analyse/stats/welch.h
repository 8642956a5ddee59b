/* SPDX-License-Identifier: Apache-2.0 */
/* Welch's test: do two lists have the same mean, where only mean, deviation and length are told?
 *
 *        mean_b - mean_a                   Student's t with as many degrees of freedom as the two
 *   t = ------------------------------     deviations leave (Welch and Satterthwaite), between the
 *       sqrt(s_a^2 / n_a + s_b^2 / n_b)    lesser n - 1 and the sum of both
 */
#ifndef JVIEWD_ANALYSE_STATS_WELCH_H
#define JVIEWD_ANALYSE_STATS_WELCH_H

#include "analyse/stats/judge.h"

struct welch {
    double low, high; /* the difference of the means lies between them with that confidence */
    double p;         /* two-sided */
};

/* Both counts are 2 at least. */
struct welch welch_test(const struct summary *a, const struct summary *b, double confidence);
/* How likely |t| is that large or larger by chance. */
double student_two_sided(double t, double freedom);
/* The |t| that is passed with that probability. */
double student_beyond(double p, double freedom);

#endif
