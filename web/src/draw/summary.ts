/* SPDX-License-Identifier: Apache-2.0 */
/* A closed group: its busy share by kind, stacked from the bottom, mean over its tracks. */
import { SUMMARY_KINDS, TILE_QUANTA } from '../data/tiles';
import type { PlacedSummary } from './scene';
import type { Tokens } from './tokens';

export interface Box {
  top: number;
  width: number;
  height: number;
}

const KINDS = Array.from({ length: SUMMARY_KINDS }, (_, kind) => kind);

function isThere(values: Uint16Array | Float32Array, from: number, count: number): boolean {
  for (let at = from; at < from + count; at++) if (values[at]! > 0) return true;
  return false;
}

/* The kinds that a tile holds at all: of seven mostly one or two. */
const present = new WeakMap<Uint16Array, number[]>();

function kindsIn(share: Uint16Array): number[] {
  let kinds = present.get(share);
  if (!kinds) {
    kinds = KINDS.filter((kind) => isThere(share, kind * TILE_QUANTA, TILE_QUANTA));
    present.set(share, kinds);
  }
  return kinds;
}

/* Used again from frame to frame. */
let sum = new Float32Array(0);
let weight = new Float32Array(0);
let shares = new Float32Array(0);

/* Shares per kind and pixel column, mean over the quanta of a pixel and over the summaries. The
 * result holds until the next call. */
export function sharesOf(summaries: readonly PlacedSummary[][], width: number): Float32Array {
  if (weight.length !== width) {
    sum = new Float32Array(SUMMARY_KINDS * width);
    weight = new Float32Array(width);
    shares = new Float32Array(SUMMARY_KINDS * width);
  }
  shares.fill(0);
  for (const placed of summaries) {
    weight.fill(0);
    sum.fill(0);
    for (const one of placed) addTile(one, width);
    const kinds = new Set(placed.flatMap((one) => kindsIn(one.share)));
    for (const kind of kinds)
      for (let x = 0; x < width; x++)
        if (weight[x]! > 0) shares[kind * width + x]! += sum[kind * width + x]! / weight[x]! / summaries.length;
  }
  return shares;
}

/* The pixel columns of a quantum: at least one. */
function columnsOf(one: PlacedSummary, quantum: number): { from: number; to: number } {
  const from = Math.floor(one.left + quantum * one.quantum);
  return { from, to: Math.max(from + 1, Math.floor(one.left + (quantum + 1) * one.quantum)) };
}

/* The shares by kind of one pixel column, as sharesOf has them; null: no tile holds it. */
export function sharesAt(summaries: readonly PlacedSummary[][], x: number): number[] | null {
  const shares = new Array<number>(SUMMARY_KINDS).fill(0);
  let known = false;
  for (const placed of summaries) {
    const held = placed.flatMap((one) => quantaAt(one, x).map((quantum) => ({ one, quantum })));
    known ||= held.length > 0;
    for (const { one, quantum } of held)
      for (let kind = 0; kind < SUMMARY_KINDS; kind++)
        shares[kind]! += one.share[kind * TILE_QUANTA + quantum]! / 65_535 / held.length / summaries.length;
  }
  return known ? shares : null;
}

function quantaAt(one: PlacedSummary, x: number): number[] {
  const first = Math.max(0, Math.floor((x - one.left) / one.quantum) - 1);
  const last = Math.min(TILE_QUANTA, Math.ceil((x + 1 - one.left) / one.quantum) + 1);
  const quanta = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  return quanta.filter((quantum) => {
    const { from, to } = columnsOf(one, quantum);
    return from <= x && x < to;
  });
}

function addTile(one: PlacedSummary, width: number): void {
  const first = Math.max(0, Math.floor(-one.left / one.quantum));
  const last = Math.min(TILE_QUANTA, Math.ceil((width - one.left) / one.quantum));
  const kinds = kindsIn(one.share);
  let next = Math.floor(one.left + first * one.quantum);
  for (let quantum = first; quantum < last; quantum++) {
    const from = next; // as columnsOf, without an object each
    next = Math.floor(one.left + (quantum + 1) * one.quantum);
    for (let x = Math.max(0, from); x < Math.min(width, Math.max(from + 1, next)); x++) {
      weight[x]!++;
      for (const kind of kinds) sum[kind * width + x]! += one.share[kind * TILE_QUANTA + quantum]! / 65_535;
    }
  }
}

let image: ImageData | null = null; // used again while bands are of one height

/* As pixels: a path of a rectangle a column costs ten times as much. */
function paintShares(context: CanvasRenderingContext2D, shares: Float32Array, box: Box, tokens: Tokens): number {
  const { width, height, top } = box;
  if (width < 1 || height < 1) return 0;
  if (image?.width !== width || image.height !== height) image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer).fill(tokens.background);
  const present = KINDS.filter((kind) => isThere(shares, kind * width, width));
  for (let x = 0; x < width; x++) {
    let foot = height;
    for (const kind of present) {
      const share = shares[kind * width + x]!;
      if (share <= 0) continue;
      const size = Math.min(foot, Math.max(Math.round(share * height), foot === height ? 1 : 0));
      const colour = tokens.kinds[kind]!.fills[1];
      for (let y = foot - size; y < foot; y++) pixels[y * width + x] = colour;
      foot -= size;
    }
  }
  context.putImageData(image, 0, top);
  return present.reduce((kinds, kind) => kinds | (1 << kind), 0);
}

/* Tells which kinds are there, a bit each. */
export function paintSummary(
  context: CanvasRenderingContext2D,
  summaries: readonly PlacedSummary[][],
  box: Box,
  tokens: Tokens,
): number {
  return paintShares(context, sharesOf(summaries, box.width), box, tokens);
}
