/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the window, one reply a track, the last one kept while the next comes. */
import { getJson } from './api';
import type { Ps } from './json';
import { significant, size, toBig } from '../model/numbers';

/* A stretch of time no wider than a pixel: what was sampled in it last, lowest and highest. The last
 * value holds until the next stretch. */
export interface CounterSeries {
  times: bigint[];
  values: number[];
  lows: number[];
  highs: number[];
  counts: number[];
  min: number;
  max: number;
}

interface CounterRow {
  ts_ps: Ps;
  value?: number | null;
  last?: number | null;
  min?: number | null;
  max?: number | null;
  count?: number;
}

export interface CounterReply {
  rows: CounterRow[];
  min?: number | null;
  max?: number | null;
}

const valueOf = (row: CounterRow): number | null => row.value ?? row.last ?? row.max ?? null;

export function seriesOf(reply: CounterReply): CounterSeries {
  const known = reply.rows.filter((row) => valueOf(row) !== null);
  const values = known.map((row) => valueOf(row)!);
  const lows = known.map((row, at) => row.min ?? values[at]!);
  const highs = known.map((row, at) => row.max ?? values[at]!);
  return {
    times: known.map((row) => toBig(row.ts_ps)),
    values,
    lows,
    highs,
    counts: known.map((row) => row.count ?? 1),
    min: reply.min ?? lows.reduce((a, b) => Math.min(a, b), Infinity),
    max: reply.max ?? highs.reduce((a, b) => Math.max(a, b), -Infinity),
  };
}

/* A value in words. */
export const sampled = (name: string, value: number): string =>
  !/byte/i.test(name) ? significant(value) : value < 0 ? `−${size(-value)}` : size(value);

/* The stretch that holds at a time: the last that began by then; -1 before the first. */
export function stretchAt(series: CounterSeries, time: bigint): number {
  let low = 0;
  let high = series.times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class CounterStore {
  private readonly series = new Map<string, CounterSeries>();
  private readonly asked = new Map<string, string>();

  constructor(
    private readonly run: string,
    private readonly onArrival: () => void,
  ) {}

  get(track: string): CounterSeries | null {
    return this.series.get(track) ?? null;
  }

  want(track: string, start: bigint, end: bigint, px: number): void {
    const question = `${start}-${end}-${px}`;
    if (this.asked.get(track) === question) return;
    this.asked.set(track, question);
    getJson<CounterReply>('api/counters', { run: this.run, track, start_ps: start, end_ps: end, px })
      .then((reply) => {
        if (this.asked.get(track) !== question) return;
        this.series.set(track, seriesOf(reply));
        this.onArrival();
      })
      .catch(() => this.asked.delete(track));
  }
}
