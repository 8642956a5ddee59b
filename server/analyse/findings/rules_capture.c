/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what the recorder and the decoder said of the file: what follows from it. */
#include "analyse/findings/findings.h"

static bool text_has_any(struct str text, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_contains(text, str_of(parts[i])))
            return true;
    }
    return false;
}

static bool is_from_collector(const struct answer_note *note)
{
    return strcmp(note->kind, "collector-error") == 0 ||
           strcmp(note->kind, "collector-warning") == 0;
}

/* The profiler says itself that it was not alone. */
static bool tells_of_two(const struct answer_note *note)
{
    static const char *const parts[] = {"nother profil",     "lready profil",      "lready in use",
                                        "MULTIPLE_SUBSCRIB", "rofiler is already", "nother tool"};

    return is_from_collector(note) && text_has_any(note->message, parts, COUNT(parts));
}

static bool tells_of_loss(const struct answer_note *note)
{
    static const char *const words[] = {"drop",    "Drop",           "lost",
                                        "Lost",    "overflow",       "exceed",
                                        "truncat", "buffer is full", "buffers full"};
    static const char *const kinds[] = {"capped", "data-loss", "lost-events", "dropped"};

    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (strcmp(note->kind, kinds[i]) == 0)
            return true;
    }
    return is_from_collector(note) && text_has_any(note->message, words, COUNT(words));
}

static bool tells_of_cut(const struct answer_note *note)
{
    return strcmp(note->kind, "truncated") == 0 && note->severity != NOTE_INFO;
}

static bool tells_of_damage(const struct answer_note *note)
{
    return (strcmp(note->kind, "corrupt") == 0 || strcmp(note->kind, "damaged") == 0) &&
           note->severity == NOTE_ERROR;
}

static bool tells_of_trouble(const struct answer_note *note)
{
    return strcmp(note->kind, "collector-error") == 0 && !tells_of_loss(note) &&
           !tells_of_two(note);
}

struct told { /* what a note means */
    bool (*tells)(const struct answer_note *note);
    enum severity severity;
    const char *text, *remedy;
};

/* One finding a note: the decoder saw it, the rule says what follows. */
static enum status find_told(struct memo *memo, const struct told *told, struct finding_list *list,
                             struct error *err)
{
    const struct note_list *notes;

    TRY(memo_notes(memo, &notes, err));
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct answer_note *note = &notes->items[i];

        if (!told->tells(note))
            continue;

        struct finding finding = {
            .severity = told->severity,
            .confidence = CONFIDENCE_HIGH,
            .text = str_format(memo->arena, "%s %.*s%s%.*s%s", told->text, STR_ARG(note->message),
                               note->host.count > 0 ? " (" : "", STR_ARG(note->host),
                               note->host.count > 0 ? ")" : ""),
            .remedy = str_of(told->remedy),
        };

        finding_prove_count(&finding, note->kind, note->count)->view = "files";
        findings_add(list, &finding);
    }
    return OK;
}

static enum status find_cut_off(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct told told = {
        tells_of_cut, SEVERITY_CRITICAL,
        "The file is truncated, so totals and shares cover its first part only.",
        "Copy the file again, or record again and let {jax+!nsys:`jax.profiler.stop_trace()` "
        "return}{!jax:the profiler end}{jax+nsys:the profiler end} before the program ends."};

    return find_told(memo, &told, list, err);
}

static enum status find_damaged(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct told told = {
        tells_of_damage, SEVERITY_CRITICAL,
        "Parts of the profile cannot be read, so every total is a lower bound.",
        "Copy the file again in binary mode; if it is the original, record again."};

    return find_told(memo, &told, list, err);
}

static enum status find_dropped(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct told told = {
        tells_of_loss, SEVERITY_CRITICAL,
        "The recorder dropped events, so totals, counts and gaps are incomplete.",
        "Record fewer steps, or less of each{jax+!nsys:: lower `host_tracer_level`, set "
        "`python_tracer_level=0` in `jax.profiler.ProfileOptions`; open the .xplane.pb instead of "
        "the trace.json.gz}{kineto:: without `with_stack` and `record_shapes`}."};

    return find_told(memo, &told, list, err);
}

static enum status find_two(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct told told = {
        tells_of_two, SEVERITY_CRITICAL,
        "Another profiler was attached at the same time, so device events are missing or partial.",
        "Record with one profiler at a time: stop {nvidia:`nsys`, `ncu`, DCGM profiling or }the "
        "other {jax:`jax.profiler` }session first."};

    return find_told(memo, &told, list, err);
}

static enum status find_trouble(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct told told = {tells_of_trouble, SEVERITY_WARNING,
                              "The profiler itself reported an error.",
                              "Read its message: what it names is missing from every table."};

    return find_told(memo, &told, list, err);
}

const struct rule rules_capture[] = {
    {"profile-cut-off", "capture", "a file is truncated", find_cut_off},
    {"profile-damaged", "capture", "parts of a file cannot be read", find_damaged},
    {"events-dropped", "capture", "the profiler reports lost events, or stopped at its limit",
     find_dropped},
    {"two-profilers", "capture", "the profiler reports that another profiler was attached",
     find_two},
    {"profiler-error", "capture", "the profiler wrote an error into the file", find_trouble},
    {.name = NULL},
};
