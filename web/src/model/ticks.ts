/* SPDX-License-Identifier: Apache-2.0 */
/* The ruler: a base once at the left, then differences at round steps of 1, 2 and 5. */
import { fixed, THIN, timeShortest } from './numbers';
import { startOf, type Viewport } from './viewport';

export interface Ruler {
  base: bigint;
  baseText: string;
  ticks: { position: number; text: string }[]; // position in shares of the width
}

const UNITS = [
  { word: 'ps', ps: 1 },
  { word: 'ns', ps: 1e3 },
  { word: 'µs', ps: 1e6 },
  { word: 'ms', ps: 1e9 },
  { word: 's', ps: 1e12 },
];

export function stepFor(span: number, tickCount: number): number {
  const rough = Math.max(1, span / Math.max(1, tickCount));
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough * 0.999)!;
  return factor * power;
}

/* The round time at or before the left edge, ten steps apart from the next, so that it stays while
 * one pans a little; zero while that is near. */
function baseFor(start: bigint, step: number): bigint {
  const coarse = BigInt(step) * 10n;
  return start < coarse ? 0n : (start / coarse) * coarse;
}

export function rulerOf(viewport: Viewport, tickCount: number): Ruler {
  const step = stepFor(viewport.span, tickCount);
  const base = baseFor(startOf(viewport), step);
  const unit = UNITS.findLast((candidate) => candidate.ps <= step * 10) ?? UNITS[0]!;
  const decimals = Math.max(0, Math.round(Math.log10(unit.ps) - Math.floor(Math.log10(step) + 1e-9)));
  const left = Number(base - viewport.base) - viewport.offset;
  const ticks: Ruler['ticks'] = [];
  for (let index = Math.ceil(-left / step); ; index++) {
    const position = (left + index * step) / viewport.span;
    if (position > 1) break;
    const value = fixed((index * step) / unit.ps, decimals);
    ticks.push({ position, text: ticks.length === 0 ? `${value}${THIN}${unit.word}` : value });
  }
  return { base, baseText: `${base === 0n ? `0${THIN}s` : timeShortest(base)} +`, ticks };
}
