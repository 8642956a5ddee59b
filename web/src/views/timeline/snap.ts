/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of slices near a point: what shift snaps to.
 *
 * A tile's cell knows its edge to a pixel; the slice behind it to the picosecond. The first follows
 * the pointer, the second is asked for when the range is made.
 */
import { CELL_FROM_BEFORE, CELL_GOES_ON } from '../../data/tiles';
import { cellAt, cellsOf } from '../../draw/scene';
import { rowsTop, type Band } from '../../model/layout';
import { toBig } from '../../model/numbers';
import { timeAt } from '../../model/viewport';
import { hitOf, sliceOf, type Hit } from './hit';
import type { TimelineState } from './state';

export interface Edge {
  time: bigint;
  x: number; // CSS pixels
  exact: () => Promise<bigint>;
}

const REACH_PIXELS = 8;

function edgesOf(state: TimelineState, hit: Hit): Edge[] {
  const side = (end: boolean): Edge => {
    const x = (end ? hit.cell.right : hit.cell.left) / devicePixelRatio;
    const time = timeAt(state.viewport.peek(), x / Math.max(1, state.size.peek().width));
    const exact = async (): Promise<bigint> => {
      const slice = await sliceOf(state, hit).catch(() => null);
      if (!slice) return time;
      const start = toBig(slice.start_ps) - state.shiftOf(hit.band.node.host);
      return end ? start + toBig(slice.dur_ps) : start;
    };
    return { time, x, exact };
  };
  /* A slice that crosses into the next tile has no edge there. */
  const flags = hit.cell.cells.flags[hit.cell.index]!;
  return [...(flags & CELL_FROM_BEFORE ? [] : [side(false)]), ...(flags & CELL_GOES_ON ? [] : [side(true)])];
}

function rowsOf(state: TimelineState, y: number | null): { band: Band; depth: number }[] {
  const rows = state
    .visibleBands()
    .flatMap((band) => Array.from({ length: band.depthCount }, (_, depth) => ({ band, depth })));
  if (y === null) return rows;
  const top = state.layoutY(y);
  return rows.filter(({ band, depth }) => {
    const from = rowsTop(band) + depth * band.rowHeight;
    return top >= from && top < from + band.rowHeight;
  });
}

/* The nearest edge within reach: of the row at `y`, or of any row on the screen when y is null. */
export function edgeNear(state: TimelineState, x: number, y: number | null): Edge | null {
  let best: Edge | null = null;
  for (const { band, depth } of rowsOf(state, y)) {
    const { placed } = cellsOf(state.store, { track: band.node.id, depth }, state.cameraOf(band.node.host));
    for (const reach of [0, REACH_PIXELS]) {
      const cell = cellAt(placed, x * devicePixelRatio, reach * devicePixelRatio);
      if (!cell) continue;
      for (const edge of edgesOf(state, hitOf(state, band, depth, cell)))
        if (Math.abs(edge.x - x) <= REACH_PIXELS && (best === null || Math.abs(edge.x - x) < Math.abs(best.x - x)))
          best = edge;
    }
  }
  return best;
}
