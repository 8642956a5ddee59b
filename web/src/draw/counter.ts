/* SPDX-License-Identifier: Apache-2.0 */
/* A counter: an area in the colour of `other` at 35 %, its line above, and where several samples share a
 * pixel a stroke from the lowest to the highest: no peak is lost by zooming out. */
import type { CounterSeries } from '../data/counter_store';
import { positionOf, type Viewport } from '../model/viewport';
import type { Box } from './summary';
import type { Tokens } from './tokens';

const PADDING = 4;

/* What the foot and the top of the area stand for. */
function scaleOf(series: CounterSeries): { low: number; high: number } {
  const low = Math.min(0, series.min);
  return { low, high: Math.max(series.max, low + Number.MIN_VALUE) };
}

export function paintCounter(
  context: CanvasRenderingContext2D,
  series: CounterSeries,
  viewport: Viewport,
  box: Box,
  tokens: Tokens,
  ratio: number,
): void {
  if (series.times.length === 0) return;
  const { low, high } = scaleOf(series);
  const padding = PADDING * ratio;
  const yOf = (value: number) =>
    box.top + box.height - padding - ((value - low) / (high - low)) * (box.height - 2 * padding);
  const line: [number, number][] = [];
  series.times.forEach((time, index) => {
    const at = positionOf(viewport, time) * box.width;
    if (index > 0) line.push([at, line.at(-1)![1]]);
    line.push([at, yOf(series.values[index]!)]);
  });
  const last = line.at(-1)!;
  line.push([Math.max(last[0], box.width), last[1]]);
  const trace = (points: readonly (readonly [number, number])[]): void => {
    context.beginPath();
    points.forEach(([x, y], index) => (index === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  };
  const other = tokens.kinds[6]!;
  context.save();
  context.globalAlpha = 0.35;
  context.fillStyle = other.css[1];
  trace([...line, [line.at(-1)![0], yOf(low)], [line[0]![0], yOf(low)]]);
  context.fill();
  context.restore();
  context.strokeStyle = other.strokeCss;
  context.lineWidth = ratio;
  trace(line);
  series.times.forEach((time, index) => {
    if (series.lows[index] === series.highs[index]) return;
    const at = positionOf(viewport, time) * box.width;
    context.moveTo(at, yOf(series.lows[index]!));
    context.lineTo(at, yOf(series.highs[index]!));
  });
  context.stroke();
}

/* In words at the left, above all that lies over the area. */
export function paintScale(
  context: CanvasRenderingContext2D,
  series: CounterSeries,
  { top, height }: Box,
  words: (value: number) => string,
  tokens: Tokens,
  ratio: number,
): void {
  if (series.times.length === 0) return;
  const { low, high } = scaleOf(series);
  const [x, inset] = [4 * ratio, (PADDING + 5) * ratio];
  context.font = `${11 * ratio}px ${tokens.font}`;
  context.textBaseline = 'middle';
  for (const [text, y] of [
    [words(high), top + inset],
    [words(low), top + height - inset],
  ] as const) {
    context.fillStyle = tokens.bg;
    context.globalAlpha = 0.7;
    context.fillRect(x - 2 * ratio, y - 6 * ratio, context.measureText(text).width + 4 * ratio, 12 * ratio);
    context.globalAlpha = 1;
    context.fillStyle = tokens.ink2;
    context.fillText(text, x, y);
  }
}
