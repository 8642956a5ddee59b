/* SPDX-License-Identifier: Apache-2.0 */
/* What must be said beside every table of collectives. */
#include <stdlib.h>

#include "analyse/comm/collectives_rows.h"
#include "analyse/steps/step_of.h"
#include "base/human.h"
#include "trace/ps.h"

enum { NOTES_MAX = 64 };

static void add_note(struct table *table, struct answer_note *notes, const char *kind,
                     enum note_severity severity, struct str host, struct str message,
                     uint64_t count)
{
    if (table->note_count < NOTES_MAX)
        notes[table->note_count++] = (struct answer_note){
            .kind = kind, .severity = severity, .message = message, .host = host, .count = count};
}

/* What nobody left before everybody came leaves open. */
static struct str bounds_text(const struct alignment *alignment, struct arena *arena)
{
    if (!alignment->bounded)
        return STR("");
    return str_format(arena, "; between %.3f ms behind and %.3f ms ahead",
                      -(double)alignment->low_ps / 1e9, (double)alignment->high_ps / 1e9);
}

static struct str clock_text(const struct alignment *alignment, struct str first,
                             struct arena *arena)
{
    double skew_us = (double)llabs(alignment->skew_ps) / 1e6;
    double spread_us = (double)alignment->spread_ps / 1e6;

    if (llabs(alignment->skew_ps) <= alignment->spread_ps)
        return str_format(arena,
                          "its clock and %.*s's agree within %.3f us, by %u collectives or "
                          "launches of both",
                          STR_ARG(first), spread_us, alignment->pair_count);
    return str_format(arena,
                      "its clock is %.3f us %s %.*s's, measured by the ends of %u collectives or "
                      "launches; 80 %% of them agree within %.3f us",
                      skew_us, alignment->skew_ps > 0 ? "ahead of" : "behind", STR_ARG(first),
                      alignment->pair_count, spread_us);
}

static void note_clocks(const struct run_traces *run, const struct collectives *found,
                        struct arena *arena, struct answer_note *notes, struct table *ret)
{
    for (uint32_t i = 1; i < run->host_count; i++) {
        const struct alignment *alignment = &found->alignments[i];
        struct str host = run->hosts[i].name, first = run->hosts[0].name;

        if (alignment->known)
            add_note(ret, notes, "clock-skew", NOTE_INFO, host, clock_text(alignment, first, arena),
                     alignment->pair_count);
        else
            add_note(ret, notes, "clock-skew-unknown", NOTE_WARNING, host,
                     str_format(arena, "the offset of its clock from %.*s's is not known: %s%.*s",
                                STR_ARG(first), alignment->reason,
                                STR_ARG(bounds_text(alignment, arena))),
                     1);
    }
}

/* Steps, their breakdown and the hosts in them tell of what lies in counted steps alone. */
static enum status note_steps(const struct run_traces *run, const struct collectives *found,
                              const struct steps *all_steps, struct arena *arena,
                              struct answer_note *notes, struct table *ret, struct error *err)
{
    struct step_places places;
    uint64_t count = 0;
    int64_t outside_ps = 0;

    TRY(step_places_find(run, all_steps, arena, &places, err));
    for (uint32_t i = 0; i < found->run_count && places.count > 0; i++) {
        const struct collective_run *one = &found->runs[i];
        const struct step *step = step_at(&places, one->host, one->start_ps);

        if (step != NULL && step_counts(places.steps, step))
            continue;
        ps_add(&outside_ps, one->inside_ps);
        count++;
    }
    if (count > 0)
        add_note(ret, notes, "outside-steps", NOTE_INFO, STR(""),
                 str_format(arena,
                            "%llu of %u executions, %s in total, begin outside the counted steps "
                            "and are not included in the steps' figures",
                            (unsigned long long)count, found->run_count, human_ps(outside_ps).text),
                 count);
    return OK;
}

enum status collectives_note(const struct run_traces *run, const struct collectives *found,
                             const struct steps *all_steps, struct arena *arena, struct table *ret,
                             struct error *err)
{
    struct answer_note *notes = arena_array(arena, struct answer_note, NOTES_MAX);
    uint64_t unknown = 0;

    ret->notes = notes;
    note_clocks(run, found, arena, notes, ret);
    if (found->run_count == 0) {
        add_note(ret, notes, "no-collectives", NOTE_INFO, STR(""),
                 STR("the selection holds no communication between devices"), 1);
        return OK;
    }
    TRY(note_steps(run, found, all_steps, arena, notes, ret, err));
    if (found->wait_reason != NULL)
        add_note(
            ret, notes, "waits-unknown", NOTE_INFO, STR(""),
            str_format(arena, "which device waited for which is not known: %s", found->wait_reason),
            1);
    else if (found->unmatched_count > 0)
        add_note(ret, notes, "waits-partly-unknown", NOTE_INFO, STR(""),
                 STR("executions without counterparts on other devices have no wait"),
                 found->unmatched_count);
    if (found->by_length_count > 0)
        add_note(ret, notes, "waits-by-length", NOTE_INFO, STR(""),
                 STR("between hosts whose clock offset is unknown, the shortest execution of a "
                     "collective is taken as the last to arrive, since all end together"),
                 found->by_length_count);
    for (uint32_t i = 0; i < found->run_count; i++)
        unknown += !found->items[found->runs[i].collective].has_bytes;
    if (unknown > 0)
        add_note(ret, notes, "size-unknown", NOTE_INFO, STR(""),
                 STR("executions whose size the file does not hold have no bandwidth"), unknown);
    add_note(ret, notes, "bandwidth", NOTE_INFO, STR(""),
             STR("bus bandwidth = size / time x 2(n-1)/n (all-reduce), (n-1)/n (all-gather of its "
                 "result, reduce-scatter and all-to-all of their input), 1 (others), as in "
                 "nccl-tests; the time includes the wait for the last device"),
             1);
    return OK;
}
