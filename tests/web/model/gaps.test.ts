/* SPDX-License-Identifier: Apache-2.0 */
import { gapFrom } from '../../../web/src/model/gaps';

const row = (picture: string) => [...picture].map((letter) => letter === '#');

test.each([
  ['##...#.##....#', 0, 3, 1, { from: 2, to: 5 }],
  ['##...#.##....#', 3, 3, 1, { from: 9, to: 13 }],
  ['##...#.##....#', 3, 1, 1, { from: 6, to: 7 }],
  ['##...#.##....#', 14, 3, -1, { from: 9, to: 13 }],
  ['##...#.##....#', 9, 3, -1, { from: 2, to: 5 }],
  ['##...#.##....#', 4, 3, -1, null],
  ['####', 0, 1, 1, null],
  ['..##', 0, 2, 1, { from: 0, to: 2 }],
  ['##..', 0, 2, 1, { from: 2, to: 4 }],
] as const)('%s from %i', (picture, at, least, direction, gap) => {
  expect(gapFrom(row(picture), at, least, direction)).toEqual(gap);
});
