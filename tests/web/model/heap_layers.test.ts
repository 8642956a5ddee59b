/* SPDX-License-Identifier: Apache-2.0 */
import type { HeapPoint, HeapRow } from '../../../web/src/data/memory';
import { heapAt, heapLayers, heightsOf, LAYERS_MAX } from '../../../web/src/model/pictures/heap_layers';

const row = (
  name: string,
  bytes: number,
  from: number | null,
  to: number | null,
  more: Partial<HeapRow> = {},
): HeapRow => ({
  name,
  part: null,
  opcode: null,
  shape: 'f32[8]{0}',
  bytes,
  padding_bytes: null,
  share: null,
  class: 'temporary',
  first: 0,
  last: 0,
  scope: null,
  source: null,
  rematerialise: null,
  reuse: null,
  from_point: from,
  to_point: to,
  reasons: {},
  ...more,
});
const points = (...bytes: number[]): HeapPoint[] =>
  bytes.map((one, position) => ({ position, bytes: one, unpadded_bytes: one, instruction: null }));

const ROWS = [
  row('p', 10, 0, 2, { class: 'parameter' }),
  row('dot', 4, 0, 1, { scope: 'jit(f)/layer_0/mlp/dot', shape: 'bf16[4]{0}' }),
  row('add', 6, 1, 2, { scope: 'jit(f)/layer_0/mlp/add' }),
  row('mul', 1, 1, 1, { scope: 'jit(f)/layer_1/mlp/mul' }),
  row('never', 99, null, null),
];
const LEVELS = points(14, 21, 16);

describe('heapLayers', () => {
  it('sums to the level at each point, what is fixed at the bottom', () => {
    for (const stack of ['scope', 'type', 'class'] as const) {
      const layers = heapLayers({ rows: ROWS, points: LEVELS }, stack);
      expect(heightsOf(layers).at(-1)).toEqual([14, 21, 16]);
    }
    const layers = heapLayers({ rows: ROWS, points: LEVELS }, 'scope');
    expect(layers.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['inputs', [10, 10, 10]],
      ['layer_0/mlp', [4, 10, 6]],
      ['layer_1/mlp', [0, 1, 0]],
    ]);
    expect(heapLayers({ rows: ROWS, points: LEVELS }, 'type').map(({ name }) => name)).toEqual(['f32', 'bf16']);
  });
  it('joins the smallest, and what has no row is a layer of its own', () => {
    const many = Array.from({ length: 12 }, (_, at) => row(`a${at}`, 12 - at, 0, 0, { scope: `s${at}/x/y` }));
    const layers = heapLayers({ rows: many, points: points(100) }, 'scope');
    expect(layers.length).toBe(LAYERS_MAX + 2);
    expect(layers[LAYERS_MAX]!.name).toBe('5 others');
    expect(layers.at(-1)).toEqual({ name: 'smaller buffers', rows: [], bytes: [22] });
  });
});

describe('heapAt', () => {
  it('names the buffer at a height', () => {
    const layers = heapLayers({ rows: ROWS, points: LEVELS }, 'scope');
    expect(heapAt(layers, 1, 9)?.row?.name).toBe('p');
    expect(heapAt(layers, 1, 13)?.row?.name).toBe('dot');
    expect(heapAt(layers, 1, 19)?.row?.name).toBe('add');
    expect(heapAt(layers, 1, 20.5)?.row?.name).toBe('mul');
    expect(heapAt(layers, 1, 21)).toBe(null);
    expect(heapAt(layers, 0, -1)).toBe(null);
  });
});
