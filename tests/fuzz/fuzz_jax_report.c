/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the report of all ranges, beside a sound table of nsys-jax. */
#include <stdlib.h>

#include "any/decode_any.h"
#include "base/file.h"

static struct bytes table(void)
{
    static struct arena *arena; /* for as long as the process lives */
    static struct bytes read;
    struct error err = {0};

    if (arena != NULL)
        return read;
    arena = arena_create();
    if (file_read(FUZZ_SEEDS "/parquet/gzip-dictionary-2", arena, 1 << 20, &read, &err) != OK)
        abort();
    return read;
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    decode_any(&(struct any_input){.name = STR("trace.parquet"),
                                   .bytes = table(),
                                   .beside_name = STR("report_nvtx_pushpop_trace.csv"),
                                   .beside = {.at = at, .count = count},
                                   .decoder = &decode_nsys_jax_ranges,
                                   .may_be_packed = true});
    return 0;
}
