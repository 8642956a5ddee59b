/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a path, and what would be different, as the address and the server spell them. */
import type { PathPiece } from '../../../web/src/data/critical';
import { formatPiece, pieceAt, pieceIndexAt } from '../../../web/src/model/critical/path';
import { pieceOfSlice, readyAt, stepAt } from '../../../web/src/model/critical/path';
import { formatFactors, parseFactors, scaledBy, withFactor } from '../../../web/src/model/critical/whatif';

const piece = (start: number, dur: number, slice: string | null): PathPiece => ({
  kind: slice === null ? 'launch' : 'compute',
  name: slice ?? 'launch delay',
  slice,
  track: null,
  start_ps: start,
  dur_ps: dur,
  waits_for: null,
  edge: 'launch',
  evidence: '',
});
const pieces = [piece(0, 10, 'a'), piece(10, 5, null), piece(15, 5, 'b'), piece(20, 7, 'b')];

test('a piece in the address', () => {
  expect(pieceAt('7.12')).toEqual({ step: '7', index: 12 });
  expect(pieceAt('.0')).toEqual({ step: '', index: 0 });
  expect(pieceAt(formatPiece(-3, 4))).toEqual({ step: '-3', index: 4 });
  for (const odd of [undefined, '', '7', '7.', 'a.1', '1.2.3', '1.12345678']) expect(pieceAt(odd)).toBeNull();
});

test('the piece at a moment', () => {
  expect([-1n, 0n, 9n, 10n, 14n, 15n, 26n, 27n].map((at) => pieceIndexAt(pieces, at))).toEqual([
    -1, 0, 0, 1, 1, 2, 3, -1,
  ]);
  expect(pieceOfSlice(pieces, 'b')).toBe(2);
  expect(pieceOfSlice(pieces, null)).toBe(-1);
  expect(pieceOfSlice(pieces, 'c')).toBe(-1);
});

test('what came before a gap was ready at its begin', () => {
  expect([1, 2, 3].map((index) => readyAt(pieces, index))).toEqual([10n, 10n, 20n]);
});

test('the step at a moment, or the nearest', () => {
  const steps = [
    { step: 1, start_ps: 100, dur_ps: 50 },
    { step: 2, start_ps: 200, dur_ps: 50 },
  ];
  expect([0n, 100n, 149n, 170n, 190n, 900n].map((at) => stepAt(steps, at)?.step)).toEqual([1, 1, 1, 1, 2, 2]);
  expect(stepAt([], 0n)).toBeNull();
});

test('changes are spelled as they are read', () => {
  const text = 'scope:layer_1/mlp=0.5,kind:input=0,op:f(a, b=3)=2';
  expect(formatFactors(parseFactors(text))).toBe('scope:layer_1/mlp=0.5,kind:input=0,op:f(a, b=3)=2');
  expect(parseFactors('op:a=99').get('op:a')).toBe(10);
  expect([...parseFactors('nonsense')]).toEqual([]);
});

test('as it was is no change, and no factor is below none', () => {
  const once = withFactor(new Map(), 'op:a', 0.499);
  expect([...once]).toEqual([['op:a', 0.5]]);
  expect([...withFactor(once, 'op:a', 1.001)]).toEqual([]);
  expect(withFactor(once, 'op:a', -3).get('op:a')).toBe(0);
});

test('what a row is called in a change', () => {
  const row = { name: 'mlp', kind: 'compute', scope: 'mlp', count: 3 } as const;
  expect(scaledBy(row, 'place')).toBe('scope:mlp');
  expect(scaledBy(row, 'op')).toBe('op:mlp');
  expect(scaledBy({ ...row, scope: null }, 'place')).toBe('op:mlp');
  expect(scaledBy(row, 'kind')).toBe('kind:compute');
  expect(scaledBy({ ...row, kind: 'launch', count: 0 }, 'place')).toBeNull();
  expect(scaledBy({ ...row, kind: 'wait' }, 'kind')).toBeNull();
});
