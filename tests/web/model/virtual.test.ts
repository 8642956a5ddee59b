/* SPDX-License-Identifier: Apache-2.0 */
import { clampOffset, extentOf, revealed, rowsAt } from '../../../web/src/model/virtual';

test('a short list stands as it is; a long one is scaled, its last row at the end of the bar', () => {
  expect(extentOf(1000, 24, 600)).toEqual({ whole: 24_000, real: 24_000, factor: 1 });
  const long = extentOf(10_000_000, 24, 600);
  expect(long.real).toBeLessThan(17_000_000);
  expect((long.real - 600) * long.factor).toBeCloseTo(long.whole - 600, 3);
  expect(clampOffset(1e12, long, 600)).toBe(240_000_000 - 600);
});

test('rows on the screen, a few more on both sides, none outside the list', () => {
  expect(rowsAt(0, 1000, 24, 600)).toEqual([0, 37]);
  expect(rowsAt(2400, 1000, 24, 600)).toEqual([88, 137]);
  expect(rowsAt(24_000 - 600, 1000, 24, 600)).toEqual([963, 1000]);
  expect(rowsAt(0, 1000, 24, 0)).toEqual([0, 0]);
});

test('a row is brought into sight by the shortest way', () => {
  expect(revealed(5, 0, 24, 600)).toBe(0);
  expect(revealed(5, 500, 24, 600)).toBe(120);
  expect(revealed(100, 0, 24, 600)).toBe(101 * 24 - 600);
});
