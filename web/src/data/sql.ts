/* SPDX-License-Identifier: Apache-2.0 */
/* A query to the server, its answer or its failure with the place; and queries that were kept. */
import { signal } from '@preact/signals';
import { address, Problem } from './api';
import { parseExact, type Ps } from './json';
import type { Note } from './types';

export type SqlCell = Ps | string | null;
export interface SqlAnswer {
  columns: { name: string; unit: string }[];
  row_count: number | null;
  rows: Record<string, SqlCell>[];
  scan_count: number;
  notes: Note[];
}

export async function askSql(run: string | null, query: string, abort: AbortSignal): Promise<SqlAnswer> {
  const reply = await fetch(address('api/sql', { run }), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Jviewd-CSRF': '1' },
    body: JSON.stringify({ query }),
    credentials: 'same-origin',
    signal: abort,
  });
  const said = parseExact(await reply.text()) as unknown;
  if (!reply.ok) throw new Problem(reply.status, said as Record<string, unknown>);
  return said as SqlAnswer;
}

/* Of this browser: a name is the query's own first words. */
const SHELF = 'jviewd-sql';
const KEPT_MAX = 50;

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(SHELF) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string').slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

export const keptQueries = signal<readonly string[]>(read());

function write(next: readonly string[]): void {
  keptQueries.value = next;
  try {
    localStorage.setItem(SHELF, JSON.stringify(next));
  } catch {
    // a browser that keeps nothing: they last as long as the page
  }
}

export const keepQuery = (query: string): void =>
  write([query, ...keptQueries.value.filter((one) => one !== query)].slice(0, KEPT_MAX));
export const dropQuery = (query: string): void => write(keptQueries.value.filter((one) => one !== query));
