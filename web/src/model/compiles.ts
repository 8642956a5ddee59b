/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles: rows as the reply gives them, their phases, and the sentence that opens their page. */
import type { Ps } from '../data/json';
import type { Note, Reasons } from '../data/types';
import { plural, share, time, toNumber } from './numbers';
import { strong, type Sentence } from './sentence';

export const PHASES = ['trace', 'lower', 'cache', 'passes', 'codegen', 'autotune', 'compiler', 'other'] as const;
export type Phase = (typeof PHASES)[number];
export const PHASE_WORDS: Readonly<Record<Phase, string>> = {
  trace: 'tracing',
  lower: 'lowering',
  cache: 'the compilation cache',
  passes: 'XLA passes',
  codegen: 'code generation',
  autotune: 'autotuning',
  compiler: 'the compiler',
  other: 'what is around it',
};

type Phases = { [P in Phase as `${P}_ps`]: Ps | null };

export interface CompileRow extends Phases {
  function: string | null;
  module: string | null;
  host: string;
  slice: string;
  start_ps: Ps;
  total_ps: Ps;
  share: number | null;
  backend_ps: Ps;
  change: string | null;
  changed: string | null;
  count?: number;
  first_ps?: Ps;
  later_ps?: Ps;
  steps?: string | null;
  dur_ps?: Ps;
  step?: number | null;
  nth?: number;
  cached?: boolean | null;
  reasons: Reasons;
}

export interface CompileList {
  by: 'function' | 'compile';
  total_ps: Ps;
  row_count: number;
  rows: CompileRow[];
  notes: Note[];
}

export function phaseOf(row: CompileRow, phase: Phase): number {
  return toNumber(row[`${phase}_ps`] ?? 0);
}

/* The phase that takes most of the time, of those that say what was done. */
function heaviest(row: CompileRow): { phase: Phase; part: number } {
  const phase = [...PHASES].filter((one) => one !== 'other').sort((a, b) => phaseOf(row, b) - phaseOf(row, a))[0]!;
  return { phase, part: phaseOf(row, phase) / Math.max(1, toNumber(row.total_ps)) };
}

/* "train_step compiled 3 times in 2.3 s, 84 % of it in XLA passes." Rows by function, the longest first. */
export function compilesSentence(rows: readonly CompileRow[], total: Ps): Sentence {
  const first = [...rows].sort((a, b) => toNumber(b.total_ps) - toNumber(a.total_ps))[0]!;
  const { phase, part } = heaviest(first);
  const name = first.function ?? 'A function without a name';
  const times = (first.count ?? 1) === 1 ? 'once' : `${first.count} times`;
  const sentence: Sentence = [
    strong(name),
    ' was compiled ',
    strong(times),
    ' in ',
    strong(time(first.total_ps)),
    `, ${share(part)} of it in ${PHASE_WORDS[phase]}`,
  ];
  if (rows.length > 1) sentence.push(`; all ${plural(rows.length, 'function')} took `, strong(time(total)));
  sentence.push('.');
  return sentence;
}
