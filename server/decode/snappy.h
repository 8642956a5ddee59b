/* One block of Snappy: what pages of Parquet are packed with.
 *
 *   size varint  (literal | copy)*
 *   literal      tag 00: length - 1 in 6 bits, or in 1 to 4 bytes behind     bytes
 *   copy         tag 01: length 4..11, distance 11 bits    10: 16 bits    11: 32 bits
 */
#ifndef JVIEWD_DECODE_SNAPPY_H
#define JVIEWD_DECODE_SNAPPY_H

#include "base/bytes.h"

/* Fills exactly `count` bytes; false where the block is broken or holds another number. */
bool snappy_unpack(struct bytes packed, uint8_t *to, size_t count);

#endif
