/* SPDX-License-Identifier: Apache-2.0 */
/* How much room a slice's label has: what of the slice is on the screen.
 *
 *   =|== a ==|== a ===|  [ b ] |       tiles: a begins before the screen and crosses from one tile to the next,
 *    |        |        |     [=|= c    c goes on behind the last that is here
 */
import { CELL_GOES_ON } from '../data/tiles';
import type { Span } from './row_image';

/* Whether a slice ends beyond the screen where no tile tells; one that crosses from tile to tile in sight does not. */
export const goesOn = ({ right, flags }: Span, width: number): boolean =>
  (flags & CELL_GOES_ON) !== 0 && right >= width;

export function roomOf(span: Span, width: number): number {
  return Math.min(goesOn(span, width) ? width : span.right, width) - Math.max(0, span.left);
}
