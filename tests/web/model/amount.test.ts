/* SPDX-License-Identifier: Apache-2.0 */
import { amountOf, asWidths, signedIn } from '../../../web/src/model/amount';

const plain = (text: string): string => text.replace(/\u202f/g, ' ').replace(/\u2212/g, '-');

test('an amount is said in its own unit', () => {
  for (const [unit, value, said, exact] of [
    ['ps', 1_500_000_000, '1.50 ms', '1.500 000 000 ms'],
    ['bytes', 1536, '1.50 KiB', '1 536 bytes'],
    ['bytes', -2, '-2 B', '-2 bytes'],
    ['count', 1234, '1 234', '1 234'],
  ] as const) {
    expect(plain(amountOf(unit).say(value)), unit).toBe(said);
    expect(plain(amountOf(unit).exact(value)), unit).toBe(exact);
  }
});

test('a change wears its sign', () => {
  const scale = amountOf('bytes').scale([2048, -1024]);
  expect(plain(signedIn(2048, scale))).toBe('+2.00');
  expect(plain(signedIn(-1024, scale))).toBe('-1.00');
  expect(signedIn(0, scale)).toBe('0');
});

test('nodes of another unit get the words of the layout', () => {
  const tree = {
    name: 'all',
    count: 1,
    total: 5,
    self: 1,
    children: [{ name: 'f', count: 1, total: 4, self: 4, children: [] }],
  };
  const widths = asWidths(tree as never);
  expect([widths.total_ps, widths.self_ps, widths.children[0]!.total_ps]).toEqual([5, 1, 4]);
  const times = { name: 'all', count: 1, total_ps: 7, self_ps: 7, children: [] };
  expect(asWidths(times)).toBe(times);
});
