/* SPDX-License-Identifier: Apache-2.0 */
import { fuzzy, ranked } from '../../../web/src/model/fuzzy';

const names = [
  'steps',
  'next step',
  'copy the table as TSV',
  'timeline',
  'hlo stats (Ops)',
  'op profile (Flame)',
  'train_step_1500',
  'light or dark theme',
];
const found = (typed: string) => ranked(typed, names, (name) => name);

test.each([
  ['', names[0]],
  ['ste', 'steps'],
  ['step next', 'next step'],
  ['hlst', 'hlo stats (Ops)'],
  ['tsv', 'copy the table as TSV'],
  ['opro', 'op profile (Flame)'],
  ['1500', 'train_step_1500'],
  ['ldt', 'light or dark theme'],
])('%s leads to %s', (typed, name) => {
  expect(found(typed)[0]).toBe(name);
});

test('what stands as typed goes before letters here and there; what does not fit is left out', () => {
  expect(fuzzy('step', 'steps')).toBe(0);
  expect(fuzzy('tep', 'steps')!).toBeLessThan(fuzzy('sps', 'steps')!);
  expect(fuzzy('xyz', 'steps')).toBeNull();
  expect(found('qqq')).toEqual([]);
});

test('every word has to fit', () => {
  expect(fuzzy('next zebra', 'next step')).toBeNull();
});
