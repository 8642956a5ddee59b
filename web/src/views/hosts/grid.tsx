/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of hosts against steps: darker is later, a dot was last. The pointer or an arrow key tells, a
 * click or Enter goes to that step. */
import { useMemo, useState } from 'preact/hooks';
import { go } from '../../data/place';
import type { HostStep, HostTable } from '../../data/types';
import { gridAt, gridLayout, gridPlace, paintGrid, wholeSteps, type GridScene } from '../../draw/host_grid';
import { readTokens } from '../../draw/tokens';
import { formatSpan } from '../../model/address';
import { shown } from '../../model/cut';
import { count, plural, time, toBig, toNumber } from '../../model/numbers';
import { Canvas } from '../../ui/canvas';
import { hideTip, showTip } from '../../ui/tooltip';

const LANES_MAX = 256;

function goTo(cell: HostStep): void {
  hideTip();
  const start = toBig(cell.start_ps);
  const size = toBig(cell.dur_ps);
  go({ view: 'timeline', window: formatSpan({ start: start - size / 20n, end: start + size + size / 20n }) });
}

function laneOf(cell: HostStep, hosts: number): string {
  if (cell.device === null) return shown(cell.host);
  return hosts > 1 ? `${shown(cell.host)} device ${cell.device}` : `device ${cell.device}`;
}

type Grid = Pick<GridScene, 'lanes' | 'steps' | 'cells' | 'latest'>;

function gridOf(rows: readonly HostStep[], lateness: (cell: HostStep) => number): Grid {
  const hosts = new Set(rows.map((row) => row.host)).size;
  const lanes: string[] = [];
  const steps: number[] = [];
  const laneAt = new Map<string, number>();
  const stepAt = new Map<number, number>();
  const cells = new Map<string, HostStep>();
  let latest = 0;
  for (const row of rows) {
    const name = laneOf(row, hosts);
    if (!laneAt.has(name) && lanes.length < LANES_MAX) laneAt.set(name, lanes.push(name) - 1);
    if (!stepAt.has(row.step)) stepAt.set(row.step, steps.push(row.step) - 1);
    const lane = laneAt.get(name);
    if (lane === undefined) continue;
    cells.set(`${lane} ${stepAt.get(row.step)!}`, row);
    latest = Math.max(latest, lateness(row));
  }
  return { lanes, steps, cells, latest };
}

function Tip({ cell, lane }: { cell: HostStep; lane: string }) {
  return (
    <>
      <strong>
        step {cell.step} on {lane}: {time(cell.dur_ps)}
      </strong>
      <div>ends {time(cell.end_lag_ps)} after the first</div>
      <div>
        communication {time(cell.communication_ps)}
        {cell.wait_ps !== null && toNumber(cell.wait_ps) > 0 && `, ${time(cell.wait_ps)} of it waiting`}
      </div>
      {cell.last && cell.lag_ps !== null && <div>came last: others wait up to {time(cell.lag_ps)}</div>}
    </>
  );
}

/* Who waits least came late: by what remains of the longest wait of its step. Where nothing waits, by
 * when it ended. */
function lateness(rows: readonly HostStep[]): (cell: HostStep) => number {
  const longest = new Map<number, number>();
  for (const row of rows)
    if (row.wait_ps !== null) longest.set(row.step, Math.max(longest.get(row.step) ?? 0, toNumber(row.wait_ps)));
  return (cell) =>
    cell.wait_ps === null ? toNumber(cell.end_lag_ps) : (longest.get(cell.step) ?? 0) - toNumber(cell.wait_ps);
}

export function HostGrid({ table }: { table: HostTable<HostStep> }) {
  const rows = useMemo(() => wholeSteps(table), [table]);
  const [width, setWidth] = useState(0);
  const [chosen, choose] = useState<number | null>(null); // lane after lane, while keys walk there
  const late = useMemo(() => lateness(rows), [rows]);
  const grid = useMemo(() => gridOf(rows, late), [rows]);
  const layout = gridLayout(grid.lanes.length, grid.steps.length, width);
  const cellAt = (x: number, y: number): { cell: HostStep; lane: string } | null => {
    const at = gridAt(layout, grid.lanes.length, grid.steps.length, x, y);
    const cell = at && grid.cells.get(`${at.lane} ${at.step}`);
    return cell ? { cell, lane: grid.lanes[at.lane]! } : null;
  };
  const place = (index: number) => ({
    lane: Math.floor(index / grid.steps.length),
    step: index % grid.steps.length,
  });
  const cellOf = (index: number): HostStep | undefined => grid.cells.get(`${place(index).lane} ${place(index).step}`);
  const wordsOf = (index: number): string => {
    const { lane, step } = place(index);
    const cell = cellOf(index);
    const what = cell ? `${time(cell.dur_ps)}, ends ${time(cell.end_lag_ps)} after the first` : 'not recorded';
    return `step ${grid.steps[step]} on ${grid.lanes[lane]}: ${what}${cell?.last ? ', came last' : ''}`;
  };
  const cells = grid.lanes.length * grid.steps.length;
  const at = Math.min(chosen ?? 0, cells - 1);
  return (
    <>
      {rows.length < table.row_count && (
        <p class="basis">{`Drawn are the first ${count(grid.steps.length)} of ${plural(table.step_count, 'step')}.`}</p>
      )}
      <Canvas
        height={layout.height}
        label={
          `How late each of ${grid.lanes.length} came in ${grid.steps.length} steps; ` +
          'the same figures are in the table'
        }
        onSize={setWidth}
        {...(cells > 0 && {
          slider: {
            at,
            count: cells,
            across: grid.steps.length,
            words: wordsOf(at),
            onKey: (index: number, box: DOMRect) => {
              choose(index);
              const cell = cellOf(index);
              const { x, y } = gridPlace(layout, place(index).lane, place(index).step);
              if (cell) showTip(<Tip cell={cell} lane={grid.lanes[place(index).lane]!} />, box.left + x, box.top + y);
              else hideTip();
            },
            onEnter: () => {
              const cell = cellOf(at);
              if (cell) goTo(cell);
            },
          },
        })}
        paint={(canvas, wide) =>
          paintGrid(canvas, {
            ...grid,
            late,
            chosen: chosen === null ? null : place(at),
            width: wide,
            ratio: devicePixelRatio,
            tokens: readTokens(),
          })
        }
        onMove={(x, y, event) => {
          const found = cellAt(x, y);
          if (found === null) hideTip();
          else showTip(<Tip {...found} />, event.clientX, event.clientY);
        }}
        onLeave={() => {
          choose(null);
          hideTip();
        }}
        onClick={(x, y) => {
          const found = cellAt(x, y);
          if (found !== null) goTo(found.cell);
        }}
      />
    </>
  );
}
