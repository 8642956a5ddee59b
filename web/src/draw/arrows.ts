/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows from what caused to what was caused: above the slices, below their names. */
import type { Tokens } from './tokens';

interface Point {
  x: number; // CSS pixels
  y: number;
}

export interface Arrow {
  from: Point;
  to: Point;
  faint: boolean; // of the slice below the pointer, which is not in focus
}

const BEND = { least: 16, most: 80 };
const HEAD = { length: 6, half: 3.5 };

export function paintArrows(
  context: CanvasRenderingContext2D,
  arrows: readonly Arrow[],
  ratio: number,
  tokens: Tokens,
): void {
  if (arrows.length === 0) return;
  context.save();
  context.scale(ratio, ratio);
  for (const { from, to, faint } of arrows) {
    const bend = Math.min(BEND.most, Math.max(BEND.least, Math.abs(to.x - from.x) / 3));
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
    context.strokeStyle = tokens.bg;
    context.lineWidth = 3.5;
    context.stroke();
    context.strokeStyle = context.fillStyle = faint ? tokens.ink2 : tokens.ink;
    context.lineWidth = faint ? 1 : 1.5;
    context.stroke();
    context.beginPath();
    context.moveTo(to.x, to.y);
    context.lineTo(to.x - HEAD.length, to.y - HEAD.half);
    context.lineTo(to.x - HEAD.length, to.y + HEAD.half);
    context.fill();
  }
  context.restore();
}
