/* SPDX-License-Identifier: Apache-2.0 */
/* A run's traces, or a window of them, in other programs' formats: streamed, never held whole.
 *
 *   chrome   {"traceEvents": [...]} for ui.perfetto.dev, chrome://tracing and scripts
 *   csv      a line a slice
 *   xspace   what the JAX profiler writes as *.xplane.pb: one host's
 *
 * Times that leave are run time: file time + offset_ps. Slices that touch the window go out whole,
 * so that a parent is never shorter than its children. Whoever wants gzip writes into a gzip_out.
 */
#ifndef JVIEWD_EXPORT_EXPORT_H
#define JVIEWD_EXPORT_EXPORT_H

#include "base/pack/pack.h"
#include "trace/sink.h"
#include "trace/trace.h"

struct export_host {
    const struct trace *trace;
    struct str name;
    int64_t offset_ps;
};

struct export_run {
    const struct export_host *hosts;
    uint32_t host_count;
    struct str name;
    bool has_epoch;
    int64_t epoch_ns; /* Unix time of run time 0 */
    bool has_window;
    int64_t start_ps, end_ps;
    const struct trace *const *others; /* files without a timeline: what they hold of programs */
    uint32_t other_count;
    struct xspace_lines *lines; /* of an XSpace: what its slices became; NULL: they are in rows */
    bool (*cancelled)(void *data); /* may be NULL; asked now and then: ERR_CANCELLED */
    void *data;
};

/* Chrome JSON: X slices that only nest (those that overlap lie in lanes of their own), instants,
 * flows, counters, args; names and order of processes and threads. Times are rounded to whole
 * nanoseconds, begin and end each, so that children stay inside their parents. */
MUST_CHECK enum status export_chrome(const struct export_run *run, pack_write *write, void *to,
                                     struct error *err);
/* RFC 4180, the first line names the columns: host, process, track, depth, start_ps, dur_ps,
 * self_ps, name, kind, flags. Cells of text that a spreadsheet would take for a formula begin with
 * an apostrophe. */
MUST_CHECK enum status export_csv(const struct export_run *run, pack_write *write, void *to,
                                  struct error *err);
/* One host's trace as an XSpace: slices, names, args and picoseconds as they are; ERR_INVALID for
 * several hosts. What the format cannot say is told in its warnings. */
MUST_CHECK enum status export_xspace(const struct export_run *run, pack_write *write, void *to,
                                     struct error *err);

/* The lines of an XSpace while the decoder still tells its slices: the taker of a sink, which has
 * the names meanwhile. Arrows go by the ids that args tell. Ended before the sink is finished; then
 * they are part of the run that is exported, once. */
struct xspace_lines;
struct xspace_lines *xspace_lines_create(const char *temporary_dir /* borrowed */);
const struct slice_taker *xspace_lines_taker(const struct xspace_lines *lines);
void xspace_lines_begin(struct xspace_lines *lines, struct sink *sink);
MUST_CHECK enum status xspace_lines_end(struct xspace_lines *lines, struct error *err);
void xspace_lines_destroy(struct xspace_lines *lines);

#endif
