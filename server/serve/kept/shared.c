/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the analyses of a whole run while several questions about it are asked. */
#include "serve/kept/shared.h"

#include "serve/answer/etag.h"
#include "serve/kept/found_steps.h"

static const struct restriction whole = {0};

/* No address: how the run is asked for by who holds it. */
static const struct param params[] = {PARAMS_RUN, {.name = NULL}};
static const struct route route_shared = {.method = "GET", .path = "/shared", .params = params};

void shared_open(struct shared *ret, const struct services *services, struct str run_id,
                 struct arena *arena)
{
    *ret = (struct shared){
        .holder = {.method = STR("GET"), .arena = arena, .services = services},
    };
    ret->holder.query = str_format(arena, "run=%.*s", STR_ARG(run_id));
}

void shared_close(struct shared *shared)
{
    request_release(shared->holder.state);
}

/* Of what a question says of steps, their family and expression change which there are. */
static bool steps_are_the_runs(const struct request *req, const struct run_traces *run,
                               const struct restriction *restriction, struct hash128 *ret_key)
{
    const struct run_record *record = request_run_known(req);

    return req->services->found_steps != NULL && restriction->family.count == 0 &&
           restriction->step_regex.count == 0 && record != NULL &&
           record->host_count == run->host_count &&
           answer_key_of(STR("steps found"), record, ret_key);
}

static enum status find_all_steps(void *data, const struct run_traces *run, struct arena *arena,
                                  struct steps *ret, struct error *err)
{
    struct request *req = data;
    struct found_steps *found = req->services->found_steps;
    struct hash128 key;

    if (!steps_are_the_runs(req, run, &whole, &key))
        return steps_find(run, &whole, arena, ret, err);
    if (found_steps_get(found, key, run, arena, ret))
        return OK;
    TRY(steps_find(run, &whole, arena, ret, err));
    if (!request_damaged(req))
        found_steps_put(found, key, run, ret);
    return OK;
}

static enum status find_steps(struct request *req, const struct run_traces *run,
                              const struct restriction *restriction, struct steps *ret,
                              struct error *err)
{
    struct hash128 key;

    if (!steps_are_the_runs(req, run, restriction, &key))
        return steps_find(run, restriction, req->arena, ret, err);
    TRY(find_all_steps(req, run, req->arena, ret, err));
    steps_keep_asked(run, restriction, req->arena, ret);
    return OK;
}

static struct memo *create(struct request *req, const struct run_traces *run,
                           const struct restriction *restriction)
{
    struct memo *memo = memo_create(run, restriction, req->arena);

    memo->find_steps = find_all_steps;
    memo->find_steps_data = req;
    return memo;
}

static enum status analyse(struct shared *shared, struct error *err)
{
    const struct run_traces *run;

    TRY(request_open(&shared->holder, &route_shared, err));
    TRY(request_traces(&shared->holder, &run, err));
    shared->memo = create(&shared->holder, run, &whole);
    return OK;
}

/* Each request finds the run as it is by then: with other files, or other indices of them, its
 * hosts are others than those of the memo, and what is kept of it is called otherwise. */
static bool is_same_run(const struct request *a, const struct request *b)
{
    const struct run_record *first = request_run_known(a), *second = request_run_known(b);
    struct hash128 of_first, of_second;

    if (first == NULL || second == NULL)
        return false;
    (void)answer_key_of(STR("shared"), first,
                        &of_first); /* without its program, for this process */
    (void)answer_key_of(STR("shared"), second, &of_second);
    return of_first.low == of_second.low && of_first.high == of_second.high;
}

/* Files beside the hosts are seen by some handlers only: then each looks for itself. */
struct memo *request_shared(struct request *req, const struct run_traces *run)
{
    struct shared *shared = req->shared;
    struct error ignored = {0};

    if (shared == NULL || run->other_count > 0)
        return NULL;
    if (!shared->tried && analyse(shared, &ignored) != OK)
        shared->memo = NULL;
    shared->tried = true;
    return shared->memo != NULL && !request_damaged(&shared->holder) &&
                   is_same_run(req, &shared->holder)
               ? shared->memo
               : NULL;
}

struct memo *request_memo(struct request *req, const struct run_traces *run,
                          const struct restriction *restriction)
{
    struct memo *memo = request_shared(req, run);

    return memo != NULL ? memo : create(req, run, restriction);
}

enum status request_steps(struct request *req, const struct run_traces *run,
                          const struct restriction *restriction, struct steps *ret,
                          struct error *err)
{
    struct memo *memo = request_shared(req, run);
    const struct steps *steps;

    if (memo == NULL)
        return find_steps(req, run, restriction, ret, err);
    TRY(memo_steps(memo, &steps, err));
    *ret = *steps;
    return OK;
}

enum status request_all_steps(struct request *req, const struct run_traces *run,
                              const struct steps **ret, struct error *err)
{
    struct memo *memo = request_shared(req, run);

    if (memo != NULL)
        return memo_all_steps(memo, ret, err);

    struct steps *steps = arena_new(req->arena, struct steps);

    *ret = steps;
    return find_all_steps(req, run, req->arena, steps, err);
}
