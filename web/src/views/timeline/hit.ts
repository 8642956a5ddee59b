/* SPDX-License-Identifier: Apache-2.0 */
/* What lies under a point: the band, the row, the cell; and which slice that cell is. */
import { go } from '../../data/place';
import { loadJson } from '../../data/resource';
import { asSlice, LOCAL_TRACK, localSliceAt } from '../../data/local_track';
import type { Slice, SliceList } from '../../data/types';
import { CELL_INSTANT } from '../../data/tiles';
import { cellAt, cellsOf, type CellHit } from '../../draw/scene';
import { bandAt, rowsTop, type Band } from '../../model/layout';
import { toBig, toNumber } from '../../model/numbers';
import { timeAt } from '../../model/viewport';
import type { TimelineState } from './state';

export interface Hit {
  band: Band;
  depth: number;
  cell: CellHit;
  name: string;
  kind: number;
  slices: number;
  folded: boolean; // many slices in a pixel, none to be seen alone
  busy: number;
  instant: boolean;
  flags: number;
  start: bigint; // of the cell
  end: bigint;
}

const REACH_PIXELS = 3;
/* A wider cell is one long slice, whatever began in the quantum with it. */
const FOLDED_QUANTA_MAX = 2;
const SLICES_MAX = 100;

export function hitOf(state: TimelineState, band: Band, depth: number, cell: CellHit): Hit {
  const { cells, index } = cell;
  const pixels = state.cameraOf(band.node.host).pixels;
  return {
    band,
    depth,
    cell,
    name: state.store.names.texts[cells.name[index]!]!,
    kind: cells.kind[index]!,
    slices: cells.slices[index]!,
    folded: cells.slices[index]! > 1 && cells.width[index]! <= FOLDED_QUANTA_MAX,
    busy: cells.busy[index]! / 65_535,
    flags: cells.flags[index]!,
    instant: (cells.flags[index]! & CELL_INSTANT) !== 0,
    start: timeAt(state.viewport.value, cell.left / pixels) + state.shiftOf(band.node.host),
    end: timeAt(state.viewport.value, cell.right / pixels) + state.shiftOf(band.node.host),
  };
}

/* x and y in CSS pixels within the tracks' area. */
export function hitAt(state: TimelineState, x: number, y: number): { band: Band | null; hit: Hit | null } {
  const top = state.layoutY(y);
  const band = bandAt(state.layout.value, top);
  if (!band || band.depthCount === 0 || top < rowsTop(band)) return { band, hit: null };
  const depth = Math.floor((top - rowsTop(band)) / band.rowHeight);
  const camera = state.cameraOf(band.node.host);
  const { placed } = cellsOf(state.store, { track: band.node.id, depth }, camera);
  const cell = cellAt(placed, x * devicePixelRatio, REACH_PIXELS * devicePixelRatio);
  if (!cell) return { band, hit: null };
  return { band, hit: hitOf(state, band, depth, cell) };
}

/* What a click on it chooses: the slice, or where a row of a query is none, its time. */
export function chooseSlice(slice: Slice): void {
  const start = toBig(slice.start_ps);
  if (slice.id !== '') return go({ slice: slice.id, piece: null });
  if (toBig(slice.dur_ps) > 0n) go({ start_ps: String(start), end_ps: String(start + toBig(slice.dur_ps)) });
}

/* The slice a cell stands for: that which covers most of it; of many in a pixel the longest. */
export async function sliceOf(state: TimelineState, hit: Hit, abort?: AbortSignal): Promise<Slice | null> {
  if (hit.band.node.id === LOCAL_TRACK) {
    const own = state.local && localSliceAt(state.local, hit.depth, hit.start, hit.end);
    return own && asSlice(own);
  }
  const quantum = BigInt(Math.ceil(state.viewport.value.span / Math.max(1, state.size.value.width)));
  const reply = await loadJson<SliceList>(
    'api/slices',
    {
      run: state.run.id,
      track: hit.band.node.id,
      name: hit.name,
      start_ps: hit.start - quantum,
      end_ps: hit.end + quantum,
      sort: '-dur_ps',
      limit: SLICES_MAX,
    },
    abort,
  );
  let best: Slice | null = null;
  let bestScore = -Infinity;
  for (const slice of reply.rows) {
    if (slice.depth !== hit.depth) continue;
    const start = toBig(slice.start_ps);
    const end = start + toBig(slice.dur_ps);
    const inside = Number((end < hit.end ? end : hit.end) - (start > hit.start ? start : hit.start));
    const score = hit.folded && inside >= 0 ? toNumber(slice.dur_ps) : inside;
    if (score > bestScore) [best, bestScore] = [slice, score];
  }
  return best;
}
