/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell offers while a command line is typed: jviewd complete WORD...
 *
 *   words behind "jviewd", the last one unfinished  -->  stdout, a line for each candidate:
 *
 *     --by=scope<TAB>what a row is (op)       the whole word; its meaning where there is one
 *     /                                       files and directories fit as well
 */
#ifndef JVIEWD_APP_COMPLETE_H
#define JVIEWD_APP_COMPLETE_H

#include "app/options.h"

struct store_of_runs { /* where names of runs are looked up, as typed so far */
    const char *profile_dir, *cache_dir, *data_dir; /* NULL: the usual one */
};

/* Prints the candidates. True: the name of a run fits as well, below those directories; `*ret_word`
 * is what it begins with. */
bool complete_words(int argc, char **argv, struct store_of_runs *ret, struct str *ret_word);
/* One candidate; its meaning may be NULL. */
void complete_offer(struct str word, const char *meaning);

#endif
