/* SPDX-License-Identifier: Apache-2.0 */
/* How much room a slice's label has: what of the slice is on the screen. */
import { CELL_FROM_BEFORE, CELL_GOES_ON } from '../../../web/src/data/tiles';
import { roomOf } from '../../../web/src/draw/label_room';

const SCREEN = 1000;
const rows: [what: string, left: number, right: number, flags: number, room: number][] = [
  ['whole in sight', 100, 150, 0, 50],
  ['wider than the screen', -50, 1200, 0, SCREEN],
  ['begins before the screen', -500, 150, CELL_FROM_BEFORE, 150],
  ['ends behind the screen', 900, 1600, 0, 100],
  ['goes on behind all that is known', 900, 1000, CELL_GOES_ON, 100],
  ['crosses from tile to tile in sight', 400, 401, CELL_FROM_BEFORE | CELL_GOES_ON, 1],
];

describe('the room of a label', () => {
  test.each(rows)('%s', (_what, left, right, flags, room) => {
    expect(roomOf({ left, right, flags, name: 0, kind: 0, slot: 0, slices: 1 }, SCREEN)).toBe(room);
  });
});
