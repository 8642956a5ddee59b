/* SPDX-License-Identifier: Apache-2.0 */
/* Samples go to the spool that their process wrote itself, where there is one: then they are one
 * file, and one process in jviewd.
 *
 *   466-3444070.jvs  +  466-3444070-samples.jvs (without head and SPOOL_ABOUT)
 */
#ifndef JVIEWD_LAUNCH_SAMPLE_JOIN_H
#define JVIEWD_LAUNCH_SAMPLE_JOIN_H

#define SAMPLES_KIND "-samples"

/* All of a directory whose processes have ended; those that cannot be joined stay as they are. */
void samples_join(const char *directory);

#endif
