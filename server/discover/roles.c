/* Who says what about whom in a session.
 *
 *   hostA.xplane.pb            rank 0   the truth, of host "hostA"
 *   hostA.xplane.pb.xz         rank 1   the same once more
 *   hostA.trace.json.gz        rank 2   the profiler's own export, capped at 1,000,000 events
 *   remote.trace.json.gz       rank 3   what a remote capture left: of the one host there is
 *   perfetto_trace.json.gz     rank 4   made by create_perfetto_trace from the export
 *
 * The last two are never hosts while anything else is there.
 */
#include "discover/draft.h"
#include "discover/session.h"

enum rank { RANK_XPLANE, RANK_XPLANE_AGAIN, RANK_EXPORT, RANK_REMOTE, RANK_PERFETTO, RANK_NONE };

static enum rank rank_of(struct hint hint)
{
    if (hint.kind == HINT_XPLANE)
        return RANK_XPLANE;
    if (hint.kind != HINT_TRACE_JSON)
        return RANK_NONE;
    if (str_equal(hint.stem, STR("perfetto_trace")))
        return RANK_PERFETTO;
    return str_equal(hint.stem, STR("remote")) ? RANK_REMOTE : RANK_EXPORT;
}

static bool is_spoken_for(const struct scan_run_file *files, uint32_t count, struct str host)
{
    for (uint32_t i = 0; i < count; i++)
        if (files[i].role == SCAN_TRACE && str_equal(files[i].host, host))
            return true;
    return false;
}

static uint32_t count_traces(const struct scan_run_file *files, uint32_t count,
                             struct str *ret_host)
{
    uint32_t traces = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (files[i].role != SCAN_TRACE)
            continue;
        *ret_host = files[i].host;
        traces++;
    }
    return traces;
}

static void give_role(struct scan_run_file *files, uint32_t count, uint32_t index, struct hint hint,
                      enum rank rank)
{
    struct scan_run_file *file = &files[index];
    struct str only = {0};
    uint32_t traces = count_traces(files, count, &only);

    file->rank = rank;
    file->host = hint.stem;
    if (rank >= RANK_REMOTE && traces > 0) {
        file->role = SCAN_COPY;
        file->host = traces == 1 ? only : STR("");
    } else if (is_spoken_for(files, count, hint.stem)) {
        file->role = SCAN_COPY;
        file->rank = rank == RANK_XPLANE ? RANK_XPLANE_AGAIN : rank;
    } else {
        file->role = SCAN_TRACE;
    }
}

void roles_of_session(const struct group *group, const struct place *place,
                      struct scan_run_file *ret)
{
    struct hint *hints = arena_array(group->arena, struct hint, place->count);

    for (uint32_t i = 0; i < place->count; i++) {
        hints[i] = hint_of(path_base(group->files[place->order[i]].path));
        ret[i] =
            (struct scan_run_file){.file = place->order[i], .role = SCAN_OTHER, .rank = RANK_NONE};
    }

    for (enum rank rank = RANK_XPLANE; rank < RANK_NONE; rank++) {
        for (uint32_t i = 0; i < place->count; i++) {
            if (rank_of(hints[i]) == rank)
                give_role(ret, place->count, i, hints[i], rank);
        }
    }
}
