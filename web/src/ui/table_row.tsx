/* SPDX-License-Identifier: Apache-2.0 */
/* One row of a table: of the data, of a group with its subtotals, of what is not shown, or of what is on its way. */
import type { ComponentChildren } from 'preact';
import { count } from '../model/numbers';
import type { Line } from '../model/table';
import { RoomContext } from './fit';
import { Icon } from './icons';
import type { Column, Span } from './table';
import { Name } from './text';

function Bar({ share }: { share: number }) {
  return (
    <span class="cell-bar" aria-hidden="true">
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}

/* Values over their order, as a line; the last one is the present. */
const SPARK_WIDTH = 72;
const SPARK_HEIGHT = 16;

export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const x = (index: number): number => 2 + (index / Math.max(1, values.length - 1)) * (SPARK_WIDTH - 4);
  const y = (value: number): number => SPARK_HEIGHT - 2 - ((value - low) / span) * (SPARK_HEIGHT - 4);
  return (
    <svg class="cell-spark" viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} role="img" aria-label={label}>
      <polyline points={values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ')} />
      <circle cx={x(values.length - 1)} cy={y(values.at(-1)!)} r={1.5} />
    </svg>
  );
}

interface RowProps<R> {
  row: R;
  index: number;
  columns: readonly Column<R>[];
  widths: readonly number[];
  selected: boolean;
  marked: boolean;
  current: boolean;
  top: number | null;
  span: Span | null;
  level: number | undefined;
  onClick: (event: MouseEvent) => void;
  onHover: ((row: R | null) => void) | undefined;
}

export function Row<R>({
  row,
  index,
  columns,
  widths,
  selected,
  marked,
  current,
  top,
  span,
  level,
  onClick,
  onHover,
}: RowProps<R>) {
  const from = span === null ? -1 : columns.findIndex((column) => column.key === span.from);
  return (
    <div
      class={marked ? 'table-row marked' : 'table-row'}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected || marked}
      aria-level={level}
      tabIndex={current ? 0 : -1}
      data-index={index}
      style={top === null ? undefined : { transform: `translateY(${top}px)` }}
      onClick={onClick}
      onPointerEnter={onHover && (() => onHover(row))}
      onPointerLeave={onHover && (() => onHover(null))}
    >
      {(from < 0 ? columns : columns.slice(0, from)).map((column, at) => {
        const bar = column.bar?.(row) ?? null;
        const width = widths[at];
        const room =
          column.numeric || width === undefined
            ? null
            : { pixels: width - (column.indent ?? 0), front: column.cutFront ?? false };
        return (
          <div
            key={column.key}
            role="gridcell"
            aria-colindex={at + 1}
            tabIndex={-1}
            class={column.numeric ? 'number' : 'cut'}
            data-tip={column.exact?.(row) ?? undefined}
          >
            <RoomContext.Provider value={room}>{column.cell(row)}</RoomContext.Provider>
            {bar !== null && <Bar share={bar} />}
          </div>
        );
      })}
      {from >= 0 && (
        <div
          role="gridcell"
          aria-colindex={from + 1}
          aria-colspan={columns.length - from}
          tabIndex={-1}
          class="cut"
          data-tip={span!.exact}
          style={{ gridColumn: `${from + 1} / -1` }}
        >
          {span!.cell}
        </div>
      )}
    </div>
  );
}

interface GroupProps<R> {
  line: Extract<Line<R>, { kind: 'group' }>;
  index: number;
  columns: readonly Column<R>[];
  widths: readonly number[];
  current: boolean;
  top: number | null;
  onClick: () => void;
}

const CHEVRON_PIXELS = 20;
const COUNT_PIXELS = 56;
const GAP_PIXELS = 16;

/* The name of the group reaches to the first column that has a subtotal. */
export function GroupRow<R>({ line, index, columns, widths, current, top, onClick }: GroupProps<R>) {
  const sums = columns.findIndex((column, at) => at > 0 && column.subtotal !== undefined);
  const span = sums < 0 ? columns.length : sums;
  const room = Array.from({ length: span }, (_, at) => widths[at] ?? 100).reduce(
    (sum, width) => sum + width + GAP_PIXELS,
    -GAP_PIXELS,
  );
  return (
    <div
      class="table-row group"
      role="row"
      aria-rowindex={index + 2}
      aria-level={1}
      aria-expanded={line.open}
      tabIndex={current ? 0 : -1}
      data-index={index}
      style={top === null ? undefined : { transform: `translateY(${top}px)` }}
      onClick={onClick}
    >
      <div
        role="gridcell"
        aria-colindex={1}
        aria-colspan={span}
        tabIndex={-1}
        class="cut"
        data-tip={line.name}
        style={{ gridColumn: `1 / span ${span}` }}
      >
        <RoomContext.Provider
          value={{ pixels: room - CHEVRON_PIXELS - COUNT_PIXELS, front: columns[0]!.cutFront ?? false }}
        >
          <Icon name={line.open ? 'down' : 'right'} />
          <Name text={line.name} />
          <span class="faint"> {count(line.rows.length)}</span>
        </RoomContext.Provider>
      </div>
      {columns.slice(span).map((column, at) => (
        <div
          key={column.key}
          role="gridcell"
          aria-colindex={span + at + 1}
          tabIndex={-1}
          class={column.numeric ? 'number' : 'cut'}
        >
          {column.subtotal?.(line.rows)}
          {column.subtotal && column.bar && <Bar share={sumOfBars(column, line.rows)} />}
        </div>
      ))}
    </div>
  );
}

export function RestRow<R>({
  columns,
  rest,
  index,
}: {
  columns: readonly Column<R>[];
  rest: Record<string, ComponentChildren>;
  index: number;
}) {
  return (
    <div class="table-row rest" role="row" aria-rowindex={index + 2}>
      {columns.map((column, at) => (
        <div key={column.key} role="gridcell" aria-colindex={at + 1} class={column.numeric ? 'number' : 'cut'}>
          {rest[column.key]}
          {column.bar && rest[column.key] !== undefined && <Bar share={0} />}
        </div>
      ))}
    </div>
  );
}

/* Bars are shares of one whole, so that those of rows add up. */
const sumOfBars = <R,>(column: Column<R>, rows: readonly R[]): number =>
  rows.reduce((sum, row) => sum + (column.bar!(row) ?? 0), 0);

/* What rows add up to, where columns do. */
export function SumRow<R>({
  columns,
  rows,
  words,
  index,
}: {
  columns: readonly Column<R>[];
  rows: readonly R[];
  words: string;
  index: number;
}) {
  return (
    <div class="table-row rest sum" role="row" aria-rowindex={index + 2}>
      {columns.map((column, at) => (
        <div key={column.key} role="gridcell" aria-colindex={at + 1} class={column.numeric ? 'number' : 'cut'}>
          {at === 0 ? words : column.subtotal?.(rows)}
          {column.subtotal && column.bar && <Bar share={sumOfBars(column, rows)} />}
        </div>
      ))}
    </div>
  );
}

/* Its rows are asked for and not here yet. */
export function PendingRow({ index, top, columns }: { index: number; top: number | null; columns: number }) {
  return (
    <div
      class="table-row pending"
      role="row"
      aria-rowindex={index + 2}
      aria-busy="true"
      style={top === null ? undefined : { transform: `translateY(${top}px)` }}
    >
      <div role="gridcell" aria-colindex={1} aria-colspan={columns}>
        …
      </div>
    </div>
  );
}
