/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer about the path must say beside its rows. */
#include "analyse/critical/critical_parts.h"

static double share(int64_t part_ps, int64_t of_ps)
{
    return of_ps > 0 ? 100.0 * (double)part_ps / (double)of_ps : 0;
}

static void note(struct answer_note *ret, uint32_t *count, const char *kind,
                 enum note_severity severity, struct str message, uint64_t how_many)
{
    ret[(*count)++] = (struct answer_note){
        .kind = kind, .severity = severity, .message = message, .count = how_many};
}

uint32_t critical_notes(const struct critical_doubts *doubts, struct arena *arena,
                        struct answer_note *ret)
{
    uint32_t count = 0;

    if (doubts->no_steps)
        note(ret, &count, "no-steps", NOTE_INFO,
             STR("the run has no steps: the path is that of all of its time"), 1);
    if (doubts->step_count < doubts->step_count_all)
        note(ret, &count, "steps-sampled", NOTE_INFO,
             str_format(arena, "%u of %u steps are summed, evenly sampled", doubts->step_count,
                        doubts->step_count_all),
             doubts->step_count_all - doubts->step_count);
    if (doubts->unexplained_ps > 0)
        note(ret, &count, "unexplained",
             share(doubts->unexplained_ps, doubts->total_ps) > 10 ? NOTE_WARNING : NOTE_INFO,
             str_format(arena,
                        "%.1f %% of the time is unexplained: the profile records nothing for it",
                        share(doubts->unexplained_ps, doubts->total_ps)),
             1);
    if (doubts->likely_ps > 0)
        note(ret, &count, "likely", NOTE_INFO,
             str_format(arena,
                        "%.1f %% of the time depends on edges that are only likely: they are "
                        "inferred from times, since the profile holds no links for them",
                        share(doubts->likely_ps, doubts->total_ps)),
             1);
    if (doubts->cut_count > 0)
        note(ret, &count, "edges-cut", NOTE_WARNING,
             str_format(arena,
                        "%llu edges lead back in time, because clocks differ or times are coarse: "
                        "they are left out",
                        (unsigned long long)doubts->cut_count),
             doubts->cut_count);
    if (doubts->left_out_count > 0)
        note(ret, &count, "slices-left-out", NOTE_WARNING,
             STR("the step has more slices than a graph can hold: the deepest are counted with the "
                 "slices around them"),
             doubts->left_out_count);
    if (doubts->hosts_apart)
        note(ret, &count, "hosts-apart", NOTE_INFO,
             STR("the hosts have no common clock: waits of one host for another are not shown"), 1);
    return count;
}
