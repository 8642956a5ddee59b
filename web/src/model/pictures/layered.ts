/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes in layers, whoever gives above whoever takes. dagre places them; what it would take minutes
 * for is taken away before: links over many layers are not routed, and of large graphs the layers
 * are those of the longest path.
 *
 *   [ a ]  [ b ]      layer 0
 *      \   /
 *     [ c ]           layer 1
 */
import { Graph, layout } from '@dagrejs/dagre';

export interface BoxSize {
  id: string;
  width: number;
  height: number;
}

export interface BoxLink {
  from: string;
  to: string;
}

export interface PlacedBox extends BoxSize {
  x: number; // of its left upper corner
  y: number;
}

export interface PlacedLink extends BoxLink {
  points: readonly { x: number; y: number }[]; // none: it is too long to be routed
}

export interface Layered {
  boxes: PlacedBox[];
  links: PlacedLink[];
  width: number;
  height: number;
}

export const SPAN_MAX = 8; // layers that a routed link spans in a graph of some size
export const SMALL = 60; // boxes of which every link is routed
const EXACT = 300; // boxes whose layers and order dagre finds by itself

/* Layers by the longest path; what has nothing above it stands just above its first user. A link
 * back, where boxes join several instructions, counts for nothing. */
export function layersOf(boxes: readonly BoxSize[], links: readonly BoxLink[]): Map<string, number> {
  const givers = new Map<string, string[]>(boxes.map((box) => [box.id, []]));
  const takers = new Map<string, string[]>(boxes.map((box) => [box.id, []]));
  for (const { from, to } of links) {
    givers.get(to)?.push(from);
    takers.get(from)?.push(to);
  }
  const layer = new Map<string, number>();
  const open = new Set<string>();
  for (const box of boxes) {
    const stack = [box.id];
    while (stack.length > 0) {
      const id = stack.at(-1)!;
      if (layer.has(id)) {
        stack.pop();
        continue;
      }
      const next = open.has(id) ? undefined : (givers.get(id) ?? []).filter((one) => !layer.has(one) && !open.has(one));
      open.add(id);
      if (next !== undefined && next.length > 0) {
        stack.push(...next);
        continue;
      }
      layer.set(
        id,
        (givers.get(id) ?? []).reduce((most, one) => Math.max(most, (layer.get(one) ?? -1) + 1), 0),
      );
      stack.pop();
    }
  }
  for (const box of boxes) {
    if (givers.get(box.id)!.length > 0) continue;
    const first = (takers.get(box.id) ?? []).reduce((least, one) => Math.min(least, layer.get(one)!), Infinity);
    if (Number.isFinite(first)) layer.set(box.id, Math.max(0, first - 1));
  }
  return layer;
}

export function layered(boxes: readonly BoxSize[], links: readonly BoxLink[]): Layered {
  const layer = layersOf(boxes, links);
  const span = ({ from, to }: BoxLink): number => Math.abs(layer.get(to)! - layer.get(from)!);
  const known = links.filter(({ from, to }) => layer.has(from) && layer.has(to) && from !== to);
  const isRouted = (link: BoxLink): boolean => boxes.length <= SMALL || span(link) <= SPAN_MAX;
  const isExact = boxes.length <= EXACT;
  const graph = new Graph();
  graph.setGraph({
    nodesep: 16,
    edgesep: 8,
    ranksep: 32,
    marginx: 8,
    marginy: 8,
    ...(isExact ? {} : { ranker: 'none' }),
  });
  graph.setDefaultEdgeLabel(() => ({}));
  /* Links have a layer of their own between those of boxes. */
  for (const box of boxes)
    graph.setNode(box.id, {
      width: box.width,
      height: box.height,
      ...(isExact ? {} : { rank: 2 * layer.get(box.id)! }),
    });
  for (const link of known) {
    const isBack = !isExact && layer.get(link.to)! <= layer.get(link.from)!;
    if (isRouted(link) && !isBack) graph.setEdge(link.from, link.to, {});
  }
  layout(graph, isExact ? {} : { disableOptimalOrderHeuristic: true });
  const placed = boxes.map((box) => {
    const { x, y } = graph.node(box.id) as unknown as { x: number; y: number };
    return { ...box, x: x - box.width / 2, y: y - box.height / 2 };
  });
  return {
    boxes: placed,
    links: known.map((link) => {
      const edge = graph.edge(link.from, link.to) as unknown as { points?: { x: number; y: number }[] } | undefined;
      return { ...link, points: edge?.points ?? [] };
    }),
    width: placed.reduce((most, box) => Math.max(most, box.x + box.width), 0) + 8,
    height: placed.reduce((most, box) => Math.max(most, box.y + box.height), 0) + 8,
  };
}
