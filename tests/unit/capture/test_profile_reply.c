/* SPDX-License-Identifier: Apache-2.0 */
/* A ProfileResponse that comes in pieces of any size lands in the file, or is refused. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/protobuf_out.h"
#include "capture/profile_service.h"

enum { XSPACE = 8, EMPTY_TRACE = 7, TOOL_DATA = 6 };

static char received[4096];
static size_t received_count;
static uint64_t told;

static void came(void *data, uint64_t bytes)
{
    (void)data;
    told = bytes;
}

static bool go_on(void *data)
{
    (void)data;
    return true;
}

/* Reads a reply in pieces of `size` bytes: what lands in the file. */
static enum status take(struct text text, size_t size, struct profile_reply *ret, struct error *err)
{
    FILE *file = tmpfile();
    const struct profile_sink sink = {.fd = fileno(file), .came = came, .go_on = go_on};
    enum status status = OK;

    told = 0;
    *ret = (struct profile_reply){.sink = &sink};
    for (size_t at = 0; at < text.count && status == OK; at += size) {
        size_t count = text.count - at < size ? text.count - at : size;
        struct bytes piece = {(const uint8_t *)text.at + at, count};

        status = profile_reply_take(ret, piece, err);
    }
    received_count = (size_t)pread(fileno(file), received, sizeof received, 0);
    fclose(file);
    ret->sink = NULL;
    return status;
}

/* tool data, the space in two parts, a number in between, fields that are not known */
static struct text made_reply(void)
{
    struct text text = {0}, tool = {0};
    char large[300];

    memset(large, 'x', sizeof large);
    pb_put_text(&tool, 1, STR("overview"));
    pb_put_message(&text, TOOL_DATA, &tool);
    pb_put_text(&text, XSPACE, STR("first,"));
    pb_put_number(&text, 1000, UINT64_MAX);
    pb_put_text(&text, 9, STR(""));
    pb_put_bytes(&text, XSPACE, large, sizeof large);
    pb_put_number(&text, EMPTY_TRACE, 0);
    text_free(&tool);
    return text;
}

static void the_space_lands_in_the_file_however_it_comes(void **state)
{
    struct text text = made_reply();

    (void)state;
    for (size_t size = 1; size <= text.count; size++) {
        struct profile_reply reply;
        struct error err = {0};

        CHECK_INT("taken", take(text, size, &reply, &err), OK);
        CHECK_INT("bytes", received_count, 306);
        CHECK("its first part", memcmp(received, "first,xx", 8) == 0);
        CHECK_INT("told", told, 306);
        CHECK("between fields", reply.reading == READING_TAG && reply.shift == 0);
        CHECK("not empty", !reply.empty_trace);
    }
    text_free(&text);
}

static void a_reply_that_ends_early_is_seen(void **state)
{
    struct text text = made_reply();
    size_t whole = 0;

    (void)state;
    for (size_t count = 0; count <= text.count; count++) {
        struct text part = {.at = text.at, .count = count};
        struct profile_reply reply;
        struct error err = {0};

        CHECK_INT("taken", take(part, 7, &reply, &err), OK);
        whole += reply.reading == READING_TAG && reply.shift == 0;
    }
    /* Before the first of its six fields, and after each. */
    CHECK_INT("places between fields", whole, 6 + 1);
    text_free(&text);
}

static void what_is_no_reply_is_refused(void **state)
{
    const struct {
        const char *name;
        struct str bytes;
    } cases[] = {
        {"a field of four bytes", STR("\x45rest")},
        {"a group", STR("\x43rest")},
        {"a number of eleven bytes", STR("\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text = {.at = (char *)(uintptr_t)cases[i].bytes.at,
                            .count = cases[i].bytes.count};
        struct profile_reply reply;
        struct error err = {0};

        CHECK_INT(cases[i].name, take(text, 3, &reply, &err), ERR_FORMAT);
    }
}

static void an_empty_trace_is_one(void **state)
{
    struct text text = {0};
    struct profile_reply reply;
    struct error err = {0};

    (void)state;
    pb_put_number(&text, EMPTY_TRACE, 1);
    CHECK_INT("taken", take(text, 1, &reply, &err), OK);
    CHECK("empty", reply.empty_trace && reply.written == 0);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_space_lands_in_the_file_however_it_comes),
        cmocka_unit_test(a_reply_that_ends_early_is_seen),
        cmocka_unit_test(what_is_no_reply_is_refused),
        cmocka_unit_test(an_empty_trace_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
