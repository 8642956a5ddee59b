/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time goes: ops, and what the host does while no op runs, as shares of one whole. */
import type { Ps } from '../data/json';
import type { IdleCause, Kind, TopRow } from '../data/types';
import { toNumber } from './numbers';

export interface WhereRow {
  key: string;
  name: string;
  when: string | null; // of what is no op
  kind: Kind | null;
  op: TopRow | null; // null: no op ran
  count: number | null;
  timePs: number; // of a step and device on average; without steps of a device
  share: number; // of the step; without steps of the capture
}

/* The steps of all hosts that count, or their captures: `wholePs` in all, `number` of them. */
export interface Whole {
  wholePs: number;
  number: number;
  devicesPerHost: number;
}

const ROWS_MAX = 12;
const CAUSE_SHARE_MIN = 0.001;

/* What the host does, and that its devices wait for it. */
function wordsOf(cause: string): { name: string; when: string } {
  return cause === 'nothing recorded'
    ? { name: 'idle', when: 'nothing recorded of the host' }
    : { name: cause, when: 'while no op runs' };
}

function ofOp(row: TopRow, whole: Whole): WhereRow {
  const timePs = toNumber(row.self_ps) / whole.devicesPerHost;
  return {
    key: row.key,
    name: row.name,
    when: null,
    kind: row.kind,
    op: row,
    count: row.count,
    timePs: timePs / whole.number,
    share: timePs / whole.wholePs,
  };
}

function ofCause(part: IdleCause, whole: Whole): WhereRow {
  const timePs = toNumber(part.self_ps);
  return {
    key: `cause:${part.cause}`,
    ...wordsOf(part.cause),
    kind: part.kind ?? 'idle',
    op: null,
    count: null,
    timePs: timePs / whole.number,
    share: timePs / whole.wholePs,
  };
}

/* The largest first; the ops that are left out come back as one share. */
export function whereRows(
  ops: readonly TopRow[],
  opsTotalPs: Ps,
  causes: readonly IdleCause[],
  whole: Whole,
): { rows: WhereRow[]; rest: { timePs: number; share: number } | null } {
  const rows = [...ops.map((row) => ofOp(row, whole)), ...causes.map((part) => ofCause(part, whole))]
    .filter((row) => row.op !== null || row.share >= CAUSE_SHARE_MIN)
    .sort((a, b) => b.share - a.share)
    .slice(0, ROWS_MAX);
  const shownPs = rows.reduce((sum, row) => sum + (row.op === null ? 0 : toNumber(row.op.self_ps)), 0);
  const leftPs = Math.max(0, toNumber(opsTotalPs) - shownPs) / whole.devicesPerHost;
  if (leftPs === 0) return { rows, rest: null };
  return { rows, rest: { timePs: leftPs / whole.number, share: leftPs / whole.wholePs } };
}
