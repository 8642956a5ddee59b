/* SPDX-License-Identifier: Apache-2.0 */
/* What one device did at each moment, piece by piece: the most telling of the ops that run.
 *
 *   stream 7   | gemm ......... |      | copy-done ......... |
 *   stream 9        | all-reduce ...... |
 *   line       | compute ...... | commun| copy, waiting ..... |
 */
#ifndef JVIEWD_ANALYSE_STEPS_DEVICE_LINE_H
#define JVIEWD_ANALYSE_STEPS_DEVICE_LINE_H

#include "analyse/steps/restrict.h"

struct device_piece {
    int64_t from_ps, to_ps; /* file time; disjoint, ascending */
    enum kind kind;
    bool waits;  /* nothing ran but ops that wait */
    bool covers; /* communication ran beneath */
};

/* What a device's ops do for it: told by opcode and name. */
enum op_role { ROLE_OF_WORK, ROLE_OF_WAIT, ROLE_OF_CONTAINER };
enum op_role op_role_of(const struct trace *trace, const struct op *op);

/* Roles of ops, found out at the first entry of each; several lines may share them. */
struct op_roles {
    const struct host_trace *host;
    bool on_tracks;     /* ops stand on lines of devices, not on threads of the host */
    int64_t longest_ps; /* no op lasts longer: who looks into a window begins so far before it */
    uint8_t *known;     /* by op: role + 1; 0 not looked at */
};
struct op_roles op_roles_create(const struct host_trace *host);
void op_roles_free(struct op_roles *roles);

/* Do devices have lines of their own? On XLA:CPU ops run on threads of the host. */
bool device_work_on_tracks(const struct trace *trace);

/* When an op on a thread of the host was over. One that hands its work to a pool ends with its
 * `end:` event, which its last worker writes after whatever it went on with:
 *
 *   caller   |dot|
 *   worker              |Execute  all-reduce ... | end: dot    what waited for dot ran first
 *   said     |dot       |         all-reduce     |
 *
 * So it was over when what stands right before its `end:` began: a ThunkExecutor::Execute, or the
 * next op of the device on that thread; where no arrow tells the thread, the next op on any. Where
 * the worker that began it also ends it, what that one began beside it tells nothing. It was not
 * over before its own event was, and was over when attribution says so, by the first use of its
 * value. `at` is a place in by_device_time. */
int64_t device_op_over(const struct host_trace *host, uint32_t at);

enum { DEVICE_SLOTS = 2 * KIND_COUNT + 1 };

struct device_line {
    const struct attribution *attribution;
    const struct op_roles *roles;
    struct window window;
    uint32_t at, end;               /* into by_device_time */
    uint32_t entry;                 /* which stands at `at` */
    int64_t now_ps, next_ps;        /* next: the begin of the op at `at`; INT64_MAX none */
    int64_t next_end_ps;            /* its recorded end */
    uint32_t open;                  /* slots in which something began, as bits */
    int64_t until_ps[DEVICE_SLOTS]; /* the latest end of those that have begun */
    enum kind container;            /* of the container that began last */
};
/* Of what touches the window. */
struct device_line device_line_open(const struct host_trace *host, int32_t device,
                                    struct window window, const struct op_roles *roles);
bool device_line_next(struct device_line *line, struct device_piece *ret);

/* Where none of the device's ops runs, from the window's begin to its end. Instants run nowhere. */
typedef void device_gap(void *data, int64_t from_ps, int64_t to_ps);
void device_gaps(const struct host_trace *host, int32_t device, struct window window,
                 const struct op_roles *roles, device_gap *visit, void *data);

/* The device's op that ends last before a moment, of the few that begin before it; the first that
 * begins at or after it. NO_SLICE: none. */
slice_id device_op_before(const struct attribution *attribution, int32_t device, int64_t at_ps);
slice_id device_op_after(const struct attribution *attribution, int32_t device, int64_t at_ps);

#endif
