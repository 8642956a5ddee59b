/* SPDX-License-Identifier: Apache-2.0 */
/* The tile reply, decoded (api/tile.md).
 *
 *   head | names | parts: row by row, all tiles of the first row, then of the next
 *
 * Columns are kept as typed arrays over the reply's own bytes; names become ids of one table for
 * the whole page, so that cells of different replies compare by number.
 */
import { HUES } from '../model/colouring';

export const TILE_QUANTA = 1024;
export const SUMMARY_KINDS = 7;

export const CELL_INSTANT = 1;
export const CELL_PARTIAL = 2;
export const CELL_CUT = 4;
export const CELL_ASYNC = 16;
export const CELL_FROM_BEFORE = 64;
export const CELL_GOES_ON = 128;

export interface Cells {
  count: number;
  start: Uint16Array; // quanta from the tile's begin
  width: Uint16Array;
  name: Uint32Array; // ids of `names`
  busy: Uint16Array;
  kind: Uint8Array;
  flags: Uint8Array;
  slices: Uint8Array;
}

export type Part = { cells: Cells; summary: null } | { cells: null; summary: Uint16Array | null };

export interface TileReply {
  level: number;
  from: number;
  tileCount: number;
  rowCount: number;
  offset: bigint; // of the host: run time = file time + offset
  parts: Part[]; // row by row
}

/* Every name seen on this page, once. */
export class NameTable {
  private readonly ids = new Map<string, number>();
  readonly texts: string[] = [];
  readonly shades: number[] = []; // which of a kind's three fills
  readonly hues: number[] = []; // which of the colours of names

  idOf(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.texts.length;
      this.ids.set(text, id);
      this.texts.push(text);
      const hash = hashOf(text);
      this.shades.push(hash % 3);
      this.hues.push((hash >>> 8) % HUES);
    }
    return id;
  }
}

export function shadeOf(text: string): number {
  return hashOf(text) % 3;
}

/* FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

class Reader {
  at = 0;
  readonly view: DataView;
  constructor(readonly buffer: ArrayBuffer) {
    this.view = new DataView(buffer);
  }
  u32(): number {
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }
  i64(): bigint {
    const value = this.view.getBigInt64(this.at, true);
    this.at += 8;
    return value;
  }
  bytes(count: number): Uint8Array {
    const value = new Uint8Array(this.buffer, this.at, count);
    this.skip(count);
    return value;
  }
  u16s(count: number): Uint16Array {
    const value = new Uint16Array(this.buffer, this.at, count);
    this.skip(count * 2);
    return value;
  }
  u32s(count: number): Uint32Array {
    const value = new Uint32Array(this.buffer, this.at, count);
    this.at += count * 4;
    return value;
  }
  private skip(size: number): void {
    this.at += (size + 3) & ~3;
  }
}

function readNames(reader: Reader, count: number, table: NameTable): Uint32Array {
  const offsets = reader.u32s(count + 1);
  const texts = reader.bytes(offsets[count]!);
  const decoder = new TextDecoder();
  const ids = new Uint32Array(count);
  for (let index = 0; index < count; index++)
    ids[index] = table.idOf(decoder.decode(texts.subarray(offsets[index]!, offsets[index + 1]!)));
  return ids;
}

function readCells(reader: Reader, count: number, wide: boolean, ids: Uint32Array): Cells {
  const start = reader.u16s(count).slice();
  const width = reader.u16s(count);
  const local = wide ? reader.u32s(count) : reader.u16s(count);
  const busy = reader.u16s(count);
  const name = new Uint32Array(count);
  for (let index = 0; index < count; index++) {
    name[index] = ids[local[index]!]!;
    if (index > 0) start[index] = start[index]! + start[index - 1]!;
  }
  return {
    count,
    start,
    width,
    name,
    busy,
    kind: reader.bytes(count),
    flags: reader.bytes(count),
    slices: reader.bytes(count),
  };
}

export function decodeTiles(buffer: ArrayBuffer, names: NameTable): TileReply {
  const reader = new Reader(buffer);
  const magic = new TextDecoder().decode(reader.bytes(4));
  if (magic !== 'JVT1') throw new Error(`a tile reply begins with JVT1, this one with ${JSON.stringify(magic)}`);
  const level = reader.u32();
  const from = Number(reader.i64());
  const tileCount = reader.u32();
  const rowCount = reader.u32();
  const nameCount = reader.u32();
  reader.u32();
  const offset = reader.i64();
  const ids = readNames(reader, nameCount, names);
  const parts: Part[] = [];

  for (let index = 0; index < tileCount * rowCount; index++) {
    const isSummary = reader.u32() === 1;
    const count = reader.u32();
    if (isSummary) parts.push({ cells: null, summary: count === 0 ? null : reader.u16s(SUMMARY_KINDS * count) });
    else parts.push({ cells: readCells(reader, count, nameCount > 65_535, ids), summary: null });
  }
  return { level, from, tileCount, rowCount, offset, parts };
}
