/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: rows as the reply gives them, and the sentence that opens their page. */
import type { Ps } from '../data/json';
import type { Note, Reasons } from '../data/types';
import { count, rate, share, size, time, toNumber } from './numbers';
import { strong, type Sentence } from './sentence';

export interface TransferRow {
  key?: string | null;
  direction: string | null;
  host: string | null;
  slice: string;
  start_ps: Ps;
  bytes: number | null;
  bytes_per_s: number | null;
  overlapped_ps: Ps | null;
  overlapped_share?: number | null;
  count?: number;
  unsized_count?: number;
  total_ps?: Ps;
  share?: number | null;
  mean_ps?: Ps;
  max_ps?: Ps;
  blocking_count?: number | null;
  pageable_count?: number | null;
  pinned_count?: number | null;
  steps?: string | null;
  name?: string;
  device?: number | null;
  stream?: string | null;
  dur_ps?: Ps;
  memory?: string | null;
  blocking?: boolean | null;
  caller?: string | null;
  step?: number | null;
  reasons: Reasons;
}

export interface TransferList {
  by: string;
  total_ps: Ps;
  row_count: number;
  rows: TransferRow[];
  notes: Note[];
}

export const DIRECTION_WORDS: Readonly<Record<string, string>> = {
  h2d: 'host to device',
  d2h: 'device to host',
  d2d: 'within devices',
  p2p: 'device to device',
  host: 'within the host',
};
const PROSE: Readonly<Record<string, string>> = {
  h2d: 'to devices',
  d2h: 'to the host',
  d2d: 'within devices',
  p2p: 'between devices',
  host: 'within the host',
};

export function directionWords(direction: string | null | undefined): string {
  return direction ? (DIRECTION_WORDS[direction] ?? direction) : 'direction unknown';
}

/* "16 transfers to devices take 1.57 s (31.2 GiB at 12.4 GB/s); 3 % of it while the device computes."
 * Rows by direction. */
export function transfersSentence(rows: readonly TransferRow[]): Sentence {
  const first = [...rows].sort((a, b) => toNumber(b.total_ps ?? 0) - toNumber(a.total_ps ?? 0))[0]!;
  const sentence: Sentence = [
    strong(`${count(first.count ?? 0)} transfers`),
    ` ${first.direction ? PROSE[first.direction] : 'of unknown direction'} take `,
    strong(time(first.total_ps ?? 0)),
  ];
  if (first.bytes !== null && first.bytes_per_s !== null)
    sentence.push(' (', strong(size(first.bytes)), ` at ${rate(first.bytes_per_s, 'B/s')})`);
  if (first.overlapped_share !== null && first.overlapped_share !== undefined)
    sentence.push(`; ${share(first.overlapped_share)} of it while the device computes`);
  for (const row of rows.filter((one) => one !== first).slice(0, 2))
    sentence.push(
      `; ${count(row.count ?? 0)} ${row.direction ? PROSE[row.direction] : 'of unknown direction'} ` +
        `take ${time(row.total_ps ?? 0)}`,
    );
  sentence.push('.');
  return sentence;
}
