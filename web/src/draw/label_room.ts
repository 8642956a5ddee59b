/* SPDX-License-Identifier: Apache-2.0 */
/* How much room a slice's label has on the screen.
 *
 *   |=== a ==|== a ===|  [ b ] |       tiles: a crosses from one to the next and has its own width,
 *   |        |        |      [=|= c    c goes on behind the last that is here and has that of the screen
 */
import { CELL_FROM_BEFORE, CELL_GOES_ON } from '../data/tiles';
import type { Span } from './row_image';

/* Whether a slice ends beyond the screen where no tile tells; one that crosses from tile to tile in sight does not. */
export const goesOn = ({ right, flags }: Span, width: number): boolean =>
  (flags & CELL_GOES_ON) !== 0 && right >= width;

/* For a label: the slice's width, at most that of the screen. */
export function roomOf(span: Span, width: number): number {
  const fromBefore = span.flags & CELL_FROM_BEFORE && span.left <= 0;
  return fromBefore || goesOn(span, width) ? width : Math.min(span.right - span.left, width);
}
