/* SPDX-License-Identifier: Apache-2.0 */
/* What people said of runs: named baselines, notes, tags, links. A second SQLite database, for it
 * is the one thing here that cannot be found again on disk.
 *
 *   $XDG_DATA_HOME/jviewd/user.db
 *     baselines  main      -> content id of step_500
 *     notes      content id, a window or none -> a text
 *     tags       content id -> a word
 *     links      4f2k...   -> "?run=step_500&view=flame"
 *
 * All hangs on content ids, so that a run that moved keeps its notes. The file is made by the first
 * write. It is never removed, emptied or repaired: a file that is damaged, of another program or
 * of a newer version is left as it is, read as far as it can be, and writing fails with the reason.
 * Several processes may write; each waits for its turn. The journal is SQLite's own rollback
 * journal, which also works where memory is not shared between machines (NFS).
 *
 * Every call takes the one connection under its own mutex. Texts returned live in the arena.
 */
#ifndef JVIEWD_STORE_USER_H
#define JVIEWD_STORE_USER_H

#include "base/bytes.h"
#include "base/error.h"

enum {
    USER_NAME_BYTES_MAX = 64,   /* of a baseline, of a tag */
    USER_TEXT_BYTES_MAX = 4000, /* of a note */
    USER_LINK_BYTES_MAX = 6000, /* of an address */
    USER_ROWS_MAX = 100000,     /* of each kind */
    USER_LINK_ID_SIZE = 27,     /* 128 bits in base 32, and a NUL */
};

struct user;

/* `data_dir` "" is $XDG_DATA_HOME/jviewd, else ~/.local/share/jviewd. Touches no file. */
void user_open(const char *data_dir, struct user **ret);
void user_close(struct user *user); /* takes NULL */
/* Why nothing can be written, or nothing be read; "" when all is well. */
struct str user_trouble(struct user *user, struct arena *arena);
/* Changes with what anybody wrote. NULL: 0. */
uint64_t user_generation(struct user *user);

struct user_baseline {
    struct str name, content_id, run_name; /* the run's name when it was set */
    int64_t set_ns;
};
/* Letters, digits, ".", "_", "-", "+"; not "latest". */
bool user_name_is_good(struct str name);
MUST_CHECK enum status user_set_baseline(struct user *user, const struct user_baseline *baseline,
                                         struct error *err);
MUST_CHECK enum status user_remove_baseline(struct user *user, struct str name, struct error *err);
/* By name. */
MUST_CHECK enum status user_baselines(struct user *user, struct arena *arena,
                                      struct user_baseline **ret, uint32_t *ret_count,
                                      struct error *err);
/* False: there is none of that name. */
bool user_baseline(struct user *user, struct str name, struct arena *arena,
                   struct user_baseline *ret);

struct user_note {
    int64_t id;
    struct str content_id, run_name, text;
    struct str track; /* "" none */
    bool has_window;
    int64_t start_ps, end_ps;
    int64_t made_ns, changed_ns;
};
/* Of one content, or of all with "": by run, then by where they stand. */
MUST_CHECK enum status user_notes(struct user *user, struct str content_id, struct arena *arena,
                                  struct user_note **ret, uint32_t *ret_count, struct error *err);
/* id 0: a new one. Else its text, window and track are replaced; ERR_NOT_FOUND where it is gone. */
MUST_CHECK enum status user_put_note(struct user *user, const struct user_note *note,
                                     int64_t *ret_id, struct error *err);
MUST_CHECK enum status user_remove_note(struct user *user, int64_t id, struct error *err);

struct user_tag {
    struct str content_id, tag;
};
/* By content id, then by tag; of one content, or of all with "". */
MUST_CHECK enum status user_tags(struct user *user, struct str content_id, struct arena *arena,
                                 struct user_tag **ret, uint32_t *ret_count, struct error *err);
MUST_CHECK enum status user_add_tag(struct user *user, struct str content_id, struct str tag,
                                    struct error *err);
MUST_CHECK enum status user_remove_tag(struct user *user, struct str content_id, struct str tag,
                                       struct error *err);

/* What hangs on the first content hangs on the second from now on. Where nothing does, nothing is
 * written. */
MUST_CHECK enum status user_move(struct user *user, struct str from, struct str to,
                                 struct error *err);

/* The id of an address: the same for the same. */
MUST_CHECK enum status user_add_link(struct user *user, struct str address,
                                     char ret[USER_LINK_ID_SIZE], struct error *err);
/* "" no such link. */
struct str user_link(struct user *user, struct str id, struct arena *arena);

#endif
