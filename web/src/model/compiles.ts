/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles: rows as the reply gives them, their phases, and the sentence that opens their page. */
import type { Ps } from '../data/json';
import type { Note, Reasons, StepRow } from '../data/types';
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

/* What lies before the first counted step: where the first step of any sort begins, and what is not counted of them. */
export interface BeforeSteps {
  startPs: number;
  warmups: { count: number; ps: number };
  cut: { count: number; ps: number };
}

const startOf = (step: StepRow): number => toNumber(step.start_ps);
const endOf = (step: StepRow): number => startOf(step) + toNumber(step.dur_ps);
const summed = (steps: readonly StepRow[]) => ({
  count: steps.length,
  ps: steps.reduce((sum, step) => sum + toNumber(step.dur_ps), 0),
});

/* Null without a counted step, and where steps lie over each other. */
export function beforeSteps(steps: readonly StepRow[]): BeforeSteps | null {
  const inOrder = [...steps].sort((a, b) => startOf(a) - startOf(b));
  const first = inOrder.findIndex((step) => !step.warmup && !step.cut);
  if (first < 0 || inOrder.slice(0, first).some((step, at) => endOf(step) > startOf(inOrder[at + 1]!))) return null;
  const left = inOrder.slice(0, first);
  return {
    startPs: startOf(inOrder[0]!),
    warmups: summed(left.filter((step) => step.warmup)),
    cut: summed(left.filter((step) => !step.warmup)),
  };
}

const tunedPs = (rows: readonly CompileRow[]): number => rows.reduce((sum, row) => sum + phaseOf(row, 'autotune'), 0);

/* What it consists of: autotuning by its name, apart from other compilation and from warm-up. */
export interface BeforeParts {
  allPs: number;
  parts: { words: string; ps: number }[];
  tunedInsidePs: number; // autotuning in counted steps
}

/* `earlier`: the compiles before all steps; `inside`: those of counted steps. Null where nothing of it is there, or
 * not all compiles are known. */
export function beforeParts(
  before: BeforeSteps,
  earlier: readonly CompileRow[],
  inside: readonly CompileRow[],
): BeforeParts | null {
  const tuned = tunedPs(earlier);
  const compiled = earlier.reduce((sum, row) => sum + toNumber(row.total_ps), 0) - tuned;
  const isTold = earlier.some((row) => row.autotune_ps !== null);
  const parts = [
    { words: 'autotuning', ps: tuned },
    { words: isTold ? 'compilation' : 'compilation, autotuning', ps: compiled },
    { words: plural(before.warmups.count, 'warm-up step'), ps: before.warmups.ps },
    { words: plural(before.cut.count, 'cut step'), ps: before.cut.ps },
    { words: 'none recorded', ps: before.startPs - tuned - compiled },
  ];
  const tunedInsidePs = tunedPs(inside);
  if (tuned + compiled + before.warmups.ps + tunedInsidePs === 0) return null;
  return {
    allPs: before.startPs + before.warmups.ps + before.cut.ps,
    parts: parts.filter(({ ps }) => ps > 0),
    tunedInsidePs,
  };
}
