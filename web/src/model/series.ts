/* SPDX-License-Identifier: Apache-2.0 */
/* Runs whose names differ by one number belong together: step_500, step_1000 -> step_* over 500, 1000. */
import type { Run } from '../data/types';
import { toNumber } from './numbers';

export interface Series {
  stem: string; // "step_*"
  runs: { run: Run; number: number; step_ps: number }[]; // by number; only those whose step time is known
}

export const SERIES_MIN = 3; // runs: two are a difference

const LAST_NUMBER = /^(.*?)(\d{1,15})(\D*)$/s;

export function stemOf(name: string): string | null {
  const parts = LAST_NUMBER.exec(name);
  return parts && `${parts[1]}*${parts[3]}`;
}

export function numberOf(name: string): number | null {
  const parts = LAST_NUMBER.exec(name);
  return parts && Number(parts[2]);
}

/* The longest first. */
export function seriesAmong(runs: readonly Run[]): Series[] {
  const stems = new Map<string, Run[]>();
  for (const run of runs) {
    const stem = stemOf(run.name);
    if (stem === null || run.step_median_ps === null) continue;
    const of = stems.get(stem);
    if (of) of.push(run);
    else stems.set(stem, [run]);
  }
  return [...stems]
    .map(([stem, of]) => ({
      stem,
      runs: of
        .map((run) => ({ run, number: numberOf(run.name)!, step_ps: toNumber(run.step_median_ps!) }))
        .sort((a, b) => a.number - b.number),
    }))
    .sort((a, b) => b.runs.length - a.runs.length || (a.stem < b.stem ? -1 : 1));
}
