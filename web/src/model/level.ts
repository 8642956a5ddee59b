/* SPDX-License-Identifier: Apache-2.0 */
/* Which tiles show a window: the level whose quantum is at most one pixel, and their indices. */
import { startOf, type Viewport } from './viewport';

export const LEVEL_MAX = 52;
const TILE_BITS = 10n;

export interface TileRange {
  level: number;
  from: number; // first index
  to: number; // the one after the last
}

export function levelOf(spanPs: number, pixels: number): number {
  return Math.min(LEVEL_MAX, Math.max(0, Math.floor(Math.log2(spanPs / Math.max(1, pixels)))));
}

/* `offset` is the host's: tiles are laid in file time. */
export function tileRange(viewport: Viewport, level: number, offset: bigint): TileRange {
  const shift = BigInt(level) + TILE_BITS;
  const start = startOf(viewport) - offset;
  const end = start + BigInt(Math.ceil(viewport.span)) + 1n;
  return { level, from: Number(start >> shift), to: Number(((end - 1n) >> shift) + 1n) };
}

export function tileStart(level: number, index: number, offset: bigint): bigint {
  return (BigInt(index) << (BigInt(level) + TILE_BITS)) + offset;
}
