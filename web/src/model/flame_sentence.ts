/* SPDX-License-Identifier: Apache-2.0 */
/* What a flame graph by lines of source says first: the line whose own ops take most, and the next. */
import type { FlameNode } from '../data/types';
import { named, strong, type Sentence } from './sentence';
import { share, toNumber } from './numbers';

/* By line, what it takes without the lines that it calls. */
function ownByLine(node: FlameNode, into: Map<string, number>): Map<string, number> {
  let own = toNumber(node.total_ps);
  for (const child of node.children) {
    if (child.file) own -= toNumber(child.total_ps);
    ownByLine(child, into);
  }
  if (node.file) into.set(node.name, (into.get(node.name) ?? 0) + own);
  return into;
}

/* What stands below any line. */
function ownOfLines(node: FlameNode): number {
  return node.file ? toNumber(node.total_ps) : node.children.reduce((sum, child) => sum + ownOfLines(child), 0);
}

const lineOf = (name: string): string =>
  named(name.includes('/') && !name.includes('(') ? name.slice(name.lastIndexOf('/') + 1) : name);

/* Empty where no node knows its line. */
export function lineSentence(root: FlameNode, what: string): Sentence {
  const total = toNumber(root.total_ps);
  const [first, second] = [...ownByLine(root, new Map())].sort((a, b) => b[1] - a[1]);
  if (!first || total <= 0) return [];
  const told = ownOfLines(root);
  if (told < total / 2)
    return [
      strong(share(1 - told / total)),
      ` of ${what} has no line in its stack; of the rest ${lineOf(first[0])} takes most, `,
      strong(share(first[1] / total)),
      ' of all.',
    ];
  const next = second && second[1] > 0 ? `; next is ${lineOf(second[0])} with ${share(second[1] / total)}` : '';
  return [`${lineOf(first[0])} takes `, strong(share(first[1] / total)), ` of ${what}${next}.`];
}
