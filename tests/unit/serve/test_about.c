/* SPDX-License-Identifier: Apache-2.0 */
/* jview.json: what is taken of it, and that no content of it does harm. */
#include "serve/bundle/about.h"

#include "check.h"

static void parses(void **state)
{
    const struct {
        const char *what, *text;
        enum status status;
        int64_t step; /* -1 none */
        const char *commit;
        uint32_t tags, notes, metrics;
    } rows[] = {
        {"all",
         "{\"name\":\"n\",\"step\":1000,\"commit\":\"4f0c\",\"tags\":[\"a\",\"b\"],"
         "\"notes\":[\"x\"],\"metrics\":{\"loss\":2.5,\"n\":3}}",
         OK, 1000, "4f0c", 2, 1, 2},
        {"nothing", "{}", OK, -1, "", 0, 0, 0},
        {"unknown members", "{\"colour\":{\"a\":[1]},\"step\":0}", OK, 0, "", 0, 0, 0},
        {"no JSON", "{\"step\":", ERR_FORMAT, -1, "", 0, 0, 0},
        {"empty", "", ERR_FORMAT, -1, "", 0, 0, 0},
        {"a list", "[]", ERR_FORMAT, -1, "", 0, 0, 0},
        {"twice", "{\"step\":1,\"step\":2}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"step as text", "{\"step\":\"1\"}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"step below zero", "{\"step\":-1}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"step too large", "{\"step\":9007199254740993}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"step beyond 64 bits", "{\"step\":99999999999999999999}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"half a step", "{\"step\":1.5}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"tags as text", "{\"tags\":\"a\"}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"a tag that is none", "{\"tags\":[1]}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"a metric that is none", "{\"metrics\":{\"a\":\"1\"}}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"null", "{\"name\":null}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"bad UTF-8", "{\"name\":\"\xff\"}", ERR_FORMAT, -1, "", 0, 0, 0},
        {"a long commit",
         "{\"commit\":\"0123456789012345678901234567890123456789012345678901234567890123456\"}",
         ERR_FORMAT, -1, "", 0, 0, 0},
    };
    struct arena *arena = arena_create();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str text = str_of(rows[i].text);
        struct error err = {0};
        struct about about;

        CHECK_INT(
            rows[i].what,
            about_parse((struct bytes){(const uint8_t *)text.at, text.count}, arena, &about, &err),
            rows[i].status);
        CHECK_INT(rows[i].what, about.is_there, rows[i].status == OK);
        if (rows[i].status != OK)
            continue;
        CHECK_INT(rows[i].what, about.has_step ? about.step : -1, rows[i].step);
        CHECK_STR(rows[i].what, about.commit, rows[i].commit);
        CHECK_INT(rows[i].what, about.tag_count, rows[i].tags);
        CHECK_INT(rows[i].what, about.note_count, rows[i].notes);
        CHECK_INT(rows[i].what, about.metric_count, rows[i].metrics);
    }
    arena_destroy(arena);
}

/* Every prefix and flipped bit of a file is read or refused. */
static void damage(void **state)
{
    static const char whole[] = "{\"name\":\"n\\u00e9\",\"step\":12,\"tags\":[\"a\"],\"notes\":[],"
                                "\"metrics\":{\"loss\":-1e9}}";
    struct arena *arena = arena_create();

    (void)state;
    for (size_t cut = 0; cut < sizeof whole; cut++) {
        for (int bit = 0; bit < 8; bit++) {
            uint8_t bytes[sizeof whole];
            struct error err = {0};
            struct about about;

            memcpy(bytes, whole, sizeof whole);
            bytes[cut] ^= (uint8_t)(1 << bit);
            size_t count = bit == 0 ? cut : sizeof whole - 1;
            enum status status = about_parse((struct bytes){bytes, count}, arena, &about, &err);

            CHECK("told", (status == OK) == about.is_there && (status == OK) == (err.code == OK));
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parses), cmocka_unit_test(damage)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
