/* SPDX-License-Identifier: Apache-2.0 */
/* The whole flame graph, small, with the part that the graph below shows. */
import type { FlameLayout } from '../model/flame_layout';
import { fillOf } from './flame';
import type { Tokens } from './tokens';

export const FLAME_MAP_HEIGHT = 40;
const ROW_MAX = 5;

export function paintFlameMap(
  canvas: HTMLCanvasElement,
  layout: FlameLayout,
  part: { x: number; width: number },
  width: number,
  ratio: number,
  flipped: boolean,
  tokens: Tokens,
): void {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(FLAME_MAP_HEIGHT * ratio);
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = tokens.bg;
  context.fillRect(0, 0, width, FLAME_MAP_HEIGHT);
  const row = Math.min(ROW_MAX, FLAME_MAP_HEIGHT / layout.depthCount);
  for (let index = 0; index < layout.nodes.length;) {
    const size = layout.width[index]! * width;
    if (size < 0.5) {
      index = layout.next[index]!;
      continue;
    }
    const { css, neutral } = fillOf(layout, index, tokens);
    const depth = layout.depth[index]!;
    context.fillStyle = neutral ? tokens.line : css;
    const y = flipped ? FLAME_MAP_HEIGHT - (depth + 1) * row : depth * row;
    context.fillRect(layout.x[index]! * width, y, size, Math.max(1, row - (row > 2 ? 1 : 0)));
    index++;
  }
  const [left, right] = [part.x * width, (part.x + part.width) * width];
  context.globalAlpha = 0.55;
  context.fillStyle = tokens.bg;
  context.fillRect(0, 0, left, FLAME_MAP_HEIGHT);
  context.fillRect(right, 0, width - right, FLAME_MAP_HEIGHT);
  context.globalAlpha = 1;
  context.strokeStyle = tokens.ink;
  context.strokeRect(Math.round(left) + 0.5, 0.5, Math.max(2, Math.round(right - left) - 1), FLAME_MAP_HEIGHT - 1);
}
