/* SPDX-License-Identifier: Apache-2.0 */
/* Where an endpoint is found besides its path: declared with it, in its own file, and read from the
 * table of endpoints by who shows it.
 *
 *   struct view        a table of SQL                           serve/sql
 *   struct ahead       a question asked before anybody does     serve/prepare
 *   struct in_bundle   an answer that a page on its own holds   serve/bundle
 *   struct verb        a verb of the command line               cli
 *   struct tool        a tool of agents: serve/tool.h           serve/mcp
 *
 * Lists end with a nameless item. What has a rank stands in its order, 1 first; what has none (0)
 * stands behind, in the order of the table of endpoints.
 */
#ifndef JVIEWD_SERVE_OFFERS_H
#define JVIEWD_SERVE_OFFERS_H

#include "analyse/analyse.h"

/* A table of the whole run, with all its rows. */
typedef enum status make_view(const struct run_traces *run, const struct page *page,
                              struct arena *arena, struct table *ret, struct error *err);
struct view {
    const char *name;
    const char
        *columns; /* of the table, by blanks, as serve/sql/sql_parts.h types them: "#count" */
    make_view *make;
    const char *kept; /* parameters besides run= with which the endpoint's answer is the same table,
                         which a server keeps then: "by=op", ""; NULL: there are none */
    bool others;      /* looks at files that are no hosts, too: run_traces.others */
    unsigned rank;
};

/* Asked of a large run that was just indexed, as the pages ask. Tables are kept whole, so their
 * pages and orders need not be asked. */
struct ahead {
    const char *params; /* besides run=: "by=op", "" */
    bool shares;        /* the analyses of other such questions: they come first, together */
};

/* What a view of the page asks for. Bytes are spent in the order of ranks. */
struct in_bundle {
    const char *params; /* besides run= and limit=: "by=op", "" */
    int limit;          /* 0: the endpoint takes none */
    const char *what;   /* of which there may be more: "ops" */
    unsigned rank;
};

/* What a verb is told to do: `baseline set NAME RUN`. */
struct verb_action {
    const char *name;     /* NULL ends a list; the first is meant where none is given */
    const char *operands; /* "NAME RUN"; "RUN" is taken as a path or a name */
};

/* Its flags are the endpoint's parameters. An answer that is no table has a printer in cli/. */
struct verb {
    const char *name;
    const char *summary;               /* one line, for --help */
    const char *operands;              /* "RUN", "RUN QUERY", "[PATH...]": as in the usage line */
    const char *needs;                 /* the parameter that the second operand fills, or NULL */
    const struct verb_action *actions; /* or NULL */
    const char *posts;                 /* the member of the body that the second operand fills: RUN
                                          may then be --all; or NULL */
    const char *sends;                 /* the body that is posted with its flags; or NULL */
    const char *repeats;               /* a parameter whose flag may stand several times; or NULL */
    bool reads_stdin;                  /* "-" for RUN: what is piped in */
    bool two_runs;                     /* operands fill a= and b=; the verb takes no run= */
    bool many_runs;                    /* operands fill runs=; the verb takes no run= */
    const char *other_run;             /* the parameter that names a second run, or NULL */
    /* A flag that is no parameter, and what it means; or NULL. */
    const char *own_flag, *own_flag_text;
    const char *note; /* what --help says at its end; or NULL */
};

struct tool;

#endif
