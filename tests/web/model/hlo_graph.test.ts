/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbourhood of an instruction: rows in the order of hops, arcs from who gives to who takes. */
import type { HloInstruction } from '../../../web/src/data/hlo';
import { graphOf } from '../../../web/src/model/hlo_graph';

const brief = (name: string, distance: number, operands: string[]) => ({
  name,
  opcode: 'op',
  shape: 'f32[]',
  line: 1,
  distance,
  operands,
});

test('rows stand by hops, arcs join those that are shown', () => {
  const of = {
    ...brief('dot', 0, []),
    neighbours: [
      brief('fusion', -1, ['param', 'far']),
      brief('const', -1, []),
      brief('param', -2, []),
      brief('add', 1, ['dot', 'const', 'dot']),
      brief('tuple', 2, ['add', 'param']),
    ],
  } as unknown as HloInstruction;
  const { rows, edges } = graphOf(of);
  expect(rows.map((row) => (row.kind === 'head' ? `# ${row.words} ${row.count}` : row.of.name))).toEqual([
    '# Their operands 1',
    'param',
    '# Operands 2',
    'fusion',
    'const',
    'dot',
    '# Users 1',
    'add',
    '# Their users 1',
    'tuple',
  ]);
  const words = edges
    .map(({ from, to }) => [from, to].map((at) => (rows[at] as { of: { name: string } }).of.name).join(' > '))
    .sort();
  expect(words).toEqual([
    'add > tuple',
    'const > add',
    'const > dot',
    'dot > add',
    'fusion > dot',
    'param > fusion',
    'param > tuple',
  ]);
});
