/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles at hand, and those on their way.
 *
 *   key  TRACK:DEPTH | level | index  ->  part
 *
 * The least recently drawn go first when the limit is reached. What is on its way and no longer
 * wanted is cancelled. Asking and drawing are apart: a missing tile is drawn from its parent.
 */
import { tileStart } from '../model/level';
import { getBytes } from './api';
import { LOCAL_TRACK, localCells, localSummary, type LocalTrack } from './local_track';
import { decodeTiles, NameTable, type Part } from './tiles';

export interface RowKey {
  track: string;
  depth: number | 's';
}

export interface Want {
  rows: RowKey[]; // of one host
  level: number;
  from: number;
  to: number;
}

interface Flight {
  keys: Set<string>;
  abort: AbortController;
}

const BYTES_MAX = 96 * 1024 * 1024;
const CELL_BYTES = 15;
const ROWS_PER_REQUEST = 96;
const TILES_PER_REQUEST = 16;
const FLIGHTS_MAX = 6;

export function partKey(row: RowKey, level: number, index: number): string {
  return `${row.track}:${row.depth}|${level}|${index}`;
}

function sizeOf(part: Part): number {
  return 64 + (part.cells ? part.cells.count * CELL_BYTES : (part.summary?.byteLength ?? 0));
}

/* `12:0-5,13:s`; depths of one track that follow each other become a range. */
export function rowsParam(rows: RowKey[]): string {
  const parts: string[] = [];
  for (let index = 0; index < rows.length;) {
    const { track, depth } = rows[index]!;
    let last = index;
    while (
      depth !== 's' &&
      rows[last + 1]?.track === track &&
      rows[last + 1]!.depth === (rows[last]!.depth as number) + 1
    )
      last++;
    parts.push(last === index ? `${track}:${depth}` : `${track}:${depth}-${rows[last]!.depth}`);
    index = last + 1;
  }
  return parts.join(',');
}

/* 3 4 5 8 as [3, 6) and [8, 9): what lies between is here already. */
export function stretchesOf(indices: readonly number[]): [number, number][] {
  const stretches: [number, number][] = [];
  for (const index of indices) {
    const last = stretches.at(-1);
    if (last && last[1] === index && index - last[0] < TILES_PER_REQUEST) last[1] = index + 1;
    else stretches.push([index, index + 1]);
  }
  return stretches;
}

/* Tiles that the page carries itself: then none is asked for, and what is finer is drawn from them. */
export interface Given {
  level: number;
  from: number;
  to: number;
  rows: string;
  bytes: ArrayBuffer;
}

let given: readonly Given[] | null = null;

export const giveTiles = (tiles: readonly Given[]): void => void (given = tiles);

/* "12ab.3:0-2,12ab.4:s" as the keys of its rows. */
export function rowsOf(text: string): RowKey[] {
  return text.split(',').flatMap((one): RowKey[] => {
    const [track, depths] = one.split(':') as [string, string];
    if (depths === 's') return [{ track, depth: 's' }];
    const [first, last] = depths.split('-').map(Number) as [number, number?];
    return Array.from({ length: (last ?? first) - first + 1 }, (_, at) => ({ track, depth: first + at }));
  });
}

export class TileStore {
  readonly names = new NameTable();
  private readonly parts = new Map<string, Part>();
  private readonly flights = new Set<Flight>();
  private bytes = 0;
  failure: Error | null = null;
  readonly isWhole = given !== null; // what it does not hold is empty

  constructor(
    private readonly run: string,
    private readonly content: string | null,
    private readonly onArrival: () => void,
    private readonly local: LocalTrack | null = null,
  ) {
    for (const one of given ?? []) this.take(one.bytes, { ...one, rows: rowsOf(one.rows) });
  }

  get loading(): boolean {
    return this.flights.size > 0;
  }

  part(row: RowKey, level: number, index: number): Part | undefined {
    const key = partKey(row, level, index);
    if (row.track === LOCAL_TRACK && !this.parts.has(key)) this.put(key, this.ownPart(row.depth, level, index));
    const part = this.parts.get(key);
    if (part) {
      this.parts.delete(key);
      this.parts.set(key, part);
    }
    return part;
  }

  private ownPart(depth: number | 's', level: number, index: number): Part {
    const from = tileStart(level, index, 0n);
    if (this.local === null) return { cells: null, summary: null };
    return depth === 's'
      ? { cells: null, summary: localSummary(this.local, from, level) }
      : { cells: localCells(this.local.rows[depth], from, level, (text) => this.names.idOf(text)), summary: null };
  }

  /* Asks for what is missing of `wants`, first come first, and once all of that is here, of `rest`;
   * cancels what none of them names, which may be the last on its way: then that is told like an
   * arrival. */
  want(wants: Want[], rest: Want[] = []): void {
    if (given) return;
    const before = this.flights.size;
    const missing = [...wants, ...rest].map((want) => this.missingOf(want));
    const first = missing.slice(0, wants.length);
    const wanted = new Set(missing.flatMap((one) => one.keys));
    for (const flight of this.flights) {
      if ([...flight.keys].some((key) => wanted.has(key))) continue;
      this.flights.delete(flight);
      flight.abort.abort();
    }
    const flying = new Set([...this.flights].flatMap((flight) => [...flight.keys]));
    for (const one of first.every(({ keys }) => keys.length === 0) ? missing : first)
      this.send(one.want, one.keys, flying);
    if (before > 0 && !this.loading) this.onArrival();
  }

  close(): void {
    for (const flight of this.flights) flight.abort.abort();
    this.flights.clear();
  }

  private missingOf(want: Want): { want: Want; keys: string[] } {
    const keys: string[] = [];
    for (const row of want.rows.filter((one) => one.track !== LOCAL_TRACK))
      for (let index = want.from; index < want.to; index++) {
        const key = partKey(row, want.level, index);
        if (!this.parts.has(key)) keys.push(key);
      }
    return { want, keys };
  }

  private send(want: Want, keys: string[], flying: Set<string>): void {
    const open = new Set(keys.filter((key) => !flying.has(key)));
    if (open.size === 0) return;
    const needs = (row: RowKey, index: number) => open.has(partKey(row, want.level, index));
    const used = Array.from({ length: want.to - want.from }, (_, at) => want.from + at).filter((index) =>
      want.rows.some((row) => needs(row, index)),
    );
    for (const [from, to] of stretchesOf(used)) {
      const rows = want.rows.filter((row) => Array.from({ length: to - from }).some((_, at) => needs(row, from + at)));
      for (let at = 0; at < rows.length && this.flights.size < FLIGHTS_MAX; at += ROWS_PER_REQUEST)
        void this.fetch({ rows: rows.slice(at, at + ROWS_PER_REQUEST), level: want.level, from, to });
    }
  }

  private async fetch(want: Want): Promise<void> {
    const flight: Flight = { keys: new Set(), abort: new AbortController() };
    for (const row of want.rows)
      for (let index = want.from; index < want.to; index++) flight.keys.add(partKey(row, want.level, index));
    this.flights.add(flight);
    try {
      const params = {
        run: this.run,
        content: this.content,
        level: want.level,
        from: want.from,
        to: want.to,
        rows: rowsParam(want.rows),
      };
      this.take(await getBytes('api/tiles', params, flight.abort.signal), want);
      this.failure = null;
    } catch (error) {
      if (flight.abort.signal.aborted) return;
      this.failure = error as Error;
      this.drop(want);
    } finally {
      this.flights.delete(flight);
    }
    this.onArrival();
  }

  /* What failed stays empty rather than being asked for at every frame. */
  private drop(want: Want): void {
    for (const row of want.rows)
      for (let index = want.from; index < want.to; index++)
        this.put(partKey(row, want.level, index), { cells: null, summary: null });
  }

  private take(buffer: ArrayBuffer, want: Want): void {
    const reply = decodeTiles(buffer, this.names);
    let at = 0;
    for (const row of want.rows)
      for (let index = 0; index < reply.tileCount; index++)
        this.put(partKey(row, reply.level, reply.from + index), reply.parts[at++]!);
  }

  private put(key: string, part: Part): void {
    const before = this.parts.get(key);
    if (before) this.bytes -= sizeOf(before);
    this.parts.set(key, part);
    this.bytes += sizeOf(part);
    while (this.bytes > BYTES_MAX) {
      const [oldest, old] = this.parts.entries().next().value!;
      this.parts.delete(oldest);
      this.bytes -= sizeOf(old);
    }
  }
}
