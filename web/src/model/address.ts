/* SPDX-License-Identifier: Apache-2.0 */
/* The address is the state: `/?key=value`, in the API's words.
 *
 * Pure: text in, record out. What stands in no list is left alone; what has a bad value is named
 * and ignored.
 */
import letters from './views.json';

export type Query = Readonly<Record<string, string>>;
export type Changes = Readonly<Record<string, string | null>>;

export const RESTRICTION = [
  'host',
  'device',
  'track',
  'step',
  'module',
  'scope',
  'name',
  'start_ps',
  'end_ps',
] as const;
export const FOCUS = ['slice', 'key', 'op', 'in', 'named'] as const;
/* What another run gives no meaning to. */
const OF_ONE_RUN = [
  'slice',
  'piece',
  'key',
  'op',
  'in',
  'named',
  'window',
  'step',
  'start_ps',
  'end_ps',
  'track',
  'zoom',
  'sandwich',
  'mark',
  'open',
  'pin',
  'hide',
  'tracks',
  'against',
  'debug',
];
/* Coming to these is coming to a place: back returns from there. */
const PLACES = new Set(['run', 'view', 'start_ps', 'end_ps', 'zoom', 'sandwich', 'a', 'b']);

/* By name, in the order of their tabs; each with the letter behind G that goes there, where it has one. */
export type View = keyof typeof letters;
export const VIEWS = Object.keys(letters) as View[];

export function parseQuery(search: string): Query {
  return Object.fromEntries(new URLSearchParams(search));
}

/* Readable: commas, slashes, colons and the like stay as they are. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|2F|3A|40|20)/g, (code) =>
    code === '%20' ? '+' : decodeURIComponent(code),
  );
}

export function formatQuery(query: Query): string {
  const parts = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(value)}`);
  return parts.length === 0 ? '?' : `?${parts.join('&')}`;
}

export function changed(query: Query, changes: Changes): Query {
  const next: Record<string, string> = { ...query };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') delete next[key];
    else next[key] = value;
  }
  return next;
}

export function isPlaceChange(from: Query, to: Query): boolean {
  for (const key of PLACES) if (from[key] !== to[key]) return true;
  return false;
}

export function runChange(run: string): Changes {
  return { ...Object.fromEntries(OF_ONE_RUN.map((key) => [key, null])), run };
}

/* Of no step in particular: the whole recording, where a page would speak of the steps that count. */
export const ALL_STEPS = 'all';

export function restrictionOf(query: Query): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const key of RESTRICTION)
    if (query[key] !== undefined && !(key === 'step' && query[key] === ALL_STEPS)) kept[key] = query[key]!;
  return kept;
}

/* Is it neither steps nor a range that is asked for? Then tables of ops are of the counted steps. */
export const isOfCounted = (query: Query): boolean => query.step === undefined && query.start_ps === undefined;

export interface Span {
  start: bigint;
  end: bigint;
}

const SPAN = /^(-?\d{1,19})-(-?\d{1,19})$/;

export function parseSpan(text: string | undefined): Span | null {
  const match = SPAN.exec(text ?? '');
  if (!match) return null;
  const span = { start: BigInt(match[1]!), end: BigInt(match[2]!) };
  return span.end > span.start ? span : null;
}

export function formatSpan(span: Span): string {
  return `${span.start}-${span.end}`;
}

export function rangeOf(query: Query): Span | null {
  return query.start_ps === undefined || query.end_ps === undefined
    ? null
    : parseSpan(`${query.start_ps}-${query.end_ps}`);
}

/* Of the flame graph. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  weight: ['self', 'time', 'count', 'bytes', 'flops'],
  order: ['heavy', 'time'],
  roots: ['above', 'below'],
  fold: ['siblings'],
};

/* What is wrong with the values, in words; the rest of the page ignores them. */
export function faultsOf(query: Query): string[] {
  const faults: string[] = [];
  if (query.window !== undefined && parseSpan(query.window) === null)
    faults.push(`window=${query.window} is no START-END in picoseconds`);
  if ((query.start_ps !== undefined || query.end_ps !== undefined) && rangeOf(query) === null)
    faults.push('start_ps and end_ps are not a range in picoseconds');
  if (
    query.view !== undefined &&
    query.view !== 'runs' &&
    query.view !== 'settings' &&
    query.view !== 'perfetto' &&
    !(VIEWS as readonly string[]).includes(query.view)
  )
    faults.push(`there is no view "${query.view}"`);
  for (const [key, words] of Object.entries(WORDS))
    if (query[key] !== undefined && !words.includes(query[key]!))
      faults.push(`${key}=${query[key]} is none of ${words.join(', ')}`);
  if (query.step !== undefined && query.step !== ALL_STEPS && !/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(query.step))
    faults.push(`step=${query.step} is no list of steps`);
  return faults;
}
