/* SPDX-License-Identifier: Apache-2.0 */
import type { HostRow, HostTable, IdleRow, StepRow } from '../../../web/src/data/types';
import { plainText } from '../../../web/src/model/sentence';
import { hostsSentence, idleSentence, stepsSentence } from '../../../web/src/model/steps_words';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

const step = (number: number, dur: number, more: Partial<StepRow> = {}): StepRow => ({
  step: number,
  host: 'h',
  start_ps: 0,
  dur_ps: dur,
  warmup: false,
  outlier: false,
  breakdown: [{ kind: 'compute', self_ps: dur }],
  ...more,
});

const host = (name: string, more: Partial<HostRow> = {}): HostRow => ({
  name,
  host: name,
  device: null,
  device_count: 1,
  step_count: 6,
  step_median_ps: 11e9,
  step_min_ps: 10e9,
  step_max_ps: 12e9,
  busy_ps: 60e9,
  idle_ps: 20e9,
  busy_share: 0.75,
  communication_ps: 0,
  hidden_communication_ps: 0,
  op_wait_ps: 0,
  wait_ps: 0,
  wait_share: 0,
  last_count: 0,
  compared_count: 6,
  lag_ps: null,
  skew_ps: null,
  straggler: false,
  reasons: {},
  ...more,
});

const table = (rows: HostRow[], basis: 'none' | 'communication' | 'end'): HostTable<HostRow> => ({
  by: 'host',
  rule: 'annotation',
  confidence: 'high',
  step_count: 6,
  compared_count: basis === 'none' ? 0 : 6,
  basis,
  rows,
  row_count: rows.length,
  next: null,
  notes: [],
});

describe('sentences', () => {
  test('of steps: the op that the server found', () => {
    const steps = [step(1, 54e9), step(2, 54e9), step(5, 78.2e9, { slowest_by: 'all-reduce.7', slowest_by_ps: 23e9 })];
    expect(plain(plainText(stepsSentence(steps, 54e9)))).toBe(
      '3 steps, median 54.0 ms; step 5 took 78.2 ms: all-reduce.7 was 23.0 ms longer.',
    );
    expect(plain(plainText(stepsSentence([step(1, 60e9, { warmup: true }), step(2, 50e9), step(3, 51e9)], 50e9)))).toBe(
      '3 steps, median 50.0 ms without 1 warm-up.',
    );
    expect(stepsSentence([], null)).toEqual([]);
  });
  test('of idle time: what the host did most of it', () => {
    const row = (cause: string, idle: number): IdleRow => ({
      host: 'h',
      device: 0,
      cause,
      idle_ps: idle,
      share: null,
      share_of_time: null,
      longest_ps: null,
      longest_start_ps: null,
    });
    expect(plain(plainText(idleSentence([row('input', 60e9), row('dispatch', 40e9)])))).toBe(
      'The device is idle 100 ms: in 60 % of it the host loads data, in 40 % of it the host launches programs.',
    );
    expect(plain(plainText(idleSentence([])))).toBe('Devices are never idle.');
  });
  test('of hosts: who comes last', () => {
    const rows = [host('hostA', { wait_ps: 40e9 }), host('hostB', { straggler: true, last_count: 6, lag_ps: 7.35e9 })];
    expect(plain(plainText(hostsSentence(table(rows, 'communication'))))).toBe(
      'hostB comes last in 6 of 6 steps, at the median by 7.35 ms; waiting for the other takes 25 % of the steps.',
    );
    expect(plain(plainText(hostsSentence(table([host('a'), host('b')], 'end'))))).toBe(
      'No host comes last in more than half of 6 steps.',
    );
    expect(plain(plainText(hostsSentence(table([host('a')], 'none'))))).toBe(
      'A step takes 11.0 ms on 1 host; the device is busy 75 % of it.',
    );
  });
  test('of hosts without steps: how busy each is, and why nothing more is told', () => {
    const none = { step_count: 0, step_median_ps: null, busy_share: null };
    expect(plain(plainText(hostsSentence(table([host('a', none)], 'none'))))).toBe('1 host; no steps were found.');
    expect(plain(plainText(hostsSentence(table([host('a', none), host('b', none)], 'none'))))).toBe(
      '2 hosts; no steps were found, so that nothing tells who comes last.',
    );
    const busy = (share: number) => ({ ...none, busy_share: share });
    expect(plain(plainText(hostsSentence(table([host('a', busy(0.5))], 'none'))))).toBe(
      '1 host, busy 50 % from its first to its last event; no steps were found.',
    );
    expect(plain(plainText(hostsSentence(table([host('a', busy(0.5)), host('b', busy(0.61))], 'none'))))).toBe(
      '2 hosts, busy 50 % to 61 % from their first to their last event; ' +
        'no steps were found, so that nothing tells who comes last.',
    );
  });
});
