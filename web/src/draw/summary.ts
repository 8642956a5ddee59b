/* A closed group: its busy share by kind, stacked from the bottom, mean over its tracks. */
import { SUMMARY_KINDS, TILE_QUANTA } from '../data/tiles';
import type { PlacedSummary } from './scene';
import type { Tokens } from './tokens';

export interface Box {
  top: number;
  width: number;
  height: number;
}

/* Shares per kind and pixel column, mean over the quanta of a pixel and over the summaries. */
export function sharesOf(summaries: readonly PlacedSummary[][], width: number): Float32Array {
  const shares = new Float32Array(SUMMARY_KINDS * width);
  const weight = new Float32Array(width);
  for (const placed of summaries) {
    weight.fill(0);
    const sum = new Float32Array(SUMMARY_KINDS * width);
    for (const one of placed) addTile(one, width, sum, weight);
    for (let x = 0; x < width; x++)
      if (weight[x]! > 0) for (let kind = 0; kind < SUMMARY_KINDS; kind++) shares[kind * width + x]! += sum[kind * width + x]! / weight[x]! / summaries.length;
  }
  return shares;
}

function addTile(one: PlacedSummary, width: number, sum: Float32Array, weight: Float32Array): void {
  const first = Math.max(0, Math.floor(-one.left / one.quantum));
  const last = Math.min(TILE_QUANTA, Math.ceil((width - one.left) / one.quantum));
  for (let quantum = first; quantum < last; quantum++) {
    const from = Math.max(0, Math.floor(one.left + quantum * one.quantum));
    const to = Math.min(width, Math.max(from + 1, Math.floor(one.left + (quantum + 1) * one.quantum)));
    for (let x = from; x < to; x++) {
      weight[x]!++;
      for (let kind = 0; kind < SUMMARY_KINDS; kind++) sum[kind * width + x]! += one.share[kind * TILE_QUANTA + quantum]! / 65_535;
    }
  }
}

export function paintSummary(context: CanvasRenderingContext2D, summaries: readonly PlacedSummary[][], box: Box, tokens: Tokens): void {
  paintShares(context, sharesOf(summaries, box.width), box, tokens);
}

/* As pixels: a path of a rectangle a column costs ten times as much. */
export function paintShares(context: CanvasRenderingContext2D, shares: Float32Array, box: Box, tokens: Tokens): void {
  const { width, height, top } = box;
  if (width < 1 || height < 1) return;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer).fill(tokens.background);
  for (let x = 0; x < width; x++) {
    let foot = height;
    for (let kind = 0; kind < SUMMARY_KINDS; kind++) {
      const share = shares[kind * width + x]!;
      if (share <= 0) continue;
      const size = Math.min(foot, Math.max(Math.round(share * height), foot === height ? 1 : 0));
      const colour = tokens.kinds[kind]!.fills[1];
      for (let y = foot - size; y < foot; y++) pixels[y * width + x] = colour;
      foot -= size;
    }
  }
  context.putImageData(image, 0, top);
}
