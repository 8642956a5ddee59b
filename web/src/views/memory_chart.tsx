/* One allocator over time: what is allocated, what is reserved above it, the peak and the limit.
 *
 *   ╌╌╌╌╌╌╌╌╌╌ limit
 *      ▾ 20.0 GiB
 *   ░░░▓▓▓░░░      reserved upon allocated; both count towards the peak
 */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Allocator, Sample } from '../data/memory';
import { go } from '../data/place';
import { readTokens, type Tokens } from '../draw/tokens';
import { fixed, size, sizeScale, THIN, time, timeScale, toNumber } from '../model/numbers';
import { theme } from '../ui/settings';
import { hideTip, showTip } from '../ui/tooltip';

const HEIGHT = 200;
const TICK_PIXELS = 110;
/* 1, 2, 4 ... bytes: marks at whole KiB, MiB, GiB. */
export const BINARY_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);

export function hasReserved(allocator: Allocator): boolean {
  return allocator.samples.some((sample) => (sample.reserved_bytes ?? 0) > 0);
}

/* A limit far above all that was used would make a line of it: then it is told in words only. */
const LIMIT_FAR = 5;

function limitInSight({ capacity_bytes: capacity, peak_bytes: peak }: Allocator): number | null {
  return capacity !== null && peak !== null && peak * LIMIT_FAR >= capacity ? capacity : null;
}

/* As many as it takes to write every tick exactly. */
export function decimalsOf(ticks: readonly number[], divisor: number): number {
  const exact = (decimals: number): boolean => ticks.every((tick) => Math.abs((tick / divisor) * 10 ** decimals - Math.round((tick / divisor) * 10 ** decimals)) < 1e-6);
  return [0, 1, 2].find(exact) ?? 3;
}

function total(sample: Sample): number | null {
  return sample.allocated_bytes === null ? null : sample.allocated_bytes + (sample.reserved_bytes ?? 0);
}

/* A small flag on a point, with its words beside it. */
export function flag(chart: uPlot, at: number, value: number, words: string, tokens: Tokens): void {
  const { ctx: context, bbox } = chart;
  const ratio = devicePixelRatio;
  const x = chart.valToPos(at, 'x', true);
  const y = chart.valToPos(value, 'y', true);
  context.save();
  context.font = `${11 * ratio}px ${tokens.font}`;
  context.fillStyle = tokens.ink;
  context.beginPath();
  context.moveTo(x, y - ratio);
  context.lineTo(x - 4 * ratio, y - 7 * ratio);
  context.lineTo(x + 4 * ratio, y - 7 * ratio);
  context.fill();
  const left = x < bbox.left + bbox.width / 2;
  context.textAlign = left ? 'left' : 'right';
  context.fillText(words, x + (left ? 8 : -8) * ratio, y - 3 * ratio);
  context.restore();
}

/* Where the reader clicked. */
export function placeLine(chart: uPlot, at: number, tokens: Tokens): void {
  const { ctx: context, bbox } = chart;
  const x = Math.round(chart.valToPos(at, 'x', true)) + 0.5;
  context.save();
  context.strokeStyle = tokens.ink;
  context.lineWidth = devicePixelRatio;
  context.beginPath();
  context.moveTo(x, bbox.top);
  context.lineTo(x, bbox.top + bbox.height);
  context.stroke();
  context.restore();
}

/* The peak wears its number, the limit its line. */
function annotate(chart: uPlot, allocator: Allocator, tokens: Tokens): void {
  const { ctx: context, bbox } = chart;
  const ratio = devicePixelRatio;
  context.save();
  context.font = `${11 * ratio}px ${tokens.font}`;
  context.fillStyle = tokens.ink;
  const limit = limitInSight(allocator);
  if (limit !== null) {
    const y = Math.round(chart.valToPos(limit, 'y', true)) + 0.5;
    context.strokeStyle = tokens.ink2;
    context.lineWidth = ratio;
    context.setLineDash([4 * ratio, 3 * ratio]);
    context.beginPath();
    context.moveTo(bbox.left, y);
    context.lineTo(bbox.left + bbox.width, y);
    context.stroke();
    context.textAlign = 'right';
    context.fillText(`limit ${size(limit)}`, bbox.left + bbox.width - 4 * ratio, y + 13 * ratio);
  }
  context.restore();
  if (allocator.peak_bytes !== null && allocator.peak_at_ps !== null) flag(chart, toNumber(allocator.peak_at_ps), allocator.peak_bytes, `peak ${size(allocator.peak_bytes)}`, tokens);
}

function tip(chart: uPlot, allocator: Allocator): void {
  const sample = chart.cursor.idx === null || chart.cursor.idx === undefined ? undefined : allocator.samples[chart.cursor.idx];
  const { left = -1, top = -1 } = chart.cursor;
  if (!sample || left < 0) return void hideTip();
  const box = chart.over.getBoundingClientRect();
  const parts = [sample.allocated_bytes === null ? null : `${size(sample.allocated_bytes)} allocated`, sample.reserved_bytes ? `${size(sample.reserved_bytes)} reserved` : null];
  showTip(`${time(sample.at_ps)}: ${parts.filter((part) => part !== null).join(', ')}`, box.left + left, box.top + top);
}

/* A click asks who was alive then. */
export function MemoryChart({ allocator, at }: { allocator: Allocator; at: string | null }) {
  const box = useRef<HTMLDivElement>(null);
  const now = theme.value;
  useEffect(() => {
    const element = box.current!;
    const tokens = readTokens();
    const other = tokens.kinds[6]!;
    const axis = { stroke: tokens.ink2, grid: { stroke: tokens.line, width: 1 }, ticks: { stroke: tokens.line }, font: `11px ${tokens.font}` };
    const limit = limitInSight(allocator);
    const bytes = sizeScale([limit, allocator.peak_bytes]);
    const times = timeScale(allocator.samples.map((sample) => sample.at_ps));
    const paths = uPlot.paths.stepped!({ align: 1 });
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [16, 8, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false }, y: { range: (_self, _low, high) => [0, Math.max(high, limit ?? 0, (allocator.peak_bytes ?? 0) * 1.15, 1) * 1.02] } },
        series: [
          {},
          { stroke: other.strokeCss, fill: tokens.bg3, width: 1, paths, points: { show: false } },
          { stroke: other.strokeCss, fill: other.css[1], width: 1, paths, points: { show: false } },
        ],
        axes: [
          { ...axis, space: TICK_PIXELS, values: (_self, ticks) => ticks.map((tick, index) => `${fixed(tick / times.divisor, decimalsOf(ticks, times.divisor))}${index === 0 ? `${THIN}${times.unit}` : ''}`) },
          { ...axis, size: 80, incrs: BINARY_STEPS, values: (_self, ticks) => ticks.map((tick) => (tick === 0 ? '0' : `${fixed(tick / bytes.divisor, decimalsOf(ticks, bytes.divisor))}${THIN}${bytes.unit}`)) },
        ],
        hooks: { draw: [(self) => (at !== null && placeLine(self, Number(at), tokens), annotate(self, allocator, tokens))], setCursor: [(self) => tip(self, allocator)] },
      },
      [allocator.samples.map((sample) => toNumber(sample.at_ps)), allocator.samples.map(total), allocator.samples.map((sample) => sample.allocated_bytes)],
      element,
    );
    chart.over.addEventListener('click', () => {
      const index = chart.cursor.idx;
      const sample = index === null || index === undefined ? undefined : allocator.samples[index];
      if (sample) go({ allocator: allocator.name, at: String(sample.at_ps) });
    });
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => (watch.disconnect(), chart.destroy());
  }, [allocator, at, now]);
  return <div ref={box} role="img" data-canvas-tip aria-label={`Memory of ${allocator.name} over time`} />;
}
