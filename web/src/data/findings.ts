/* SPDX-License-Identifier: Apache-2.0 */
/* Findings, as /api/findings and the overview hold them. */
import type { Ps } from './json';

export interface Evidence {
  name: string;
  value: number | bigint | string | boolean | null;
  reason: string | null;
  unit: '' | 'ps' | 'bytes' | 'count' | 'share' | 'per_s' | 'text';
  run: string;
  host: string | null;
  step: number | null;
  track: string | null;
  slice: string | null;
  start_ps: Ps | null;
  end_ps: Ps | null;
  view: string | null;
  by: string | null;
  find: string | null;
  module: string | null;
}

export interface Finding {
  rank: number;
  rule: string;
  theme: string;
  severity: 'info' | 'warning' | 'critical';
  confidence: 'low' | 'medium' | 'high';
  text: string;
  remedy: string;
  replay_ps?: Ps | null; // what a replay of the steps says
  replay_share?: number | null;
  win_ps: Ps | null;
  win_share: number | null;
  same_time_as: number | null;
  more_count: number;
  reasons: Record<string, string>;
  evidence: Evidence[];
}

export interface FindingList {
  rows: Finding[];
  row_count: number;
  rule_count: number;
}
