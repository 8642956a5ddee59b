/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of slices as one image: a line of pixels a row, stretched to the row's height.
 *
 *   cells   ----====--=        quanta of a tile, at most one pixel each
 *   pixels  ....####.#.        the longest cell that touches a pixel wins it
 *
 * A million slices cost what their pixels cost (ten milliseconds); rectangles cost four times that.
 */
import { CELL_CUT, CELL_FROM_BEFORE, CELL_GOES_ON, CELL_INSTANT, CELL_PARTIAL, type Cells } from '../data/tiles';
import { FAMILY_SLOT, SLOTS } from '../model/colouring';
import { mix, type Tokens } from './tokens';

/* Cells at a place on the screen. */
export interface PlacedCells {
  cells: Cells;
  left: number; // pixels, of the tile's begin
  quantum: number; // pixels
}

/* What is wide enough to be seen on its own. */
export interface Span {
  left: number; // pixels, may lie outside the screen
  right: number;
  name: number;
  kind: number;
  slot: number; // of its colours
  flags: number;
  slices: number;
}

export interface RowPaint {
  row: number;
  kinds: number; // a bit each
  families: number; // of compute
  spans: Span[];
  instants: { x: number; kind: number; name: number }[];
}

export type SlotOf = (name: number, kind: number) => number;

const SHADES = 32;
const STROKE_PIXELS_MIN = 3;
export const NEUTRAL = 8; // a container's place behind the eight kinds
const COMPUTE = 0;
export const OTHER_FAMILY = 30; // compute of no family
export const UNRECORDED = 9; // and behind that what has none

/* Every fill at every share of busy, mixed once per theme. */
export function mixTable(tokens: Tokens): Uint32Array {
  const table = new Uint32Array(SLOTS * (SHADES + 1));
  tokens.slots.forEach(({ fill }, slot) => {
    for (let busy = 0; busy <= SHADES; busy++)
      table[slot * (SHADES + 1) + busy] = mix(tokens.background, fill, Math.max(0.15, busy / SHADES));
  });
  return table;
}

export class RowImage {
  private pixels: Uint32Array = new Uint32Array(0);
  private longest = new Float32Array(0);
  private image: ImageData | null = null;
  private canvas = new OffscreenCanvas(1, 1);
  width = 0;
  rows = 0;
  private table: Uint32Array = new Uint32Array(0);
  private tokens: Tokens | null = null;
  private slotOf: SlotOf = () => 0;

  begin(width: number, rows: number, tokens: Tokens, slotOf: SlotOf): void {
    this.slotOf = slotOf;
    if (this.tokens !== tokens) {
      this.tokens = tokens;
      this.table = mixTable(tokens);
    }
    if (this.width !== width || this.rows < rows) {
      this.width = width;
      this.rows = rows;
      this.image = new ImageData(Math.max(1, width), Math.max(1, rows));
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.longest = new Float32Array(width);
      this.canvas = new OffscreenCanvas(Math.max(1, width), Math.max(1, rows));
    }
    this.pixels.fill(tokens.background);
  }

  /* `lit`: per name whether it matches the search; null: nothing is searched. */
  paint(
    row: number,
    placed: readonly PlacedCells[],
    neutral: boolean,
    lit: ((name: number) => boolean) | null,
  ): RowPaint {
    const result: RowPaint = { row, kinds: 0, families: 0, spans: [], instants: [] };
    this.longest.fill(0);
    for (const one of placed) this.paintCells(row * this.width, one, neutral, lit, result);
    return result;
  }

  private paintCells(
    at: number,
    placed: PlacedCells,
    neutral: boolean,
    lit: ((name: number) => boolean) | null,
    result: RowPaint,
  ): void {
    const { cells, left, quantum } = placed;
    const { pixels, longest, width, table, slotOf } = this;
    const first = firstCell(cells, (0 - left) / quantum);

    for (let index = first; index < cells.count; index++) {
      const x0 = left + cells.start[index]! * quantum;
      if (x0 >= width) break;
      const size = cells.width[index]! * quantum;
      const flags = cells.flags[index]!;
      const kind = neutral ? NEUTRAL : cells.kind[index]!;
      const name = cells.name[index]!;
      result.kinds |= 1 << kind;
      if (flags & CELL_INSTANT && cells.slices[index] === 1) {
        result.instants.push({ x: x0, kind, name });
        continue;
      }
      const from = Math.max(0, Math.round(x0));
      const to = Math.min(width, Math.max(from + 1, Math.round(x0 + size)));
      const busy = Math.round((cells.busy[index]! * SHADES) / 65_535);
      const slot = slotOf(name, kind);
      if (slot >= FAMILY_SLOT) result.families |= 1 << (slot - FAMILY_SLOT);
      else if (kind === COMPUTE) result.families |= 1 << OTHER_FAMILY;
      const colour = lit !== null && !lit(name) ? this.tokens!.faint : table[slot * (SHADES + 1) + busy]!;
      for (let x = from; x < to; x++)
        if (size > longest[x]!) {
          longest[x] = size;
          pixels[at + x] = colour;
        }
      if (size < STROKE_PIXELS_MIN && !(flags & (CELL_FROM_BEFORE | CELL_GOES_ON))) continue;
      this.keepSpan(result, { left: x0, right: x0 + size, name, kind, slot, flags, slices: cells.slices[index]! });
    }
  }

  /* A slice that crosses from tile to tile is one span again. */
  private keepSpan(result: RowPaint, span: Span): void {
    const { left, right, name, flags, slices } = span;
    const last = result.spans.at(-1);
    if (
      last &&
      flags & CELL_FROM_BEFORE &&
      last.flags & CELL_GOES_ON &&
      last.name === name &&
      Math.abs(last.right - left) < 1
    ) {
      last.right = right;
      last.flags = (last.flags & ~CELL_GOES_ON) | (flags & (CELL_GOES_ON | CELL_PARTIAL | CELL_CUT));
      last.slices = Math.max(last.slices, slices);
    } else result.spans.push(span);
  }

  /* The first column of every slice that is three pixels and more. */
  strokes(paint: RowPaint, tokens: Tokens, lit: ((name: number) => boolean) | null): void {
    const at = paint.row * this.width;
    for (const span of paint.spans) {
      if (lit !== null && !lit(span.name)) continue;
      if (span.right - span.left < STROKE_PIXELS_MIN || span.flags & CELL_FROM_BEFORE || span.kind === NEUTRAL)
        continue;
      const x = Math.round(span.left);
      if (x >= 0 && x < this.width) this.pixels[at + x] = tokens.slots[span.slot]!.stroke;
    }
  }

  end(): OffscreenCanvas {
    if (this.image) this.canvas.getContext('2d')!.putImageData(this.image, 0, 0);
    return this.canvas;
  }
}

/* The first cell that reaches to `quantum` or beyond it. */
export function firstCell(cells: Cells, quantum: number): number {
  let low = 0;
  let high = cells.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cells.start[middle]! + cells.width[middle]! < quantum) low = middle + 1;
    else high = middle;
  }
  return low;
}
