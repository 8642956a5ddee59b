/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of installed libraries as one: a stack is then the program's own calls.
 *
 *   main.py ─ jax/a.py ─ jax/b.py ─ train.py      main.py ─ (jax) ─ train.py
 *           └ jax/c.py ─ train.py                 both ways through jax are one, their sums kept
 */
import type { FlameNode } from '../../data/types';
import { toNumber } from '../numbers';

const PACKAGE = /(?:^|\/)(?:site|dist)-packages\/([^/]+)/;
const STANDARD = /\/lib(?:64)?\/(python\d[\d.]*)\//;

/* The package of a file, without what says that it is Python's; null: the program's own. */
export function libraryOf(file: string | null | undefined): string | null {
  const found = PACKAGE.exec(file ?? '') ?? STANDARD.exec(file ?? '');
  return found ? found[1]!.replace(/\.py$/, '') : null;
}

function merged(nodes: readonly FlameNode[]): FlameNode[] {
  const byName = new Map<string, FlameNode[]>();
  for (const node of nodes) byName.get(node.name)?.push(node) ?? byName.set(node.name, [node]);
  return [...byName.values()]
    .map((same): FlameNode => {
      const [first] = same;
      if (same.length === 1) return first!;
      const sum = (key: 'total_ps' | 'self_ps'): number => same.reduce((all, node) => all + toNumber(node[key]), 0);
      return {
        ...first!,
        total_ps: sum('total_ps'),
        self_ps: sum('self_ps'),
        count: same.reduce((all, node) => all + node.count, 0),
        children: merged(same.flatMap((node) => node.children)),
      };
    })
    .sort((a, b) => toNumber(b.total_ps) - toNumber(a.total_ps));
}

export function foldLibraries(root: FlameNode): FlameNode {
  /* What a library's frame itself has, and what the program does below it. */
  const inside = (node: FlameNode): { self: number; own: FlameNode[] } => {
    let self = toNumber(node.self_ps);
    const own: FlameNode[] = [];
    for (const child of node.children) {
      if (libraryOf(child.file) === null) own.push(fold(child));
      else {
        const below = inside(child);
        self += below.self;
        own.push(...below.own);
      }
    }
    return { self, own };
  };
  const fold = (node: FlameNode): FlameNode => ({
    ...node,
    children: merged(
      node.children.map((child) => {
        const library = libraryOf(child.file);
        if (library === null) return fold(child);
        const { self, own } = inside(child);
        const { file: _, line: __, ...rest } = child;
        return { ...rest, name: `(${library})`, self_ps: self, children: merged(own) };
      }),
    ),
  });
  return fold(root);
}
