/* SPDX-License-Identifier: Apache-2.0 */
/* A module's buffers as layers over its program: inputs, outputs and constants below, upon them what
 * is temporary by scope, type or kind; in each layer its buffers lie upon one another.
 *
 *   layer_1/mlp  ▁▃▃▁     dot.3, then fusion.9
 *   inputs       ████
 */
import type { HeapReply, HeapRow } from '../../data/memory';
import { scopeAt } from './hlo_picture';

export const LAYERS_MAX = 7; // hues; one more joins the others
export const STACKS = ['scope', 'type', 'class'] as const;
export type Stack = (typeof STACKS)[number];

export interface HeapLayer {
  name: string;
  rows: readonly HeapRow[]; // by their first point
  bytes: readonly number[]; // by point
}

const CLASS_WORDS: Readonly<Record<HeapRow['class'], string>> = {
  parameter: 'inputs',
  output: 'outputs',
  constant: 'constants',
  temporary: 'temporary',
  'thread-local': 'thread-local',
};
const SCOPE_PARTS = 2;

function typeOf(shape: string | null): string {
  const types = new Set((shape ?? '').match(/\b[a-z]+[0-9]+[a-z0-9]*(?=\[)|\bpred(?=\[)/g) ?? []);
  return types.size === 0 ? 'unknown type' : types.size > 1 ? 'several types' : [...types][0]!;
}

function nameOf(row: HeapRow, stack: Stack): string {
  if (stack === 'type') return typeOf(row.shape);
  if (stack === 'class' || row.class !== 'temporary') return CLASS_WORDS[row.class];
  return scopeAt(row.scope, SCOPE_PARTS) || 'no scope';
}

const isAlive = (row: HeapRow, point: number): boolean =>
  row.from_point !== null && row.to_point !== null && row.from_point <= point && point <= row.to_point;

function sumOf(rows: readonly HeapRow[], points: number): number[] {
  const sums = new Array<number>(points + 1).fill(0);
  for (const { from_point: from, to_point: to, bytes } of rows) {
    if (from === null || to === null) continue;
    sums[from]! += bytes;
    sums[to + 1]! -= bytes;
  }
  for (let point = 1; point < points; point++) sums[point]! += sums[point - 1]!;
  return sums.slice(0, points);
}

/* What is fixed first, then the largest; what the reply has no rows for, last. Their sum is the
 * level at each point. */
export function heapLayers({ rows, points }: Pick<HeapReply, 'rows' | 'points'>, stack: Stack): HeapLayer[] {
  const groups = new Map<string, HeapRow[]>();
  for (const row of rows) {
    if (row.from_point === null) continue;
    const name = nameOf(row, stack);
    groups.get(name)?.push(row) ?? groups.set(name, [row]);
  }
  const area = (of: readonly HeapRow[]): number =>
    of.reduce((sum, row) => sum + row.bytes * (row.to_point! - row.from_point! + 1), 0);
  const isFixed = (of: readonly HeapRow[]): boolean => of.every((row) => row.class !== 'temporary');
  const ordered = [...groups]
    .map(([name, of]) => ({ name, of, area: area(of), fixed: isFixed(of) }))
    .sort((a, b) => Number(b.fixed) - Number(a.fixed) || b.area - a.area);
  const alone = ordered.length <= LAYERS_MAX + 1 ? ordered.length : LAYERS_MAX;
  const layers = ordered.slice(0, alone).map(({ name, of }): HeapLayer => layerOf(name, of, points.length));
  const others = ordered.slice(alone);
  if (others.length > 0)
    layers.push(
      layerOf(
        `${others.length} others`,
        others.flatMap((one) => one.of),
        points.length,
      ),
    );
  const told = layers.reduce(
    (sums, layer) => sums.map((sum, at) => sum + layer.bytes[at]!),
    points.map(() => 0),
  );
  const rest = points.map((point, at) => point.bytes - told[at]!);
  if (rest.some((bytes) => bytes > 0)) layers.push({ name: 'smaller buffers', rows: [], bytes: rest });
  return layers;
}

function layerOf(name: string, rows: readonly HeapRow[], points: number): HeapLayer {
  const sorted = [...rows].sort((a, b) => a.from_point! - b.from_point! || b.bytes - a.bytes);
  return { name, rows: sorted, bytes: sumOf(sorted, points) };
}

/* Sums from the bottom up: where each layer ends. */
export function heightsOf(layers: readonly { bytes: readonly number[] }[]): number[][] {
  const heights: number[][] = [];
  let below: readonly number[] | null = null;
  for (const layer of layers) {
    const height: number[] = layer.bytes.map((bytes, at) => bytes + (below?.[at] ?? 0));
    heights.push(height);
    below = height;
  }
  return heights;
}

export interface HeapSpot {
  layer: HeapLayer;
  row: HeapRow | null; // null: of what has no row
}

/* What lies at a point and a height in bytes; null: nothing does. */
export function heapAt(layers: readonly HeapLayer[], point: number, bytes: number): HeapSpot | null {
  let below = 0;
  for (const layer of layers) {
    const above = below + (layer.bytes[point] ?? 0);
    if (bytes >= below && bytes < above) {
      let at = below;
      for (const row of layer.rows) {
        if (!isAlive(row, point)) continue;
        if (bytes < at + row.bytes) return { layer, row };
        at += row.bytes;
      }
      return { layer, row: null };
    }
    below = above;
  }
  return null;
}
