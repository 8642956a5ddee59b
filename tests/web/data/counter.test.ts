/* SPDX-License-Identifier: Apache-2.0 */
import { seriesOf, stretchAt } from '../../../web/src/data/counter_store';

const bucket = (ts_ps: number, min: number, max: number, last: number) => ({
  ts_ps,
  end_ps: ts_ps + 10,
  min,
  max,
  first: min,
  last,
  count: 2,
});

test('a peak between two pixels sets the scale, and the last sample holds', () => {
  const series = seriesOf({ rows: [bucket(0, 1, 90, 2), { ts_ps: 30, value: null }, bucket(40, 3, 3, 3)] });
  expect(series.values).toEqual([2, 3]);
  expect([series.min, series.max]).toEqual([1, 90]);
  expect([-1n, 0n, 39n, 40n, 1000n].map((time) => stretchAt(series, time))).toEqual([-1, 0, 0, 1, 1]);
});

test('nothing was sampled', () => {
  const series = seriesOf({ rows: [] });
  expect(series.times).toEqual([]);
  expect(stretchAt(series, 5n)).toBe(-1);
});
