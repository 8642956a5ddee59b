/* SPDX-License-Identifier: Apache-2.0 */
import { levelOf, tileRange, tileStart } from '../../../web/src/model/level';
import {
  between,
  clamped,
  endOf,
  panned,
  positionOf,
  SPAN_PS_MIN,
  startOf,
  timeAt,
  viewportOf,
  zoomed,
} from '../../../web/src/model/viewport';

const HOUR = 3_600_000_000_000_000n;

test('a picosecond is a picosecond ten hours in', () => {
  const viewport = viewportOf(10n * HOUR, 10n * HOUR + 1600n);
  for (const at of [0n, 1n, 799n, 1599n])
    expect(positionOf(viewport, 10n * HOUR + at) * viewport.span).toBeCloseTo(Number(at), 6);
  expect(timeAt(viewport, 0.5)).toBe(10n * HOUR + 800n);
});

test('panning far moves the base and loses nothing', () => {
  let viewport = viewportOf(0n, 2_000_000_000_000n);
  for (let step = 0; step < 1000; step++) viewport = panned(viewport, 0.5);
  expect(startOf(viewport)).toBe(1_000_000_000_000_000n);
  expect(Math.abs(viewport.offset)).toBeLessThan(2 ** 41);
});

test('the time under the pointer stays there while zooming', () => {
  const viewport = viewportOf(5n, 1_000_005n);
  for (const position of [0, 0.25, 1]) {
    const near = zoomed(viewport, 0.1, position, 1e9);
    expect(timeAt(near, position), `at ${position}`).toBe(timeAt(viewport, position));
    expect(near.span).toBeCloseTo(100_000);
  }
});

test('zoom ends at both bounds', () => {
  const viewport = viewportOf(0n, 10_000n);
  expect(zoomed(viewport, 1e-9, 0.5, 1e9).span).toBe(SPAN_PS_MIN);
  expect(zoomed(viewport, 1e9, 0.5, 20_000).span).toBe(20_000);
});

test('the run stays in sight', () => {
  const run = [0n, 1_000_000n] as const;
  const right = clamped(panned(viewportOf(0n, 100_000n), 50), ...run);
  expect(startOf(right)).toBe(950_000n);
  const left = clamped(panned(viewportOf(0n, 100_000n), -50), ...run);
  expect(endOf(left)).toBe(50_000n);
});

test('a glide begins and ends where it should', () => {
  const from = viewportOf(0n, 1_000_000n);
  const to = viewportOf(400_000n, 410_000n);
  expect(positionOf(between(from, to, 0), 0n)).toBeCloseTo(0);
  expect(between(from, to, 1)).toEqual(to);
  const middle = between(from, to, 0.5);
  expect(middle.span).toBeCloseTo(100_000);
  expect(startOf(middle)).toBeGreaterThan(0n);
  expect(endOf(middle)).toBeLessThan(1_000_000n);
});

test.each([
  [1e12, 1600, 29],
  [1600, 1600, 0],
  [100, 1600, 0],
  [2 ** 60, 1, 52],
])('span %d on %d pixels is level %d: a quantum is at most a pixel', (span, pixels, level) => {
  expect(levelOf(span, pixels)).toBe(level);
});

test('tiles are laid in file time, before zero too', () => {
  const viewport = viewportOf(0n, 4096n);
  expect(tileRange(viewport, 0, 0n)).toEqual({ level: 0, from: 0, to: 5 });
  expect(tileRange(viewport, 0, 1n)).toEqual({ level: 0, from: -1, to: 4 });
  expect(tileStart(0, -1, 1n)).toBe(-1023n);
});
