/* SPDX-License-Identifier: Apache-2.0 */
import type { HloGraphReply, HloNode } from '../../../web/src/data/hlo';
import { countBoxes, depthOf, pictureOf, scopeAt } from '../../../web/src/model/pictures/hlo_picture';
import { place } from '../../../web/src/model/pictures/hlo_placed';

const node = (name: string, scope: string | null, self: number | null, more: Partial<HloNode> = {}): HloNode => ({
  name,
  opcode: 'add',
  shape: 'f32[8]',
  line: 1,
  computation: 0,
  root: false,
  scope,
  source: null,
  fusion_kind: null,
  execution_count: self === null ? null : 1,
  self_ps: self,
  calls: [],
  ...more,
});
const computation = (name: string, caller: number | null) => ({
  name,
  line: 1,
  instruction_count: 2,
  entry: caller === null,
  fused: caller !== null,
  caller,
});
/* p -> fusion.1 (layer_0) -> tuple (no scope) -> dot (layer_1); fusion.1 holds x -> y. */
const GRAPH: HloGraphReply = {
  center: null,
  computation: 'main',
  hops: 2,
  left_out: 0,
  node_self_ps: 30,
  computations: [computation('main', null), computation('fused', 1)],
  nodes: [
    node('p', null, null, { line: 1 }),
    node('fusion.1', 'jit(f)/jit(main)/layer_0/mlp/dot', 10, { line: 2, calls: ['fused'] }),
    node('tuple.2', null, null, { line: 3 }),
    node('dot.3', 'jit(f)/jit(main)/layer_1/mlp/dot', 20, { line: 4 }),
    node('x', null, null, { computation: 1, line: 10 }),
    node('y', null, null, { computation: 1, line: 11 }),
  ],
  edges: [
    { from: 0, to: 1, operand: 0 },
    { from: 1, to: 2, operand: 0 },
    { from: 2, to: 3, operand: 0 },
    { from: 2, to: 3, operand: 1 },
    { from: 4, to: 5, operand: 0 },
  ],
  reasons: {},
};

describe('scopeAt', () => {
  it('begins below the program and ends before the operation', () => {
    expect(scopeAt('jit(f)/jit(main)/layer_0/mlp/dot', 1)).toBe('layer_0');
    expect(scopeAt('jit(f)/jit(main)/layer_0/mlp/dot', 9)).toBe('layer_0/mlp');
    expect(scopeAt('jit(f)/transpose(jvp(a/b))/mul', 1)).toBe('transpose(jvp(a/b))');
    expect(scopeAt(null, 2)).toBe('');
  });
});

describe('pictureOf', () => {
  it('has a box an instruction, the operands of one pair as one link, an opened fusion inside', () => {
    const level = pictureOf(GRAPH, 0)!;
    expect(level.boxes.map((box) => box.name)).toEqual(['p', 'fusion.1', 'tuple.2', 'dot.3']);
    expect(level.links.map(({ count }) => count)).toEqual([1, 1, 2]);
    expect(level.boxes[1]!.inner!.boxes.map((box) => box.name)).toEqual(['x', 'y']);
    expect(countBoxes(level)).toBe(6);
  });
  it('joins what lies in a scope, and what has none goes with who takes it', () => {
    const level = pictureOf(GRAPH, 1)!;
    expect(level.boxes.map((box) => [box.name, box.nodes, box.self])).toEqual([
      ['layer_0', [0, 1], 10],
      ['layer_1', [2, 3], 20],
    ]);
    expect(level.links).toEqual([{ from: '0/s:layer_0', to: '0/s:layer_1', count: 1 }]);
    expect(depthOf(GRAPH)).toBe(2);
  });
  it('is none where nothing was sent', () => {
    expect(pictureOf({ ...GRAPH, nodes: [], edges: [], computations: [] }, 0)).toBe(null);
  });
});

describe('place', () => {
  it('puts what is inside of a box inside of it', () => {
    const { boxes, links } = place(pictureOf(GRAPH, 0)!);
    const of = (name: string) => boxes.find((one) => one.box.name === name)!;
    const outer = of('fusion.1');
    for (const inner of [of('x'), of('y')]) {
      expect(inner.depth).toBe(1);
      expect(inner.x).toBeGreaterThan(outer.x);
      expect(inner.x + inner.width).toBeLessThan(outer.x + outer.width);
      expect(inner.y).toBeGreaterThan(outer.y);
      expect(inner.y + inner.height).toBeLessThan(outer.y + outer.height);
    }
    expect(of('dot.3').y).toBeGreaterThan(outer.y + outer.height);
    expect(links.length).toBe(4);
  });
});
