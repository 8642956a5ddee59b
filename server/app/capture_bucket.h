/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that go into a bucket: each file is recorded below the cache, and put there when it has
 * come; one that cannot be put stays, and the failure says where. */
#ifndef JVIEWD_APP_CAPTURE_BUCKET_H
#define JVIEWD_APP_CAPTURE_BUCKET_H

#include "capture/capture.h"

struct capture_bucket;
/* `cache_dir` as an option says it. No request is made. */
MUST_CHECK enum status capture_bucket_open(struct str place, const char *cache_dir,
                                           struct capture_bucket **ret, struct error *err);
void capture_bucket_close(struct capture_bucket *bucket);  /* takes NULL */
void capture_bucket_cancel(struct capture_bucket *bucket); /* takes NULL */
/* Where files are recorded, for a wish. */
const char *capture_bucket_directory(const struct capture_bucket *bucket);
struct capture_delivery capture_bucket_delivery(struct capture_bucket *bucket);
/* A session that capture_directory told, with the files in it that were put there. */
MUST_CHECK enum status capture_bucket_remove(struct capture_bucket *bucket, const char *directory,
                                             struct error *err);

#endif
