/* The first questions of a large run, asked before anybody does.
 *
 *   indexed -> catalog -> findings, overview asked once -> kept (see stored.h) -> read by the page
 *
 * Of the newest eight runs, right after they were indexed and their pages are in memory; what was
 * kept before costs a read. A run of fewer slices is answered as fast.
 */
#ifndef JVIEWD_SERVE_PREPARE_H
#define JVIEWD_SERVE_PREPARE_H

#include "serve/serve.h"

struct prepare;
struct prepare *prepare_start(const struct services *services); /* NULL: nothing is prepared */
void prepare_stop(struct prepare *prepare); /* after the question at hand; takes NULL */

#endif
