/* SPDX-License-Identifier: Apache-2.0 */
/* What a file's name promises. */
#ifndef JVIEWD_DISCOVER_HINT_H
#define JVIEWD_DISCOVER_HINT_H

#include "base/bytes.h"

enum hint_kind {
    HINT_NONE,
    HINT_XPLANE,
    HINT_TRACE_JSON, /* Chrome JSON by its name */
    HINT_JSON,       /* any other JSON */
    HINT_PPROF,
    HINT_HLO, /* a compiled module, or what else XLA dumps of it */
    HINT_NSYS,
    HINT_NSYS_JAX, /* a table by which nsys-jax's directories are known */
    HINT_TABLE,    /* one that only counts in such a directory */
    HINT_PERFETTO,
    HINT_SPOOL,  /* what jview-collect records of a process */
    HINT_BUNDLE, /* a whole run in one file */
    HINT_ANY,    /* a suffix that says nothing of the content: .pb, .gz, .zip */
};

struct hint {
    enum hint_kind kind;
    struct str stem;   /* the name without its suffixes */
    bool certain;      /* the name says profile */
    bool is_text_form; /* of a module that is dumped as a message, too: says less */
};

struct hint hint_of(struct str name);
/* "module_0036.jit_step": a module of XLA's dump, or a directory of its own files. */
bool hint_is_module(struct str name);
/* Directories that hold no profiles and many files: .git, node_modules. */
bool hint_skips_directory(struct str name);

#endif
