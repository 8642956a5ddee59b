/* A module's planned memory over its program: what is fixed below, what is temporary upon it.
 *
 *        ▾ peak 14.0 MiB
 *     ▁▃▆█▆▃▁          temporary, as it begins and ends
 *   ███████████        fixed: inputs, outputs, constants
 *   0 ... position     a click chooses a place
 */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { HeapReply } from '../data/memory';
import { readTokens } from '../draw/tokens';
import { count, fixed, size, sizeScale, THIN } from '../model/numbers';
import { theme } from '../ui/settings';
import { hideTip, showTip } from '../ui/tooltip';
import { BINARY_STEPS, decimalsOf, flag, placeLine } from './memory_chart';

const HEIGHT = 180;

interface Props {
  reply: HeapReply;
  chosen: number | null;
  onPick: (position: number) => void;
}

function tip(chart: uPlot, reply: HeapReply): void {
  const { idx, left = -1, top = -1 } = chart.cursor;
  const point = idx === null || idx === undefined ? undefined : reply.points[idx];
  if (!point || left < 0) return void hideTip();
  const box = chart.over.getBoundingClientRect();
  showTip(`${count(point.position)}${point.instruction ? ` ${point.instruction}` : ''}: ${size(point.bytes)}`, box.left + left, box.top + top);
}

export function HeapChart({ reply, chosen, onPick }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const now = theme.value;
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const element = box.current!;
    const tokens = readTokens();
    const kind = tokens.kinds[6]!;
    const axis = { stroke: tokens.ink2, grid: { stroke: tokens.line, width: 1 }, ticks: { stroke: tokens.line }, font: `11px ${tokens.font}` };
    const bytes = sizeScale([reply.peak_bytes]);
    const paths = uPlot.paths.stepped!({ align: 1 });
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [16, 8, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, range: (_self, low, high) => [low, Math.max(high, low + 1)] }, y: { range: () => [0, Math.max(reply.peak_bytes * 1.17, 1)] } },
        series: [
          {},
          { stroke: kind.strokeCss, fill: kind.css[1], width: 1, paths, points: { show: false } },
          { stroke: kind.strokeCss, fill: tokens.bg3, width: 1, paths, points: { show: false } },
        ],
        axes: [
          { ...axis, space: 90, values: (_self, ticks) => ticks.map((tick, index) => (Number.isInteger(tick) ? `${index === 1 ? 'instruction ' : ''}${count(tick)}` : '')) },
          { ...axis, size: 80, incrs: BINARY_STEPS, values: (_self, ticks) => ticks.map((tick) => (tick === 0 ? '0' : `${fixed(tick / bytes.divisor, decimalsOf(ticks, bytes.divisor))}${THIN}${bytes.unit}`)) },
        ],
        hooks: {
          draw: [
            (self) => {
              if (chosen !== null) placeLine(self, chosen, tokens);
              if (reply.peak_position !== null) flag(self, reply.peak_position, reply.peak_bytes, `peak ${size(reply.peak_bytes)}`, tokens);
            },
          ],
          setCursor: [(self) => tip(self, reply)],
        },
      },
      [reply.points.map((point) => point.position), reply.points.map((point) => point.bytes), reply.points.map(() => reply.fixed_bytes)],
      element,
    );
    const click = (): void => {
      const index = chart.cursor.idx;
      const point = index === null || index === undefined ? undefined : reply.points[index];
      if (point) pick.current(point.position);
    };
    chart.over.addEventListener('click', click);
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => (watch.disconnect(), chart.destroy());
  }, [reply.module, reply.points, chosen, now]);
  return <div ref={box} role="img" data-canvas-tip aria-label={`Memory of ${reply.module} over its program`} />;
}
