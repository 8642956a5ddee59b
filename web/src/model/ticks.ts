/* SPDX-License-Identifier: Apache-2.0 */
/* The ruler: times from the start of the run at round steps of 1, 2 and 5, each with its unit and as many
 * digits as tell it from the next: 66.8 ms, 66.9 ms, 67.0 ms. */
import { THIN } from './numbers';
import { endOf, startOf, type Viewport } from './viewport';

export interface Tick {
  at: bigint;
  position: number; // in shares of the width
  text: string;
}

const UNITS = [
  { word: 'ps', digits: 0 },
  { word: 'ns', digits: 3 },
  { word: 'µs', digits: 6 },
  { word: 'ms', digits: 9 },
  { word: 's', digits: 12 },
];
const SECONDS_FROM = 10; // below it milliseconds: 1 201 ms
const LETTER = 6.6; // pixels, of 11 px
const TICK_PIXELS = 110; // from one to the next, at least
const GAP_PIXELS = 24;
const TRIES_MAX = 3;

export function stepFor(span: number, tickCount: number): number {
  const rough = Math.max(1, span / Math.max(1, tickCount));
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough * 0.999)!;
  return factor * power;
}

/* The words of times of which the largest is `most` and that lie `step` apart. */
export function timesApart(most: bigint, step: number): (at: bigint) => string {
  const size = Number(most < 0n ? -most : most);
  const unit =
    UNITS.findLast(({ word, digits }) => size >= (word === 's' ? SECONDS_FROM : 1) * 10 ** digits) ?? UNITS[0]!;
  const decimals = Math.min(unit.digits, Math.max(0, unit.digits - Math.floor(Math.log10(Math.max(1, step)) + 1e-9)));
  const scale = 10n ** BigInt(unit.digits - decimals);
  const whole = 10n ** BigInt(decimals);
  return (at) => {
    const rounded = ((at < 0n ? -at : at) + scale / 2n) / scale;
    const fraction = decimals === 0 ? '' : (rounded % whole).toString().padStart(decimals, '0');
    const grouped = (rounded / whole).toString().replace(/\B(?=(\d{3})+$)/g, THIN);
    const spaced = fraction.length <= 4 ? fraction : fraction.replace(/(\d{3})(?=\d)/g, `$1${THIN}`);
    return `${at < 0n && rounded > 0n ? '−' : ''}${grouped}${spaced && `.${spaced}`}${THIN}${unit.word}`;
  };
}

/* How far apart ticks with such words stand. */
const pitchOf = (text: string): number => Math.max(TICK_PIXELS, text.length * LETTER + GAP_PIXELS);

/* The words of any time in the window, a tenth of a tick apart: for its ends, and for the pointer. */
export function inWindow(viewport: Viewport, width: number, apart = 10): (at: bigint) => string {
  const step = stepFor(viewport.span, width / TICK_PIXELS);
  return timesApart(farther(startOf(viewport), endOf(viewport)), Math.max(1, step / apart));
}

const farther = (a: bigint, b: bigint): bigint => (a * a > b * b ? a : b);

/* `words`: of a time, by how far apart they are; the times of day have their own. */
export function ticksIn(
  viewport: Viewport,
  width: number,
  wordsFor: (most: bigint, step: number) => (at: bigint) => string = timesApart,
): Tick[] {
  const most = farther(startOf(viewport), endOf(viewport));
  let step = stepFor(viewport.span, width / TICK_PIXELS);
  for (let turn = 0; turn < TRIES_MAX; turn++) {
    const wider = stepFor(viewport.span, width / pitchOf(wordsFor(most, step)(most)));
    if (wider <= step) break;
    step = wider;
  }
  const words = wordsFor(most, step);
  const apart = BigInt(step);
  const start = startOf(viewport);
  const ticks: Tick[] = [];
  for (let at = (start / apart - (start < 0n ? 1n : 0n)) * apart; ; at += apart) {
    const position = (Number(at - viewport.base) - viewport.offset) / viewport.span;
    if (position > 1) break;
    if (position >= 0) ticks.push({ at, position, text: words(at) });
  }
  return ticks;
}
