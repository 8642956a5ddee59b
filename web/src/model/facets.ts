/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of a list have in common and what parts them, as words of the filter. */
import type { Run } from '../data/types';
import { numberOf, stemOf } from './series';

export interface FacetValue {
  value: string;
  count: number;
  token: string; // as the filter says it
}

export interface Facet {
  name: string;
  values: FacetValue[];
}

const VALUES_MAX = 40;

const RANGES = 4; // of step numbers, where there are more than anyone would list
const NUMBERS_MAX = 8;
const DATED = /\d{4}[-_]?\d\d[-_]?\d\d[-_T]\d{6}\D*$/; // a time of day is no step

const OF: Record<string, (run: Run) => readonly (string | null)[]> = {
  host: (run) => run.hosts,
  device: (run) => [run.device_kind],
  format: (run) => run.formats,
  framework: (run) => [run.framework],
  state: (run) => [run.state],
  notes: (run) => run.badges,
};

function tokenOf(facet: string, value: string): string {
  return /[\s"]/.test(value) ? `${facet}:"${value.replaceAll('"', '')}"` : `${facet}:${value}`;
}

/* Names that differ by a number alone. */
function stems(runs: readonly Run[]): Facet[] {
  const counts = new Map<string, number>();
  for (const run of runs) {
    const stem = stemOf(run.name);
    if (stem !== null) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const values = [...counts]
    .filter(([, number]) => number > 1 && number < runs.length)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, VALUES_MAX);
  if (values.length === 0) return [];
  return [
    {
      name: 'name',
      values: values.map(([value, number]) => ({
        value,
        count: number,
        token: /[\s"]/.test(value) ? `name~"${value.replaceAll('"', '')}"` : `name~${value}`,
      })),
    },
  ];
}

/* Step numbers, of runs whose names differ by nothing else: each, or as many runs in each of a few ranges. */
function numbers(runs: readonly Run[]): Facet[] {
  const stems = runs.map((run) => stemOf(run.name));
  const isOneOfMany = (at: number): boolean => stems.indexOf(stems[at]!) !== stems.lastIndexOf(stems[at]!);
  const all = runs
    .flatMap((run, at) => (isOneOfMany(at) && !DATED.test(run.name) ? (numberOf(run.name) ?? []) : []))
    .sort((a, b) => a - b);
  const different = [...new Set(all)];
  if (different.length < 2) return [];
  const one = (low: number, high: number): FacetValue => ({
    value: low === high ? `${low}` : `${low} to ${high}`,
    count: all.filter((number) => number >= low && number <= high).length,
    token: low === high ? `step=${low}` : `step=${low}..${high}`,
  });
  if (different.length <= NUMBERS_MAX)
    return [{ name: 'step', values: different.map((number) => one(number, number)) }];
  const bound = (part: number): number => Math.round((part * different.length) / RANGES);
  return [
    {
      name: 'step',
      values: Array.from({ length: RANGES }, (_, part) =>
        one(different[bound(part)]!, different[bound(part + 1) - 1]!),
      ),
    },
  ];
}

/* Facets that part the runs: with two values and more. */
export function facetsOf(runs: readonly Run[]): Facet[] {
  return [...stems(runs), ...numbers(runs), ...facetsOfMembers(runs)];
}

function facetsOfMembers(runs: readonly Run[]): Facet[] {
  return Object.entries(OF).flatMap(([name, of]) => {
    const counts = new Map<string, number>();
    for (const run of runs)
      for (const value of new Set(of(run))) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size < 2) return [];
    const values = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, VALUES_MAX);
    return [{ name, values: values.map(([value, count]) => ({ value, count, token: tokenOf(name, value) })) }];
  });
}

/* With the word, or without it when it is there. */
export function toggleToken(filter: string, token: string): string {
  const words = filter.split(/\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/).filter(Boolean);
  return (words.includes(token) ? words.filter((word) => word !== token) : [...words, token]).join(' ');
}

export function hasToken(filter: string, token: string): boolean {
  return toggleToken(filter, token).length < filter.length;
}
