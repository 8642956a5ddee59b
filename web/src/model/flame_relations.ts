/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls what is in focus, and what it calls, over all places where its name stands.
 *
 *   a ─ f ─ x        callers of f: a, b       callees of f: x, y
 *   b ─ f ─ y        a name within itself counts once, by its outermost place
 *        └─ f ─ x
 */
import type { FlameLayout } from './flame_layout';
import { toNumber } from './numbers';

export interface Relative {
  name: string;
  totalPs: number;
  index: number; // of its widest node
}

export interface Relations {
  name: string;
  places: number;
  totalPs: number;
  selfPs: number;
  callers: Relative[];
  callees: Relative[];
}

class Sums {
  private readonly byName = new Map<string, Relative & { widest: number }>();

  add(layout: FlameLayout, index: number, totalPs: number): void {
    const name = layout.nodes[index]!.name;
    const size = toNumber(layout.nodes[index]!.total_ps);
    const known = this.byName.get(name);
    if (!known) this.byName.set(name, { name, totalPs, index, widest: size });
    else {
      known.totalPs += totalPs;
      if (size > known.widest) [known.index, known.widest] = [index, size];
    }
  }

  list(): Relative[] {
    return [...this.byName.values()]
      .sort((a, b) => b.totalPs - a.totalPs)
      .map(({ name, totalPs, index }) => ({ name, totalPs, index }));
  }
}

/* Over a node's direct children. */
function eachChild(layout: FlameLayout, index: number, visit: (child: number) => void): void {
  for (let child = index + 1; child < layout.next[index]!; child = layout.next[child]!) visit(child);
}

export function relationsOf(layout: FlameLayout, focus: number): Relations {
  const { name } = layout.nodes[focus]!;
  const callers = new Sums();
  const callees = new Sums();
  const result = { name, places: 0, totalPs: 0, selfPs: 0 };
  let outermostEnd = 0;
  for (let index = 0; index < layout.nodes.length; index++) {
    const node = layout.nodes[index]!;
    if (node.name !== name) continue;
    const outermost = index >= outermostEnd;
    if (outermost) outermostEnd = layout.next[index]!;
    result.places++;
    result.selfPs += toNumber(node.self_ps);
    if (outermost) {
      result.totalPs += toNumber(node.total_ps);
      if (layout.parent[index]! >= 0) callers.add(layout, layout.parent[index]!, toNumber(node.total_ps));
    }
    eachChild(layout, index, (child) => {
      if (layout.nodes[child]!.name !== name) callees.add(layout, child, toNumber(layout.nodes[child]!.total_ps));
    });
  }
  return { ...result, callers: callers.list(), callees: callees.list() };
}

interface Told {
  places: number;
  total: number;
  self: number;
  callers: readonly { name: string; total: number }[];
  callees: readonly { name: string; total: number }[];
}

/* Sums of the uncut tree; names that the cut one has still lead to their widest node. */
export function exactly(found: Relations, told: Told): Relations {
  const leadTo = (rows: readonly { name: string; total: number }[], known: readonly Relative[]): Relative[] =>
    rows.map((row) => ({
      name: row.name,
      totalPs: row.total,
      index: known.find((one) => one.name === row.name)?.index ?? -1,
    }));
  return {
    ...found,
    places: told.places,
    totalPs: told.total,
    selfPs: told.self,
    callers: leadTo(told.callers, found.callers),
    callees: leadTo(told.callees, found.callees),
  };
}

/* A name over all its places: its own amount, and what stands below its outermost ones as well. */
export interface NameSum {
  name: string;
  selfPs: number;
  totalPs: number;
  places: number;
  index: number; // of its widest node
  kind: string | null;
}

export function namesOf(layout: FlameLayout): NameSum[] {
  const known = new Map<string, NameSum & { end: number; widest: number }>();
  for (let index = 1; index < layout.nodes.length; index++) {
    const { name, kind, self_ps, total_ps } = layout.nodes[index]!;
    const total = toNumber(total_ps);
    let sum = known.get(name);
    if (!sum)
      known.set(
        name,
        (sum = { name, selfPs: 0, totalPs: 0, places: 0, index, kind: kind ?? null, end: 0, widest: -1 }),
      );
    sum.selfPs += toNumber(self_ps);
    sum.places++;
    if (index >= sum.end) {
      sum.totalPs += total;
      sum.end = layout.next[index]!;
    }
    if (total > sum.widest) [sum.index, sum.widest] = [index, total];
  }
  return [...known.values()].map(({ name, selfPs, totalPs, places, index, kind }) => ({
    name,
    selfPs,
    totalPs,
    places,
    index,
    kind,
  }));
}

/* "-self", "total", ...: as the heads of the table spell it; ties by name. */
export function sortNames(rows: readonly NameSum[], sort: string): NameSum[] {
  const key = sort.replace(/^-/, '');
  const sign = sort.startsWith('-') ? -1 : 1;
  const value = (row: NameSum): number => (key === 'places' ? row.places : key === 'total' ? row.totalPs : row.selfPs);
  const byName = (a: NameSum, b: NameSum): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return [...rows].sort((a, b) =>
    key === 'name' ? sign * byName(a, b) : sign * (value(a) - value(b)) || byName(a, b),
  );
}
