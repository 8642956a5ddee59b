/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: what a person who knows profiles would say of this run, and where they saw it.
 *
 *   registry   themes -> rules                              analyse/findings/findings_registry.c
 *   rule       asks the memo, adds what it found           analyse/rules_THEME.c
 *   memo      every analysis, made when first asked for    analyse/findings/memo.h
 *   list       the best of each rule, ranked over all by the time they would win, by replay where
 *              one tells; a win of low confidence counts a quarter, and none exceeds all the time
 *              there was
 *
 * A rule asks analyses, never the file's bytes. It adds a finding only for what it can prove: each
 * finding carries its evidence, and what a rule cannot know it leaves unsaid. A rule that fails is
 * named in a note and hides no other.
 *
 * To add a rule: write `static enum status find_x(...)`, put `{.name = "x", ...}` into the array at
 * the end of its theme's file. To add a theme: one line in the registry.
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_FINDINGS_H
#define JVIEWD_ANALYSE_FINDINGS_FINDINGS_H

#include "analyse/findings/memo.h"

enum severity {                    /* what it does to the user's question */
                SEVERITY_INFO,     /* good to know: explains a number, limits none */
                SEVERITY_WARNING,  /* costs time, or makes some figures incomplete */
                SEVERITY_CRITICAL, /* costs much of the time, or makes the figures wrong */
};
enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

#define NO_HOST UINT32_MAX

/* One number or place that proves a finding, and where a click on it leads. Made by finding_prove,
 * which sets every "no such"; then the rule says what it knows:
 *
 *   struct evidence *proof = finding_prove_ps(&finding, "longest gap", gap_ps);
 *   proof->host = host, proof->has_window = true, proof->start_ps = ..., proof->end_ps = ...;
 */
struct evidence {
    struct str name;   /* "longest gap", "compilations of train_step" */
    struct cell value; /* integer, unsigned, real, text; null with a reason */
    enum unit unit;
    uint32_t host;            /* NO_HOST: the run */
    int64_t step;             /* number; NO_STEP */
    track_id track;           /* of `host`; NO_TRACK */
    slice_id slice;           /* of `host`: becomes the focus; NO_SLICE */
    bool has_window;          /* else no place in time */
    int64_t start_ps, end_ps; /* run time */
    const char *view;         /* the page that shows it: "ops", "kernels", ...; NULL the timeline */
    const char *by;           /* of that page's table; NULL its own default */
    struct str find;          /* name= of that page or the timeline: exact; "" none */
    struct str module;        /* module= ; "" none */
};
enum { EVIDENCE_MAX = 8, FINDINGS_PER_RULE = 5 };

struct finding {
    const struct rule *rule; /* set by the list */
    uint32_t rank;           /* from 1, among all; set at the end */
    enum severity severity;
    enum confidence confidence;
    struct str text;   /* a sentence or two with numbers; no adjective where a number can stand */
    struct str remedy; /* what to do, in the imperative; code in backticks; parts by
                                platform.h */
    bool has_win;
    int64_t win_ps;        /* at most: over all counted steps of the run, or the capture without */
    struct str win_reason; /* why it is not known, where it is not */
    bool has_replay;       /* a replay of the steps says what it wins (win_replay.h) */
    int64_t replay_ps;     /* over the same; 0 ... win_ps */
    uint32_t same_time_as; /* rank of the first before it that wins, or may win, the same time; 0:
                              none; set at the end */
    struct evidence evidence[EVIDENCE_MAX + 1]; /* the last one takes what is too much */
    uint32_t evidence_count;
    uint64_t more_count; /* of its rule that were not kept: only at the last one that was */
};

struct finding_list; /* of one rule while it looks */
struct rule {
    const char *name;  /* "compile-in-steps": a stable word, also in links */
    const char *theme; /* compute launch steps compile transfer comm memory capture */
    const char *when;  /* what triggers it, a clause: "a step holds a compilation" */
    enum status (*find)(struct memo *memo, struct finding_list *list, struct error *err);
};

/* Keeps it if it is among the rule's FINDINGS_PER_RULE best; counts the others. Texts must live in
 * the arena of the memo. */
void findings_add(struct finding_list *list, const struct finding *finding);
/* The sentence, with the host in front where the run has several: "On hostA: no work ...", else "No
 * work ...". */
struct str text_on_host(struct memo *memo, uint32_t host, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* One more piece of evidence, to be completed; beyond EVIDENCE_MAX it is dropped. */
struct evidence *finding_prove(struct finding *finding, const char *name, struct cell value,
                               enum unit unit);
struct evidence *finding_prove_ps(struct finding *finding, const char *name, int64_t ps);
struct evidence *finding_prove_count(struct finding *finding, const char *name, uint64_t count);
/* The window [start, end) of a host, in run time. */
void evidence_at(struct evidence *evidence, uint32_t host, int64_t start_ps, int64_t end_ps);
static inline void finding_win(struct finding *finding, int64_t ps)
{
    finding->has_win = true;
    finding->win_ps = ps;
}

/* A file's own numbers: what they come to may be beyond all bounds. */
static inline int64_t ps_times(int64_t ps, uint64_t count)
{
    int64_t ret;

    return __builtin_mul_overflow(ps, count, &ret) ? INT64_MAX : ret;
}

static inline int64_t ps_of_real(double ps)
{
    const double most = 9e18;

    return ps >= most ? INT64_MAX : ps > -most ? (int64_t)ps : 0;
}

struct findings { /* the best first */
    const struct finding *items;
    uint32_t count;
    uint32_t rule_count; /* that were asked */
    const struct answer_note *notes;
    uint32_t note_count;
};

/* Asks every rule. Always succeeds: rules that fail are notes. */
void findings_find(struct memo *memo, struct findings *ret);

/* Of other themes than the registry's. */
void findings_of_themes(const struct rule *const *themes, uint32_t theme_count, struct memo *memo,
                        struct findings *ret);

/* Columns: rank rule theme severity confidence text replay_ps replay_share win_ps win_share
 * same_time_as more_count remedy. Default sort: "rank"; the first cell of each row is its rank. */
MUST_CHECK enum status findings_table(struct memo *memo, const struct findings *findings,
                                      const struct page *page, struct table *ret,
                                      struct error *err);

const char *severity_word(enum severity severity);
const char *confidence_word(enum confidence confidence);

const struct rule *rule_find(struct str name); /* NULL: there is none of that name */
/* Arrays that end with a nameless rule. */
extern const struct rule *const rule_themes[];
extern const uint32_t rule_theme_count;

#endif
