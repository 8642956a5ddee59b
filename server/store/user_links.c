/* SPDX-License-Identifier: Apache-2.0 */
/* Short links: 128 random bits that stand for an address. Whoever has one may follow it; nobody
 * guesses one. */
#include "store/user_db.h"

#include <sqlite3.h>
#include <sys/random.h>

#include "base/clock.h"

struct link {
    struct str address, id; /* one is asked for by the other */
    struct arena *arena;
    char made[USER_LINK_ID_SIZE];
};

/* Letters and digits that nobody mistakes for one another. */
static void id_of(const uint8_t random[16], char ret[USER_LINK_ID_SIZE])
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned bits = 0, count = 0;

    for (unsigned i = 0, at = 0; at + 1 < USER_LINK_ID_SIZE; at++) {
        if (count < 5) {
            bits = bits << 8 | (i < 16 ? random[i++] : 0u);
            count += 8;
        }
        count -= 5;
        ret[at] = digits[bits >> count & 31];
        bits &= (1u << count) - 1;
    }
    ret[USER_LINK_ID_SIZE - 1] = '\0';
}

/* Yields the id or the address of the link that is asked for. */
static enum status find(struct user *user, void *data, struct error *err)
{
    struct link *link = data;
    bool by_id = link->id.count > 0;
    struct sqlite3_stmt *ask = user_statement(user,
                                              by_id ? "SELECT address FROM links WHERE id = ?1"
                                                    : "SELECT id FROM links WHERE address = ?1",
                                              err);

    if (ask == NULL)
        return err->code;
    user_bind_text(ask, 1, by_id ? link->id : link->address);
    if (user_row(user, ask, err))
        *(by_id ? &link->address : &link->id) = user_column(ask, 0, link->arena);
    sqlite3_finalize(ask);
    return err->code;
}

static enum status add(struct user *user, void *data, struct error *err)
{
    struct link *link = data;
    uint8_t random[16];

    TRY(find(user, link, err));
    if (link->id.count == USER_LINK_ID_SIZE - 1) {
        memcpy(link->made, link->id.at, link->id.count);
        return OK;
    }
    TRY(user_has_room(user, "SELECT count(*) FROM links", "links", err));
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return fail(err, ERR_IO, "the system yields no random bytes");
    id_of(random, link->made);
    struct sqlite3_stmt *put = user_statement(user, "INSERT INTO links VALUES(?1, ?2, ?3)", err);
    if (put == NULL)
        return err->code;
    user_bind_text(put, 1, str_of(link->made));
    user_bind_text(put, 2, link->address);
    sqlite3_bind_int64(put, 3, clock_unix_ns());
    return user_run(user, put, NULL, err);
}

enum status user_add_link(struct user *user, struct str address, char ret[USER_LINK_ID_SIZE],
                          struct error *err)
{
    struct link link = {.address = address, .arena = arena_create()};
    enum status status = OK;

    if (address.count == 0 || address.count > USER_LINK_BYTES_MAX)
        status = fail(err, ERR_INVALID, "an address must have 1 to %d bytes", USER_LINK_BYTES_MAX);
    else
        status = user_change(user, add, &link, err);
    memcpy(ret, link.made, USER_LINK_ID_SIZE);
    arena_destroy(link.arena);
    return status;
}

struct str user_link(struct user *user, struct str id, struct arena *arena)
{
    struct link link = {.id = id, .address = STR(""), .arena = arena};
    struct error ignored = {0};

    if (id.count != USER_LINK_ID_SIZE - 1 || user_ask(user, find, &link, &ignored) != OK)
        return STR("");
    return link.address;
}
