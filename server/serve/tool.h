/* SPDX-License-Identifier: Apache-2.0 */
/* A tool of agents (serve/mcp): declared with the endpoint that answers it, or that it begins with.
 *
 * Its arguments become parameters of the endpoints that take them; no name of a profile ever stands
 * in its words. The macros are arguments that many tools have.
 */
#ifndef JVIEWD_SERVE_TOOL_H
#define JVIEWD_SERVE_TOOL_H

#include <stdbool.h>

enum tool_type { TOOL_TEXT, TOOL_INTEGER, TOOL_WORD };

struct tool_argument {
    const char *name; /* NULL ends a list */
    enum tool_type type;
    bool required;
    const char *text;  /* "{views}" in it: the views of SQL, by comma */
    const char *words; /* of TOOL_WORD: "a|b" */
};

struct tool_part {               /* one question of several */
    const char *member;          /* where its answer stands */
    const char *path;            /* NULL ends a list */
    const char *fixed, *columns; /* as in struct tool */
};

struct tool {
    const char *name, *title, *text; /* no name ends a list */
    const struct tool_argument *arguments;
    const char *fixed;             /* parameters unless arguments say them: "limit=20" */
    const char *columns;           /* of rows, by blanks; NULL: all */
    const struct tool_part *parts; /* NULL: its endpoint's answer is the whole answer */
    int limit_max;                 /* of its argument "limit"; 0: what the endpoint takes */
    unsigned rank;                 /* as offers.h says */
};

#define TOOL_RUN                                                                                   \
    {                                                                                              \
        "run", TOOL_TEXT, true,                                                                    \
            "A run: its name, a unique end of it, an id, latest, latest-1 or a step number", NULL  \
    }
#define TOOL_TOKENS                                                                                \
    {                                                                                              \
        "max_tokens", TOOL_INTEGER, false,                                                         \
            "Approximate length limit of the answer (default 3500); the answer says what it left " \
            "out",                                                                                 \
            NULL                                                                                   \
    }
#define TOOL_PAGE                                                                                  \
    {"limit", TOOL_INTEGER, false, "Maximum number of rows", NULL},                                \
    {                                                                                              \
        "cursor", TOOL_TEXT, false, "Where to continue: the `next` of the previous answer", NULL   \
    }
#define TOOL_WINDOW                                                                                \
    {"start_ps", TOOL_INTEGER, false, "Window begin, picoseconds of run time", NULL},              \
    {                                                                                              \
        "end_ps", TOOL_INTEGER, false, "Window end", NULL                                          \
    }
#define TOOL_END                                                                                   \
    {                                                                                              \
        NULL, TOOL_TEXT, false, NULL, NULL                                                         \
    }

/* Of ops and kernels: what a reader needs. */
#define TOOL_OP_COLUMNS                                                                            \
    "name kind category module scope source phase count total_ps self_ps share mean_ps p95_ps "    \
    "flops bytes bound_by"

#endif
