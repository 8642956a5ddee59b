/* SPDX-License-Identifier: Apache-2.0 */
import type { Roof, Roofline, RooflineRow } from '../../../web/src/data/types';
import { pointsOf, rangesOf, rooflineSentence, roofLines, roofsOf, roofWords } from '../../../web/src/model/roofline';
import { plainText } from '../../../web/src/model/sentence';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

const row = (name: string, more: Partial<RooflineRow> = {}): RooflineRow => ({
  key: name,
  name,
  kind: 'compute',
  category: null,
  module: null,
  scope: null,
  source: null,
  phase: null,
  type: 'bf16',
  count: 1,
  total_ps: 1e9,
  self_ps: 1e9,
  share: 0.5,
  flops: 1e12,
  bytes: 1e9,
  intensity: 1000,
  flops_per_s: 700e12,
  bytes_per_s: 7e11,
  roof_flops_per_s: 989e12,
  peak_share: 0.7078,
  bound_by: 'compute',
  counted: null,
  ...more,
});
const bf16: Roof = { kind: 'compute', name: 'bf16', per_s: 989e12, source: 'NVIDIA H100 data sheet' };
const f32: Roof = { kind: 'compute', name: 'f32', per_s: 67e12, source: 'NVIDIA H100 data sheet' };
const memory: Roof = { kind: 'memory', name: 'memory', per_s: 3.35e12, source: 'the profile' };

const reply = (rows: RooflineRow[], roofs: Roof[] = [f32, bf16, memory]): Roofline => ({
  run: { id: 'r', name: 'r' },
  by: 'op',
  devices: [{ host: 'h', name: null, device_count: 1, roofs, reason: null, links: [], doubt: null }],
  program: {
    self_ps: 2e9,
    op_count: rows.length,
    unknown_count: 0,
    flops: 1,
    bytes: 1,
    intensity: 1,
    flops_per_s: 1,
    bytes_per_s: 1,
    peak_share: null,
  },
  bounds: [{ bound_by: 'memory', self_ps: 0.44e9 }],
  missing: null,
  total_self_ps: 2e9,
  row_count: rows.length,
  next: null,
  rows,
  notes: [],
});

describe('sentence', () => {
  test('how far the heaviest op of arithmetic is, and who waits for memory', () => {
    expect(
      plain(
        plainText(rooflineSentence(reply([row('copy.1', { bound_by: 'memory', peak_share: 0.9 }), row('dot.63')]))),
      ),
    ).toBe('dot.63 reaches 71 % of 989 TFLOP/s (bf16, data sheet); ops that take 22 % of the time are memory bound.');
  });
  test('where memory bounds all of them', () => {
    expect(plain(plainText(rooflineSentence(reply([row('add.1', { bound_by: 'memory', peak_share: 0.8 })]))))).toBe(
      'add.1 reaches 80 % of 3.35 TB/s (memory, says the profile); ops that take 22 % of the time are memory bound.',
    );
  });
  test('unknown limits are said to be so, and nothing is said of nothing', () => {
    expect(
      plain(
        plainText(
          rooflineSentence(reply([row('dot.1', { peak_share: null, bound_by: null, flops_per_s: 28.9e9 })], [])),
        ),
      ),
    ).toBe('dot.1 does 28.9 GFLOP/s; the device’s peak is unknown.');
    expect(rooflineSentence(reply([], []))).toEqual([]);
  });
});

describe('picture', () => {
  test('what only moves bytes has no place on it', () => {
    expect(
      pointsOf([row('a'), row('b', { intensity: 0, flops_per_s: 0 }), row('c', { intensity: null })]).map(
        (point) => point.row.name,
      ),
    ).toEqual(['a']);
  });
  test('roofs are those of the types that occur', () => {
    expect(roofsOf(reply([row('a')])).map((roof) => roof.name)).toEqual(['bf16', 'memory']);
    expect(roofsOf(reply([row('a', { type: 'f64' })])).map((roof) => roof.name)).toEqual(['bf16', 'memory']);
    expect(roofsOf(reply([row('a', { type: 'f64' })], [f32, memory])).map((roof) => roof.name)).toEqual([
      'f32',
      'memory',
    ]);
    expect(plain(roofWords(bf16))).toBe('bf16 989 TFLOP/s (data sheet)');
  });
  test('roof and slope meet at the ridge', () => {
    const roofs = [bf16, memory];
    const lines = roofLines(roofs, rangesOf(pointsOf([row('a')]), roofs));
    const ridge = 989e12 / 3.35e12;
    expect(lines[0]!.from.intensity).toBeCloseTo(ridge, 6);
    expect(lines[1]!.to.intensity).toBeCloseTo(ridge, 6);
    expect(lines[1]!.to.rate).toBeCloseTo(989e12, -3);
  });
});
