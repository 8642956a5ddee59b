/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of instructions: boxes as dark as the time they took, links from operands to users. */
import { AMOUNT_SLOT, amountLevel } from '../model/colouring';
import type { Placed, Placement } from '../model/pictures/hlo_placed';
import type { Tokens } from './tokens';

export interface GraphWindow {
  x: number; // of the picture, at the left upper corner
  y: number;
  scale: number;
}

export interface GraphScene {
  placement: Placement;
  window: GraphWindow;
  width: number;
  height: number;
  ratio: number;
  longest: number; // picoseconds of the box that took most
  focus: string | null; // ids
  hover: string | null;
  lit: ((box: Placed) => boolean) | null;
  tokens: Tokens;
}

const TEXT_SCALE = 0.5; // below it names are specks

/* 0: the least, 4: as long as the longest; -1: it did not run, or nothing did. */
export function toneOf(self: number | null, longest: number): number {
  return self === null || longest <= 0 ? -1 : amountLevel(self / longest);
}

function paintLink(context: CanvasRenderingContext2D, points: readonly { x: number; y: number }[]): void {
  const [first, ...rest] = points;
  const last = points.at(-1)!;
  context.beginPath();
  context.moveTo(first!.x, first!.y);
  for (let at = 0; at < rest.length - 1; at++) {
    const [here, next] = [rest[at]!, rest[at + 1]!];
    context.quadraticCurveTo(here.x, here.y, (here.x + next.x) / 2, (here.y + next.y) / 2);
  }
  context.lineTo(last.x, last.y);
  context.stroke();
  const before = points.at(-2)!;
  const angle = Math.atan2(last.y - before.y, last.x - before.x);
  context.beginPath();
  context.moveTo(last.x, last.y);
  context.lineTo(last.x - 7 * Math.cos(angle - 0.4), last.y - 7 * Math.sin(angle - 0.4));
  context.lineTo(last.x - 7 * Math.cos(angle + 0.4), last.y - 7 * Math.sin(angle + 0.4));
  context.fill();
}

function paintBox(context: CanvasRenderingContext2D, scene: GraphScene, placed: Placed): void {
  const { tokens, window } = scene;
  const { box, x, y, width, height } = placed;
  const isOpen = box.inner !== null;
  const isLit = scene.lit === null || scene.lit(placed);
  const tone = toneOf(box.self, scene.longest);
  const slot = tone < 0 || isOpen ? null : tokens.slots[AMOUNT_SLOT + tone]!;
  context.fillStyle = !isLit ? tokens.bg2 : isOpen ? tokens.bg2 : (slot?.css ?? tokens.bg);
  context.strokeStyle = isLit ? tokens.edge : tokens.line;
  context.beginPath();
  context.roundRect(x, y, width, height, isOpen ? 4 : 2);
  context.fill();
  context.stroke();
  if (box.id === scene.focus || box.id === scene.hover) {
    /* Around the box, not on it: a box may be as dark as ink. */
    const [line, gap] = [(box.id === scene.focus ? 2 : 1) / window.scale, 3 / window.scale];
    context.strokeStyle = tokens.ink;
    context.lineWidth = line;
    context.strokeRect(x - gap, y - gap, width + 2 * gap, height + 2 * gap);
    context.lineWidth = 1;
  }
  if (window.scale < TEXT_SCALE) return;
  context.fillStyle = !isLit ? tokens.ink3 : (slot?.label ?? tokens.ink);
  context.fillText(box.name, x + 10, y + 13);
  context.fillStyle = !isLit ? tokens.ink3 : (slot?.label ?? tokens.ink2);
  context.fillText(box.about, x + 10, y + 26);
  if (box.calls.length === 0) return;
  /* What has something inside wears a sign: plus, or minus where it is open. */
  const [cx, cy] = [x + width - 12, y + 18];
  context.fillRect(cx - 4, cy - 0.5, 8, 1);
  if (!isOpen) context.fillRect(cx - 0.5, cy - 4, 1, 8);
}

/* The sign of a box that can be opened, in the picture's pixels. */
export function isOnSign(placed: Placed, x: number, y: number): boolean {
  return placed.box.calls.length > 0 && x > placed.x + placed.width - 24 && y > placed.y + 4 && y < placed.y + 32;
}

/* The innermost box at a place of the picture. */
export function boxAt(placement: Placement, x: number, y: number): Placed | null {
  return (
    placement.boxes.findLast((one) => x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + one.height) ??
    null
  );
}

function middle(placement: Placement, id: string, lower: boolean): { x: number; y: number } | null {
  const found = placement.boxes.find((one) => one.box.id === id);
  return found ? { x: found.x + found.width / 2, y: found.y + (lower ? found.height : 0) } : null;
}

/* How many boxes were painted. */
export function paintGraph(canvas: HTMLCanvasElement, scene: GraphScene): number {
  const { width, height, ratio, tokens, window, placement } = scene;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = tokens.bg;
  context.fillRect(0, 0, width, height);
  context.setTransform(
    ratio * window.scale,
    0,
    0,
    ratio * window.scale,
    -window.x * window.scale * ratio,
    -window.y * window.scale * ratio,
  );
  context.font = `11px ${tokens.font}`;
  context.textBaseline = 'middle';
  const [right, bottom] = [window.x + width / window.scale, window.y + height / window.scale];
  let painted = 0;
  const inSight = placement.boxes.filter(
    (one) => one.x < right && one.x + one.width > window.x && one.y < bottom && one.y + one.height > window.y,
  );
  const lit = scene.hover ?? scene.focus;
  const links = (of: (isLit: boolean) => boolean): void => {
    for (const link of placement.links) {
      if (!of(link.from === lit || link.to === lit) || link.points.length < 2) continue;
      const ys = [link.points[0]!.y, link.points.at(-1)!.y];
      if (Math.min(...ys) > bottom || Math.max(...ys) < window.y) continue;
      paintLink(context, link.points);
    }
  };
  for (const one of inSight) if (one.box.inner !== null) (paintBox(context, scene, one), painted++);
  context.strokeStyle = context.fillStyle = tokens.edge;
  links((isLit) => !isLit);
  for (const one of inSight) if (one.box.inner === null) (paintBox(context, scene, one), painted++);
  context.strokeStyle = context.fillStyle = tokens.accent;
  context.lineWidth = 1.5 / Math.min(1, window.scale);
  links((isLit) => isLit);
  /* Links too long to be routed are seen where one of their ends is looked at. */
  context.setLineDash([6, 4]);
  for (const link of placement.links) {
    if (link.points.length > 0 || (link.from !== lit && link.to !== lit)) continue;
    const [from, to] = [middle(placement, link.from, true), middle(placement, link.to, false)];
    if (from === null || to === null) continue;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(from.x, from.y + 60, to.x, to.y - 60, to.x, to.y);
    context.stroke();
  }
  context.setLineDash([]);
  return painted;
}
