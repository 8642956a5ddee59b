/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong tokens slow down those who bring them, and nobody else. */
#include "check.h"

#include "serve/http/peers.h"

#define MS INT64_C(1000000)

static void wrong_tokens(void **state)
{
    (void)state;
    const int64_t now = 1000000 * MS;
    struct peers *peers = peers_create();
    struct peer *one = peer_enter(peers, 1, now), *other = peer_enter(peers, 2, now);

    for (int i = 0; i < 5; i++)
        CHECK_INT("five are free", peer_wrong(one, now) - now, 0);
    CHECK_INT("the sixth waits", peer_wrong(one, now) - now, 100 * MS);
    CHECK_INT("the seventh waits for it, and longer", peer_wrong(one, now) - now, 300 * MS);
    CHECK_INT("somebody else", peer_wrong(other, now) - now, 0);
    for (int i = 0; i < 100; i++)
        peer_wrong(one, now);
    CHECK_INT("never longer than 10 s", peer_wrong(one, now) - now, 10000 * MS);
    CHECK_INT("later a second each", peer_wrong(one, now + 20000 * MS) - now - 20000 * MS,
              1000 * MS);
    CHECK_INT("forgotten", peer_wrong(one, now + 90000 * MS) - now - 90000 * MS, 0);
    peers_destroy(peers);
}

static void connections(void **state)
{
    (void)state;
    struct peers *peers = peers_create();
    struct peer *one = peer_enter(peers, 7, 0);

    CHECK("the same", peer_enter(peers, 7, 0) == one);
    CHECK_INT("two", one->connections, 2);
    peer_leave(one);
    peer_leave(one);
    for (uint32_t i = 8; i < 50000; i++) /* those without a connection go */
        peer_leave(peer_enter(peers, i, 0));
    CHECK_INT("one that comes", peer_enter(peers, 7, 0)->connections, 1);
    peers_destroy(peers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_tokens),
        cmocka_unit_test(connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
