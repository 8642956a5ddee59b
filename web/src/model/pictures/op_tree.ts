/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a tree that are seen: those whose parents are open, in their order. */
import type { OpNode } from '../../data/op_tree';

export interface OpTreeRow {
  node: OpNode;
  path: string; // places among siblings, from the root
  depth: number; // from 1
  place: number; // among its siblings, from 1
  of: number;
  isOpen: boolean;
}

const OPEN_SHARE = 0.1;

/* What is opened at first: the large ones, down to their ops. */
export function openAtFirst(root: OpNode): Set<string> {
  const open = new Set<string>();
  const walk = (node: OpNode, path: string): void => {
    if ((node.share ?? 0) < OPEN_SHARE || node.children.length === 0) return;
    open.add(path);
    node.children.forEach((child, at) => walk(child, path === '' ? `${at}` : `${path}.${at}`));
  };
  walk(root, '');
  return open.add('');
}

export function rowsOf(root: OpNode, open: ReadonlySet<string>): OpTreeRow[] {
  const rows: OpTreeRow[] = [];
  const walk = (node: OpNode, path: string, depth: number): void =>
    node.children.forEach((child, at) => {
      const own = path === '' ? `${at}` : `${path}.${at}`;
      const isOpen = open.has(own) && child.children.length > 0;
      rows.push({ node: child, path: own, depth, place: at + 1, of: node.children.length, isOpen });
      if (isOpen) walk(child, own, depth + 1);
    });
  walk(root, '', 1);
  return rows;
}

/* The program that a row lies in, for links to its slices. */
export function programOf(root: OpNode, path: string): string | null {
  let node = root;
  for (const at of path.split('.')) {
    node = node.children[Number(at)]!;
    if (node.level === 'program') return node.name;
  }
  return null;
}
