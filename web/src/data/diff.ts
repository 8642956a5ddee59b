/* SPDX-License-Identifier: Apache-2.0 */
/* /api/diff: what changed between two runs. */
import type { Ps } from './json';
import type { Kind, Note, Reasons } from './types';

export type DiffState = 'slower' | 'faster' | 'same' | 'new' | 'gone';

export interface DiffSide {
  id: string;
  name: string;
  basis: string;
  step_count: number;
  warmup_count: number;
  cut_count: number;
  mean_ps: Ps;
  median_ps: Ps | null;
  breakdown: { kind: Kind; self_ps: Ps }[];
}

export interface DiffRow {
  key: string;
  name: string;
  state: DiffState;
  kind: Kind | null;
  category: string | null;
  module: string | null;
  scope: string | null;
  source: string | null;
  a_name: string | null;
  b_name: string | null;
  a_shape: string | null;
  b_shape: string | null;
  a_self_ps: Ps | null;
  b_self_ps: Ps | null;
  delta_ps: Ps;
  share: number | null;
  a_count: number | null;
  b_count: number | null;
  often_ps: Ps | null;
  longer_ps: Ps | null;
  p: number | null;
  match: string | null;
  confidence: number | null;
  reasons?: Reasons;
}

export interface Diff {
  sentence: string;
  a: DiffSide;
  b: DiffSide;
  by: string;
  step: { delta_ps: Ps; low_ps: Ps; high_ps: Ps; p: number; verdict: string } | null;
  total_delta_ps: Ps;
  matched_share: number;
  sure_share: number;
  setup: { key: string; a: string | null; b: string | null }[];
  row_count: number;
  next: string | null;
  rows: DiffRow[];
  notes: Note[];
  approx: string[];
}
