/* SPDX-License-Identifier: Apache-2.0 */
import type { FlameNode } from '../../../web/src/data/types';
import { findPath, layoutFlame, nodeAt, pathOf } from '../../../web/src/model/flame_layout';

const node = (name: string, total: number, children: FlameNode[] = []): FlameNode => ({
  name,
  total_ps: total,
  self_ps: total - children.reduce((sum, child) => sum + Number(child.total_ps), 0),
  count: 1,
  children,
});

/* all 100 ─┬─ a 60 ─┬─ x 40        b has 10 of its own
 *          │        └─ y 20
 *          └─ b 40 ─── x 30       */
const layout = layoutFlame(
  node('all', 100, [node('a', 60, [node('x', 40), node('y', 20)]), node('b', 40, [node('x', 30)])]),
);

test('preorder, with the end of each subtree', () => {
  expect(layout.nodes.map((one) => one.name)).toEqual(['all', 'a', 'x', 'y', 'b', 'x']);
  expect([...layout.next]).toEqual([6, 4, 3, 4, 6, 6]);
  expect([...layout.x]).toEqual([0, 0, 0, 0.4, 0.6, 0.6]);
  expect(layout.depthCount).toBe(3);
});

test.each([
  ['the root', 0, 0.5, 0, 0],
  ['second level', 0, 0.7, 1, 4],
  ['third level', 0, 0.5, 2, 3],
  ['own time has no child', 0, 0.95, 2, null],
  ['zoomed into b', 4, 0.5, 2, 5],
  ['ancestors stay above a zoom', 4, 0.5, 0, 0],
])('under a point: %s', (_what, zoom, share, depth, index) => {
  expect(nodeAt(layout, layout.x[zoom]! + share * layout.width[zoom]!, depth)).toBe(index);
});

test('a path leads back to its node, as far as it goes', () => {
  for (let index = 0; index < layout.nodes.length; index++)
    expect(findPath(layout, pathOf(layout, index)), String(index)).toBe(index);
  expect(findPath(layout, 'b;gone')).toBe(4);
  expect(findPath(layout, '')).toBe(0);
});
