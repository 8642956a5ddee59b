/* SPDX-License-Identifier: Apache-2.0 */
/* What one rule says of a run made in memory: for tests of rules. */
#ifndef JVIEWD_TESTS_FINDINGS_OF_H
#define JVIEWD_TESTS_FINDINGS_OF_H

#include "unit/analyse/made_run.h"

#include "analyse/findings/findings.h"

static inline struct findings run_findings(const struct made_run *run,
                                           struct restriction restriction)
{
    struct restriction *asked = arena_new(run->made.arena, struct restriction);
    struct findings ret;

    *asked = restriction;
    findings_find(memo_create(&run->run, asked, run->made.arena), &ret);
    return ret;
}

/* The best finding of the rule; NULL: it found nothing. */
static inline const struct finding *run_finding(const struct made_run *run, const char *rule)
{
    struct findings all = run_findings(run, (struct restriction){0});

    CHECK(rule, rule_find(str_of(rule)) != NULL);
    for (uint32_t i = 0; i < all.count; i++) {
        if (strcmp(all.items[i].rule->name, rule) == 0)
            return &all.items[i];
    }
    return NULL;
}

#define CHECK_FINDS(run, rule) CHECK("finds " rule, run_finding((run), rule) != NULL)
#define CHECK_FINDS_NOT(run, rule) CHECK("finds no " rule, run_finding((run), rule) == NULL)
/* The sentence holds the part: numbers of a rule's text. */
#define CHECK_SAYS(run, rule, part)                                                                \
    do {                                                                                           \
        const struct finding *said_ = run_finding((run), rule);                                    \
        CHECK("finds " rule, said_ != NULL);                                                       \
        CHECK_HAS(rule, str_c((run)->made.arena, said_->text), part);                              \
    } while (0)

#endif
