/* SPDX-License-Identifier: Apache-2.0 */
/* What is made waits on disk for who takes it, in order and whole; nobody waits for a slow one. */
#include "serve/http/outflow.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "check.h"

enum { PIECES = 300, PIECE_BYTES = 10000 };

static struct outflow_room wide = {.bytes_max = INT64_MAX};

struct maker {
    struct outflow *outflow;
    enum status ends_with, got;
};

static uint8_t byte_at(size_t at)
{
    return (uint8_t)(at * 31 + at / PIECE_BYTES);
}

static void *make(void *data)
{
    struct maker *maker = data;
    uint8_t piece[PIECE_BYTES];
    struct error err = {0};

    for (size_t i = 0; i < PIECES && maker->got == OK; i++) {
        for (size_t k = 0; k < PIECE_BYTES; k++)
            piece[k] = byte_at(i * PIECE_BYTES + k);
        maker->got =
            outflow_put(maker->outflow, (struct bytes){.at = piece, .count = PIECE_BYTES}, &err);
    }
    outflow_end(maker->outflow, maker->got == OK ? maker->ends_with : maker->got);
    return NULL;
}

struct taker {
    size_t count, leaves_at;
    bool wrong;
};

static enum status take(void *to, struct bytes piece, struct error *err)
{
    struct taker *taker = to;

    for (size_t i = 0; i < piece.count; i++)
        taker->wrong |= piece.at[i] != byte_at(taker->count + i);
    taker->count += piece.count;
    err->code = taker->count >= taker->leaves_at ? ERR_CANCELLED : OK;
    return err->code;
}

static void whole_and_in_order(void **state)
{
    const struct {
        const char *what, *dir;
        enum status ends_with, want;
        size_t leaves_at;
        bool waits; /* with sending, until all is made */
    } rows[] = {
        {"all of it waits", "/tmp", OK, OK, SIZE_MAX, true},
        {"taken meanwhile", "/tmp", OK, OK, SIZE_MAX, false},
        {"from hand to hand", NULL, OK, OK, SIZE_MAX, false},
        {"no such directory", "/nowhere/at/all", OK, OK, SIZE_MAX, false},
        {"the client leaves", "/tmp", OK, ERR_CANCELLED, 500000, false},
        {"from hand to hand it leaves", NULL, OK, ERR_CANCELLED, 500000, false},
        {"it fails half way", "/tmp", ERR_IO, ERR_IO, SIZE_MAX, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maker maker = {.outflow = outflow_create(rows[i].dir, &wide),
                              .ends_with = rows[i].ends_with};
        struct taker taker = {.leaves_at = rows[i].leaves_at};
        struct error err = {0};
        pthread_t thread;

        CHECK_INT("thread", pthread_create(&thread, NULL, make, &maker), 0);
        if (rows[i].waits)
            pthread_join(thread, NULL); /* nobody takes anything, and it ends */
        CHECK_INT(rows[i].what, outflow_send(maker.outflow, take, &taker, &err), rows[i].want);
        if (!rows[i].waits)
            pthread_join(thread, NULL);
        CHECK(rows[i].what, !taker.wrong);
        if (rows[i].want == OK)
            CHECK_INT(rows[i].what, taker.count, PIECES * PIECE_BYTES);
        outflow_destroy(maker.outflow);
        CHECK_INT(rows[i].what, atomic_load(&wide.waiting), 0);
    }
}

/* One that waits fills the room of all; the other goes from hand to hand. */
static void shared_room(void **state)
{
    struct outflow_room room = {.bytes_max = PIECES / 3 * PIECE_BYTES};
    struct maker slow = {.outflow = outflow_create("/tmp", &room)};
    struct maker other = {.outflow = outflow_create("/tmp", &room)};
    struct taker takers[2] = {{.leaves_at = SIZE_MAX}, {.leaves_at = SIZE_MAX}};
    struct error err = {0};
    pthread_t threads[2];

    (void)state;
    CHECK_INT("thread", pthread_create(&threads[0], NULL, make, &slow), 0);
    while (atomic_load(&room.waiting) < room.bytes_max)
        sched_yield();
    CHECK_INT("thread", pthread_create(&threads[1], NULL, make, &other), 0);
    CHECK_OK("the other", outflow_send(other.outflow, take, &takers[1], &err), &err);
    CHECK_INT("no more waits", atomic_load(&room.waiting), room.bytes_max);
    CHECK_OK("the slow one", outflow_send(slow.outflow, take, &takers[0], &err), &err);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK("in order", !takers[i].wrong);
        CHECK_INT("whole", takers[i].count, PIECES * PIECE_BYTES);
    }
    CHECK_INT("nothing waits", atomic_load(&room.waiting), 0);
    outflow_destroy(slow.outflow);
    outflow_destroy(other.outflow);
}

static void nothing(void **state)
{
    struct outflow *outflow = outflow_create("/tmp", &wide);
    struct taker taker = {.leaves_at = SIZE_MAX};
    struct error err = {0};

    (void)state;
    CHECK_OK("an empty piece", outflow_put(outflow, (struct bytes){0}, &err), &err);
    outflow_end(outflow, OK);
    CHECK_OK("sent", outflow_send(outflow, take, &taker, &err), &err);
    CHECK_INT("nothing", taker.count, 0);
    outflow_destroy(outflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_and_in_order),
                                       cmocka_unit_test(shared_room), cmocka_unit_test(nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
