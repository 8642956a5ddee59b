/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of hosts: rows as the reply gives them, and the sentence that opens their page. */
import type { Ps } from '../data/json';
import type { Note, Reasons } from '../data/types';
import { plural, share, time, toNumber } from './numbers';
import { named, strong, type Sentence } from './sentence';

export interface ThreadRow {
  track: string;
  host: string;
  process: string | null;
  name: string;
  tid: string;
  slice_count: number;
  busy_ps: Ps;
  share: number | null;
  start_ps: Ps;
  end_ps: Ps;
  longest: string;
  longest_ps: Ps;
  slice: string;
  reasons: Reasons;
}

export interface ThreadList {
  row_count: number;
  rows: ThreadRow[];
  notes: Note[];
}

/* Some threads have no name. */
export const threadName = (row: ThreadRow): string => row.name || `thread ${row.tid}`;

/* "9 threads; python of hostB was busy longest: 3.00 s, 60 % of the time." */
export function threadsSentence({ rows, row_count }: ThreadList): Sentence {
  const first = rows.reduce((busiest, row) => (toNumber(row.busy_ps) > toNumber(busiest.busy_ps) ? row : busiest));
  const where = rows.some((row) => row.host !== first.host) ? ` of ${first.host}` : '';
  return [
    ...(row_count === 1 ? [] : [strong(plural(row_count, 'thread')), '; ']),
    strong(named(threadName(first))),
    `${where} was busy ${row_count === 1 ? 'for ' : 'longest: '}`,
    strong(time(first.busy_ps)),
    first.share === null ? '.' : `, ${share(first.share)} of the time.`,
  ];
}
