/* Counters of the window, one reply a track, the last one kept while the next comes. */
import { getJson } from './api';
import type { Ps } from './json';
import { toBig } from '../model/numbers';

export interface CounterSeries {
  times: bigint[];
  values: number[];
  min: number;
  max: number;
}

interface CounterReply {
  rows: { ts_ps: Ps; value?: number | null; last?: number | null; min?: number | null; max?: number | null }[];
  min?: number | null;
  max?: number | null;
}

export function seriesOf(reply: CounterReply): CounterSeries {
  const known = reply.rows.filter((row) => (row.value ?? row.last ?? row.max) !== null && (row.value ?? row.last ?? row.max) !== undefined);
  const values = known.map((row) => (row.value ?? row.last ?? row.max)!);
  return {
    times: known.map((row) => toBig(row.ts_ps)),
    values,
    min: reply.min ?? Math.min(...values),
    max: reply.max ?? Math.max(...values),
  };
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
