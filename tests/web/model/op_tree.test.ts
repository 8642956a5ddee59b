/* SPDX-License-Identifier: Apache-2.0 */
import type { OpNode } from '../../../web/src/data/op_tree';
import { openAtFirst, programOf, rowsOf } from '../../../web/src/model/pictures/op_tree';

const node = (level: OpNode['level'], name: string, share: number, children: OpNode[] = []): OpNode => ({
  name,
  level,
  kind: 'compute',
  self_ps: share * 100,
  share,
  count: 1,
  op_count: 1,
  flops: null,
  bytes: null,
  flops_share: null,
  bandwidth_share: null,
  flops_unknown_ps: 0,
  bytes_unknown_ps: 0,
  reasons: {},
  children,
});
const ROOT = node('run', 'r', 1, [
  node('program', 'jit_f', 0.95, [
    node('category', 'dot', 0.9, [node('op', 'dot.1', 0.9)]),
    node('category', 'copy', 0.05, [node('op', 'copy.1', 0.05)]),
  ]),
  node('program', 'jit_g', 0.05, [node('op', 'add', 0.05)]),
]);

describe('rowsOf', () => {
  it('opens what is large, with places among siblings', () => {
    const rows = rowsOf(ROOT, openAtFirst(ROOT));
    expect(rows.map(({ node: one, depth, place, of, isOpen }) => [one.name, depth, place, of, isOpen])).toEqual([
      ['jit_f', 1, 1, 2, true],
      ['dot', 2, 1, 2, true],
      ['dot.1', 3, 1, 1, false],
      ['copy', 2, 2, 2, false],
      ['jit_g', 1, 2, 2, false],
    ]);
  });
  it('tells the program of a row', () => {
    expect(programOf(ROOT, '0.0.0')).toBe('jit_f');
    expect(programOf(ROOT, '1.0')).toBe('jit_g');
  });
});
