/* SPDX-License-Identifier: Apache-2.0 */
/* Who says what about whom in a session.
 *
 *   hostA.xplane.pb            rank 0   the truth, of host "hostA"
 *   hostA.xplane.pb.xz         rank 1   the same once more
 *   hostA.jvs                  rank 2   what jview-collect recorded there
 *   hostA.trace.json.gz        rank 3   the profiler's own export, capped at 1,000,000 events
 *   remote.trace.json.gz       rank 4   what a remote capture left: of the one host there is
 *   perfetto_trace.json.gz     rank 5   made by create_perfetto_trace from the export
 *
 * The last two are never hosts while anything else is there.
 */
#include "base/names.h"
#include "discover/run_builder.h"
#include "discover/session.h"

enum rank {
    RANK_XPLANE,
    RANK_XPLANE_AGAIN,
    RANK_SPOOL,
    RANK_EXPORT,
    RANK_REMOTE,
    RANK_PERFETTO,
    RANK_NONE
};

static enum rank rank_of(struct hint hint)
{
    if (hint.kind == HINT_XPLANE)
        return RANK_XPLANE;
    if (hint.kind == HINT_SPOOL)
        return RANK_SPOOL;
    if (hint.kind != HINT_TRACE_JSON)
        return RANK_NONE;
    if (str_equal(hint.stem, STR("perfetto_trace")))
        return RANK_PERFETTO;
    return str_equal(hint.stem, STR("remote")) ? RANK_REMOTE : RANK_EXPORT;
}

struct cast {            /* who has a role so far */
    struct names *hosts; /* that have a trace */
    uint32_t trace_count;
    struct str last;
    bool has_nameless; /* "" is in `hosts` from the beginning */
};

static void give_role(struct cast *cast, struct scan_run_file *file, struct hint hint,
                      enum rank rank)
{
    name_id id;

    file->rank = rank;
    file->host = hint.stem;
    if (rank >= RANK_REMOTE && cast->trace_count > 0) {
        file->role = SCAN_COPY;
        file->host = cast->trace_count == 1 ? cast->last : STR("");
    } else if (names_find(cast->hosts, hint.stem, &id) &&
               (hint.stem.count > 0 || cast->has_nameless)) {
        file->role = SCAN_COPY;
        file->rank = rank == RANK_XPLANE ? RANK_XPLANE_AGAIN : rank;
    } else {
        file->role = SCAN_TRACE;
        names_add(cast->hosts, hint.stem);
        cast->trace_count++;
        cast->last = hint.stem;
        cast->has_nameless |= hint.stem.count == 0;
    }
}

void roles_of_session(const struct group *group, const struct place *place,
                      struct scan_run_file *ret)
{
    struct cast cast = {.hosts = names_create()};

    for (uint32_t i = 0; i < place->count; i++)
        ret[i] =
            (struct scan_run_file){.file = place->order[i], .role = SCAN_OTHER, .rank = RANK_NONE};
    for (enum rank rank = RANK_XPLANE; rank < RANK_NONE; rank++) {
        for (uint32_t i = 0; i < place->count; i++) {
            struct hint hint = group->hints[place->order[i]];

            if (rank_of(hint) == rank)
                give_role(&cast, &ret[i], hint, rank);
        }
    }
    names_destroy(cast.hosts);
}
