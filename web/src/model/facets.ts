/* What the runs of a list have in common and what parts them, as words of the filter. */
import type { Run } from '../data/types';

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

/* Facets that part the runs: with two values and more. */
export function facetsOf(runs: readonly Run[]): Facet[] {
  return Object.entries(OF).flatMap(([name, of]) => {
    const counts = new Map<string, number>();
    for (const run of runs) for (const value of new Set(of(run))) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
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
