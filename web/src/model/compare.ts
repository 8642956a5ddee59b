/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs side by side: which is a and which is b, what a row says of why it changed and how its
 * partner was found, where it leads, and which runs to offer as the other one.
 *
 *   a=step_500@step=4-9   a run, or some of its steps, or START-END of it in picoseconds
 */
import type { DiffRow } from '../data/diff';
import type { Ps } from '../data/json';
import type { Run } from '../data/types';
import type { Changes } from './address';
import { cutMiddle, shown } from './cut';
import { fixed, share, THIN, time, timeExact, toBig, toNumber, UNKNOWN, type Scale, inScale } from './numbers';
import { slicesOfOp } from './search';

export interface Side {
  run: string;
  step?: string;
  start?: string;
  end?: string;
}

const PART = /^(.*)@(?:step=(\d+(?:-\d+)?)|(-?\d+)-(-?\d+))$/s;

export function sideOf(text: string): Side {
  const part = PART.exec(text);
  if (!part) return { run: text };
  return part[2] === undefined ? { run: part[1]!, start: part[3]!, end: part[4]! } : { run: part[1]!, step: part[2] };
}

/* "steps 4-9", "1.00 ms … 2.00 ms"; nothing for the whole run. */
export function partWords(side: Side): string {
  if (side.step !== undefined)
    return side.step.includes('-') ? `steps ${side.step.replace('-', '–')}` : `step ${side.step}`;
  return side.start === undefined ? '' : `${time(BigInt(side.start))} … ${time(BigInt(side.end!))}`;
}

export function sideWords(text: string): string {
  const side = sideOf(text);
  return [shown(side.run), partWords(side)].filter(Boolean).join(', ');
}

const SIDE_LETTERS = 44; // of a name: two stand beside one another, and paths differ at their ends

export function sideShort(text: string): string {
  const side = sideOf(text);
  return [cutMiddle(shown(side.run), SIDE_LETTERS), partWords(side)].filter(Boolean).join(', ');
}

/* What only the page of two runs, or only one of a run, understands. */
const OF_COMPARING = ['a', 'b', 'by', 'sort', 'q', 'columns', 'key', 'zoom', 'align', 'offset', 'window'];
const OF_ONE_PAGE = [
  'run',
  'slice',
  'key',
  'window',
  'step',
  'start_ps',
  'end_ps',
  'track',
  'zoom',
  'mark',
  'open',
  'pin',
  'hide',
  'tracks',
  'find',
  'search',
  'by',
  'sort',
  'q',
  'columns',
  'group',
  'host',
  'device',
  'module',
  'scope',
  'name',
];

/* From anywhere to the comparison. */
export function compareChange(a: string, b: string): Changes {
  return { ...Object.fromEntries(OF_ONE_PAGE.map((key) => [key, null])), view: 'compare', a, b };
}

/* From the comparison into one of the runs, narrowed as that side is. */
export function intoRun(text: string, more: Changes): Changes {
  const side = sideOf(text);
  return {
    ...Object.fromEntries(OF_COMPARING.map((key) => [key, null])),
    run: side.run,
    step: side.step ?? null,
    start_ps: side.start ?? null,
    end_ps: side.end ?? null,
    ...more,
  };
}

/* What a part of a run is held against by itself: the step before, or as much time before; null for
 * a whole run and for several steps. */
export function partBefore(
  run: string,
  part: { step?: string | undefined; start?: bigint | undefined; end?: bigint | undefined },
): { a: string; b: string; words: string } | null {
  if (part.step !== undefined && /^[1-9]\d*$/.test(part.step))
    return {
      a: `${run}@step=${Number(part.step) - 1}`,
      b: `${run}@step=${part.step}`,
      words: `step ${Number(part.step) - 1}`,
    };
  if (part.start === undefined || part.end === undefined || part.start < part.end - part.start) return null;
  return {
    a: `${run}@${part.start - (part.end - part.start)}-${part.start}`,
    b: `${run}@${part.start}-${part.end}`,
    words: 'as much time before it',
  };
}

type Dated = Pick<Run, 'id' | 'name' | 'started_at'>;

/* Time runs from a to b: the older is a, so that slower means it became slower. */
export function inOrder<R extends Dated>(one: R, other: R): [R, R] {
  const [first, second] = [one, other].map((run) => (run.started_at === null ? NaN : Date.parse(run.started_at)));
  if (first! !== second! && !Number.isNaN(first! + second!)) return first! < second! ? [one, other] : [other, one];
  return one.name.localeCompare(other.name, 'en', { numeric: true }) <= 0 ? [one, other] : [other, one];
}

const seriesOf = (name: string): string => name.replace(/\d+/g, '#');
const numberOf = (name: string): number => Number(name.match(/\d+(?=\D*$)/)?.[0] ?? 0);

/* The other runs: those of the same series by how near their number is, then the newest. */
export function pickOrder<R extends Dated>(runs: readonly R[], of: string): R[] {
  const series = seriesOf(of);
  const rank = (run: R): number =>
    seriesOf(run.name) === series ? Math.abs(numberOf(run.name) - numberOf(of)) : Infinity;
  const when = (run: R): number => (run.started_at === null ? -Infinity : Date.parse(run.started_at));
  const compare = (x: number, y: number): number => (x === y ? 0 : x < y ? -1 : 1);
  return runs
    .filter((run) => run.name !== of && run.id !== of)
    .sort((x, y) => compare(rank(x), rank(y)) || compare(when(y), when(x)) || (x.name < y.name ? -1 : 1));
}

export function change(value: Ps): string {
  return toBig(value) > 0n ? `+${time(value)}` : time(value);
}

export function changeExact(value: Ps): string {
  return toBig(value) > 0n ? `+${timeExact(value)}` : timeExact(value);
}

export function changeInScale(value: Ps | null, scale: Scale): string {
  const words = inScale(value, scale);
  if (value === null || toBig(value) === 0n) return words;
  if (words.startsWith('<')) return `${toBig(value) > 0n ? '+' : '−'}${words}`;
  return toBig(value) > 0n ? `+${words}` : words;
}

/* "+310 %", from double on "4.1 times"; nothing where there was nothing. */
export function ratioWords(a: Ps, b: Ps): string {
  const [before, after] = [toNumber(a), toNumber(b)];
  if (before <= 0 || after < 0) return '';
  if (after >= 2 * before) return `${(after / before).toFixed(after / before < 10 ? 1 : 0)} times`;
  return `${after > before ? '+' : ''}${share(after / before - 1)}`;
}

const MOST = 0.9; // of the difference: then the other cause is not worth a word

/* Without a layout: "f32[64,256]" of "f32[64,256]{1,0}". */
const shapeWords = (shape: string | null): string => shape?.replace(/\{[^}]*\}$/, '') ?? '';

/* Another shape is the reason; else called more often, or each call longer, both where both count. */
export function whyWords(row: DiffRow): string {
  const [before, after] = [shapeWords(row.a_shape), shapeWords(row.b_shape)];
  const cause = causeWords(row);
  if (cause === '' || before === '' || after === '' || before === after) return cause;
  return `${before} → ${after}: ${cause}`;
}

function causeWords(row: DiffRow): string {
  if (row.often_ps === null || row.longer_ps === null || !['slower', 'faster'].includes(row.state)) return '';
  const [often, longer] = [toNumber(row.often_ps), toNumber(row.longer_ps)];
  const all = Math.abs(often) + Math.abs(longer);
  if (all === 0) return '';
  const calls = `${often > 0 ? 'more' : 'less'} often`;
  const counts =
    row.a_count === null || row.b_count === null ? '' : ` (${perStep(row.a_count)} → ${perStep(row.b_count)})`;
  const each = longer > 0 ? 'longer each time' : 'shorter each time';
  if (Math.abs(longer) >= MOST * all) return each;
  if (Math.abs(often) >= MOST * all) return calls + counts;
  return `${calls}${counts}, ${often > 0 === longer > 0 ? 'and' : 'but'} ${each}`;
}

export function perStep(count: number | null): string {
  if (count === null) return UNKNOWN;
  return fixed(count, Number.isInteger(count) ? 0 : count < 10 ? 2 : 1);
}

const MATCHES: Record<string, string> = {
  program: 'the same program',
  structure: 'the same operation on the same operands',
  shape: 'the same scope, operation and shapes',
  content: 'a fusion of the same operations',
  regrouped: 'the same work, fused otherwise; compared as a group',
  scope: 'the same scope and operation',
  source: 'the same line and operation',
  name: 'the same name',
  kernel: 'the same kernel',
  stem: 'the same name but for its number',
  none: 'no partner in the other run',
};
const DOUBTFUL = 0.7;

/* "≈ stem": how the partner was found; ≈ where that is wrong more than three times of ten. */
export function matchWords(row: DiffRow): string {
  if (row.match === null) return '';
  if (row.match === 'none') return 'no partner';
  return row.confidence !== null && row.confidence < DOUBTFUL ? `≈${THIN}${row.match}` : row.match;
}

export function matchExact(row: DiffRow): string | null {
  if (row.match === null) return row.reasons?.match ?? null;
  const how = MATCHES[row.match] ?? row.match;
  return row.match === 'none' || row.confidence === null
    ? `${row.match}: ${how}`
    : `${row.match}: ${how}; right in ${share(row.confidence)} of cases`;
}

const STATES: Record<string, string> = {
  slower: 'takes longer in B',
  faster: 'takes less in B',
  new: 'only B has it',
  gone: 'only A has it',
  same: 'too small, or no more than its noise',
};

export function stateExact(row: DiffRow): string {
  const said = row.p === null ? '' : `; p = ${row.p < 0.001 ? '<0.001' : row.p.toFixed(3)}`;
  return `${row.state}: ${STATES[row.state] ?? row.state}${said}`;
}

/* No op: what the host did while none ran, nothing, and the rest. */
export const isOp = (row: DiffRow): boolean => row.reasons?.match !== 'it is not an op';

const REST: Record<string, string> = {
  idle: 'nothing ran, neither on the devices nor on the stepping thread',
  other: 'what no row above has; nothing where ops overlap',
};

/* What the name says on hover: what it was called before, and what the rows that are no op mean. */
export function nameExact(row: DiffRow): string {
  if (!isOp(row)) return REST[row.key] === undefined ? row.name : `${row.name}: ${REST[row.key]}`;
  return row.a_name !== null && row.b_name !== null && row.a_name !== row.b_name
    ? `${row.b_name}, in A ${row.a_name}`
    : row.name;
}

/* A group of ops is named by its first: "fusion.3 + 2". */
export function firstOf(name: string): string {
  return name.replace(/ \+ \d+$/, '');
}

/* The slices of a row in one of the runs; of a scope or the like its ops; null: it is not there. */
export function goalOf(row: DiffRow, by: string, side: 'a' | 'b', text: string): Changes | null {
  if (!isOp(row)) return row.key === 'other' ? null : intoRun(text, { view: 'steps', by: 'idle' });
  const name = side === 'a' ? row.a_name : row.b_name;
  if (name === null || /^\(no \w+\)$/.test(name)) return null;
  if (by === 'op') return intoRun(text, { view: 'timeline', find: slicesOfOp(firstOf(name), null) });
  if (by === 'scope' || by === 'module') return intoRun(text, { view: 'ops', [by]: name });
  return intoRun(text, { view: 'ops', q: `${by}:"${name}"` });
}

/* In b, where it has the row. */
export function goalEither(row: DiffRow, by: string, a: string, b: string): Changes | null {
  return goalOf(row, by, 'b', b) ?? goalOf(row, by, 'a', a);
}

/* A bar from zero to the change, in shares of the room for the largest to both sides. */
export interface Spread {
  zero: number;
  perPs: number;
}

export function spreadOf(rows: readonly DiffRow[]): Spread {
  let [low, high] = [0, 0];
  for (const row of rows) [low, high] = [Math.min(low, toNumber(row.delta_ps)), Math.max(high, toNumber(row.delta_ps))];
  const width = Math.max(1, high - low);
  return { zero: Math.abs(low) / width, perPs: 1 / width };
}

export function barOf(delta: Ps, spread: Spread): { from: number; width: number } {
  const size = Math.abs(toNumber(delta)) * spread.perPs;
  return { from: toNumber(delta) < 0 ? spread.zero - size : spread.zero, width: size };
}
