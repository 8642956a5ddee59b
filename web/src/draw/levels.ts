/* SPDX-License-Identifier: Apache-2.0 */
/* Levels that hold until the next point, as areas upon one another from the back to the front.
 *
 *   8 GiB |╌╌╌╌╌╌╌╌╌╌╌╌╌ limit
 *         |   ▾ peak
 *   4 GiB |   ┌──┐____
 *         |▒▒▒│▒▒│▒▒▒▒▒
 *       0 +--------------
 *         0 ms    20   40
 */
import { stepFor } from '../model/ticks';
import type { Tokens } from './tokens';

export const LEVELS = { left: 80, right: 8, top: 16, bottom: 24 };
const TICK = { x: 110, y: 40 }; // pixels from one to the next, at least

export interface LevelArea {
  values: readonly (number | null)[];
  fill: string;
}

export interface LevelScene {
  xs: readonly number[];
  areas: readonly LevelArea[];
  top: number; // of the scale
  xWords: (ticks: readonly number[]) => readonly string[];
  yWords: (ticks: readonly number[]) => readonly string[];
  peak: { x: number; y: number; words: string } | null;
  limit: { y: number; words: string } | null;
  chosen: number | null; // x
}

interface Place {
  x: (value: number) => number;
  y: (value: number) => number;
  right: number;
  bottom: number;
}

function placeOf({ xs, top }: LevelScene, width: number, height: number): Place {
  const first = xs[0] ?? 0;
  const span = Math.max(1, (xs.at(-1) ?? 0) - first);
  const [right, bottom] = [width - LEVELS.right, height - LEVELS.bottom];
  return {
    x: (value) => LEVELS.left + ((value - first) / span) * (right - LEVELS.left),
    y: (value) => bottom - (value / top) * (bottom - LEVELS.top),
    right,
    bottom,
  };
}

/* The point nearest to a pixel; -1 beside the picture. */
export function levelAt(scene: Pick<LevelScene, 'xs'>, pixel: number, width: number): number {
  const { xs } = scene;
  if (xs.length === 0 || pixel < LEVELS.left || pixel > width - LEVELS.right) return -1;
  const span = Math.max(1, xs.at(-1)! - xs[0]!);
  const value = xs[0]! + ((pixel - LEVELS.left) / Math.max(1, width - LEVELS.right - LEVELS.left)) * span;
  const behind = xs.findIndex((x) => x >= value);
  if (behind <= 0) return behind === 0 ? 0 : xs.length - 1;
  return value - xs[behind - 1]! <= xs[behind]! - value ? behind - 1 : behind;
}

/* What a pixel of the scale stands for. */
export function levelValue(top: number, pixel: number, height: number): number {
  const bottom = height - LEVELS.bottom;
  return ((bottom - pixel) / (bottom - LEVELS.top)) * top;
}

/* Marks of 1, 2, 4 ... bytes: whole KiB, MiB, GiB. */
function binaryTicks(top: number, most: number): number[] {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(top / Math.max(1, most))));
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
}

function decimalTicks(from: number, to: number, most: number): number[] {
  const step = stepFor(Math.max(1, to - from), most);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, index) => (first + index) * step);
}

function paintAxes(context: CanvasRenderingContext2D, scene: LevelScene, place: Place, tokens: Tokens): void {
  const { xs } = scene;
  const line = (x: number, y: number, width: number, height: number): void =>
    context.fillRect(Math.round(x), Math.round(y), width, height);
  const across = decimalTicks(xs[0] ?? 0, xs.at(-1) ?? 0, (place.right - LEVELS.left) / TICK.x);
  const upwards = binaryTicks(scene.top, Math.max(2, (place.bottom - LEVELS.top) / TICK.y));
  const words = { x: scene.xWords(across), y: scene.yWords(upwards) };
  context.fillStyle = tokens.line;
  for (const tick of across) line(place.x(tick), LEVELS.top, 1, place.bottom - LEVELS.top);
  for (const tick of upwards) line(LEVELS.left, place.y(tick), place.right - LEVELS.left, 1);
  context.fillStyle = tokens.ink2;
  context.textAlign = 'center';
  across.forEach((tick, at) =>
    context.fillText(words.x[at]!, Math.min(place.x(tick), place.right - 24), place.bottom + 16),
  );
  context.textAlign = 'right';
  upwards.forEach((tick, at) => context.fillText(words.y[at]!, LEVELS.left - 8, place.y(tick) + 4));
}

function paintArea(
  context: CanvasRenderingContext2D,
  xs: readonly number[],
  { values, fill }: LevelArea,
  place: Place,
  stroke: string,
): void {
  const outline = new Path2D();
  const area = new Path2D();
  let before: number | null = null;
  area.moveTo(place.x(xs[0] ?? 0), place.bottom);
  xs.forEach((x, at) => {
    const value = values[at] ?? null;
    const [left, y] = [place.x(x), place.y(value ?? 0)];
    if (before !== null) outline.lineTo(left, place.y(before));
    if (value !== null) before === null ? outline.moveTo(left, y) : outline.lineTo(left, y);
    area.lineTo(left, place.y(before ?? 0));
    area.lineTo(left, y);
    before = value;
  });
  area.lineTo(place.right, place.y(before ?? 0));
  area.lineTo(place.right, place.bottom);
  if (before !== null) outline.lineTo(place.right, place.y(before));
  context.fillStyle = fill;
  context.fill(area);
  context.strokeStyle = stroke;
  context.stroke(outline);
}

/* The peak wears its number, the limit its line. */
function paintMarks(
  context: CanvasRenderingContext2D,
  { peak, limit, chosen }: LevelScene,
  place: Place,
  tokens: Tokens,
): void {
  context.fillStyle = tokens.ink;
  if (chosen !== null) context.fillRect(Math.round(place.x(chosen)), LEVELS.top, 1, place.bottom - LEVELS.top);
  if (limit) {
    const y = Math.round(place.y(limit.y)) + 0.5;
    context.strokeStyle = tokens.ink2;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(LEVELS.left, y);
    context.lineTo(place.right, y);
    context.stroke();
    context.setLineDash([]);
    context.textAlign = 'right';
    context.fillText(limit.words, place.right - 4, y + 13);
  }
  if (!peak) return;
  const [x, y] = [place.x(peak.x), place.y(peak.y)];
  const isLeft = x < (LEVELS.left + place.right) / 2;
  context.beginPath();
  context.moveTo(x, y - 1);
  context.lineTo(x - 4, y - 7);
  context.lineTo(x + 4, y - 7);
  context.fill();
  context.textAlign = isLeft ? 'left' : 'right';
  context.fillText(peak.words, x + (isLeft ? 8 : -8), y - 3);
}

export function paintLevels(
  canvas: HTMLCanvasElement,
  scene: LevelScene,
  width: number,
  height: number,
  ratio: number,
  tokens: Tokens,
): void {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d')!;
  const place = placeOf(scene, width, height);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${tokens.font}`;
  context.lineWidth = 1;
  paintAxes(context, scene, place, tokens);
  for (const area of scene.areas) paintArea(context, scene.xs, area, place, tokens.kinds[6]!.strokeCss);
  paintMarks(context, scene, place, tokens);
}
