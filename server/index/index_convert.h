/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that only their own program reads: it is asked for a form that is read.
 *
 *   FILE.nsys-rep --`nsys export --type sqlite`--> an unnamed SQLite file beside the segment
 *
 * Only where the user allowed it (`--convert`), because it runs another program on the file.
 */
#ifndef JVIEWD_INDEX_INDEX_CONVERT_H
#define JVIEWD_INDEX_INDEX_CONVERT_H

#include "base/error.h"
#include "base/file.h"

/* A format whose program is on the PATH. */
bool convert_knows(const char *format);
/* *ret: the report that the open file holds, or was before it was put away packed; -1: none.
 * `bytes` are the file's, which a confined process looks at, and this one does not. */
MUST_CHECK enum status convert_find(int fd, struct bytes bytes, const char *directory, int *ret,
                                    struct error *err);
/* The converted form of the open file, already without a name; `directory` holds it meanwhile. */
MUST_CHECK enum status convert_file(int fd, const char *directory, int *ret_fd,
                                    struct file_stamp *ret, struct error *err);

#endif
