/* SPDX-License-Identifier: Apache-2.0 */
/* What would be different, as the address and /api/whatif spell it: "scope:layer_1/mlp=0.5". */
import type { PieceKind, WhatIf } from '../../data/critical';
import { PIECE_WORDS } from './path';
import type { Sentence } from '../sentence';
import { strong } from '../sentence';
import { share, time, toNumber } from '../numbers';

export const FACTOR_MAX = 10;

/* By what is scaled, in the order in which it was first changed. */
export type Factors = ReadonlyMap<string, number>;

/* A comma parts two changes where a factor stands before it: names may hold commas themselves. */
export function parseFactors(text: string | undefined): Factors {
  const factors = new Map<string, number>();
  for (const match of (text ?? '').matchAll(/((?:scope|op|name|kind):.+?)=(\d+(?:\.\d+)?)(?:,|$)/g))
    factors.set(match[1]!, Math.min(FACTOR_MAX, Number(match[2])));
  return factors;
}

export const spelledFactors = (factors: Factors): string[] => [...factors].map(([what, factor]) => `${what}=${factor}`);
export const formatFactors = (factors: Factors): string => spelledFactors(factors).join();

/* Of one row; as it was is no change. */
export function withFactor(factors: Factors, what: string, factor: number): Factors {
  const next = new Map(factors);
  const rounded = Math.round(Math.min(FACTOR_MAX, Math.max(0, factor)) * 100) / 100;
  if (rounded === 1) next.delete(what);
  else next.set(what, rounded);
  return next;
}

/* What a row is called in a change: a scope holds ops, else it is a name; delays are nobody's. */
export function scaledBy(
  row: { name: string; kind: PieceKind | null; scope: string | null; count: number },
  by: string,
) {
  if (by === 'kind')
    return row.kind !== null && !['wait', 'launch', 'scheduling', 'unexplained', 'idle'].includes(row.kind)
      ? `kind:${row.kind}`
      : null;
  if (row.count === 0) return null;
  return row.scope !== null && by !== 'op' ? `scope:${row.scope}` : `op:${row.name}`;
}

/* "×0.50", "gone", "" as it was. */
export const factorWords = (factor: number): string =>
  factor === 1 ? '' : factor === 0 ? 'gone' : `× ${factor.toFixed(2)}`;

export function whatIfSentence(answer: WhatIf): Sentence {
  const [before, after] = [toNumber(answer.replayed_ps), toNumber(answer.predicted_ps)];
  const of = answer.steps.length === 1 && answer.steps[0]!.step === null ? 'The run' : 'A step';
  if (before === after)
    return [`${of} takes `, strong(time(answer.replayed_ps)), '. Drag the end of a bar to change that.'];
  const change = (after - before) / before;
  const sign = change < 0 ? '−' : '+';
  return [
    `${of} would take `,
    strong(time(answer.predicted_ps)),
    ` instead of ${time(answer.replayed_ps)}: `,
    strong(`${sign}${share(Math.abs(change))}`),
    `. Most of its path is then ${PIECE_WORDS[answer.bound_by]}.`,
  ];
}
