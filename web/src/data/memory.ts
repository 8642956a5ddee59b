/* SPDX-License-Identifier: Apache-2.0 */
/* Memory as /api/memory tells it: over time, who holds it, as it was compiled. */
import type { Ps } from './json';
import type { Note, Reasons } from './types';

export interface Sample {
  at_ps: Ps;
  allocated_bytes: number | null;
  reserved_bytes: number | null;
}

export interface Allocator {
  name: string;
  host: string | null;
  samples: Sample[];
  peak_bytes: number | null;
  peak_at_ps: Ps | null;
  capacity_bytes: number | null;
  levels?: 'told' | 'summed';
  peak_allocated_bytes?: number | null;
  lifetime_peak_bytes?: number | null;
  pool_bytes?: number | null;
  before_bytes?: number | null;
  fragmentation?: number | null;
}

export interface TimelineReply {
  allocators?: Allocator[];
  reason?: string | null;
  reasons?: Record<string, string>;
}

export interface OwnerRow {
  name: string | null;
  scope: string | null;
  category: string | null;
  shape: string | null;
  dtype: string | null;
  bytes: number;
  share: number | null;
  count: number | null;
  since_ps: Ps | null;
  slice: string | null;
  row_kind: 'owner' | 'before' | 'reserved' | 'missing';
  reasons: Reasons;
}

export interface OwnersReply {
  at_ps: Ps | null;
  total_bytes: number | null;
  rows: OwnerRow[];
  row_count: number;
  reasons: Reasons;
  notes: Note[];
}

export interface HeapPoint {
  position: number;
  bytes: number;
  unpadded_bytes: number;
  instruction: string | null;
}

export interface HeapRow {
  name: string | null;
  part: string | null;
  opcode: string | null;
  shape: string | null;
  bytes: number;
  padding_bytes: number | null;
  share: number | null;
  class: 'parameter' | 'output' | 'thread-local' | 'constant' | 'temporary';
  first: number;
  last: number;
  scope: string | null;
  source: string | null;
  rematerialise: string | null;
  reuse: string | null;
  from_point: number | null; // alive at these of the chart's points; null: at none
  to_point: number | null;
  reasons: Reasons;
}

export interface HeapReply {
  module: string | null;
  basis: 'heap-trace' | 'live-ranges' | 'sizes';
  peak_bytes: number;
  fixed_bytes: number;
  total_allocation_bytes: number;
  parameter_bytes: number;
  output_bytes: number;
  constant_bytes: number;
  thread_local_bytes: number;
  temporary_bytes: number;
  fragmentation_bytes: number;
  padding_bytes: number;
  rematerialise_bytes: number;
  donation_bytes: number;
  peak_position: number | null;
  peak_instruction: string | null;
  position: number | null;
  position_count: number;
  alive_bytes: number;
  points: HeapPoint[];
  rows: HeapRow[];
  row_count: number;
  reasons: Reasons;
  notes: Note[];
}

export interface MemoryLayer {
  name: string;
  row_kind: 'owner' | 'others' | 'before' | 'missing' | 'reserved';
  slice: string | null;
  bytes: number[]; // by moment
}

export interface LayersReply {
  by: string;
  moments_ps?: Ps[];
  in_use_bytes?: number[];
  owner_count?: number;
  layers?: MemoryLayer[];
}
