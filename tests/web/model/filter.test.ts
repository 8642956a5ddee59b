/* SPDX-License-Identifier: Apache-2.0 */
import { isFault, parseFilter } from '../../../web/src/model/filter';

const columns = ['name', 'scope', 'kind', 'self', 'count', 'share'];
const rows: Record<string, string | number | null>[] = [
  { name: 'dot.63', scope: 'layer_1/mlp', kind: 'compute', self: 18.2e9, count: 120, share: 0.336 },
  { name: 'copy.1', scope: 'layer_1/mlp', kind: 'copy', self: 2e9, count: 8, share: 0.04 },
  { name: 'all-reduce.7', scope: 'layer_3/attn', kind: 'communication', self: 0.5e9, count: 40, share: 0.01 },
  { name: 'dot', scope: null, kind: 'compute', self: null, count: 1, share: null },
];

function found(text: string): (string | number | null)[] {
  const filter = parseFilter(text, columns);
  if (isFault(filter)) throw new Error(filter.message);
  return rows.filter((row) => filter.test(row.name as string, (column) => row[column] ?? null)).map((row) => row.name!);
}

test.each([
  ['', ['dot.63', 'copy.1', 'all-reduce.7', 'dot']],
  ['dot', ['dot.63', 'dot']],
  ['DOT', ['dot.63', 'dot']],
  ['"dot"', ['dot']],
  ['-dot', ['copy.1', 'all-reduce.7']],
  ['scope:mlp', ['dot.63', 'copy.1']],
  ['scope:mlp self>1ms -copy', ['dot.63']],
  ['self>1ms', ['dot.63', 'copy.1']],
  ['-self>1ms', ['all-reduce.7', 'dot']],
  ['self<=500us', ['all-reduce.7']],
  ['share>=4%', ['dot.63', 'copy.1']],
  ['count=8', ['copy.1']],
  ['all-reduce', ['all-reduce.7']],
  ['kind:"copy"', ['copy.1']],
  ['x:y', []],
])('%s', (text, names) => {
  expect(found(text)).toEqual(names);
});

test.each([
  ['nope>3', 'no column'],
  ['self>3parsec', 'not a unit'],
  ['self>.', 'no number'],
  ['"open', 'not closed'],
])('%s is named as wrong', (text, message) => {
  const filter = parseFilter(text, columns);
  expect(isFault(filter) && filter.message).toContain(message);
});

test.each([
  ['kind=copy', ['copy.1']],
  ['kind!=compute', ['copy.1', 'all-reduce.7']],
  ['-kind=compute', ['copy.1', 'all-reduce.7']],
  ['name~RED', ['all-reduce.7']],
  ['name~all*7', ['all-reduce.7']],
  ['name~7*all', []],
  ['name!~dot', ['copy.1', 'all-reduce.7']],
  ['scope="layer_1/mlp" kind=copy', ['copy.1']],
  ['scope!~mlp', ['all-reduce.7', 'dot']],
  ['self>1ms name~dot kind=compute', ['dot.63']],
])('words of a column: %s', (text, names) => {
  expect(found(text)).toEqual(names);
});

test('a pattern of many stars ends at once', () => {
  const filter = parseFilter(`name~${'a*'.repeat(40)}b`, columns);
  if (isFault(filter)) throw new Error(filter.message);
  const begin = performance.now();
  filter.test('a'.repeat(512), () => 'a'.repeat(512));
  expect(performance.now() - begin).toBeLessThan(50);
});

test('an unknown column of words is named, with those there are', () => {
  const filter = parseFilter('knid=copy', columns);
  expect(isFault(filter) && filter.message).toContain('there are name, scope, kind');
});

test.each([
  ['count=8..40', ['copy.1', 'all-reduce.7']],
  ['-count=8..40', ['dot.63', 'dot']],
])('a range: %s', (text, names) => {
  expect(found(text)).toEqual(names);
});
