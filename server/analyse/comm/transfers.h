/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that moved: how much, which way, how fast, and who waited for it.
 *
 *   GPU    copies on a device's streams; the call that launched each says who asked
 *   TPU    copies of the line of asynchronous ops (offload to the host's memory and back), each
 *          once, and not again at the ops that start them and wait for them
 *   host   "H2D Dispatch", TransferToDevice and their like, where no device's stream recorded the
 *          copies themselves: JAX on CPU, and what a TPU's host does
 *
 * Memory that is set, and copies that are instructions of a program, are no transfers.
 */
#ifndef JVIEWD_ANALYSE_COMM_TRANSFERS_H
#define JVIEWD_ANALYSE_COMM_TRANSFERS_H

#include "analyse/analyse.h"
#include "trace/args/slice_args.h"

enum transfer_direction {
    DIRECTION_UNKNOWN,
    DIRECTION_H2D,
    DIRECTION_D2H,
    DIRECTION_D2D,
    DIRECTION_P2P,  /* between two devices */
    DIRECTION_HOST, /* within the host's memory */
    DIRECTION_COUNT
};
const char *transfer_direction_word(enum transfer_direction direction); /* NULL: unknown */

enum host_memory { /* that a copy reads or writes on the host's side */
                   MEMORY_UNKNOWN,
                   MEMORY_NONE, /* there is no host's side */
                   MEMORY_PINNED,
                   MEMORY_PAGEABLE,
                   MEMORY_MANAGED,
};
const char *host_memory_word(enum host_memory memory); /* NULL: unknown or none */

enum transfer_wait { WAIT_UNKNOWN, WAIT_NONE, WAIT_BLOCKS };

struct transfer {
    uint32_t host;
    track_id track;
    slice_id slice, launch; /* launch: the call that sent it; NO_SLICE unknown */
    name_id name;           /* of its host's names */
    struct str caller;      /* "" unknown */
    enum transfer_direction direction;
    enum host_memory memory;
    enum transfer_wait wait;
    int32_t device;           /* -1 where the file names none */
    int64_t start_ps, dur_ps; /* run time */
    int64_t bytes;            /* -1 unknown */
    int64_t overlapped_ps;    /* while its device computed; -1 unknown */
    bool in_step;
    int64_t step;
};

struct transfers { /* by start, then host */
    struct transfer *items;
    uint32_t count;
    bool has_steps;
};

struct steps;
/* Those that began in what the restriction lets through: hosts, devices, tracks, window, steps;
 * name and q are of the copies. `all`: the steps of the run, NULL:
 * they are found. */
MUST_CHECK enum status transfers_find(const struct run_traces *run,
                                      const struct restriction *restriction,
                                      const struct steps *all, struct arena *arena,
                                      struct transfers *ret, struct error *err);

/* What one slice moves; false: it is no transfer. */
bool transfer_of_slice(const struct host_trace *host, slice_id id, struct transfer *ret);
/* The same without what of it lay beside work, which walks the device; for slices one after the
 * other, whose args stay at hand. */
bool transfer_told(const struct host_trace *host, slice_id id, struct slice_args *args,
                   struct transfer *ret);
/* The same as the one row of a table by=transfer, but for its step. */
bool transfer_table_of_slice(const struct host_trace *host, slice_id id, struct arena *arena,
                             struct table *ret);

/* Why there are none; "" where there are. */
struct str transfers_missing(const struct run_traces *run);

/* `by` direction ("" too), size, stream, caller: columns key direction host count bytes
 * unsized_count total_ps share bytes_per_s mean_ps min_ps max_ps overlapped_ps overlapped_share
 * blocking_count blocking_ps pinned_count pageable_count steps slice start_ps. "transfer": columns
 * direction name host device track slice start_ps dur_ps bytes bytes_per_s memory blocking
 * overlapped_ps caller launch step. Default sort: "-total_ps,key" and "start_ps". */
MUST_CHECK enum status transfers_table(const struct run_traces *run,
                                       const struct restriction *restriction, struct str by,
                                       const struct page *page, struct arena *arena,
                                       struct table *ret, struct error *err);
/* The same of transfers that were found; and those of all that rules are asked about. */
MUST_CHECK enum status transfers_of(const struct run_traces *run, const struct transfers *transfers,
                                    struct str by, const struct page *page, struct arena *arena,
                                    struct table *ret, struct error *err);
struct memo;
MUST_CHECK enum status memo_transfers(struct memo *memo, const struct transfers **ret,
                                      struct error *err);

#endif
