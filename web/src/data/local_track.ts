/* SPDX-License-Identifier: Apache-2.0 */
/* A track made on the page, of the rows of a query: laid into rows, and cut into cells as tiles have them.
 *
 *   rows    start_ps (or ts_ps), dur_ps or end_ps, name, kind     ->     row 0  [ a ][ b    ]
 *                                                                        row 1     [ c ]
 */
import { toBig } from '../model/numbers';
import type { Ps } from './json';
import type { SqlAnswer, SqlCell } from './sql';
import { CELL_FROM_BEFORE, CELL_GOES_ON, CELL_INSTANT, SUMMARY_KINDS, TILE_QUANTA, type Cells } from './tiles';
import { KINDS, type Kind, type Slice, type Track } from './types';

export const LOCAL_TRACK = 'sql';
const OTHER = KINDS.indexOf('other');

export interface LocalSlice {
  start: bigint;
  end: bigint;
  depth: number;
  name: string;
  kind: number;
  id: string | null; // of the slice that the row is, where it says so
}

export interface LocalTrack {
  name: string;
  rows: LocalSlice[][]; // by depth, in order of time
}

const numeric = (cell: SqlCell | undefined): bigint | null =>
  typeof cell === 'number' || typeof cell === 'bigint' ? toBig(cell as Ps) : null;

const START = ['start_ps', 'ts_ps', 'ts'];
const WORDS_MAX = 40;

/* The columns that say when; null: the rows are not of times. */
export function timeColumns(answer: SqlAnswer): { start: string; end: string | null; dur: string | null } | null {
  const names = answer.columns.map((one) => one.name);
  const start = START.find((one) => names.includes(one));
  if (start === undefined) return null;
  const of = (wanted: string[]): string | null => wanted.find((one) => names.includes(one)) ?? null;
  return { start, end: of(['end_ps']), dur: of(['dur_ps', 'dur']) };
}

/* Each row into the first lane that is free by then. */
function laid(slices: LocalSlice[]): LocalSlice[][] {
  const rows: LocalSlice[][] = [];
  slices.sort((a, b) => (a.start !== b.start ? (a.start < b.start ? -1 : 1) : a.end > b.end ? -1 : 1));
  for (const slice of slices) {
    let depth = rows.findIndex((row) => row.at(-1)!.end <= slice.start);
    if (depth < 0) depth = rows.push([]) - 1;
    slice.depth = depth;
    rows[depth]!.push(slice);
  }
  return rows;
}

export function localTrack(answer: SqlAnswer, sql: string): LocalTrack | null {
  const columns = timeColumns(answer);
  if (columns === null) return null;
  const names = answer.columns.map((one) => one.name);
  const text = names.includes('name')
    ? 'name'
    : answer.columns.find(({ name }) => typeof answer.rows[0]?.[name] === 'string')?.name;
  const slices = answer.rows.flatMap((row): LocalSlice[] => {
    const start = numeric(row[columns.start]);
    if (start === null) return [];
    const dur = columns.dur === null ? null : numeric(row[columns.dur]);
    const end = columns.end === null ? null : numeric(row[columns.end]);
    const till = dur !== null ? start + dur : (end ?? start);
    const kind = KINDS.indexOf(String(row.kind ?? '') as Kind);
    return [
      {
        start,
        end: till < start ? start : till,
        depth: 0,
        name: text === undefined ? '' : String(row[text] ?? ''),
        kind: kind < 0 ? OTHER : kind,
        id: typeof row.id === 'string' ? row.id : null,
      },
    ];
  });
  return slices.length === 0 ? null : { name: sql.replace(/\s+/g, ' ').slice(0, WORDS_MAX), rows: laid(slices) };
}

/* As the server would list it. */
export function trackOf(local: LocalTrack): Track {
  const all = local.rows.flat();
  const least = all.reduce((a, b) => (b.start < a ? b.start : a), all[0]!.start);
  const most = all.reduce((a, b) => (b.end > a ? b.end : a), all[0]!.end);
  return {
    id: LOCAL_TRACK,
    parent: null,
    host: '',
    name: local.name,
    kind: 'async',
    derived: true,
    depth_count: local.rows.length,
    slice_count: all.length,
    duration_sum_ps: all.reduce((sum, one) => sum + Number(one.end - one.start), 0),
    start_ps: least,
    end_ps: most,
  };
}

/* The first that ends behind a time. */
function firstBehind(row: readonly LocalSlice[], time: bigint): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle]!.end < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Cell {
  start: number;
  width: number;
  slice: LocalSlice; // the longest of it
  slices: number;
  busy: number;
  flags: number;
}

/* One tile of a row: what begins in one quantum and is no longer than it shares a cell. */
export function localCells(
  row: readonly LocalSlice[] | undefined,
  from: bigint,
  level: number,
  idOf: (text: string) => number,
): Cells {
  const quantum = 2 ** level;
  const to = from + (BigInt(TILE_QUANTA) << BigInt(level));
  const cells: Cell[] = [];
  for (let at = firstBehind(row ?? [], from); row && at < row.length && row[at]!.start < to; at++) {
    const slice = row[at]!;
    const begins = slice.start >= from;
    const start = begins ? Math.floor(Number(slice.start - from) / quantum) : 0;
    const end = slice.end > to ? TILE_QUANTA : Math.max(start + 1, Math.ceil(Number(slice.end - from) / quantum));
    const size = Number(slice.end - slice.start);
    const flags =
      (begins ? 0 : CELL_FROM_BEFORE) | (slice.end > to ? CELL_GOES_ON : 0) | (size === 0 ? CELL_INSTANT : 0);
    const last = cells.at(-1);
    if (last && start < last.start + last.width && end - start <= 1) {
      last.slices = Math.min(255, last.slices + 1);
      last.busy = Math.min(1, last.busy + size / quantum);
      last.flags &= ~CELL_INSTANT;
      if (size > Number(last.slice.end - last.slice.start)) last.slice = slice;
    } else {
      const left = last ? Math.max(start, last.start + last.width) : start;
      if (left >= TILE_QUANTA) continue;
      const width = Math.max(1, Math.min(TILE_QUANTA, end) - left);
      cells.push({ start: left, width, slice, slices: 1, busy: Math.min(1, size / (width * quantum)), flags });
    }
  }
  return {
    count: cells.length,
    start: Uint16Array.from(cells, (cell) => cell.start),
    width: Uint16Array.from(cells, (cell) => cell.width),
    name: Uint32Array.from(cells, (cell) => idOf(cell.slice.name)),
    busy: Uint16Array.from(cells, (cell) => Math.round(65_535 * cell.busy)),
    kind: Uint8Array.from(cells, (cell) => cell.slice.kind),
    flags: Uint8Array.from(cells, (cell) => cell.flags),
    slices: Uint8Array.from(cells, (cell) => cell.slices),
  };
}

/* Of the closed track: how busy its rows are, by kind, as a mean over them. */
export function localSummary(local: LocalTrack, from: bigint, level: number): Uint16Array {
  const shares = new Uint16Array(SUMMARY_KINDS * TILE_QUANTA);
  for (const row of local.rows) {
    const cells = localCells(row, from, level, () => 0);
    for (let at = 0; at < cells.count; at++)
      for (let quantum = cells.start[at]!; quantum < cells.start[at]! + cells.width[at]!; quantum++) {
        const place = Math.min(SUMMARY_KINDS - 1, cells.kind[at]!) * TILE_QUANTA + quantum;
        shares[place] = Math.min(65_535, shares[place]! + cells.busy[at]! / local.rows.length);
      }
  }
  return shares;
}

/* The row of the query that lies there: of several the longest. */
export function localSliceAt(local: LocalTrack, depth: number, start: bigint, end: bigint): LocalSlice | null {
  const row = local.rows[depth] ?? [];
  let best: LocalSlice | null = null;
  for (let at = firstBehind(row, start); at < row.length && row[at]!.start <= end; at++)
    if (best === null || row[at]!.end - row[at]!.start > best.end - best.start) best = row[at]!;
  return best;
}

/* As the page knows slices; its id is none of the server's unless the row has one. */
export const asSlice = (one: LocalSlice): Slice => ({
  id: one.id ?? '',
  track: LOCAL_TRACK,
  depth: one.depth,
  start_ps: one.start,
  dur_ps: one.end - one.start,
  self_ps: null,
  name: one.name,
  kind: KINDS[one.kind]!,
  flags: [],
});
