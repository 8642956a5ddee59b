/* SPDX-License-Identifier: Apache-2.0 */
import {
  ago,
  countInProse,
  inScale,
  plural,
  rateScale,
  share,
  shareCell,
  size,
  sizeScale,
  time,
  timeExact,
  timeScale,
  unitChoice,
} from '../../../web/src/model/numbers';

const plain = (text: string) => text.replaceAll('\u202f', ' ');

test.each([
  ['nothing', 0, '0 s'],
  ['picoseconds', 812, '812 ps'],
  ['below a nanosecond', 999, '999 ps'],
  ['a nanosecond', 1000, '1.00 ns'],
  ['microseconds', 912_000_000, '912 µs'],
  ['three digits', 54_123_456_789, '54.1 ms'],
  ['rounds up into the next unit', 999_960_000_000, '1.00 s'],
  ['seconds', 1_140_000_000_000, '1.14 s'],
  ['minutes', 134_000_000_000_000, '2 min 14 s'],
  ['hours', 3_780_000_000_000_000, '1 h 03 min'],
  ['a negative one has a minus sign', -2_300_000_000_000, '−2.30 s'],
  ['beyond 2^53', 10_000_000_000_000_001n, '2 h 47 min'],
])('time in prose: %s', (_what, value, text) => {
  expect(plain(time(value))).toBe(text);
});

test.each([
  [54_123_456_789, '54.123 456 789 ms'],
  [1, '1 ps'],
  [10_000_000_000_000_001n, '10 000.000 000 000 001 s'],
  [-1_500, '−1.500 ns'],
])('time to the picosecond: %s', (value, text) => {
  expect(plain(timeExact(value))).toBe(text);
});

test.each([
  ['milliseconds up to ten seconds', [1_140_000_000_000, 91_400_000_000], 'ms', ['1 140.0', '91.4']],
  ['two decimals from ten', [18_200_000_000, 980_000_000], 'ms', ['18.20', '0.98']],
  ['three below ten', [2_113_000_000, 1_000], 'ms', ['2.113', '<0.001']],
  ['seconds from ten on', [12_000_000_000_000], 's', ['12.00']],
  ['zero is measured, null unknown', [18_200_000_000, 0, null], 'ms', ['18.20', '0', '–']],
])('one unit a column: %s', (_what, values, unit, cells) => {
  const scale = timeScale(values);
  expect(scale.unit).toBe(unit);
  expect(values.map((value) => plain(inScale(value, scale)))).toEqual(cells);
});

test.each([
  [0.61, '61 %'],
  [0.094, '9.4 %'],
  [0.0999, '10 %'],
  [0.0004, '<0.1 %'],
  [0, '0 %'],
  [1, '100 %'],
  [0.994, '99 %'],
  [0.9961, '99.6 %'],
  [0.9999, '>99.9 %'],
  [2.5, '250 %'],
])('share %d', (value, text) => {
  expect(plain(share(value))).toBe(text);
});

test('shares of a column have one decimal, unknown a dash', () => {
  expect([0.336, 0.0001, 0, null].map((value) => plain(shareCell(value)))).toEqual(['33.6 %', '<0.1 %', '0 %', '–']);
});

test('sizes in 1024, rates in 1000', () => {
  expect(plain(size(41_234_567))).toBe('39.3 MiB');
  expect(sizeScale([512]).unit).toBe('B');
  expect(rateScale([1.1e14], 'FLOP/s')).toMatchObject({ unit: 'TFLOP/s', divisor: 1e12 });
});

test('counts', () => {
  expect(plain(countInProse(812_345))).toBe('812 345');
  expect(plain(countInProse(10_200_000))).toBe('10.2 M');
  expect(plural(1, 'step')).toBe('1 step');
  expect(plural(2, 'directory', 'directories')).toBe('2 directories');
});

test('how long ago', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  expect(plain(ago(new Date('2026-11-21T11:58:00Z'), now))).toBe('2 min ago');
  expect(plain(ago(new Date('2026-11-20T12:00:00Z'), now))).toBe('1 day ago');
  expect(ago(new Date('2026-11-21T12:00:05Z'), now)).toBe('now');
});

test('a chosen unit holds for every column, with three digits however small', () => {
  unitChoice.value = 's';
  const scale = timeScale([6_586_000_000, 12_000_000]);
  expect([scale.unit, inScale(6_586_000_000, scale)]).toEqual(['s', '0.00659']);
  unitChoice.value = 'ns';
  expect(plain(inScale(6_586_000_000, timeScale([6_586_000_000])))).toBe('6 586 000.0');
  unitChoice.value = null;
  expect(timeScale([6_586_000_000]).unit).toBe('ms');
});
