/* SPDX-License-Identifier: Apache-2.0 */
/* What was analysed once answers for the run as it was, and for no other state of it. */
#include "serve/kept/shared.h"

#include "serve/kept/stored.h"
#include "serve/routes.h"
#include "unit/serve/made_place.h"

/* As a handler asks. */
static struct memo *ask(struct place *place, struct shared *shared)
{
    struct request request = {.method = STR("GET"),
                              .query = STR("run=r1"),
                              .arena = place->arena,
                              .services = &place->services,
                              .shared = shared};
    const struct run_traces *run;
    struct error err = {0};

    CHECK_OK("opened", request_open(&request, &route_overview, &err), &err);
    CHECK_OK("traces", request_traces(&request, &run, &err), &err);

    struct memo *memo = request_shared(&request, run);

    request_release(request.state);
    return memo;
}

static void answers_for_the_run_that_was_opened(void **state)
{
    static const char other[33] = "fedcba9876543210fedcba9876543210";
    struct place *place = *state;
    struct shared shared;

    put_segment(place, other);
    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    shared_open(&shared, &place->services, STR("r1"), place->arena);

    struct memo *memo = ask(place, &shared);

    CHECK("made", memo != NULL);
    CHECK("and shared", ask(place, &shared) == memo);
    put_run_of(place, other, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK("another index of its host", ask(place, &shared) == NULL);
    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK("as it was", ask(place, &shared) == memo);
    put_run(place, "r1", "c2", "one", STORED_SLICES_MIN);
    CHECK("another content", ask(place, &shared) == NULL);
    shared_close(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_for_the_run_that_was_opened, make_place,
                                        leave_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
