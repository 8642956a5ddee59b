/* SPDX-License-Identifier: Apache-2.0 */
/* The next stretch in which a device (or a thread) did nothing, by its summary tiles.
 *
 *   level    a quantum is a 400th of the window, a gap of interest four of them
 *   edges    found again in tiles a thousand times finer, until nothing gets finer
 */
import { getBytes } from '../../data/api';
import { decodeTiles, NameTable, SUMMARY_KINDS, TILE_QUANTA } from '../../data/tiles';
import type { Span } from '../../model/address';
import { gapFrom } from '../../model/gaps';
import type { Node } from '../../model/layout';
import { LEVEL_MAX } from '../../model/level';
import { endOf, startOf } from '../../model/viewport';
import type { TimelineState } from './state';

const WINDOW_QUANTA = 400;
const LEAST_QUANTA = 4;
const TILES_PER_REQUEST = 16;
const FINER = 10;

/* What the gap is of: the device of the focus, or its track; else the first device, else the first row. */
export function idleNode(state: TimelineState): Node | null {
  const focus = state.focus.value?.track;
  const path = (nodes: readonly Node[], above: Node[]): Node[] | null => {
    for (const node of nodes) {
      if (node.id === focus) return [...above, node];
      const found = path(node.children, [...above, node]);
      if (found) return found;
    }
    return null;
  };
  const way = focus === undefined ? null : path(state.roots, []);
  if (way) return way.find((node) => node.kind === 'device') ?? way.at(-1)!;
  const bands = state.layout.value.bands.map((band) => band.node);
  return (
    bands.find((node) => node.kind === 'device') ?? bands.find((node) => (node.track?.slice_count ?? 0) > 0) ?? null
  );
}

function busyOf(summary: Uint16Array | null): boolean[] {
  const busy = new Array<boolean>(TILE_QUANTA).fill(false);
  if (summary)
    for (let kind = 0; kind < SUMMARY_KINDS; kind++)
      for (let quantum = 0; quantum < TILE_QUANTA; quantum++)
        if (summary[kind * TILE_QUANTA + quantum]! > 0) busy[quantum] = true;
  return busy;
}

async function busyTiles(
  state: TimelineState,
  track: string,
  level: number,
  from: number,
  to: number,
): Promise<boolean[]> {
  const params = { run: state.run.id, content: state.run.content_id, level, from, to, rows: `${track}:s` };
  return decodeTiles(await getBytes('api/tiles', params), new NameTable()).parts.flatMap((part) =>
    busyOf(part.summary),
  );
}

/* The time at which a busy quantum ends (or begins), finer and finer, to the picosecond.
 *
 *   |....####|....|     a quantum of `level` is a tile of the level ten below, or a part of one
 */
async function edgeIn(
  state: TimelineState,
  track: string,
  level: number,
  quantum: bigint,
  last: boolean,
): Promise<bigint> {
  const coarse = (last ? quantum + 1n : quantum) << BigInt(level);
  if (level === 0) return coarse;
  const down = Math.min(FINER, level);
  const begin = quantum << BigInt(down);
  const tile = Number(begin >> 10n);
  const from = Number(begin & 1023n);
  const busy = (await busyTiles(state, track, level - down, tile, tile + 1)).slice(from, from + 2 ** down);
  const at = last ? busy.lastIndexOf(true) : busy.indexOf(true);
  if (at < 0) return coarse;
  return edgeIn(state, track, level - down, begin + BigInt(at), last);
}

/* Tiles of a row, chunk by chunk, as far as the run goes. */
class BusyRow {
  readonly first: number; // tile indices
  readonly end: number;

  constructor(
    private readonly state: TimelineState,
    readonly track: string,
    readonly offset: bigint,
    readonly level: number,
  ) {
    const tile = BigInt(level) + 10n;
    this.first = Number((state.start - offset) >> tile);
    this.end = Number((state.end - offset) >> tile) + 1;
  }

  read(from: number, to: number): Promise<boolean[]> {
    return busyTiles(this.state, this.track, this.level, from, to);
  }

  /* The first busy quantum at or after `quantum`, or the last one at or before it; null: none. */
  async busyFrom(quantum: bigint, direction: 1 | -1): Promise<bigint | null> {
    for (
      let index = Number(quantum >> 10n);
      index >= this.first && index < this.end;
      index += direction * TILES_PER_REQUEST
    ) {
      const from = Math.max(this.first, direction > 0 ? index : index - TILES_PER_REQUEST + 1);
      const to = Math.min(this.end, direction > 0 ? index + TILES_PER_REQUEST : index + 1);
      const busy = await this.read(from, to);
      const base = BigInt(from) << 10n;
      const at =
        direction > 0
          ? busy.findIndex((one, place) => one && base + BigInt(place) >= quantum)
          : busy.findLastIndex((one, place) => one && base + BigInt(place) <= quantum);
      if (at >= 0) return base + BigInt(at);
    }
    return null;
  }

  exact(quantum: bigint, last: boolean): Promise<bigint> {
    return edgeIn(this.state, this.track, this.level, quantum, last);
  }
}

/* The gap around an idle quantum; null where it touches the begin or the end of the run. */
async function gapAround(row: BusyRow, quantum: bigint): Promise<Span | null> {
  const before = await row.busyFrom(quantum, -1);
  const after = await row.busyFrom(quantum, 1);
  if (before === null || after === null) return null;
  return { start: (await row.exact(before, true)) + row.offset, end: (await row.exact(after, false)) + row.offset };
}

export async function idleBeside(state: TimelineState, node: Node, direction: 1 | -1): Promise<Span | null> {
  const viewport = state.viewport.value;
  const level = Math.min(LEVEL_MAX, Math.max(0, Math.floor(Math.log2(viewport.span / WINDOW_QUANTA))));
  const row = new BusyRow(state, node.id, state.offsetOf(node.host), level);
  const range = state.range.value;
  const begin = direction > 0 ? (range?.end ?? startOf(viewport)) : (range?.start ?? endOf(viewport));
  const quantum = (begin - row.offset) >> BigInt(level);
  const here = Math.min(row.end - 1, Math.max(row.first, Number(quantum >> 10n)));

  for (let index = here; index >= row.first && index < row.end; index += direction * TILES_PER_REQUEST) {
    const from = Math.max(row.first, direction > 0 ? index : index - TILES_PER_REQUEST + 1);
    const to = Math.min(row.end, direction > 0 ? index + TILES_PER_REQUEST : index + 1);
    const busy = await row.read(from, to);
    const base = BigInt(from) << 10n;
    let at = index === here ? Number(quantum - base) : direction > 0 ? 0 : busy.length;
    for (let gap = gapFrom(busy, at, LEAST_QUANTA, direction); gap; gap = gapFrom(busy, at, LEAST_QUANTA, direction)) {
      const found = await gapAround(row, base + BigInt(gap.from));
      if (found && (direction > 0 ? found.start >= begin : found.end <= begin)) return found;
      at = direction > 0 ? gap.to : gap.from;
    }
  }
  return null;
}
