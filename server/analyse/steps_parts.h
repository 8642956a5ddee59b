/* Inside steps*.c: one finder a rule, each for one host. */
#ifndef JVIEWD_ANALYSE_STEPS_PARTS_H
#define JVIEWD_ANALYSE_STEPS_PARTS_H

#include "analyse/steps.h"

struct step_list {
    struct step *items;
    uint32_t count, capacity;
};

void find_annotated(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_on_lines(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_on_derived_lines(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_executions(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_repeated(const struct host_trace *host, uint32_t index, struct step_list *list);

/* Does something compile inside? */
bool step_compiles(const struct host_trace *host, const struct step *step);

#endif
