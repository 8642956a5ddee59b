/* SPDX-License-Identifier: Apache-2.0 */
/* Answers out of the page itself, where a server would be asked.
 *
 *   <script type="application/json" id="answers">
 *     {"run": "step_500", "program": "jviewd 0.1.0",
 *      "answers": {"api/top?by=kernel": {"status": 200, "body": {...}}, ...},
 *      "tiles": [{"level": 24, "from": 0, "to": 2, "rows": "12ab34cd.3:0-2", "bytes": "base64"}],
 *      "reduced": ["..."]}
 *
 * A question is looked up by its path and its parameters, in order; how many rows are asked for does
 * not matter, and an order that is not there is made of the rows that are. What is not there is
 * answered as a server answers what it does not have: with a sentence.
 */
import type { Params } from '../data/api';

interface Kept {
  status: number;
  body: Record<string, unknown>;
}

export interface KeptTiles {
  level: number;
  from: number;
  to: number;
  rows: string;
  bytes: string;
}

export interface Contents {
  run: string;
  program: string;
  answers: Record<string, Kept>;
  tiles: KeptTiles[];
  reduced: string[];
}

const ASIDE = new Set(['run', 'wait_ms', 'limit', 'content', 'cursor', 'sort']);

export function keyOf(path: string, params: URLSearchParams | Params): string {
  const pairs =
    params instanceof URLSearchParams
      ? [...params]
      : Object.entries(params).map(([name, value]) => [name, String(value)] as [string, string]);
  const kept = pairs.filter(([name, value]) => !ASIDE.has(name) && value !== '').sort(([a], [b]) => (a < b ? -1 : 1));
  return kept.length === 0 ? path : `${path}?${kept.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

type Row = Record<string, unknown>;

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

/* By "-self_ps,name"; what is not known stands last, whichever way. */
export function sorted(rows: readonly Row[], sort: string): Row[] {
  const keys = sort
    .split(',')
    .filter(Boolean)
    .map((one) => ({ name: one.replace(/^-/, ''), sign: one.startsWith('-') ? -1 : 1 }));
  return [...rows].sort((a, b) => {
    for (const { name, sign } of keys) {
      const [left, right] = [a[name] ?? null, b[name] ?? null];
      if (left === null || right === null) {
        if (left !== right) return left === null ? 1 : -1;
        continue;
      }
      const order = compare(left, right);
      if (order !== 0) return sign * order;
    }
    return 0;
  });
}

function problem(detail: string): Response {
  return new Response(JSON.stringify({ type: 'not-in-file', title: 'Not in this file', status: 404, detail }), {
    status: 404,
    headers: { 'Content-Type': 'application/problem+json' },
  });
}

/* Long integers leave as they came, which JSON.stringify does not write. */
function exact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(exact).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}:${exact(one)}`)
    .join(',')}}`;
}

/* A file holds the tables of the whole recording. */
function withoutCounted(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params].filter(([name, value]) => name !== 'step' || value !== 'counted'));
}

/* The path of a step that is asked for by its number may be that of the step that stands for others. */
function ofStep(contents: Contents, path: string, params: URLSearchParams): Kept | undefined {
  const kept = contents.answers[keyOf(path, new URLSearchParams([...params].filter(([name]) => name !== 'step')))];
  const step = kept?.body.step as { step?: unknown } | undefined;
  return step && String(step.step) === params.get('step') ? kept : undefined;
}

export function answerOf(contents: Contents, address: string): Response {
  const [path, text] = address.split('?', 2) as [string, string | undefined];
  const params = new URLSearchParams(text ?? '');
  const kept =
    contents.answers[keyOf(path, params)] ??
    contents.answers[keyOf(path, withoutCounted(params))] ??
    ofStep(contents, path, params);
  if (!kept)
    return problem(
      'This file is a summary of the run and does not hold this answer. jviewd can answer it from the run itself.',
    );
  const sort = params.get('sort');
  const rows = kept.body.rows;
  const body = sort !== null && Array.isArray(rows) ? { ...kept.body, rows: sorted(rows as Row[], sort) } : kept.body;
  return new Response(exact(body), { status: kept.status, headers: { 'Content-Type': 'application/json' } });
}

export function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes.buffer;
}
