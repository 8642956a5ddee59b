/* SPDX-License-Identifier: Apache-2.0 */
import type { StepRow, Track } from '../../../web/src/data/types';
import { beginsOf, beginWords, pairsOf, pairWords, placeOf, tracksToAlign } from '../../../web/src/model/align';
import { treeOf } from '../../../web/src/model/layout';

const row = (step: number, start: number, more: Partial<StepRow> = {}): StepRow => ({
  step,
  host: null,
  start_ps: start,
  dur_ps: 10,
  warmup: false,
  outlier: false,
  breakdown: [],
  ...more,
});
const begins = (...rows: StepRow[]) => beginsOf(rows, { run: 'r' });
const keys = (pairs: ReturnType<typeof pairsOf>): string[] =>
  pairs.map(({ key, a, b }) => `${key}: ${a?.step ?? '-'} ${b?.step ?? '-'}`);

describe('where steps begin', () => {
  test('of many hosts the earliest; it ends with the last', () => {
    expect(begins(row(1, 30, { host: 'b' }), row(1, 20, { host: 'a' }), row(0, 5))).toEqual([
      { step: '0', start: 5n, end: 15n, warmup: false },
      { step: '1', start: 20n, end: 40n, warmup: false },
    ]);
  });
  test.each([
    [{ step: '2-3' }, ['2', '3']],
    [{ step: '2' }, ['2']],
    [{ start: '10', end: '30' }, ['1', '2']],
    [{}, ['0', '1', '2', '3']],
  ])('of a part %j', (part, steps) => {
    const rows = [0, 1, 2, 3].map((step) => row(step, 10 * step));
    expect(beginsOf(rows, { run: 'r', ...part }).map((one) => one.step)).toEqual(steps);
  });
});

describe('which steps stand above each other', () => {
  const warm = { warmup: true };
  test.each([
    [
      'by number where both have one',
      [row(1, 0), row(2, 9), row(3, 20)],
      [row(2, 0), row(3, 9), row(4, 20)],
      ['2: 2 2', '3: 3 3'],
    ],
    [
      'by their place after warm-up',
      [row(500, 0, warm), row(501, 9), row(502, 20)],
      [row(1000, 0), row(1001, 9)],
      ['501: 501 1000', '502: 502 1001'],
    ],
    ['where all are warm-up those', [row(1, 0, warm)], [row(7, 0)], ['1: 1 7']],
    ['one without steps', [], [row(7, 0)], ['7: - 7']],
    ['the other without steps', [row(7, 0)], [], ['7: 7 -']],
    ['both without steps', [], [], ['begin: - -']],
  ])('%s', (_name, a, b, expected) => {
    expect(keys(pairsOf(begins(...a), begins(...b)))).toEqual(expected);
  });
  test('the first after warm-up, unless another is asked for', () => {
    const pairs = pairsOf(begins(row(0, 0, warm), row(1, 9), row(2, 20)), begins(row(0, 0), row(1, 9), row(2, 20)));
    expect([
      placeOf(pairs, undefined),
      placeOf(pairs, 'first'),
      placeOf(pairs, '2'),
      placeOf(pairs, '0'),
      placeOf(pairs, '77'),
    ]).toEqual([1, 1, 2, 0, 1]);
  });
  test('in words', () => {
    const [one, two] = [begins(row(1, 0))[0]!, begins(row(7, 0))[0]!];
    expect([
      pairWords({ key: '1', a: one, b: one }),
      pairWords({ key: '1', a: one, b: two }),
      pairWords({ key: '7', a: null, b: two }),
      pairWords({ key: 'begin', a: null, b: null }),
    ]).toEqual(['step 1', 'step 1 of A, step 7 of B', 'the whole of A, and of step 7 of B', 'both runs']);
    expect(beginWords(null)).toBe('no steps: its start is placed at 0');
  });
});

describe('the tracks shown', () => {
  const track = (id: string, kind: Track['kind'], parent: string | null, time: number): Track => ({
    id,
    parent,
    host: 'h',
    name: id,
    kind,
    derived: false,
    depth_count: 1,
    slice_count: kind === 'process' ? 0 : 3,
    duration_sum_ps: time,
    start_ps: 0,
    end_ps: 10,
  });
  test('the lanes of the busiest device and the main thread', () => {
    const tracks = [
      track('gpu0', 'device', null, 0),
      track('s0', 'stream', 'gpu0', 5),
      track('gpu1', 'device', null, 0),
      track('s1', 'stream', 'gpu1', 9),
      track('p', 'process', null, 0),
      track('python', 'thread', 'p', 2),
      track('pool', 'thread', 'p', 4),
    ];
    expect(tracksToAlign(treeOf(tracks))).toEqual(['gpu1', 's1', 'python']);
  });
  test('without a device the busiest threads', () => {
    const tracks = [
      track('p', 'process', null, 0),
      track('python', 'thread', 'p', 1),
      ...[2, 3, 4, 5, 6].map((time) => track(`pool${time}`, 'thread', 'p', time)),
    ];
    expect(tracksToAlign(treeOf(tracks))).toEqual(['pool6', 'pool5', 'pool4', 'pool3', 'python']);
  });
});
