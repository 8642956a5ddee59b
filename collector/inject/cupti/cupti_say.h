/* SPDX-License-Identifier: Apache-2.0 */
/* What hinders CUPTI, as sentences for who reads the profile. */
#ifndef JVIEWD_INJECT_CUPTI_SAY_H
#define JVIEWD_INJECT_CUPTI_SAY_H

#include "inject/cupti/cupti_library.h"

/* A call of CUPTI that failed. `what`: what it was to do; `holder`: who has it, or "". */
void cupti_say_result(const struct cupti *cupti, const char *what, int result, const char *holder);
__attribute__((format(printf, 1, 2))) void cupti_say(const char *format, ...);

/* The sentences, in turn; NULL behind the last. */
const char *cupti_said(uint32_t index);

#endif
