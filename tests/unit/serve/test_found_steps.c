/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that are kept are those that are found, whole and for every restriction, after the run is
 * gone; what is too much is not kept, what was asked longest ago leaves. */
#include "unit/analyse/made_run.h"

#include "analyse/findings/memo.h"
#include "serve/kept/found_steps.h"

enum { STEPS = 6, OPS_OF_STEP = 3 };

static const struct restriction whole = {0};

/* Marked steps on a thread and what they launched beside it; the run's first is a warm-up. */
static void make(struct made_run *run)
{
    run_begin(run);
    track_id thread = run_thread(run, "python");
    track_id ops = run_stream(run, "XLA Ops", ROLE_OPS, 0);

    for (int64_t i = 0; i < STEPS; i++) {
        run_slice(run, thread, 1000 * i, i == 0 ? 950 : 800, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_int(run, "step_num", 10 + i);
        for (int64_t op = 0; op < OPS_OF_STEP; op++)
            run_slice(run, ops, 1000 * i + 100 + 200 * op, 100 + 10 * op, "dot.1", KIND_COMPUTE);
    }
    run_finish(run);
}

static struct steps find(const struct made_run *run, const struct restriction *restriction)
{
    struct error err = {0};
    struct steps steps;

    CHECK_OK("find", steps_find(&run->run, restriction, run->made.arena, &steps, &err), &err);
    return steps;
}

static void check_same(const char *what, const struct steps *got, const struct steps *want)
{
    CHECK_INT(what, got->count, want->count);
    CHECK_INT(what, got->warmup_count, want->warmup_count);
    CHECK_INT(what, got->cut_count, want->cut_count);
    CHECK_INT(what, got->ordinal_count, want->ordinal_count);
    CHECK_INT(what, got->ahead_max, want->ahead_max);
    CHECK_INT(what, got->rule, want->rule);
    CHECK_INT(what, got->time_rule, want->time_rule);
    CHECK(what, str_equal(got->rule_text, want->rule_text));
    CHECK(what, str_equal(got->confidence_text, want->confidence_text));
    for (uint32_t i = 0; i < want->count && got->count == want->count; i++) {
        CHECK_INT(what, got->items[i].number, want->items[i].number);
        CHECK_INT(what, got->items[i].start_ps, want->items[i].start_ps);
        CHECK_INT(what, got->items[i].dur_ps, want->items[i].dur_ps);
        CHECK_INT(what, got->items[i].ordinal, want->items[i].ordinal);
        CHECK(what, str_equal(got->items[i].name, want->items[i].name));
    }
    CHECK(what, got->owners == NULL);
}

static void are_those_that_are_found(void **state)
{
    static const int64_t few[] = {11, 12, 14, 14}, none[] = {99, 99};
    const struct str hosts[] = {STR("hostA")}, others[] = {STR("hostB")};
    const struct {
        const char *what;
        struct restriction asked;
    } rows[] = {
        {"all", {0}},
        {"some steps", {.steps = few, .step_range_count = 2}},
        {"a step that is not there", {.steps = none, .step_range_count = 1}},
        {"a window", {.has_window = true, .start_ps = 1500, .end_ps = 3500}},
        {"the host", {.hosts = hosts, .host_count = 1}},
        {"another host", {.hosts = others, .host_count = 1}},
    };
    const struct hash128 key = {1, 2};
    struct found_steps *found = found_steps_create(1 << 20);
    struct made_run run;

    (void)state;
    make(&run);
    struct steps all = find(&run, &whole), got;
    CHECK_INT("steps", all.count, STEPS);
    CHECK("nothing is kept", !found_steps_get(found, key, &run.run, run.made.arena, &got));
    found_steps_put(found, key, &run.run, &all);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct steps want = find(&run, &rows[i].asked);

        assert_true(found_steps_get(found, key, &run.run, run.made.arena, &got));
        CHECK(rows[i].what, got.items[0].name.at != all.items[0].name.at);
        steps_keep_asked(&run.run, &rows[i].asked, run.made.arena, &got);
        check_same(rows[i].what, &got, &want);
    }
    run_end(&run);
    found_steps_destroy(found);
    found_steps_destroy(NULL);
}

struct kept { /* steps that a memo is handed */
    struct found_steps *found;
    struct hash128 key;
};

static enum status find_kept(void *data, const struct run_traces *run, struct arena *arena,
                             struct steps *ret, struct error *err)
{
    struct kept *kept = data;

    (void)err;
    assert_true(found_steps_get(kept->found, kept->key, run, arena, ret));
    return OK;
}

/* The steps of a window, with their times, as a memo tells them. */
static const struct steps *ask_memo(const struct made_run *run, const struct restriction *asked,
                                    struct kept *kept)
{
    struct memo *memo = memo_create(&run->run, asked, run->made.arena);
    const struct steps *ret;
    struct error err = {0};

    if (kept != NULL) {
        memo->find_steps = find_kept;
        memo->find_steps_data = kept;
    }
    CHECK_OK("memo", memo_steps(memo, &ret, &err), &err);
    return ret;
}

static void check_times(const char *what, const struct steps *got, const struct steps *want)
{
    for (uint32_t i = 0; i < want->count && got->count == want->count; i++)
        CHECK(what,
              memcmp(&got->items[i].time, &want->items[i].time, sizeof want->items[i].time) == 0);
}

static void tell_any_window_alike(void **state)
{
    struct kept kept = {.found = found_steps_create(1 << 20), .key = {5, 6}};
    struct dice dice = {.state = 3};
    struct made_run run;
    uint32_t some = 0;

    (void)state;
    make(&run);
    struct steps all = find(&run, &whole);
    found_steps_put(kept.found, kept.key, &run.run, &all);
    for (int i = 0; i < 500; i++) {
        int64_t from_ps = (int64_t)dice_below(&dice, 7000) - 500;
        struct restriction asked = {.has_window = true,
                                    .start_ps = from_ps,
                                    .end_ps = from_ps + (int64_t)dice_below(&dice, 5000)};
        struct steps want = find(&run, &asked);

        want.owners = NULL;
        steps_keep(&run.run, &want, run.made.arena);
        check_same("found by the memo", ask_memo(&run, &asked, NULL), &want);
        check_times("found by the memo", ask_memo(&run, &asked, NULL), &want);
        check_same("kept", ask_memo(&run, &asked, &kept), &want);
        check_times("kept", ask_memo(&run, &asked, &kept), &want);
        some += want.count > 0 && want.count < all.count;
    }
    CHECK("windows of some steps", some > 100);
    run_end(&run);
    found_steps_destroy(kept.found);
}

static void leave_in_their_turn(void **state)
{
    struct made_run run;

    (void)state;
    make(&run);
    struct steps all = find(&run, &whole), got;
    const uint64_t bytes = all.count * sizeof *all.items;
    struct found_steps *small = found_steps_create(bytes - 1);
    struct found_steps *two = found_steps_create(2 * bytes);

    found_steps_put(small, (struct hash128){1, 0}, &run.run, &all);
    CHECK("too much",
          !found_steps_get(small, (struct hash128){1, 0}, &run.run, run.made.arena, &got));
    for (uint64_t i = 1; i <= 2; i++)
        found_steps_put(two, (struct hash128){i, 0}, &run.run, &all);
    CHECK("both", found_steps_get(two, (struct hash128){1, 0}, &run.run, run.made.arena, &got));
    found_steps_put(two, (struct hash128){3, 0}, &run.run, &all);
    found_steps_put(two, (struct hash128){3, 0}, &run.run, &all);
    CHECK("asked longest ago",
          !found_steps_get(two, (struct hash128){2, 0}, &run.run, run.made.arena, &got));
    CHECK("asked since",
          found_steps_get(two, (struct hash128){1, 0}, &run.run, run.made.arena, &got));
    CHECK("new", found_steps_get(two, (struct hash128){3, 0}, &run.run, run.made.arena, &got));
    found_steps_destroy(small);
    found_steps_destroy(two);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_those_that_are_found),
        cmocka_unit_test(tell_any_window_alike),
        cmocka_unit_test(leave_in_their_turn),
    };

    return cmocka_run_group_tests_name("serve/found_steps", tests, NULL, NULL);
}
