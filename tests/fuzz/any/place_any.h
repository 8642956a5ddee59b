/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of this process alone, and a run in it that can be asked. What a target cannot do
 * without ends the process. */
#ifndef JVIEWD_FUZZ_PLACE_ANY_H
#define JVIEWD_FUZZ_PLACE_ANY_H

#include "decode/decode.h"
#include "serve/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A directory that goes with the process, as it ends in order. */
const char *place_any(void);
/* Memory for as long as the process. */
struct arena *place_any_arena(void);
/* What is called so in it, until the next call. */
const char *place_any_path(const char *name);
void place_any_put(const char *path, struct bytes bytes);
/* Removes a file or a tree. */
void place_any_remove(const char *path);
/* All of a file. */
struct bytes place_any_read(const char *path, struct arena *arena);

/* Of the file's bytes: a segment and the attribution that belongs to it. */
void place_any_index(const struct decoder *decoder, struct bytes file, const char *segment,
                     const char *attribution);
/* `place_any_index` of a seed, in a cache, and a catalog in memory that names it "step_1". Nothing
 * that starts a process is among its routes. */
extern const char place_any_content[33];
struct services *place_any_services(const struct decoder *decoder, const char *seed);

/* What is mapped is opened anew by the next question. */
void place_any_forget(struct services *services);

/* One question, which must be answered or refused in a sentence; its status. */
int place_any_ask(const struct services *services, struct str path, struct str query);

#endif
