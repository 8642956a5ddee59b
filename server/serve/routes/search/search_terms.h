/* SPDX-License-Identifier: Apache-2.0 */
/* What a search asks for, word by word.
 *
 *   fusion dur>1ms arg.run_id=7 arg:x track:stream host:a scope:mlp source:model.py:88 "two words"
 *   `name' `-----' `----------' `---' `----------' `----' `-------' `------------------' `-------'
 *
 *   op:dot.62 module:"jit_f(2)" is:"end: dot.62"       whole, as tables print them
 *
 * Words without a sign are one text, parted by single spaces, which the name holds; all terms must
 * hold at once. ASCII case is aside but in args and in what is named whole, which are compared
 * exactly.
 */
#ifndef JVIEWD_SERVE_ROUTES_SEARCH_SEARCH_TERMS_H
#define JVIEWD_SERVE_ROUTES_SEARCH_SEARCH_TERMS_H

#include "base/bytes.h"
#include "base/error.h"

enum { SEARCH_ARGS_MAX = 8 };

struct search_arg { /* key = value */
    struct str key, value;
};

struct search_terms { /* texts in small letters; "" any */
    struct str name, track, host, scope, source, arg_text;
    struct str whole, op, module;   /* as they are, not in small letters: of the slice, of its op */
    int64_t min_dur_ps, max_dur_ps; /* both are inside */
    struct search_arg args[SEARCH_ARGS_MAX];
    uint32_t arg_count;
};

/* ERR_INVALID: a duration that is none, or more args than SEARCH_ARGS_MAX. */
MUST_CHECK enum status search_terms_read(struct str q, struct arena *arena,
                                         struct search_terms *ret, struct error *err);

#endif
