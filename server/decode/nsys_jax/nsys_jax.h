/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the nsys-jax decoders, shared by their files.
 *
 *   nsys_jax.c          which file or archive it is
 *   nsys_jax_modules.c  modules, and which program a number means in which process
 *   nsys_jax_rows.c     ranges from the tables
 *   nsys_jax_tracks.c   ranges -> tracks
 */
#ifndef JVIEWD_DECODE_NSYS_JAX_NSYS_JAX_H
#define JVIEWD_DECODE_NSYS_JAX_NSYS_JAX_H

#include "base/pack/archive.h"
#include "base/scratch.h"
#include "decode/hlo/hlo.h"
#include "decode/nsys_jax/parquet.h"
#include "decode/pair_table.h"

enum { JAX_ENTRY_BYTES_MAX = 512 << 20, JAX_DEVICES_MAX = 100000 };

struct jax_range { /* an NVTX range, with its work on the device where it has some */
    struct str name;
    int64_t start_ns, dur_ns, device_start_ns, device_dur_ns;
    int64_t process, thread, rank, gpu_ops; /* gpu_ops 0: no work on a device */
    uint32_t part;
    bool has_times; /* of the host */
};

/* A process of an archive that several were combined into: what they do not share stands in
 * directories of its name. The first part has none: it is all there is, or what all share. */
struct jax_part {
    struct str name;
    struct pair_table thread_rows; /* (process, thread) -> row of the next */
    const struct parquet_cell *thread_names;
    bool has_report; /* which tells all its calls, so that ranges do not */
    int64_t device;  /* the first that a launcher's thread names; -1: none does */
};

struct nsys_jax {
    struct sink *sink;
    struct arena *arena;
    struct scratch *scratch;
    struct parquet_budget tables;
    struct hlo_index hlo;
    struct jax_part *parts;
    uint32_t part_count;
    struct pair_table programs;      /* (part, number of a module) -> ordinal of its id */
    struct pair_table ids, contents; /* (id, 0), (hash of what is in it, 0) -> ordinal */
    uint64_t *program_ids;           /* by ordinal; in the scratch */
    uint32_t program_count;
    struct jax_range *ranges,
        *calls; /* with device times; all of the host, where a report has them */
    size_t range_count, call_count, call_capacity;
    uint64_t odd_rows, nameless;
    uint64_t table_rows, thread_rows; /* of all tables of a kind */
    uint32_t table_columns;
    struct str table_writer, table_codec; /* of the last */
};

/* nsys_jax_modules.c */
void jax_read_modules(struct nsys_jax *jax, struct archive *archive);
/* The id of the program that has this number in that part. */
uint64_t jax_program_id(const struct nsys_jax *jax, uint32_t part, uint64_t number);
/* Is it a file of that name, or one of a directory of it? Which part it belongs to. */
bool jax_is_named(struct nsys_jax *jax, struct str name, struct str end, uint32_t *ret_part);
void jax_modules_free(struct nsys_jax *jax);

/* nsys_jax_rows.c */
MUST_CHECK enum status jax_read_ranges(struct nsys_jax *jax, uint32_t part, struct bytes table,
                                       struct error *err);
MUST_CHECK enum status jax_read_threads(struct nsys_jax *jax, uint32_t part, struct bytes table,
                                        struct error *err);
/* The device that a thread's launcher or, for others, the first launcher of its process names;
 * -1. */
int64_t jax_device_of_thread(const struct jax_part *part, int64_t process, int64_t thread);
/* Properties from a table of facts; only those that are known to name neither user nor secret. */
MUST_CHECK enum status jax_read_facts(struct nsys_jax *jax, struct bytes table, struct error *err);
void jax_read_report(struct nsys_jax *jax, uint32_t part, struct bytes csv);
void jax_put_count(struct nsys_jax *jax, struct str key, uint64_t count);
void jax_put_text(struct nsys_jax *jax, struct str key, struct str text);

/* nsys_jax_tracks.c */
void jax_put_ranges(struct nsys_jax *jax);

#endif
