/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of /api/hlo, in the API's words. */
import type { Ps } from './json';
import type { Note, Reasons } from './types';

export interface HloDocument {
  key: string;
  kind: string;
  line_count: number;
  bytes: number;
}

export interface HloModule {
  key: string;
  name: string;
  program_id: string;
  fingerprint: string;
  stage: 'before_optimizations' | 'pass' | 'after_optimizations' | null;
  stage_name: string | null;
  pair: string | null;
  computation_count: number;
  instruction_count: number;
  fusion_count: number;
  has_buffer_assignment: boolean;
  files: { name: string; form: 'proto' | 'text'; host: boolean }[];
  documents: HloDocument[];
  execution_count: number | null;
  self_ps: Ps | null;
  reasons: Reasons;
}

export interface HloList {
  modules: HloModule[];
  row_count: number;
  next: string | null;
  document_count: number;
  reasons: Reasons;
  notes: Note[];
}

export interface HloLine {
  line: number;
  text: string;
  computation: string | null;
  instruction: string | null;
  execution_count: number | null;
  self_ps: Ps | null;
}

export interface HloPage<R> {
  module: HloModule;
  rows: R[];
  row_count: number;
  next: string | null;
  notes: Note[];
}

export interface HloBrief {
  name: string;
  opcode: string;
  shape: string;
  line: number;
  distance?: number;
  operands?: string[];
  execution_count?: number | null;
  self_ps?: Ps | null;
}

export interface HloFound extends HloBrief {
  scope: string | null;
  source: string | null;
}

export interface HloComputation {
  name: string;
  line: number;
  instruction_count: number;
  entry?: boolean;
}

export interface HloInstruction extends HloBrief {
  computation: string;
  root: boolean;
  text: string;
  meaning: { words: string; url: string } | null;
  fusion_kind: string | null;
  custom_call_target: string | null;
  scope: string | null;
  op_type: string | null;
  source: string | null;
  called: HloComputation[];
  callers: HloBrief[];
  stack: { function: string | null; file: string | null; line: number }[];
  buffers: { allocation: number; offset: number; size_bytes: number; allocation_bytes: number }[];
  neighbours: HloBrief[];
  neighbours_left_out: number;
  reasons: Reasons;
}

export interface HloNode {
  name: string;
  opcode: string;
  shape: string;
  line: number;
  computation: number; // place among the computations
  root: boolean;
  scope: string | null;
  source: string | null;
  fusion_kind: string | null;
  execution_count: number | null;
  self_ps: Ps | null;
  calls: string[];
}

export interface HloGraphReply {
  center: string | null;
  computation: string;
  hops: number;
  left_out: number;
  node_self_ps: Ps | null;
  computations: {
    name: string;
    line: number;
    instruction_count: number;
    entry: boolean;
    fused: boolean;
    caller: number | null;
  }[];
  nodes: HloNode[];
  edges: { from: number; to: number; operand: number }[];
  reasons: Reasons;
}
