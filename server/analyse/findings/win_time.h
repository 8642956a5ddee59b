/* SPDX-License-Identifier: Apache-2.0 */
/* What the time is made of that a finding would win: findings of the same time do not add up.
 *
 *   a gap of a device, in which Python runs      device-idle wins it, python-overhead wins it, and
 *                                                it is there once
 *
 * Told by rule, not by instants: that two rules look at one kind of time is known, by how much what
 * they found is the same is not. So it is said that it may be, and of whom.
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_WIN_TIME_H
#define JVIEWD_ANALYSE_FINDINGS_WIN_TIME_H

#include <stdint.h>

struct finding;

enum win_time { /* of devices, but for the input and compilation that a host does */
                WINS_COMPUTE = 1,
                WINS_COMMUNICATION = 2,
                WINS_COPY = 4,
                WINS_INPUT = 8,
                WINS_COMPILE = 16,
                WINS_IDLE = 32,
                WINS_ANY = 63, /* what made a step longer may be any of it */
};

/* 0: the rule's findings win nothing that is known. */
unsigned win_time_of(const char *rule);

/* Sets `same_time_as` of findings in the order of their ranks. Findings of one rule are of places
 * of their own. */
void win_time_tell(struct finding *findings, uint32_t count);

#endif
