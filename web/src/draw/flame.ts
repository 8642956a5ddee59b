/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph: roots above, scopes neutral, what ran coloured by its kind. */
import { KINDS } from '../data/types';
import { shadeOf } from '../data/tiles';
import { shown } from '../model/cut';
import type { FlameLayout } from '../model/flame_layout';
import { toNumber } from '../model/numbers';
import { Labels } from './label';
import type { Tokens } from './tokens';

export const FLAME_ROW = 20;
const NARROWEST = 0.7;

export interface FlameScene {
  layout: FlameLayout;
  part: { x: number; width: number }; // of the root's width, on the screen
  width: number;
  height: number;
  ratio: number;
  top: number; // scrolled
  flipped?: boolean; // the root is below
  hover: number | null;
  focus: number | null;
  lit: ((name: string) => boolean) | null;
  tokens: Tokens;
  around?: (index: number, paint: () => void) => void; // of a picture that says what each node is
}

/* Where the row of a depth begins, from the top of all rows. */
export function rowTop(layout: FlameLayout, depth: number, flipped = false): number {
  return (flipped ? layout.depthCount - 1 - depth : depth) * FLAME_ROW;
}

/* What a node is filled with: containers are neutral, what ran by itself has its kind's colour. */
export function fillOf(layout: FlameLayout, index: number, tokens: Tokens): { css: string; neutral: boolean } {
  const node = layout.nodes[index]!;
  const neutral =
    node.kind === null || node.kind === undefined || (node.children.length > 0 && toNumber(node.self_ps) === 0);
  const colours = tokens.kinds[KINDS.indexOf(node.kind ?? 'other')] ?? tokens.kinds[6]!;
  return { css: neutral ? tokens.bg3 : colours.css[shadeOf(node.name)]!, neutral };
}

/* How many nodes were painted: those in sight that are wide enough. */
export function paintFlame(canvas: HTMLCanvasElement, scene: FlameScene): number {
  const { width, height, ratio, tokens, layout, part } = scene;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = tokens.bg;
  context.fillRect(0, 0, width, height);
  context.font = `11px ${tokens.font}`;
  context.textBaseline = 'middle';
  const labels = new Labels(context);
  const perShare = width / part.width;
  const left = part.x;
  let painted = 0;

  for (let index = 0; index < layout.nodes.length;) {
    const size = layout.width[index]! * perShare;
    const x = (layout.x[index]! - left) * perShare;
    if (size < NARROWEST || x + size < 0 || x > width) {
      index = layout.next[index]!;
      continue;
    }
    const y = rowTop(layout, layout.depth[index]!, scene.flipped) - scene.top;
    if (scene.flipped ? y + FLAME_ROW < 0 : y > height) {
      index = layout.next[index]!;
      continue;
    }
    const paint = (): void => paintNode(context, labels, scene, index, Math.max(0, x), Math.min(width, x + size), y);
    if (y + FLAME_ROW > 0 && y < height) {
      scene.around ? scene.around(index, paint) : paint();
      painted++;
    }
    index++;
  }
  return painted;
}

function paintNode(
  context: CanvasRenderingContext2D,
  labels: Labels,
  scene: FlameScene,
  index: number,
  from: number,
  to: number,
  y: number,
): void {
  const { tokens, layout } = scene;
  const node = layout.nodes[index]!;
  const left = Math.round(from);
  const size = Math.max(1, Math.round(to) - left);
  const height = FLAME_ROW - 2;
  const { css, neutral } = fillOf(layout, index, tokens);
  const colours = tokens.kinds[KINDS.indexOf(node.kind ?? 'other')] ?? tokens.kinds[6]!;
  const lit = scene.lit === null || scene.lit(node.name);
  context.fillStyle = lit ? css : tokens.bg3;
  context.fillRect(left, y, size, height);
  if (size >= 3 && lit && !neutral) {
    context.fillStyle = colours.strokeCss;
    context.fillRect(left, y, 1, height);
  } else if (size >= 3 && neutral) {
    context.strokeStyle = lit ? tokens.edge : tokens.line;
    context.strokeRect(left + 0.5, y + 0.5, size - 1, height - 1);
  }
  if (index === scene.hover || index === scene.focus) {
    context.strokeStyle = tokens.ink;
    context.lineWidth = index === scene.focus ? 2 : 1;
    context.strokeRect(left + 1, y + 1, Math.max(1, size - 2), height - 2);
    context.lineWidth = 1;
  }
  if (size < 24) return;
  context.fillStyle = !lit ? tokens.ink3 : neutral ? tokens.ink : colours.label;
  const figure = scene.layout.amount.say(node.total_ps);
  const room = size - 8;
  const figureWidth = labels.width(figure);
  const withFigure = room > labels.width(shown(node.name)) + figureWidth + 16;
  const text = labels.fit(shown(node.name), room);
  if (text !== '') context.fillText(text, left + 4, y + height / 2 + 0.5);
  if (withFigure) context.fillText(figure, left + size - 4 - figureWidth, y + height / 2 + 0.5);
}
