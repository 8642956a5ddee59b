/* SPDX-License-Identifier: Apache-2.0 */
import { plainText } from '../../../web/src/model/sentence';
import { figureColumn, trendSentence } from '../../../web/src/model/trend';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

test.each([
  [
    'times have the unit of the largest',
    'ps',
    [912_000_000, 54_100_000_000n, 0, null],
    'ms',
    ['0.91', '54.10', '0', '–'],
  ],
  ['sizes too', 'bytes', [1024, 3 * 1024 ** 3, null], 'GiB', ['<0.01', '3.00', '–']],
  ['shares', 'share', [0.61, 0.094, null], undefined, ['61.0 %', '9.4 %', '–']],
  ['counts', 'count', [12345, null], undefined, ['12 345', '–']],
])('a column: %s', (_what, unit, values, word, cells) => {
  const column = figureColumn(values, unit);
  expect(column.unit).toBe(word);
  expect(values.map((value) => plain(column.cell(value)))).toEqual(cells);
});

const run = (name: string, value: number | null, level: number | null = 11e9, low = 9e9, high = 13.1e9) => ({
  name,
  value,
  level,
  low: level === null ? null : low,
  high: level === null ? null : high,
});
const jump = { before: { id: 'r1', name: 'step_500' }, run: { id: 'r2', name: 'step_1000' }, from: 22e9, to: 91e9 };

test.each([
  [
    'a level that holds',
    [run('a', 10e9), run('b', 12e9)],
    [],
    'Step time is 11.0 ms (noise 9.00 ms … 13.1 ms) and has not jumped in 2 runs.',
  ],
  [
    'one outside',
    [run('a', 10e9), run('b', 34.8e9), run('c', 11e9)],
    [],
    'Step time is 11.0 ms (noise 9.00 ms … 13.1 ms) and has not jumped in 3 runs; b is outside the noise, at 34.8 ms.',
  ],
  [
    'two outside, the furthest named',
    [run('a', 1e9), run('b', 34.8e9), run('c', 11e9)],
    [],
    'Step time is 11.0 ms (noise 9.00 ms … 13.1 ms) and has not jumped in 3 runs; ' +
      '2 runs are outside the noise; the furthest is b with 34.8 ms.',
  ],
  [
    'who has no value is not counted',
    [run('a', 10e9), run('b', null, null)],
    [],
    'Step time is 11.0 ms (noise 9.00 ms … 13.1 ms) and has not jumped in 1 run.',
  ],
  [
    'a jump',
    [run('step_500', 22e9, 22e9, 20e9, 24e9), run('step_1000', 91e9, 91e9, 85e9, 97e9)],
    [jump],
    'Step time was 22.0 ms until step_500, and is 91.0 ms (noise 85.0 ms … 97.0 ms) since step_1000.',
  ],
  ['no level', [run('a', 10e9, null)], [], 'Step time has not jumped in 1 run.'],
])('the sentence: %s', (_what, rows, jumps, want) => {
  expect(plain(plainText(trendSentence('step time', { rows, jumps, unit: 'ps' })))).toBe(want);
});
