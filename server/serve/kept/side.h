/* SPDX-License-Identifier: Apache-2.0 */
/* A run, or a part of one, as routes that compare several name it.
 *
 *   step_500                    a run, as run= takes it
 *   main                        a named baseline; as baseline= also where a run is called so
 *   step_500@step=4-9           some of its steps
 *   step_500@1000000-2000000    a window of it, in picoseconds
 */
#ifndef JVIEWD_SERVE_KEPT_SIDE_H
#define JVIEWD_SERVE_KEPT_SIDE_H

#include "analyse/compare/diff.h"
#include "serve/answer/request.h"

struct asked_side {
    struct restriction restriction;
    struct run_traces run;
    struct diff_side side; /* of the two above: stays where it is */
    struct diff_keeper keeper;
    struct side_kept {
        struct request *req;
        const struct run_record *run;
    } kept;            /* where what is measured of a large run stays, as answers do (stored.h) */
    struct str asked;  /* as the request has it */
    struct str called; /* "step_500@step=4": the run's name and its part */
};

/* Chooses the run of the parameter's text and takes its traces. */
MUST_CHECK enum status request_side(struct request *req, const char *param, struct asked_side *ret,
                                    struct error *err);
/* The same of a baseline's text, where a baseline's name goes before a run's. */
MUST_CHECK enum status request_baseline(struct request *req, struct str text,
                                        struct asked_side *ret, struct error *err);
/* Is it, as a whole, a run's name, or a baseline's? */
bool request_is_run(struct request *req, struct str text);
/* The same of a text that is one of several. */
MUST_CHECK enum status request_side_of(struct request *req, struct str text, struct asked_side *ret,
                                       struct error *err);

/* Names of one kind are of different runs: those that share one are called as they were asked for,
 * without what those texts begin with alike. */
void sides_tell_apart(struct asked_side *const *sides, uint32_t count, struct arena *arena);

#endif
