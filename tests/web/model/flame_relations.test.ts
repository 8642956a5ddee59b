/* SPDX-License-Identifier: Apache-2.0 */
import type { FlameNode } from '../../../web/src/data/types';
import { layoutFlame } from '../../../web/src/model/flame_layout';
import { namesOf, relationsOf, sortNames } from '../../../web/src/model/flame_relations';

const node = (name: string, total: number, self: number, ...children: FlameNode[]): FlameNode => ({
  name,
  total_ps: total,
  self_ps: self,
  count: 1,
  children,
});

/* root ─ a ─ f(30) ─ x(20)
 *      └ b ─ f(50) ─ y(10), f(25) ─ x(5)                                                   */
const layout = layoutFlame(
  node(
    'root',
    80,
    0,
    node('a', 30, 0, node('f', 30, 10, node('x', 20, 20))),
    node('b', 50, 0, node('f', 50, 15, node('y', 10, 10), node('f', 25, 20, node('x', 5, 5)))),
  ),
);
const brief = (list: { name: string; totalPs: number }[]) => list.map((one) => `${one.name} ${one.totalPs}`);

test('callers and callees over all places; a name within itself counts once', () => {
  const found = relationsOf(
    layout,
    layout.nodes.findIndex((one) => one.name === 'f'),
  );
  expect(found).toMatchObject({ name: 'f', places: 3, totalPs: 80, selfPs: 45 });
  expect(brief(found.callers)).toEqual(['b 50', 'a 30']);
  expect(brief(found.callees)).toEqual(['x 25', 'y 10']);
});
test('what callers and the callees of a name take adds up to it', () => {
  const found = relationsOf(
    layout,
    layout.nodes.findIndex((one) => one.name === 'f'),
  );
  const sum = (list: { totalPs: number }[]) => list.reduce((total, one) => total + one.totalPs, 0);
  expect(sum(found.callers)).toBe(found.totalPs);
  expect(sum(found.callees) + found.selfPs).toBe(found.totalPs);
});
test('the widest place of a relative is where a click leads', () => {
  const found = relationsOf(
    layout,
    layout.nodes.findIndex((one) => one.name === 'f'),
  );
  const x = found.callees.find((one) => one.name === 'x')!;
  expect(layout.nodes[x.index]!.total_ps).toBe(20);
});
test('the root is called by nothing', () => {
  expect(relationsOf(layout, 0).callers).toEqual([]);
});
test('each name once: own amounts add up to the whole, a name within itself counts once', () => {
  const rows = sortNames(namesOf(layout), '-self');
  expect(rows.map((row) => `${row.name} ${row.selfPs} ${row.totalPs} ${row.places}`)).toEqual([
    'f 45 80 3',
    'x 25 25 2',
    'y 10 10 1',
    'a 0 30 1',
    'b 0 50 1',
  ]);
  expect(rows.reduce((sum, row) => sum + row.selfPs, 0)).toBe(80);
  expect(layout.nodes[rows[0]!.index]!.total_ps).toBe(50);
});
test('names sort by each column, ties by name', () => {
  const by = (sort: string) =>
    sortNames(namesOf(layout), sort)
      .map((row) => row.name)
      .join('');
  expect([by('-total'), by('total'), by('name'), by('-name'), by('-places')]).toEqual([
    'fbaxy',
    'yxabf',
    'abfxy',
    'yxfba',
    'fxaby',
  ]);
});
