/* SPDX-License-Identifier: Apache-2.0 */
/* What the timeline shows, put together from tiles: for a row, the cells on the screen; where a
 * tile is missing its parent, else its children. */
import type { TileStore, RowKey } from '../data/tile_store';
import { TILE_QUANTA, type Cells, type Part } from '../data/tiles';
import { levelOf, tileRange, tileStart, type TileRange } from '../model/level';
import type { Viewport } from '../model/viewport';
import { firstCell, type PlacedCells } from './row_image';

const PARENTS_MAX = 30;
const CHILDREN_MAX = 2;

export interface Camera {
  viewport: Viewport;
  pixels: number; // device pixels of the width
  offset: bigint; // of the host
}

export interface PlacedSummary {
  share: Uint16Array;
  left: number;
  quantum: number;
}

export function wantedTiles(camera: Camera): TileRange {
  return tileRange(camera.viewport, levelOf(camera.viewport.span, camera.pixels), camera.offset);
}

function place(camera: Camera, level: number, index: number): { left: number; quantum: number } {
  const perPs = camera.pixels / camera.viewport.span;
  const delta = Number(tileStart(level, index, camera.offset) - camera.viewport.base) - camera.viewport.offset;
  return { left: delta * perPs, quantum: 2 ** level * perPs };
}

interface Found {
  part: Part;
  level: number;
  index: number;
}

function find(store: TileStore, row: RowKey, level: number, index: number): Found[] {
  for (let up = 0; up <= PARENTS_MAX; up++) {
    const parent = Math.floor(index / 2 ** up);
    const part = store.part(row, level + up, parent);
    if (part) return [{ part, level: level + up, index: parent }];
  }
  for (let down = 1; down <= CHILDREN_MAX && level >= down; down++) {
    const found: Found[] = [];
    for (let child = index * 2 ** down; child < (index + 1) * 2 ** down; child++) {
      const part = store.part(row, level - down, child);
      if (part) found.push({ part, level: level - down, index: child });
    }
    if (found.length > 0) return found;
  }
  return [];
}

export interface RowCells {
  placed: PlacedCells[];
  covered: boolean; // every tile of the window, or a coarser one, is at hand
}

function each(store: TileStore, row: RowKey, camera: Camera, take: (found: Found) => void): boolean {
  const range = wantedTiles(camera);
  const seen = new Set<string>();
  let covered = true;
  for (let index = range.from; index < range.to; index++) {
    const found = find(store, row, range.level, index);
    if (found.length === 0 && !store.isWhole) covered = false;
    for (const one of found) {
      const key = `${one.level}|${one.index}`;
      if (seen.has(key)) continue;
      seen.add(key);
      take(one);
    }
  }
  return covered;
}

export function cellsOf(store: TileStore, row: RowKey, camera: Camera): RowCells {
  const placed: PlacedCells[] = [];
  const covered = each(store, row, camera, ({ part, level, index }) => {
    if (part.cells && part.cells.count > 0) placed.push({ cells: part.cells, ...place(camera, level, index) });
  });
  return { placed, covered };
}

export function summaryOf(store: TileStore, track: string, camera: Camera): PlacedSummary[] {
  const placed: PlacedSummary[] = [];
  each(store, { track, depth: 's' }, camera, ({ part, level, index }) => {
    if (part.summary) placed.push({ share: part.summary, ...place(camera, level, index) });
  });
  return placed;
}

export interface CellHit {
  cells: Cells;
  index: number;
  left: number; // pixels
  right: number;
}

/* The cell under a pixel; of several within reach the nearest. */
export function cellAt(placed: readonly PlacedCells[], x: number, reach: number): CellHit | null {
  let best: CellHit | null = null;
  let nearest = Infinity;
  for (const { cells, left, quantum } of placed) {
    if (x < left - reach || x > left + TILE_QUANTA * quantum + reach) continue;
    for (let index = firstCell(cells, (x - reach - left) / quantum); index < cells.count; index++) {
      const from = left + cells.start[index]! * quantum;
      if (from > x + reach) break;
      const to = from + cells.width[index]! * quantum;
      const distance = x < from ? from - x : x > to ? x - to : 0;
      if (distance < nearest) {
        nearest = distance;
        best = { cells, index, left: from, right: to };
      }
    }
  }
  return best;
}
