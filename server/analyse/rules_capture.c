/* Rules about the recording itself: what is missing from it, and which figures that makes wrong. */
#include "analyse/findings.h"
#include "analyse/overview.h"

/* Notes of this kind are what the decoder saw; the rule says what follows. */
static enum status find_cut_off(struct facts *facts, struct finding_list *list, struct error *err)
{
    const struct answer_note *notes;
    uint32_t count = run_notes(facts->run, facts->arena, &notes);

    (void)err;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(notes[i].kind, "truncated") != 0)
            continue;

        struct finding finding = {
            .severity = SEVERITY_CRITICAL,
            .confidence = CONFIDENCE_HIGH,
            .text = str_format(facts->arena,
                               "The profile%s%.*s is cut off, so sums and shares stand for its "
                               "first part only. %.*s",
                               notes[i].host.count > 0 ? " of " : "", STR_ARG(notes[i].host),
                               STR_ARG(notes[i].message)),
            .remedy = STR("Copy the file again, or record again and let "
                          "`jax.profiler.stop_trace()` return before the program ends."),
        };

        finding_prove(&finding,
                      (struct evidence){EVIDENCE, .name = STR("files cut off"),
                                        .value = {.kind = CELL_UNSIGNED, .of.uint = notes[i].count},
                                        .unit = UNIT_COUNT, .view = "files"});
        findings_add(list, &finding);
    }
    return OK;
}

const struct rule rules_capture[] = {
    {"profile-cut-off", "capture", "a file of the run ends before what it holds does",
     find_cut_off},
    {.name = NULL},
};
