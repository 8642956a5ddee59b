/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence that opens the page of threads. */
import { plainText } from '../../../web/src/model/sentence';
import { threadName, threadsSentence, type ThreadRow } from '../../../web/src/model/threads';

const thread = (more: Partial<ThreadRow>): ThreadRow => ({
  track: '0.1',
  host: 'a',
  process: '/host:CPU',
  name: 'python',
  tid: '9077177786819718560',
  slice_count: 155,
  busy_ps: 412e9,
  share: 0.9996,
  start_ps: 0,
  end_ps: 412e9,
  longest: 'train',
  longest_ps: 37e9,
  slice: '0-3',
  reasons: {},
  ...more,
});
const said = (...rows: ThreadRow[]): string =>
  plainText(threadsSentence({ row_count: rows.length, rows, notes: [] })).replaceAll('\u202f', ' ');

test('the busiest is told in whatever order rows come', () => {
  const pool = thread({ name: 'pool', busy_ps: 1e9, share: 0.002 });
  expect(said(pool, thread({}))).toBe('2 threads; python was busy longest: 412 ms, >99.9 % of the time.');
  const other = thread({ host: 'b', busy_ps: 500e9, share: 0.6 });
  expect(said(pool, other)).toBe('2 threads; python of b was busy longest: 500 ms, 60 % of the time.');
  expect(said(pool)).toBe('pool was busy for 1.00 ms, 0.2 % of the time.');
});

test('no part of no time, no name', () => {
  expect(said(thread({ share: null }))).toBe('python was busy for 412 ms.');
  expect(threadName(thread({ name: '' }))).toBe('thread 9077177786819718560');
});
