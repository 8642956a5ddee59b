/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a step and what would change it, as /api/critical and /api/whatif tell. */
import { address, Problem } from './api';
import { parseExact, type Ps } from './json';
import type { Kind, Note } from './types';

export type PieceKind = Kind | 'wait' | 'launch' | 'scheduling' | 'unexplained';

export interface PathPiece {
  kind: PieceKind;
  name: string;
  slice: string | null;
  track: string | null;
  start_ps: Ps;
  dur_ps: Ps;
  waits_for: string | null;
  edge: string;
  evidence: string;
}

export interface SliceOnPath {
  id: string;
  on_path_ps: Ps | null;
  slack_ps: Ps | null;
  waits_for: string | null;
  edge: string | null;
  evidence: string | null;
  reason: string | null;
}

export interface PathReply {
  step: { step: number | null; host: string | null; dur_ps: Ps };
  pieces: PathPiece[];
  slice?: SliceOnPath;
  row_count: number;
  next: string | null;
  notes: Note[];
}

export interface PathRow {
  name: string;
  kind: PieceKind | null;
  module: string | null;
  scope: string | null;
  host: string | null;
  device: number | null;
  count: number;
  on_path_ps: Ps;
  share: number | null;
  slack_ps: Ps | null;
  time_ps: Ps | null;
  reasons: Record<string, string>;
}

export interface PathRows {
  by: string;
  step_count: number;
  total_ps: Ps;
  rows: PathRow[];
  row_count: number;
  notes: Note[];
}

export interface WhatIf {
  recorded_ps: Ps;
  replayed_ps: Ps;
  predicted_ps: Ps;
  bound_by: PieceKind;
  steps: { step: number | null; host: string; recorded_ps: Ps; replayed_ps: Ps; predicted_ps: Ps }[];
  notes: Note[];
}

export interface Changes {
  scale: string[];
  overlap?: string;
  fuse_launches?: boolean;
  devices_even?: boolean;
}

export async function askWhatIf(run: string, changes: Changes, abort: AbortSignal): Promise<WhatIf> {
  const reply = await fetch(address('api/whatif'), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Jviewd-CSRF': '1' },
    body: JSON.stringify({ run, ...changes }),
    credentials: 'same-origin',
    signal: abort,
  });
  const said = parseExact(await reply.text()) as unknown;
  if (!reply.ok) throw new Problem(reply.status, said as Record<string, unknown>);
  return said as WhatIf;
}
