/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd capture HOST:PORT...: profiles of programs that run a profiler server, into a directory.
 *
 * Ends with EXIT_OK where every program's profile came, EXIT_NOT_FOUND where one did not.
 */
#ifndef JVIEWD_APP_CAPTURE_VERB_H
#define JVIEWD_APP_CAPTURE_VERB_H

int capture_main(int argc, char **argv); /* argv[0] is "capture" */

#endif
