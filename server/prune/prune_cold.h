/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd prune DIR --compress`: profiles that rest are kept packed.
 *
 *   h.xplane.pb ── pack ──> .h.xplane.pb.zst.part ── synced, read back, its hash compared
 *                                │ renamed, over nothing
 *                                v
 *                           h.xplane.pb.zst        then h.xplane.pb is removed, if it is as judged
 *
 * A run stays what it was: its id, its contents' hashes, its time. Whatever stops this half way,
 * one of both files is whole: a part is begun anew, and where both stand, the original goes once
 * the packed one was read back. A file that is packed already, a bundle, one with further names
 * (hard links), or one that would hardly become smaller stays as it is.
 */
#ifndef JVIEWD_PRUNE_PRUNE_COLD_H
#define JVIEWD_PRUNE_PRUNE_COLD_H

#include "prune/prune.h"

/* What it would become, by samples; ERR_UNSUPPORTED with the reason: it stays as it is. */
MUST_CHECK enum status prune_cold_guess(const char *root, const struct run_file *file,
                                        uint64_t *ret_bytes, struct error *err);
MUST_CHECK enum status prune_cold_pack(const char *root, const struct run_file *file,
                                       uint64_t *ret_bytes, struct error *err);

/* Of these runs, those that nothing keeps: what would be won, or with `yes` was. Prints; an exit
 * code. */
int prune_compress(struct arena *arena, const struct prune_run *runs,
                   const struct run_record *records, uint32_t count, bool yes, int64_t now_ns);

#endif
