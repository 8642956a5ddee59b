/* A counter: an area in the colour of `other` at 35 %, its line above. */
import type { CounterSeries } from '../data/counter_store';
import { positionOf, type Viewport } from '../model/viewport';
import type { Box } from './summary';
import type { Tokens } from './tokens';

export function paintCounter(
  context: CanvasRenderingContext2D, series: CounterSeries, viewport: Viewport, box: Box, tokens: Tokens, ratio: number,
): void {
  if (series.times.length === 0) return;
  const low = Math.min(0, series.min);
  const high = Math.max(series.max, low + Number.MIN_VALUE);
  const padding = 4 * ratio;
  const yOf = (value: number) => box.top + box.height - padding - ((value - low) / (high - low)) * (box.height - 2 * padding);
  const line = new Path2D();
  let x = 0;
  let y = 0;
  series.times.forEach((time, index) => {
    const at = positionOf(viewport, time) * box.width;
    if (index === 0) line.moveTo(at, yOf(series.values[0]!));
    else line.lineTo(at, y);
    x = at;
    y = yOf(series.values[index]!);
    line.lineTo(x, y);
  });
  line.lineTo(Math.max(x, box.width), y);
  const area = new Path2D(line);
  area.lineTo(Math.max(x, box.width), yOf(low));
  area.lineTo(positionOf(viewport, series.times[0]!) * box.width, yOf(low));
  const other = tokens.kinds[6]!;
  context.save();
  context.globalAlpha = 0.35;
  context.fillStyle = other.css[1];
  context.fill(area);
  context.restore();
  context.strokeStyle = other.strokeCss;
  context.lineWidth = ratio;
  context.stroke(line);
}
