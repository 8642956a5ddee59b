/* The inside of the nsys-jax decoders, shared by their files.
 *
 *   nsys_jax.c          which file or archive it is; its modules
 *   nsys_jax_rows.c     ranges from the tables
 *   nsys_jax_tracks.c   ranges -> tracks
 */
#ifndef JVIEWD_DECODE_NSYS_JAX_H
#define JVIEWD_DECODE_NSYS_JAX_H

#include "base/scratch.h"
#include "decode/hlo.h"
#include "decode/pair_table.h"
#include "decode/parquet.h"

struct jax_range { /* an NVTX range, with its work on the device where it has some */
    struct str name;
    int64_t start_ns, dur_ns, device_start_ns, device_dur_ns;
    int64_t process, thread, rank, gpu_ops; /* gpu_ops 0: no work on a device */
};

struct nsys_jax {
    struct sink *sink;
    struct arena *arena;
    struct scratch *scratch;
    struct hlo_index hlo;
    struct pair_table thread_rows; /* (process, thread) -> row of the next */
    const struct parquet_cell *thread_names;
    struct jax_range *ranges,
        *calls; /* with device times; all of the host, where a report has them */
    size_t range_count, call_count, call_capacity;
    uint64_t odd_rows, nameless;
};

/* nsys_jax_rows.c */
MUST_CHECK enum status jax_read_ranges(struct nsys_jax *jax, struct bytes table, struct error *err);
MUST_CHECK enum status jax_read_threads(struct nsys_jax *jax, struct bytes table,
                                        struct error *err);
/* Properties from a table of facts; only those that are known to name neither user nor secret. */
MUST_CHECK enum status jax_read_facts(struct nsys_jax *jax, struct bytes table, struct error *err);
void jax_read_report(struct nsys_jax *jax, struct bytes csv);
void jax_put_count(struct nsys_jax *jax, struct str key, uint64_t count);

/* nsys_jax_tracks.c */
void jax_put_ranges(struct nsys_jax *jax);

#endif
