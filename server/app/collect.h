/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd collect ARGS...: jview-collect, which stands beside this program, becomes the process. */
#ifndef JVIEWD_APP_COLLECT_H
#define JVIEWD_APP_COLLECT_H

int collect_main(int argc, char **argv); /* argv[0] is "collect"; comes back only where it fails */

#endif
