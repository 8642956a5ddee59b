/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbourhood of an instruction, a row each, with arcs from whoever gives to whoever takes:
 *
 *      Their operands
 *   ,- param.1
 *   |  Operands
 *   `> fusion.3 -.
 *      dot.7     |         the one in focus
 *      Users     |
 *      add.9   <-'
 */
import type { HloBrief, HloInstruction } from '../data/hlo';

export type GraphRow = { kind: 'head'; words: string; count: number } | { kind: 'node'; of: HloBrief; focus: boolean };

export interface GraphEdge {
  from: number; // rows
  to: number;
}

const HOPS: readonly [number, string][] = [
  [-2, 'Their operands'],
  [-1, 'Operands'],
  [0, ''],
  [1, 'Users'],
  [2, 'Their users'],
];

export function graphOf(of: HloInstruction): { rows: GraphRow[]; edges: GraphEdge[] } {
  const rows: GraphRow[] = [];
  const places = new Map<string, number>();
  const add = (one: HloBrief, focus: boolean): void => {
    places.set(one.name, rows.length);
    rows.push({ kind: 'node', of: one, focus });
  };
  for (const [distance, words] of HOPS) {
    const near = of.neighbours.filter((one) => one.distance === distance);
    if (distance === 0) add(of, true);
    if (near.length > 0) rows.push({ kind: 'head', words, count: near.length });
    near.forEach((one) => add(one, false));
  }
  const own = of.neighbours.filter((one) => one.distance === -1).map((one) => one.name);
  const edges = rows.flatMap((row, to) => {
    if (row.kind === 'head') return [];
    const names = new Set(row.focus ? own : (row.of.operands ?? []));
    return [...names].flatMap((name) => (places.has(name) ? [{ from: places.get(name)!, to }] : []));
  });
  return { rows, edges };
}
