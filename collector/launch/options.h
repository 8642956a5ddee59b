/* What jview-collect was asked for. */
#ifndef JVIEWD_LAUNCH_OPTIONS_H
#define JVIEWD_LAUNCH_OPTIONS_H

#include <stdint.h>

#include "base/error.h"

struct options {
    const char *out;               /* the profile directory */
    int64_t delay_ms, duration_ms; /* 0: from the start, until the end */
    bool replaces;                 /* another tool's injection */
    bool is_quiet, shows_help, shows_version;
    char **command; /* NULL-terminated */
};

extern const char options_help[];
MUST_CHECK enum status options_parse(char **words, struct options *ret, struct error *err);

#endif
