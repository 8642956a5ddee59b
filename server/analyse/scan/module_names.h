/* SPDX-License-Identifier: Apache-2.0 */
/* What modules are called: by their names, and where several that ran bear one name, by their
 * numbers too, as "jit_f(6)". Every table says it so, and every `module=` takes it. */
#ifndef JVIEWD_ANALYSE_SCAN_MODULE_NAMES_H
#define JVIEWD_ANALYSE_SCAN_MODULE_NAMES_H

#include "analyse/analyse.h"

/* By program of the trace: its name, with the number where another that ran bears it too. */
struct module_names {
    const struct trace *trace;
    const struct str *of;
};

struct module_names module_names_of(const struct host_trace *host, struct arena *arena);
/* Of an op: its program's, else as the file says it; "" unknown. */
struct str module_name_of(const struct module_names *names, const struct op *op);
/* Is "jit_f(6)" or "jit_f" asked for, where the module of that name has that number? */
bool module_is_called(struct str name, uint64_t number, struct str asked);
/* "jit_f" of "jit_f(6)" */
struct str module_bare(struct str asked);
/* Is the op's module called so, with or without its number? */
bool module_is(const struct trace *trace, const struct op *op, struct str asked);
/* ERR_NOT_FOUND says the nearest name, where no op of the hosts is of such a module. */
MUST_CHECK enum status module_find(const struct host_trace *const *hosts, uint32_t count,
                                   struct str asked, struct error *err);

#endif
