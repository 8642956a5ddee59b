/* SPDX-License-Identifier: Apache-2.0 */
/* The focus, for ears: "fusion.44, 1.21 milliseconds, GPU 0, Ops, 3 of 1 204". */
import { shown } from '../../model/cut';
import { count, time } from '../../model/numbers';
import type { TimelineState } from './state';

const WORDS: Record<string, string> = {
  ps: 'picoseconds',
  ns: 'nanoseconds',
  µs: 'microseconds',
  ms: 'milliseconds',
  s: 'seconds',
  min: 'minutes',
  h: 'hours',
};

export function sayTime(value: number | bigint): string {
  return time(value)
    .replace(/\u202f/g, ' ')
    .replace(/\b(ps|ns|ms|s|min|h)\b|µs/g, (unit) => WORDS[unit] ?? unit);
}

export function sayFocus(state: TimelineState): string {
  const focus = state.focus.value;
  if (!focus) return 'Nothing is in focus.';
  const path: string[] = [];
  const band = state.layout.value.bands.find((one) => one.node.id === focus.track);
  if (band) path.push(band.node.name);
  const rank =
    focus.mates && focus.mates.rank !== null
      ? `, ${count(focus.mates.rank)} of ${count(focus.mates.count)} by length`
      : '';
  return [shown(focus.name), sayTime(focus.dur_ps), ...path].join(', ') + rank;
}
