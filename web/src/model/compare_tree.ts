/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of two runs as one tree: each node has its time in a and in b, so that both are drawn in
 * one order and one scale.
 *
 *   jit(f)/mlp/dot   a 10  b 15          f ─ mlp ─┬─ dot   10  15
 *   jit(f)/mlp/tanh  a  2  b  –                   └─ tanh   2   0
 */
import type { DiffRow } from '../data/diff';
import { isOp } from './compare';
import { toNumber } from './numbers';

export interface ScopeNode {
  name: string;
  path: string;
  a: number; // picoseconds a step, with all below
  b: number;
  children: ScopeNode[]; // the largest first
}

/* At the slashes that stand in no parentheses: "transpose(jvp(a/b))/mul" has two parts. */
export function partsOf(scope: string): string[] {
  const parts: string[] = [];
  let [open, from] = [0, 0];
  for (let at = 0; at < scope.length; at++) {
    if (scope[at] === '(') open++;
    else if (scope[at] === ')') open = Math.max(0, open - 1);
    else if (scope[at] === '/' && open === 0) {
      parts.push(scope.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(scope.slice(from));
  return parts.filter((part) => part !== '');
}

const DEPTH_MAX = 64;

export function scopeTree(rows: readonly DiffRow[]): ScopeNode {
  const root: ScopeNode = { name: 'all scopes', path: '', a: 0, b: 0, children: [] };
  const known = new Map<string, ScopeNode>();
  for (const row of rows) {
    if (!isOp(row)) continue;
    const [a, b] = [toNumber(row.a_self_ps ?? 0), toNumber(row.b_self_ps ?? 0)];
    let node = root;
    for (const name of [null, ...partsOf(row.name).slice(0, DEPTH_MAX)]) {
      if (name !== null) {
        const path = node.path === '' ? name : `${node.path}/${name}`;
        let child = known.get(path);
        if (!child) {
          child = { name, path, a: 0, b: 0, children: [] };
          known.set(path, child);
          node.children.push(child);
        }
        node = child;
      }
      node.a += a;
      node.b += b;
    }
  }
  for (const node of [root, ...known.values()])
    node.children.sort((x, y) => Math.max(y.a, y.b) - Math.max(x.a, x.b) || (x.path < y.path ? -1 : 1));
  return root;
}

export function nodeAtPath(root: ScopeNode, path: string): ScopeNode {
  let node = root;
  for (;;) {
    const next = node.children.find((child) => path === child.path || path.startsWith(`${child.path}/`));
    if (!next) return node;
    node = next;
  }
}

export interface Cell {
  node: ScopeNode;
  depth: number;
  from: number; // shares of the room
  width: number;
}

/* What one side shows of a node and all below it; `perPs`: the same for both sides. */
export function cellsOf(top: ScopeNode, side: 'a' | 'b', perPs: number, narrowest: number): Cell[] {
  const cells: Cell[] = [];
  const put = (node: ScopeNode, depth: number, from: number): void => {
    const width = node[side] * perPs;
    if (width < narrowest) return;
    cells.push({ node, depth, from, width });
    let at = from;
    for (const child of node.children) {
      put(child, depth + 1, at);
      at += child[side] * perPs;
    }
  };
  put(top, 0, 0);
  return cells;
}

/* Seven tones from slower to faster by the share of the longer step; the middle says nothing changed. */
const TONES = [0.1, 0.03, 0.005];

export function toneOf(node: ScopeNode, stepPs: number): number {
  const change = (node.b - node.a) / Math.max(1, stepPs);
  const strength = TONES.findIndex((least) => Math.abs(change) >= least);
  if (strength < 0) return 4;
  return change > 0 ? strength + 1 : 7 - strength;
}
