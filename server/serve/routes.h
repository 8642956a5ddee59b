/* SPDX-License-Identifier: Apache-2.0 */
/* Every route, one file a resource. */
#ifndef JVIEWD_SERVE_ROUTES_H
#define JVIEWD_SERVE_ROUTES_H

#include "serve/serve.h"

extern const struct route route_healthz, route_readyz, route_metrics;
extern const struct route route_page, route_assets, route_launch, route_launch_make;
extern const struct route route_runs, route_run, route_tracks, route_slices, route_slice;
extern const struct route route_tiles, route_counters, route_flows, route_chain, route_search;
extern const struct route route_op, route_top, route_steps, route_hosts, route_overview,
    route_findings, route_flame, route_memory;
extern const struct route route_oom, route_hlo, route_compiles, route_transfers, route_threads;
extern const struct route route_kernels, route_op_tree;
extern const struct route route_critical, route_whatif;
extern const struct route route_roofline;
extern const struct route route_source;
extern const struct route route_bundle;
extern const struct route route_trace, route_perfetto, route_jobs, route_events, route_openapi;
extern const struct route route_upload_ask, route_upload, route_upload_delete;
extern const struct route route_capture_ask, route_capture, route_capture_end;
extern const struct route route_collectives;
extern const struct route route_diff, route_check, route_trend, route_compare;
extern const struct route route_baselines, route_baseline_set, route_baseline_remove;
extern const struct route route_notes, route_note_put, route_note_remove;
extern const struct route route_link_make, route_link;
extern const struct route route_sql;
extern const struct route route_table, route_tables;
extern const struct route route_mcp, route_mcp_end;

#endif
