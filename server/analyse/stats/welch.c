/* SPDX-License-Identifier: Apache-2.0 */
/* Student's distribution by the incomplete beta function (Abramowitz and Stegun 26.5.8). */
#include "analyse/stats/welch.h"

#include <math.h>

enum { TERMS_MAX = 400, HALVINGS = 80 };

/* The continued fraction of the incomplete beta function, by Lentz's way (Abramowitz and Stegun
 * 26.5.8): it settles fast where x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double front = 1, back = 1 - (a + b) * x / (a + 1);

    back = 1 / (fabs(back) < tiny ? tiny : back);
    double fraction = back;
    for (int m = 1; m <= TERMS_MAX; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double before = fraction;

        for (int half = 0; half < 2; half++) {
            double term = half == 0 ? even : odd;

            back = 1 + term * back;
            back = 1 / (fabs(back) < tiny ? tiny : back);
            front = 1 + term / front;
            front = fabs(front) < tiny ? tiny : front;
            fraction *= back * front;
        }
        if (fabs(fraction - before) < 1e-14 * fabs(fraction))
            break;
    }
    return fraction;
}

/* I_x(a, b), the share of the beta distribution below x. */
static double beta_below(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double freedom)
{
    return isinf(t) ? 0 : beta_below(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_beyond(double p, double freedom)
{
    double low = 0, high = 1;

    while (student_two_sided(high, freedom) > p && high < 1e12)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (student_two_sided(middle, freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

struct welch welch_test(const struct summary *a, const struct summary *b, double confidence)
{
    double of_a = a->std * a->std / a->count, of_b = b->std * b->std / b->count;
    double variance = of_a + of_b, delta = b->mean - a->mean;

    if (!(variance > 0)) /* nothing differs among themselves: what is measured is so */
        return (struct welch){.low = delta, .high = delta, .p = delta == 0 ? 1 : 0};
    /* Shares of the variance, for its square may be more than a double holds. */
    double share_a = of_a / variance, share_b = of_b / variance;
    double freedom =
        1 / (share_a * share_a / (a->count - 1.0) + share_b * share_b / (b->count - 1.0));
    double error = sqrt(variance), reach = error * student_beyond(1 - confidence, freedom);

    return (struct welch){.low = delta - reach,
                          .high = delta + reach,
                          .p = student_two_sided(delta / error, freedom)};
}
