/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of /api/op_tree, in the API's words. */
import type { Ps } from './json';
import type { Kind, Note, Reasons } from './types';

export interface OpNode {
  name: string;
  level: 'run' | 'program' | 'category' | 'scope' | 'op' | 'others';
  kind: Kind;
  self_ps: Ps;
  share: number | null;
  count: number;
  op_count: number;
  flops: number | null;
  bytes: number | null;
  flops_share: number | null;
  bandwidth_share: number | null;
  flops_unknown_ps: Ps;
  bytes_unknown_ps: Ps;
  reasons: Reasons;
  children: OpNode[];
}

export interface OpTreeReply {
  by: string;
  node_count: number;
  node_count_all: number;
  root: OpNode;
  notes: Note[];
}
