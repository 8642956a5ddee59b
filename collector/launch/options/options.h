/* SPDX-License-Identifier: Apache-2.0 */
/* What jview-collect was asked for. */
#ifndef JVIEWD_LAUNCH_OPTIONS_H
#define JVIEWD_LAUNCH_OPTIONS_H

#include <stdint.h>

#include "base/error.h"
#include "collector/control.h"
#include "launch/sample/sampling.h"

enum { VARIABLES_MAX = 64 };

struct options {
    const char *out;                      /* the profile directory; may hold %h %p %q{VAR} */
    const char *condition;                /* of --if; NULL: none */
    const char *hlo_dump;                 /* a directory, "": the session's own; NULL: none */
    int64_t delay_ms, duration_ms;        /* 0: from the start, until the end */
    const char *variables[VARIABLES_MAX]; /* of each -e: "A=B,C=D" */
    uint32_t variable_count;
    int64_t finalize_ms; /* at most so long at the end; 0: spools stay as they are */
    struct control_asked asked;
    struct sampling sampling;
    int kill_signal; /* when recording is over; 0: the program goes on */
    bool has_kill;   /* it was said, be it as none */
    bool shuts_down; /* said of captures: by SIGTERM unless said otherwise */
    bool replaces;   /* another tool's injection */
    bool waits_all;  /* for every process that records, not for the program alone */
    bool samples_cpu;
    bool has_py_locations;
    bool is_quiet, shows_help, shows_version;
    char **command; /* NULL-terminated */
};

extern const char options_help[];
/* What --finalize is unless given: JVIEW_FINALIZE, or a minute. */
int64_t options_finalize_ms(void);
MUST_CHECK enum status options_parse(char **words, struct options *ret, struct error *err);

/* options_values.c: one value each. */
MUST_CHECK enum status value_seconds(const char *name, const char *text, int64_t *ret_ms,
                                     struct error *err);
MUST_CHECK enum status value_size(const char *name, const char *text, uint64_t *ret_bytes,
                                  struct error *err);
MUST_CHECK enum status value_capture_range(const char *text, struct control_asked *asked,
                                           struct error *err);
MUST_CHECK enum status value_capture_end(const char *text, struct control_asked *asked,
                                         struct error *err);
MUST_CHECK enum status value_nvtx_capture(const char *text, struct control_asked *asked,
                                          struct error *err);
MUST_CHECK enum status value_domains(const char *text, bool excludes, struct control_asked *asked,
                                     struct error *err);
/* "none", "sigterm", "sigkill" or a number; 0 is none. */
MUST_CHECK enum status value_signal(const char *text, int *ret, struct error *err);
/* "nvtx,osrt": what is not recorded is told on stderr. */
MUST_CHECK enum status value_trace(const char *text, struct control_asked *asked,
                                   struct error *err);

#endif
