/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a table: sorts, says the order, and widens a column by its right edge. */
import { nextSort, sortPlace } from '../model/table';
import type { Column } from './table';

interface HeadProps<R> {
  columns: readonly Column<R>[];
  sort: string;
  onSort: ((sort: string) => void) | undefined;
  onWidth: (key: string, pixels: number) => void;
  onFit: (key: string) => void;
}

const WIDTH_MIN = 40;

/* Of a cell, without what it keeps free at its left. */
export function roomOf(cell: HTMLElement): number {
  return cell.clientWidth - (parseFloat(getComputedStyle(cell).paddingLeft) || 0);
}

function Grip({ onWidth, onFit }: { onWidth: (pixels: number) => void; onFit: () => void }) {
  const drag = (event: PointerEvent): void => {
    const grip = event.currentTarget as HTMLElement;
    const begin = event.clientX;
    const width = roomOf(grip.parentElement!);
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (move) => onWidth(Math.max(WIDTH_MIN, Math.round(width + move.clientX - begin)));
    grip.onpointerup = grip.onpointercancel = () => {
      grip.onpointermove = null;
    };
  };
  return <span class="grip" aria-hidden="true" onPointerDown={drag} onDblClick={onFit} />;
}

function HeadCell<R>({
  column,
  index,
  sort,
  onSort,
  onWidth,
  onFit,
}: Omit<HeadProps<R>, 'columns'> & { column: Column<R>; index: number }) {
  const { at, down, of } = sortPlace(sort, column.key);
  const sorts = onSort !== undefined && column.sortable !== false;
  const words = (
    <>
      {column.title}
      {column.unit && ` (${column.unit})`}
      {at >= 0 && (
        <span aria-hidden="true">
          {down ? ' ↓' : ' ↑'}
          {of > 1 ? at + 1 : ''}
        </span>
      )}
    </>
  );
  const state = at < 0 ? 'none' : down ? 'descending' : 'ascending';
  return (
    <div
      role="columnheader"
      aria-colindex={index + 1}
      aria-sort={sorts ? state : undefined}
      class={column.numeric ? 'number' : undefined}
      data-tip={column.tip}
    >
      {sorts ? (
        <button
          tabIndex={-1}
          onClick={(event) => onSort(nextSort(sort, column.key, column.numeric ?? false, event.shiftKey))}
        >
          {words}
        </button>
      ) : (
        words
      )}
      <Grip onWidth={(pixels) => onWidth(column.key, pixels)} onFit={() => onFit(column.key)} />
    </div>
  );
}

export function TableHead<R>({ columns, ...rest }: HeadProps<R>) {
  return (
    <div class="table-head" role="row" aria-rowindex={1}>
      {columns.map((column, index) => (
        <HeadCell key={column.key} column={column} index={index} {...rest} />
      ))}
    </div>
  );
}
