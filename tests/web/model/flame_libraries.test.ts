/* SPDX-License-Identifier: Apache-2.0 */
import type { FlameNode } from '../../../web/src/data/types';
import { foldLibraries, libraryOf } from '../../../web/src/model/pictures/flame_libraries';

const node = (name: string, file: string | null, self: number, children: FlameNode[] = []): FlameNode => ({
  name,
  kind: 'other',
  self_ps: self,
  total_ps: self + children.reduce((sum, child) => sum + Number(child.total_ps), 0),
  count: 1,
  children,
  ...(file === null ? {} : { file }),
});
const JAX = '/venv/lib/python3.11/site-packages/jax/_src/api.py';
const picture = (of: FlameNode, depth = 0): string[] => [
  `${' '.repeat(depth)}${of.name} ${of.total_ps} ${of.self_ps}`,
  ...of.children.flatMap((child) => picture(child, depth + 1)),
];

describe('foldLibraries', () => {
  it('joins frames of installed packages, keeps the program’s own and all sums', () => {
    const root = node('all', null, 0, [
      node('main', '/home/me/main.py', 1, [
        node('a', JAX, 2, [node('b', JAX, 4, [node('train', '/home/me/train.py', 8)])]),
        node('c', JAX, 16, [node('train', '/home/me/train.py', 32)]),
      ]),
    ]);
    expect(picture(foldLibraries(root))).toEqual(['all 63 0', ' main 63 1', '  (jax) 62 22', '   train 40 40']);
  });
  it('knows packages and the standard library', () => {
    expect(libraryOf(JAX)).toBe('jax');
    expect(libraryOf('/usr/lib/python3.11/runpy.py')).toBe('python3.11');
    expect(libraryOf('/usr/lib/python3/dist-packages/six.py')).toBe('six');
    expect(libraryOf('/home/me/train.py')).toBe(null);
    expect(libraryOf(null)).toBe(null);
  });
});
