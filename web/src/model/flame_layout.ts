/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as preorder arrays: painting skips a whole subtree that is too narrow to see.
 *
 *   x     ····[ root                    ]     shares of the root's width
 *   next  index of the first node after the subtree
 */
import type { FlameNode } from '../data/types';
import { amountOf, type Amount } from './amount';
import { toNumber } from './numbers';

export interface FlameLayout {
  nodes: FlameNode[];
  x: Float64Array;
  width: Float64Array;
  depth: Uint16Array;
  next: Uint32Array;
  parent: Int32Array;
  depthCount: number;
  amount: Amount; // what the widths are
}

export function countNodes(node: FlameNode): number {
  return 1 + node.children.reduce((sum, child) => sum + countNodes(child), 0);
}

export function layoutFlame(root: FlameNode, amount = amountOf('ps')): FlameLayout {
  const size = countNodes(root);
  const layout: FlameLayout = {
    nodes: new Array<FlameNode>(size),
    x: new Float64Array(size),
    width: new Float64Array(size),
    depth: new Uint16Array(size),
    next: new Uint32Array(size),
    parent: new Int32Array(size).fill(-1),
    depthCount: 0,
    amount,
  };
  const total = Math.max(1, toNumber(root.total_ps));
  let at = 0;
  const walk = (node: FlameNode, x: number, depth: number, parent: number): void => {
    const index = at++;
    layout.nodes[index] = node;
    layout.x[index] = x;
    layout.width[index] = toNumber(node.total_ps) / total;
    layout.depth[index] = depth;
    layout.parent[index] = parent;
    layout.depthCount = Math.max(layout.depthCount, depth + 1);
    let child = x;
    for (const one of node.children) {
      walk(one, child, depth + 1, index);
      child += toNumber(one.total_ps) / total;
    }
    layout.next[index] = at;
  };
  walk(root, 0, 0, -1);
  return layout;
}

/* The node at a share of the root's width. */
export function nodeAt(layout: FlameLayout, x: number, depth: number): number | null {
  for (let index = 0; index < layout.nodes.length;) {
    const inside = x >= layout.x[index]! && x < layout.x[index]! + layout.width[index]!;
    if (!inside) index = layout.next[index]!;
    else if (layout.depth[index] === depth) return index;
    else index++;
  }
  return null;
}

/* "level 3, 2 of 14": where a node stands among its siblings. */
export function standingOf(layout: FlameLayout, index: number): { level: number; place: number; of: number } {
  const parent = layout.parent[index]!;
  let place = 1;
  let of = 1;
  if (parent >= 0) {
    of = layout.nodes[parent]!.children.length;
    for (let at = parent + 1; at < index; at = layout.next[at]!) place++;
  }
  return { level: layout.depth[index]! + 1, place, of };
}

const SEPARATOR = ';';
const plain = (name: string): string => name.replaceAll(SEPARATOR, ':');

/* The path of a node below the root, for the address. */
export function pathOf(layout: FlameLayout, index: number): string {
  const names: string[] = [];
  for (let at = index; at > 0; at = layout.parent[at]!) names.unshift(plain(layout.nodes[at]!.name));
  return names.join(SEPARATOR);
}

/* As deep as the path leads; the root when nothing fits. */
export function findPath(layout: FlameLayout, path: string): number {
  let at = 0;
  for (const name of path.split(SEPARATOR).filter(Boolean)) {
    let child = at + 1;
    while (child < layout.next[at]! && plain(layout.nodes[child]!.name) !== name) child = layout.next[child]!;
    if (child >= layout.next[at]!) return at;
    at = child;
  }
  return at;
}
