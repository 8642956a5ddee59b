/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf's wire format, written: fields one after the other into a text that grows.
 *
 *   field   tag (number << 3 | wire)  value
 *   wire    0 varint   1 eight bytes   2 length, then that many bytes
 *
 * A message inside another is written to a text of its own and then put as bytes. Reading is
 * decode/protobuf.h.
 */
#ifndef JVIEWD_BASE_PROTOBUF_OUT_H
#define JVIEWD_BASE_PROTOBUF_OUT_H

#include "base/bytes.h"

void pb_put_varint(struct text *text, uint64_t value);
void pb_put_number(struct text *text, uint32_t field, uint64_t value); /* also signed, and bool */
void pb_put_double(struct text *text, uint32_t field, double value);
void pb_put_bytes(struct text *text, uint32_t field, const void *at, size_t count);
void pb_put_text(struct text *text, uint32_t field, struct str value);
/* A message of two numbers, whose tags take a byte each. */
void pb_put_pair(struct text *text, uint32_t field, uint32_t first_field, uint64_t first,
                 uint32_t second_field, uint64_t second);
/* A message of three numbers, whose tags are 1, 2 and 3, and the fields `behind` them. */
void pb_put_triple(struct text *text, uint32_t field, const uint64_t numbers[3],
                   struct bytes behind);
/* A message that was written to `inside`, which is emptied for the next. */
void pb_put_message(struct text *text, uint32_t field, struct text *inside);

#endif
