/* SPDX-License-Identifier: Apache-2.0 */
import { SUMMARY_KINDS, TILE_QUANTA } from '../../../web/src/data/tiles';
import type { PlacedSummary } from '../../../web/src/draw/scene';
import { sharesAt, sharesOf } from '../../../web/src/draw/summary';

const tile = (left: number, quantum: number, seed: number): PlacedSummary => ({
  share: Uint16Array.from({ length: SUMMARY_KINDS * TILE_QUANTA }, (_, index) => (index * seed) % 9000),
  left,
  quantum,
});

test.each([
  ['quanta narrower than a pixel', 0, 0.37],
  ['quanta of some pixels', 3.5, 4.25],
  ['a tile that began before the window', -4000, 5],
])('the shares under a pixel are those that are painted: %s', (_what, left, quantum) => {
  const summaries = [
    [tile(left, quantum, 7919), tile(left + quantum * TILE_QUANTA, quantum, 31)],
    [tile(left, quantum, 104729)],
  ];
  const width = 300;
  const painted = sharesOf(summaries, width);
  for (let x = 10; x < width; x++) {
    const shares = sharesAt(summaries, x)!;
    for (let kind = 0; kind < SUMMARY_KINDS; kind++) expect(shares[kind]).toBeCloseTo(painted[kind * width + x]!, 5);
  }
});

test('where no tile has come nothing is known', () => {
  expect(sharesAt([[], []], 5)).toBeNull();
  expect(sharesAt([[tile(100, 1, 3)]], 5)).toBeNull();
});
