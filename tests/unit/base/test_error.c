/* SPDX-License-Identifier: Apache-2.0 */
/* A failure is told once, with its context, cut at a whole character. */
#include "check.h"

static enum status fails(struct error *err)
{
    return fail(err, ERR_FORMAT, "event %d ends before it starts", 7);
}

static enum status hands_up(struct error *err)
{
    TRY(fails(err));
    return OK;
}

static void first_stays(void **state)
{
    (void)state;
    struct error err = {0};

    CHECK_INT("handed up", hands_up(&err), ERR_FORMAT);
    CHECK_INT("echo", fail(&err, ERR_IO, "later"), ERR_FORMAT);
    CHECK_STR("first", str_of(err.message), "event 7 ends before it starts");
    CHECK("where", strstr(err.file, "test_error.c") != NULL && err.line > 0);
    CHECK_INT("nowhere to tell", fail(NULL, ERR_IO, "lost"), ERR_IO);
}

static void context(void **state)
{
    (void)state;
    struct error err = {0};

    error_context(&err, "file %s: ", "a.pb");
    CHECK_STR("nothing to say", str_of(err.message), "");
    (void)fails(&err);
    error_context(&err, "line \"%s\": ", "Stream #7");
    CHECK_STR("in front", str_of(err.message), "line \"Stream #7\": event 7 ends before it starts");
    error_context(NULL, "nobody");
}

static void long_messages(void **state)
{
    (void)state;
    /* Cut inside "é": both halves go. */
    static const char *const pads[] = {"", "a", "aa", "aaa"};

    for (size_t i = 0; i < COUNT(pads); i++) {
        struct error err = {0};
        struct text text = {0};
        struct arena *arena = arena_create();

        text_puts(&text, pads[i]);
        for (int j = 0; j < 300; j++)
            text_puts(&text, j % 2 ? "é" : "😀");
        (void)fail(&err, ERR_IO, "%s", text.at);

        struct str message = str_of(err.message);

        CHECK("long", message.count > sizeof(err.message) - 6);
        CHECK("clean", str_utf8(arena, message).at == message.at);
        error_context(&err, "%s", "0123456789");
        message = str_of(err.message);
        CHECK("clean with context", str_utf8(arena, message).at == message.at);
        text_free(&text);
        arena_destroy(arena);
    }
}

static void words(void **state)
{
    (void)state;
    for (int code = OK; code <= ERR_CANCELLED; code++)
        CHECK("has a word", strcmp(status_word((enum status)code), "unknown") != 0);
    CHECK_STR("one of them", str_of(status_word(ERR_NOT_FOUND)), "not-found");
    CHECK_STR("beyond", str_of(status_word((enum status)99)), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_stays),
        cmocka_unit_test(context),
        cmocka_unit_test(long_messages),
        cmocka_unit_test(words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
