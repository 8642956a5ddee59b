/* SPDX-License-Identifier: Apache-2.0 */
/* What the server was told, wherever it was told.
 *
 *   flag  >  JVIEWD_* in the environment  >  config file  >  default
 *
 * The three speak alike: `--cache-dir D`, `JVIEWD_CACHE_DIR=D` and a line `cache-dir = D` mean the
 * same, and one table (options.c) knows all of them. A flag that may stand several times replaces,
 * as a whole, what a weaker place said.
 */
#ifndef JVIEWD_APP_OPTIONS_H
#define JVIEWD_APP_OPTIONS_H

#include "base/bytes.h"
#include "base/error.h"

struct texts {
    struct str *at; /* NUL behind each */
    uint32_t count;
};

struct options {
    struct texts roots;    /* profile directories or files, as given */
    const char *root_rule; /* why the only root is this one, when none was given; else NULL */
    const char *bind;
    int port;                /* 0: any free one */
    unsigned port_tries;     /* ports upwards from there that will do */
    const char *cache_dir;   /* "" the usual place */
    const char *index_store; /* that many machines share; "" none */
    const char *data_dir;    /* of notes and baselines; "" the usual place */
    uint64_t cache_bytes_max;
    uint64_t memory_bytes_max; /* of questions together; 0: not said */
    uint64_t upload_bytes_max; /* of one file; UINT64_MAX: not said */
    uint64_t upload_quota;     /* of all */
    const char *base_path;     /* "" or "/proxy/8080" */
    const char *public_url;    /* "" none */
    const char *auth;          /* "none" or "token"; "" not said */
    const char *ui;            /* builtin, perfetto, tensorboard, both, none */
    const char *page;          /* which the browser opens: "?run=latest"; "" the first */
    const char *output;        /* --extract -o; "" a new temporary directory */
    struct texts allowed_hosts;
    struct texts embed_origins;
    struct texts capture_targets; /* with allow_capture: these alone; none: public addresses */
    struct texts source_roots;    /* directories whose source files may be shown */
    unsigned workers;             /* indexing at a time; 0: half the cores */
    bool open, list_only, extract, follow_symlinks, convert, perfetto_cors, allow_capture, poll,
        verbose, version, help;
};

/* Flags of `serve`: argv[0] is skipped. Without any path it chooses among $XAX_PROFILE_DIR,
 * $PROFILE_DIR, ./profiles and ./runs/profiles. ERR_INVALID names what is not understood. */
MUST_CHECK enum status options_read(int argc, char **argv, struct arena *arena, struct options *ret,
                                    struct error *err);
/* What is shown without a path, and which rule says so. */
const char *options_default_root(const char **ret_rule);
/* Usage and every flag of `serve`, to stdout. */
void options_help(void);

struct option_shape {  /* of a flag, for those who complete it */
    const char *name;  /* without dashes */
    const char *words; /* "a|b"; "" any text */
    bool takes_value;
    const char *help;
};
/* False: behind the last. */
bool options_at(uint32_t index, struct option_shape *ret);

#endif
