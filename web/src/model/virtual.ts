/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a long list stand on the screen.
 *
 *   offset     0 .............. [ room ] ................. count * rowHeight      pixels of the list
 *   scroller   0 ....... [ room ] ........ real                                   pixels of the page
 *
 * Browsers stop near 17 million pixels, so a longer list is scaled: the scroll bar moves `factor`
 * pixels of the list a pixel of its own, while the wheel and the keys still move by whole rows.
 */
const REAL_MAX = 12_000_000;
const MORE_ROWS = 12; // above and below, so that a short scroll finds them drawn

export interface Extent {
  whole: number; // pixels of the list
  real: number; // pixels that the scroller is given
  factor: number; // pixels of the list a pixel of the scroller
}

export function extentOf(count: number, rowHeight: number, room: number): Extent {
  const whole = count * rowHeight;
  const real = Math.min(whole, REAL_MAX);
  return { whole, real, factor: whole > real && real > room ? (whole - room) / (real - room) : 1 };
}

export function clampOffset(offset: number, { whole }: Extent, room: number): number {
  return Math.max(0, Math.min(offset, whole - room));
}

/* From the first row to draw to the one behind the last. */
export function rowsAt(offset: number, count: number, rowHeight: number, room: number): [number, number] {
  if (room <= 0) return [0, 0];
  return [
    Math.max(0, Math.floor(offset / rowHeight) - MORE_ROWS),
    Math.min(count, Math.ceil((offset + room) / rowHeight) + MORE_ROWS),
  ];
}

/* The nearest offset at which the row stands whole in the room. */
export function revealed(index: number, offset: number, rowHeight: number, room: number): number {
  const top = index * rowHeight;
  if (top < offset) return top;
  return top + rowHeight > offset + room ? top + rowHeight - room : offset;
}
