/* SPDX-License-Identifier: Apache-2.0 */
/* What names and args of slices say of a transfer.
 *
 *   MemcpyH2D   Memcpy HtoD (Pageable -> Device)   [CUDA memcpy Host-to-Device]   CopyHostToDevice
 *   memcpy_details   kind_src:pinned kind_dst:device size:4096 dest:0 async:1
 */
#ifndef JVIEWD_ANALYSE_COMM_TRANSFER_WORDS_H
#define JVIEWD_ANALYSE_COMM_TRANSFER_WORDS_H

#include "analyse/comm/transfers.h"

enum transfer_tier { /* who tells of the copy */
                     TIER_NONE,
                     TIER_DEVICE,   /* a device's stream */
                     TIER_ASYNC,    /* a device's line of asynchronous ops */
                     TIER_DISPATCH, /* the host thread that carries it out */
                     TIER_CALL,     /* the one that asked for it: where no other tells */
};

/* On a track of a device, or on a host's. */
enum transfer_tier transfer_tier_of(struct str name, bool on_device);
enum transfer_direction transfer_direction_of(struct str name);
/* "Memcpy DtoH (Device -> Pinned)", "Pageable" of an arg: the word for memory of the host in it. */
enum host_memory host_memory_of(struct str text);

struct memcpy_details {
    int64_t bytes, destination; /* -1: not there */
    bool has_async, async;
    struct str kind_from, kind_to;
};
struct memcpy_details memcpy_details_of(struct str text);

/* By the memory spaces of "(f32[8]{0:S(5)}, f32[8]{0}, u32[])": what a copy-start writes, then what
 * it reads; S(5) is the host's. */
enum transfer_direction offload_direction_of(struct str shapes);

/* Does a call of this name return only when the copy is over? */
bool transfer_call_waits(struct str name);
/* Is it machinery of a framework, below who asked for the copy? */
bool is_transfer_machinery(struct str name);

#endif
