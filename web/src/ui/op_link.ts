/* SPDX-License-Identifier: Apache-2.0 */
/* An op in the address, `op` its name and `in` its module, or `named` the name of a kernel or slice; and
 * where it leads: to its card beside the page, to its slices on the timeline. */
import { query } from '../data/place';
import type { Changes, Query } from '../model/address';
import { slicesNamed, slicesOfOp } from '../model/search';

export interface OpPlace {
  name: string;
  module: string | null;
  by: 'op' | 'name';
}

export const CLOSED: Changes = { op: null, in: null, named: null };

export function opOf(query: Query): OpPlace | null {
  if (query.op) return { name: query.op, module: query.in ?? null, by: 'op' };
  return query.named ? { name: query.named, module: null, by: 'name' } : null;
}

export const placeOfOp = (op: OpPlace): Changes =>
  op.by === 'op' ? { ...CLOSED, op: op.name, in: op.module } : { ...CLOSED, named: op.name };

/* Its slices on the timeline, and no others: of the steps that the figures are of. */
export function slicesOf(op: OpPlace, query: Query, counted: string | null | undefined): Changes {
  const step = query.step === undefined && query.start_ps === undefined ? (counted ?? null) : (query.step ?? null);
  return {
    ...CLOSED,
    view: 'timeline',
    find: op.by === 'op' ? slicesOfOp(op.name, op.module) : slicesNamed(op.name),
    step: step === 'all' ? null : step,
    slice: null,
    key: null,
    by: null,
    q: null,
  };
}

let hasCards = false;
export const offerCards = (): void => void (hasCards = true);

/* To its card; on a page without a server to its slices. */
export const toOp = (op: OpPlace, counted: string | null | undefined): Changes =>
  hasCards ? placeOfOp(op) : slicesOf(op, query.value, counted);
