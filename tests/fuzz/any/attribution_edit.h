/* SPDX-License-Identifier: Apache-2.0 */
/* Changes an attribution as no checksum would let pass: its sums are made anew behind the edits, so
 * every count and index must hold by itself.
 *
 *   edits   12 bytes each { part u8, width u8, offset u16, value u64 }; beyond the last part is the
 *           head
 *
 * Apart from the target, for the layout's names are not those of the trace's. */
#ifndef JVIEWD_FUZZ_ATTRIBUTION_EDIT_H
#define JVIEWD_FUZZ_ATTRIBUTION_EDIT_H

#include "base/bytes.h"

void attribution_edit(uint8_t *at, size_t count, struct bytes edits);

#endif
