/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are told seldom: of threads, of NVTX's categories, of streams. Any thread tells them,
 * the writer takes them. */
#ifndef JVIEWD_INJECT_TOLD_NAMES_H
#define JVIEWD_INJECT_TOLD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/spool/batch.h"

/* `name` is a text (texts.h). */
void told_name_of_thread(uint32_t thread, uint32_t name);
void told_name_of_category(uint32_t domain, uint32_t category, uint32_t name);
void told_name_of_stream(uint32_t stream, uint32_t name); /* as CUPTI counts them */

bool told_names_open(void); /* false: no memory */
enum { TOLD_NAMES_KINDS = 3 };
/* For the writer: the rows of each kind, until it asks again; returns how many rows there are. */
uint32_t told_names_take(struct batch ret[TOLD_NAMES_KINDS]);

#endif
