/* SPDX-License-Identifier: Apache-2.0 */
import type { Arrival, CollectiveRow, CollectiveTable } from '../../../web/src/data/collectives';
import {
  collectivesSentence,
  executionsWords,
  laneOf,
  lanesOf,
  turnsOf,
  turnWords,
} from '../../../web/src/model/collectives';
import { plainText } from '../../../web/src/model/sentence';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

const row = (name: string, more: Partial<CollectiveRow> = {}): CollectiveRow => ({
  name,
  kind: 'all-reduce',
  axis: 'data',
  group_size: 4,
  bytes: 4096,
  count: 8,
  total_ps: 10e9,
  exposed_ps: 5e9,
  hidden_ps: 5e9,
  exposed_share: 0.5,
  mean_ps: 1e9,
  max_ps: 2e9,
  bus_bytes_per_s: 1e9,
  moving_bus_bytes_per_s: 2e9,
  wait_ps: null,
  wait_share: null,
  last: null,
  last_share: null,
  algorithm: null,
  protocol: null,
  dtype: 'f32',
  members: null,
  module: null,
  scope: null,
  longest: 'k-1',
  longest_start_ps: 0,
  reasons: {},
  ...more,
});

const table = (rows: CollectiveRow[]): CollectiveTable => ({
  by: 'op',
  total_ps: rows.reduce((sum, one) => sum + Number(one.total_ps), 0),
  exposed_ps: rows.reduce((sum, one) => sum + Number(one.exposed_ps), 0),
  rows,
  row_count: rows.length,
  next: null,
  notes: [],
});

const arrival = (turn: number, group: number | null, device: number, start: number, late: number): Arrival => ({
  name: 'ar',
  turn,
  group,
  host: 'h',
  device,
  start_ps: start,
  dur_ps: 100,
  wait_ps: 0,
  late_ps: late,
  last: late > 0,
  exposed_ps: 100,
  slice: `s-${device}`,
});

describe('collectives', () => {
  test('what is exposed, and what waits', () => {
    expect(plain(plainText(collectivesSentence(table([row('ar')]))))).toBe(
      'Devices communicate 10.0 ms in all, 50 % of it exposed.',
    );
    const rows = [
      row('ar', { exposed_ps: 9e9, wait_ps: 4e9, last: 'hostB device 0', last_share: 0.9 }),
      row('ag', { exposed_ps: 1e9 }),
    ];
    expect(plain(plainText(collectivesSentence(table(rows))))).toBe(
      'Devices communicate 20.0 ms in all, 50 % of it exposed: ar has 90 % of that; ' +
        '20 % is waiting for the last device, most often hostB device 0.',
    );
    expect(collectivesSentence(table([]))).toEqual([]);
  });
  test('executions: the most uneven, in their order', () => {
    const rows = [
      arrival(0, 0, 0, 0, 0),
      arrival(0, 0, 1, 10, 10),
      arrival(1, 0, 0, 200, 0),
      arrival(1, 0, 1, 290, 90),
      arrival(2, 0, 0, 400, 0),
      arrival(2, 0, 1, 450, 50),
    ];
    const turns = turnsOf(rows, 2);
    expect(turns.map((turn) => [turn.turn, turn.start, turn.length, turn.spread])).toEqual([
      [1, 200, 190, 90],
      [2, 400, 150, 50],
    ]);
    expect(turnWords(turns[0]!, 1)).toBe('1');
    expect(turnWords(turns[0]!, 2)).toBe('1, group 0');
    expect(executionsWords(2, 3)).toBe('the 2 most uneven executions of 3');
    expect(executionsWords(1, 1)).toBe('1 execution');
    expect(
      lanesOf([arrival(0, 1, 10, 0, 0), arrival(0, 0, 9, 0, 0), arrival(1, 1, 10, 0, 0)], (one) => laneOf(one, 1)),
    ).toEqual(['device 9', 'device 10']);
    expect(laneOf(rows[1]!, 1)).toBe('device 1');
    expect(laneOf(rows[1]!, 2)).toBe('h device 1');
  });
});
