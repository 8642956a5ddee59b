/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of /api/collectives. */
import type { Ps } from './json';
import type { Note } from './types';

export interface CollectiveRow {
  name: string | null;
  kind: string | null;
  axis: string | null;
  group_size: number | null;
  bytes: number | null;
  count: number;
  total_ps: Ps;
  exposed_ps: Ps;
  hidden_ps: Ps;
  exposed_share: number | null;
  mean_ps: Ps;
  max_ps: Ps;
  bus_bytes_per_s: number | null;
  moving_bus_bytes_per_s: number | null;
  wait_ps: Ps | null;
  wait_share: number | null;
  last: string | null;
  last_share: number | null;
  algorithm: string | null;
  protocol: string | null;
  dtype: string | null;
  members: string | null;
  module: string | null;
  scope: string | null;
  longest: string;
  longest_start_ps: Ps;
  reasons: Readonly<Record<string, string>>;
}

export interface CollectiveTable {
  by: string;
  total_ps: Ps;
  exposed_ps: Ps;
  rows: CollectiveRow[];
  row_count: number;
  next: string | null;
  notes: Note[];
}

export interface Arrival {
  name: string;
  turn: number;
  group: number | null;
  host: string;
  device: number;
  start_ps: Ps;
  dur_ps: Ps;
  wait_ps: Ps | null;
  late_ps: Ps | null;
  last: boolean | null;
  exposed_ps: Ps;
  slice: string;
}

export interface ArrivalTable {
  rows: Arrival[];
  row_count: number;
  notes: Note[];
}
