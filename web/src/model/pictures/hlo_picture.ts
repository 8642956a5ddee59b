/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture of instructions shows: a box an instruction, or one for all that lie in a scope;
 * an opened fusion has the boxes of its computation inside.
 *
 *   nodes 0 1 2 3          depth 0: [0] [1] [2] [3]
 *   scopes a a b -         depth 1: [a: 0 1] [b: 2] [3]
 */
import type { HloGraphReply, HloNode } from '../../data/hlo';
import { cutMiddle, shown } from '../cut';
import { partsOf } from '../compare_tree';
import { time, toNumber } from '../numbers';

export const NODES_MAX = 2000;
const LETTERS_MAX = 32;
const LETTER = 6.6; // pixels, at 11 px
export const BOX_HEIGHT = 36;
export const HEAD = 40; // above what is inside of an opened box

export interface PictureBox {
  id: string;
  name: string; // shortened
  about: string; // the second line
  nodes: readonly number[]; // the first is the one that is opened
  isGroup: boolean;
  self: number | null; // picoseconds, of what ran
  calls: readonly string[]; // computations that can be opened
  inner: PictureLevel | null;
  width: number;
  height: number;
}

export interface PictureLink {
  from: string;
  to: string;
  count: number; // operands
}

export interface PictureLevel {
  computation: string;
  boxes: PictureBox[];
  links: PictureLink[];
}

/* The first elements of a scope below the program's own; "" none. */
export function scopeAt(scope: string | null, depth: number): string {
  const parts = partsOf(scope ?? '');
  const own = parts.findIndex((part) => !/^p?jit\(/.test(part));
  const below = own < 0 ? [] : parts.slice(own);
  /* The last names the operation, not where it stands. */
  return below.slice(0, -1).slice(0, depth).join('/');
}

/* How deep scopes go: as many choices make sense. */
export function depthOf(graph: HloGraphReply): number {
  const most = graph.nodes.reduce((deepest, node) => Math.max(deepest, scopeAt(node.scope, 64).split('/').length), 0);
  return Math.min(8, most);
}

function selfOf(nodes: readonly HloNode[]): number | null {
  const known = nodes.filter((node) => node.self_ps !== null && node.self_ps !== undefined);
  return known.length === 0 ? null : known.reduce((sum, node) => sum + toNumber(node.self_ps!), 0);
}

function widthOf(name: string, about: string): number {
  return Math.ceil(Math.max(name.length, about.length) * LETTER) + 20;
}

/* The scope of each node; what has none of its own goes with who takes its result, else with who
 * gives to it. */
function scopesOf(graph: HloGraphReply, depth: number): string[] {
  const scopes = graph.nodes.map((node) => scopeAt(node.scope, depth));
  const byTaker = [...graph.edges].sort((a, b) => graph.nodes[b.from]!.line - graph.nodes[a.from]!.line);
  for (const { from, to } of byTaker) scopes[from] ||= scopes[to]!;
  for (const { from, to } of byTaker.reverse()) scopes[to] ||= scopes[from]!;
  return scopes;
}

/* Groups of nodes that are one box. */
function groupsOf(graph: HloGraphReply, cluster: number, depth: number): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  const scopes = depth > 0 ? scopesOf(graph, depth) : [];
  graph.nodes.forEach((node, index) => {
    if (node.computation !== cluster) return;
    const scope = scopes[index] ?? '';
    const id = scope === '' ? `${index}` : `s:${scope}`;
    const group = groups.get(id);
    if (group) group.push(index);
    else groups.set(id, [index]);
  });
  return groups;
}

function levelOf(graph: HloGraphReply, cluster: number, depth: number, above: readonly number[]): PictureLevel {
  const groups = groupsOf(graph, cluster, depth);
  const boxOf = new Map<number, string>();
  for (const [id, nodes] of groups) for (const node of nodes) boxOf.set(node, `${cluster}/${id}`);
  const boxes = [...groups].map(([id, indices]): PictureBox => {
    const nodes = indices.map((index) => graph.nodes[index]!);
    const isGroup = id.startsWith('s:') && nodes.length > 1;
    const [first] = nodes;
    const self = selfOf(nodes);
    const took = self === null ? '' : ` · ${time(self)}`;
    const name = cutMiddle(shown(isGroup ? id.slice(2) : first!.name), LETTERS_MAX);
    const about = cutMiddle(
      isGroup ? `${nodes.length} instructions${took}` : `${first!.opcode}${took}`,
      LETTERS_MAX + 8,
    );
    const opened = isGroup
      ? -1
      : graph.computations.findIndex(
          (one, at) => one.caller === indices[0] && !above.includes(at) && first!.calls.includes(one.name),
        );
    return {
      id: `${cluster}/${id}`,
      name,
      about,
      nodes: indices,
      isGroup,
      self,
      calls: isGroup ? [] : first!.calls,
      inner: opened < 0 ? null : levelOf(graph, opened, 0, [...above, opened]),
      width: widthOf(name, about) + (isGroup || first!.calls.length === 0 ? 0 : 16),
      height: BOX_HEIGHT,
    };
  });
  const links = new Map<string, PictureLink>();
  for (const edge of graph.edges) {
    const [from, to] = [boxOf.get(edge.from), boxOf.get(edge.to)];
    if (from === undefined || to === undefined || from === to) continue;
    const known = links.get(`${from} ${to}`);
    if (known) known.count++;
    else links.set(`${from} ${to}`, { from, to, count: 1 });
  }
  return { computation: graph.computations[cluster]?.name ?? '', boxes, links: [...links.values()] };
}

/* Of the computation that was asked for; null where it has no node. */
export function pictureOf(graph: HloGraphReply, depth: number): PictureLevel | null {
  const base = graph.computations.findIndex((one) => one.name === graph.computation);
  return base < 0 || graph.nodes.length === 0 ? null : levelOf(graph, base, depth, [base]);
}

export function countBoxes(level: PictureLevel): number {
  return level.boxes.reduce((sum, box) => sum + 1 + (box.inner === null ? 0 : countBoxes(box.inner)), 0);
}

/* The least depth at which the boxes can be laid out; null: none is enough. */
export function depthThatFits(graph: HloGraphReply): number | null {
  for (let depth = depthOf(graph); depth > 0; depth--) {
    const level = pictureOf(graph, depth);
    if (level !== null && countBoxes(level) <= NODES_MAX) return depth;
  }
  return null;
}
