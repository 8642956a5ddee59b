/* SPDX-License-Identifier: Apache-2.0 */
/* What a reply of SQL says beside its rows. */
#include "check.h"

#include <jansson.h>

#include "serve/sql/sql_parts.h"

static void check_lost(const char *what, uint32_t lost_count, const char *want)
{
    static struct sql_result result; /* nothing was asked for */
    struct sql_work work = {.query_arena = arena_create(), .lost_count = lost_count};
    struct sql_outcome outcome = {0};
    struct text out = {0};

    sql_put_answer(&work, &result, &outcome, STR("json"), STR("null"), &out);
    json_t *reply = json_loadb(text_str(&out).at, text_str(&out).count, 0, NULL);
    const json_t *note = json_array_get(json_object_get(reply, "notes"), 0);
    const char *message = json_string_value(json_object_get(note, "message"));

    CHECK_STR(what, str_of(message != NULL ? message : ""), want);
    json_decref(reply);
    text_free(&out);
    arena_destroy(work.query_arena);
}

static void runs_not_read(void **state)
{
    (void)state;
    check_lost("none", 0, "");
    check_lost("one", 1,
               "1 run is not indexed, or holds no timeline: only `runs` and `metrics` show it.");
    check_lost("several", 2,
               "2 runs are not indexed, or hold no timeline: only `runs` and `metrics` show "
               "them.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_not_read)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
