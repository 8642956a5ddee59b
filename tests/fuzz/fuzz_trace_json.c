/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as Chrome JSON; what opens goes out again. Bytes that begin with 0xff are put over
 * the edge of a window, as far as the second one says. */
#include <stdlib.h>

#include "any/decode_any.h"
#include "export/export.h"

enum { EDGE = 1 << 20 };

static enum status count_bytes(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    *(uint64_t *)to += piece.count;
    return OK;
}

static void go_out(const struct trace *trace)
{
    struct export_host host = {.trace = trace, .name = STR("h")};
    struct export_run run = {.hosts = &host, .host_count = 1};
    struct error err = {0};
    uint64_t bytes = 0;

    if (export_chrome(&run, count_bytes, &bytes, &err) != OK || bytes == 0)
        abort();
}

/* The content, behind blanks where it asks for them. */
static struct bytes content_of(const uint8_t *at, size_t count, struct arena *arena)
{
    if (count < 2 || at[0] != 0xff)
        return (struct bytes){.at = at, .count = count};
    size_t blanks = EDGE - at[1];
    uint8_t *room = arena_array(arena, uint8_t, blanks + count - 2);

    memset(room, ' ', blanks);
    memcpy(room + blanks, at + 2, count - 2);
    return (struct bytes){.at = room, .count = blanks + count - 2};
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct arena *arena = arena_create();

    decode_any(&(struct any_input){.name = STR("fuzz"),
                                   .bytes = content_of(at, count, arena),
                                   .decoder = &decode_trace_json,
                                   .look = go_out});
    arena_destroy(arena);
    return 0;
}
