/* SPDX-License-Identifier: Apache-2.0 */
/* What part of the run's time is on the screen, exactly.
 *
 *   base (bigint ps) ......... offset (number ps) |<---------- span (number ps) ---------->|
 *
 * A double holds every picosecond only up to two and a half hours. The base carries the large
 * part; what is drawn is `Number(thing - base) - offset`, small numbers, at any length of trace.
 */

export interface Viewport {
  base: bigint;
  offset: number; // of the left edge, from base
  span: number; // > 0
}

export const SPAN_PS_MIN = 20; // a picosecond is some fifty pixels wide

/* The base moves when the offset grows beyond what keeps fractions of a picosecond. */
const OFFSET_PS_MAX = 2 ** 40;

export function viewportOf(start: bigint, end: bigint): Viewport {
  const span = Math.max(Number(end - start), SPAN_PS_MIN);
  return { base: start, offset: 0, span };
}

function settle(viewport: Viewport): Viewport {
  if (Math.abs(viewport.offset) <= OFFSET_PS_MAX) return viewport;
  const whole = Math.round(viewport.offset);
  return { base: viewport.base + BigInt(whole), offset: viewport.offset - whole, span: viewport.span };
}

export function startOf(viewport: Viewport): bigint {
  return viewport.base + BigInt(Math.round(viewport.offset));
}

export function endOf(viewport: Viewport): bigint {
  return viewport.base + BigInt(Math.round(viewport.offset + viewport.span));
}

/* Position of a time in shares of the width: 0 left edge, 1 right edge. */
export function positionOf(viewport: Viewport, time: bigint): number {
  return (Number(time - viewport.base) - viewport.offset) / viewport.span;
}

export function timeAt(viewport: Viewport, position: number): bigint {
  return viewport.base + BigInt(Math.round(viewport.offset + position * viewport.span));
}

export function panned(viewport: Viewport, byWidths: number): Viewport {
  return settle({ ...viewport, offset: viewport.offset + byWidths * viewport.span });
}

/* Zooms so that the time below `position` stays there; factor < 1 zooms in. */
export function zoomed(viewport: Viewport, factor: number, position: number, spanMax: number): Viewport {
  const span = Math.min(Math.max(viewport.span * factor, SPAN_PS_MIN), Math.max(spanMax, SPAN_PS_MIN));
  return settle({ ...viewport, offset: viewport.offset + position * (viewport.span - span), span });
}

/* Keeps the run in sight: the window never leaves [start, end] by more than half of itself. */
export function clamped(viewport: Viewport, start: bigint, end: bigint): Viewport {
  const whole = Number(end - start);
  const left = Number(start - viewport.base);
  const slack = viewport.span / 2;
  const low = left - slack;
  const high = Math.max(low, left + whole + slack - viewport.span);
  return settle({ ...viewport, offset: Math.min(Math.max(viewport.offset, low), high) });
}

/* Between two windows, for the 120 ms of a zoom: the middle glides, the span grows by its ratio. */
export function between(from: Viewport, to: Viewport, progress: number): Viewport {
  if (progress >= 1) return to;
  const shift = Number(to.base - from.base);
  const span = from.span * (to.span / from.span) ** progress;
  const share = from.span === to.span ? progress : (span - from.span) / (to.span - from.span);
  return { base: from.base, offset: from.offset + (shift + to.offset - from.offset) * share, span };
}
