/* The one table: aligned numbers, a head that sorts, rows that lead on.
 *
 *   columns  what, where, how often, how much, share, spread, rates
 *   keys     ↑ ↓ PgUp PgDn Home End rows, Enter goes on, ctrl C copies as TSV
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText } from './text';
import { useVirtual } from './virtual';

export interface Column<R> {
  key: string;
  title: string;
  unit?: string;
  width: string; // of a grid column
  numeric?: boolean;
  sortable?: boolean;
  from?: number; // width of the page in pixels from which there is room for it
  cell: (row: R) => ComponentChildren;
  exact?: (row: R) => string | null; // hover and copy
  cutFront?: boolean; // what says most stands at the end
  bar?: (row: R) => number | null; // share of the longest bar, 0 to 1
}

interface Props<R> {
  label: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  rowKey: (row: R) => string;
  rowCount?: number; // of all, when `rows` is a part
  sort?: string | undefined; // "-self_ps,name"
  onSort?: (sort: string) => void;
  onOpen?: (row: R) => void;
  onFocusRow?: (row: R) => void;
  focused?: string | null;
  foot?: ComponentChildren;
  scroll?: boolean; // own scroller with only the visible rows in the page
  more?: (() => void) | undefined; // the end came into sight
}

export const ROW_HEIGHT = 24;

/* A plain click sorts by that column alone, shift adds it; again turns it round. */
export function nextSort(sort: string, key: string, numeric: boolean, add: boolean): string {
  const parts = sort.split(',').filter(Boolean);
  const at = parts.findIndex((part) => part.replace(/^-/, '') === key);
  const turned = at >= 0 ? (parts[at]!.startsWith('-') ? key : `-${key}`) : numeric ? `-${key}` : key;
  if (!add) return turned;
  return at >= 0 ? parts.with(at, turned).join(',') : [...parts, turned].join(',');
}

function Head<R>({ columns, sort = '', onSort }: Pick<Props<R>, 'columns' | 'sort' | 'onSort'>) {
  const parts = sort.split(',').filter(Boolean);
  return (
    <div class="table-head" role="row" aria-rowindex={1}>
      {columns.map((column, index) => {
        const at = parts.findIndex((part) => part.replace(/^-/, '') === column.key);
        const down = at >= 0 && parts[at]!.startsWith('-');
        const words = (
          <>
            {column.title}
            {column.unit && ` (${column.unit})`}
            {at >= 0 && <span aria-hidden="true">{down ? ' ↓' : ' ↑'}{parts.length > 1 ? at + 1 : ''}</span>}
          </>
        );
        const state = at < 0 ? 'none' : down ? 'descending' : 'ascending';
        return (
          <div key={column.key} role="columnheader" aria-colindex={index + 1} aria-sort={onSort && column.sortable !== false ? state : undefined} class={column.numeric ? 'number' : undefined}>
            {onSort && column.sortable !== false ? (
              <button onClick={(event) => onSort(nextSort(sort, column.key, column.numeric ?? false, event.shiftKey))}>{words}</button>
            ) : (
              words
            )}
          </div>
        );
      })}
    </div>
  );
}

function Bar({ share }: { share: number }) {
  return (
    <span class="cell-bar" aria-hidden="true">
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}

interface RowProps<R> {
  row: R;
  index: number;
  columns: readonly Column<R>[];
  selected: boolean;
  current: boolean;
  top: number | null;
  onClick: (event: MouseEvent) => void;
}

function Row<R>({ row, index, columns, selected, current, top, onClick }: RowProps<R>) {
  return (
    <div
      class="table-row" role="row" aria-rowindex={index + 2} aria-selected={selected} tabIndex={current ? 0 : -1} data-index={index}
      style={top === null ? undefined : { transform: `translateY(${top}px)` }} onClick={onClick}
    >
      {columns.map((column, at) => {
        const bar = column.bar?.(row) ?? null;
        return (
          <div key={column.key} role="gridcell" aria-colindex={at + 1} class={column.numeric ? 'number' : column.cutFront ? 'cut cut-front' : 'cut'} data-tip={column.exact?.(row) ?? undefined}>
            {column.cell(row)}
            {bar !== null && <Bar share={bar} />}
          </div>
        );
      })}
    </div>
  );
}

export function tsvOf<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  const text = (value: ComponentChildren): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  const head = columns.map((column) => column.key).join('\t');
  const lines = rows.map((row) => columns.map((column) => (column.exact?.(row) ?? text(column.cell(row))).replace(/[\u202f\t\n]/g, ' ')).join('\t'));
  return [head, ...lines].join('\n');
}

const pageWidth = signal(innerWidth);
addEventListener('resize', () => {
  pageWidth.value = innerWidth;
});

export function Table<R>(props: Props<R>) {
  const { rows, rowKey, focused = null, onOpen, onFocusRow, scroll = false } = props;
  const columns = props.columns.filter((column) => (column.from ?? 0) <= pageWidth.value);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const virtual = useVirtual(scroller, scroll ? rows.length : 0, ROW_HEIGHT);
  const at = Math.min(current, Math.max(0, rows.length - 1));
  const items = scroll ? virtual.items.map((item) => ({ index: item.index, top: item.start })) : rows.map((_, index) => ({ index, top: null }));
  const template = columns.map((column) => column.width).join(' ');
  const last = virtual.items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (scroll && rows.length > 0 && last >= rows.length - 1) props.more?.();
  }, [last, rows.length]);

  const move = (to: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, to));
    setCurrent(next);
    if (scroll) virtual.scrollTo(next);
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus());
    onFocusRow?.(rows[next]!);
  };
  const key = (event: KeyboardEvent): void => {
    if (rows.length === 0) return;
    const jumps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 20, PageUp: at - 20, Home: 0, End: rows.length - 1 };
    if (event.key in jumps && (event.target as HTMLElement).closest('.table-row')) {
      event.preventDefault();
      event.stopPropagation();
      move(jumps[event.key]!);
    } else if (event.key === 'Enter' && (event.target as HTMLElement).classList.contains('table-row')) {
      event.preventDefault();
      event.stopPropagation();
      onOpen?.(rows[at]!);
    } else if (event.key === 'c' && (event.ctrlKey || event.metaKey) && getSelection()?.isCollapsed) {
      void copyText(tsvOf(columns, rows));
    }
  };
  const click = (index: number) => (event: MouseEvent) => {
    if ((event.target as Element).closest('a,button') || !getSelection()?.isCollapsed) return;
    setCurrent(index);
    onFocusRow?.(rows[index]!);
    onOpen?.(rows[index]!);
  };

  return (
    <div ref={scroller} class={`table${scroll ? ' scroll' : ''}${onOpen ? ' opens' : ''}`} role="grid" aria-label={props.label} aria-rowcount={(props.rowCount ?? rows.length) + 1} aria-colcount={columns.length} style={{ '--columns': template }} onKeyDown={key}>
      <Head columns={columns} sort={props.sort} {...(props.onSort ? { onSort: props.onSort } : {})} />
      <div ref={body} class="table-body" role="rowgroup" style={scroll ? { height: `${virtual.height}px` } : undefined}>
        {items.map(({ index, top }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const id = rowKey(row);
          return <Row key={id} row={row} index={index} columns={columns} selected={id === focused} current={index === at} top={top} onClick={click(index)} />;
        })}
      </div>
      {props.foot}
    </div>
  );
}
