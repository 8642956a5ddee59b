/* The one table: aligned numbers, a head that sorts, rows that lead on.
 *
 *   columns  what, where, how often, how much, share, spread, rates
 *   lines    rows; with `groupOf` groups with their subtotals; last what is not shown, summed
 *   keys     ↑ ↓ PgUp PgDn Home End rows, ← → cells or groups, Enter goes on, Space ticks, T shows it
 *            on the timeline, ctrl C copies as TSV, ctrl shift C as Markdown
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { chosenColumns, groupLines, markdownOf, tsvOf, type Line } from '../model/table';
import { RoomContext, textWidth } from './fit';
import { Icon } from './icons';
import { TableHead } from './table_head';
import { copyText, Name } from './text';
import { useVirtual } from './virtual';

export interface Column<R> {
  key: string;
  title: string;
  tip?: string; // on its head
  unit?: string;
  width: string; // of a grid column
  numeric?: boolean;
  sortable?: boolean;
  from?: number; // width of the page in pixels from which there is room for it
  optional?: boolean; // only when chosen
  indent?: number; // pixels before the text: a swatch
  cell: (row: R) => ComponentChildren;
  exact?: (row: R) => string | null; // hover and copy
  cutFront?: boolean; // what says most stands at the end
  bar?: (row: R) => number | null; // share of the longest bar, 0 to 1
  subtotal?: (rows: readonly R[]) => ComponentChildren; // of a group
}

interface Props<R> {
  label: string;
  columns: readonly Column<R>[];
  chosen?: string | undefined; // keys of columns; without: what fits
  rows: readonly R[];
  rowKey: (row: R) => string;
  rowCount?: number; // of all, when `rows` is a part
  sort?: string | undefined; // "-self_ps,name"
  onSort?: (sort: string) => void;
  onOpen?: (row: R) => void;
  openOn?: 'click' | 'enter'; // a click on a row that only focuses leaves going on to its link
  onShow?: (row: R) => void; // on the timeline
  onTick?: (row: R) => void;
  onFocusRow?: (row: R) => void;
  onHoverRow?: (row: R | null) => void;
  focused?: string | null;
  groupOf?: ((row: R) => string) | null;
  weight?: (row: R) => number; // of groups
  rest?: Record<string, ComponentChildren> | null; // what is not shown, by column
  foot?: ComponentChildren;
  scroll?: boolean; // own scroller with only the visible rows in the page
  more?: (() => void) | undefined; // the end came into sight
}

export const ROW_HEIGHT = 24;
const PAGE_ROWS = 20;

export const pageWidth = signal(innerWidth);
addEventListener('resize', () => {
  pageWidth.value = innerWidth;
});

function Bar({ share }: { share: number }) {
  return (
    <span class="cell-bar" aria-hidden="true">
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}

/* Widths of the columns as they stand, so that names are cut to them. */
function useWidths(box: { current: HTMLElement | null }, template: string): readonly number[] {
  const [widths, setWidths] = useState<readonly number[]>([]);
  useLayoutEffect(() => {
    const head = box.current!.querySelector<HTMLElement>('.table-head')!;
    const measure = (): void => {
      const now = [...head.children].map((cell) => (cell as HTMLElement).clientWidth);
      setWidths((last) => (last.length === now.length && last.every((width, at) => width === now[at]) ? last : now));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(head);
    return () => watch.disconnect();
  }, [template]);
  return widths;
}

interface RowProps<R> {
  row: R;
  index: number;
  columns: readonly Column<R>[];
  widths: readonly number[];
  selected: boolean;
  current: boolean;
  top: number | null;
  level: number | undefined;
  onClick: (event: MouseEvent) => void;
  onHover: ((row: R | null) => void) | undefined;
}

function Row<R>({ row, index, columns, widths, selected, current, top, level, onClick, onHover }: RowProps<R>) {
  return (
    <div
      class="table-row" role="row" aria-rowindex={index + 2} aria-selected={selected} aria-level={level} tabIndex={current ? 0 : -1} data-index={index}
      style={top === null ? undefined : { transform: `translateY(${top}px)` }} onClick={onClick}
      onPointerEnter={onHover && (() => onHover(row))} onPointerLeave={onHover && (() => onHover(null))}
    >
      {columns.map((column, at) => {
        const bar = column.bar?.(row) ?? null;
        const width = widths[at];
        const room = column.numeric || width === undefined ? null : { pixels: width - (column.indent ?? 0), front: column.cutFront ?? false };
        return (
          <div key={column.key} role="gridcell" aria-colindex={at + 1} tabIndex={-1} class={column.numeric ? 'number' : 'cut'} data-tip={column.exact?.(row) ?? undefined}>
            <RoomContext.Provider value={room}>{column.cell(row)}</RoomContext.Provider>
            {bar !== null && <Bar share={bar} />}
          </div>
        );
      })}
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
const COUNT_PIXELS = 48;

function GroupRow<R>({ line, index, columns, widths, current, top, onClick }: GroupProps<R>) {
  return (
    <div
      class="table-row group" role="row" aria-rowindex={index + 2} aria-level={1} aria-expanded={line.open} tabIndex={current ? 0 : -1} data-index={index}
      style={top === null ? undefined : { transform: `translateY(${top}px)` }} onClick={onClick}
    >
      {columns.map((column, at) => (
        <div key={column.key} role="gridcell" aria-colindex={at + 1} tabIndex={-1} class={column.numeric ? 'number' : 'cut'} data-tip={at === 0 ? line.name : undefined}>
          {at === 0 ? (
            <RoomContext.Provider value={{ pixels: (widths[0] ?? 300) - CHEVRON_PIXELS - COUNT_PIXELS, front: true }}>
              <Icon name={line.open ? 'down' : 'right'} />
              <Name text={line.name} />
              <span class="faint"> {line.rows.length}</span>
            </RoomContext.Provider>
          ) : (
            column.subtotal?.(line.rows)
          )}
        </div>
      ))}
    </div>
  );
}

function RestRow<R>({ columns, rest, index }: { columns: readonly Column<R>[]; rest: Record<string, ComponentChildren>; index: number }) {
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

/* The cells as text: exact where that is known. */
function cellsOf<R>(columns: readonly Column<R>[], rows: readonly R[]): string[][] {
  const text = (value: ComponentChildren): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  return rows.map((row) => columns.map((column) => column.exact?.(row) ?? text(column.cell(row))));
}

function copyRows<R>(columns: readonly Column<R>[], rows: readonly R[], markdown: boolean): void {
  const cells = cellsOf(columns, rows);
  if (markdown) void copyText(markdownOf(columns.map((column) => column.title), cells, columns.map((column) => column.numeric ?? false)));
  else void copyText(tsvOf(columns.map((column) => column.key), cells));
}

/* As wide as the widest text on the screen. */
function fittingWidth<R>(column: Column<R>, rows: readonly R[]): number {
  const widest = rows.slice(0, 200).reduce((most, row) => Math.max(most, textWidth(column.exact?.(row) ?? '')), textWidth(column.title));
  return Math.min(800, Math.ceil(widest) + (column.indent ?? 0) + 8);
}

export function Table<R>(props: Props<R>) {
  const { rows, rowKey, focused = null, onOpen, onFocusRow, groupOf = null, scroll = false, rest = null } = props;
  const opens = onOpen !== undefined && props.openOn !== 'enter';
  const columns = chosenColumns(props.columns, props.chosen, pageWidth.value);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [dragged, setDragged] = useState<Readonly<Record<string, number>>>({});
  const lines = groupLines(rows, groupOf, props.weight ?? (() => 1), closed);
  const virtual = useVirtual(scroller, scroll ? lines.length : 0, ROW_HEIGHT);
  const at = Math.min(current, Math.max(0, lines.length - 1));
  const items = scroll ? virtual.items.map((item) => ({ index: item.index, top: item.start })) : lines.map((_, index) => ({ index, top: null }));
  const template = columns.map((column) => (dragged[column.key] === undefined ? column.width : `${dragged[column.key]}px`)).join(' ');
  const widths = useWidths(scroller, template);
  const last = virtual.items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (scroll && lines.length > 0 && last >= lines.length - 1) props.more?.();
  }, [last, lines.length]);

  const toggle = (name: string): void => {
    const next = new Set(closed);
    if (!next.delete(name)) next.add(name);
    setClosed(next);
  };
  const move = (to: number, cell = -1): void => {
    const next = Math.min(lines.length - 1, Math.max(0, to));
    setCurrent(next);
    if (scroll) virtual.scrollTo(next);
    const focus = (): boolean => {
      const row = body.current?.querySelector<HTMLElement>(`[data-index="${next}"]`);
      const target = (cell < 0 ? row : (row?.children[cell] as HTMLElement | undefined)) ?? row;
      target?.focus();
      return target !== undefined && target !== null && document.activeElement === target;
    };
    if (!focus()) requestAnimationFrame(focus); // at once where it stands already: the next key may follow in this frame
    const line = lines[next]!;
    if (line.kind === 'row') onFocusRow?.(line.row);
  };
  /* Into the cells by the right arrow, out again at the first by the left one; groups fold. */
  const sideways = (by: 1 | -1, cell: number): void => {
    const line = lines[at]!;
    if (line.kind === 'group' && cell < 0 && line.open === (by < 0)) return toggle(line.name);
    if (line.kind === 'row' && groupOf && by < 0 && cell < 0) return move(lines.findLastIndex((one, index) => index < at && one.kind === 'group'));
    move(at, Math.min(columns.length - 1, cell + by));
  };
  /* The head is a row above the first. */
  const headKey = (event: KeyboardEvent, target: HTMLElement): void => {
    const buttons = [...scroller.current!.querySelectorAll<HTMLElement>('.table-head button')];
    const place = buttons.indexOf(target);
    if (event.key === 'ArrowDown') move(at);
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') buttons[place + (event.key === 'ArrowLeft' ? -1 : 1)]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const key = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest('.table-head')) return headKey(event, target);
    const inside = target.closest('.table-row');
    const line = lines[at];
    if (!line || !inside) return;
    const cell = target.role === 'gridcell' ? Number(target.getAttribute('aria-colindex')) - 1 : -1;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const jumps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + PAGE_ROWS, PageUp: at - PAGE_ROWS, Home: 0, End: lines.length - 1 };
    const row = line.kind === 'row' ? line.row : null;
    if (event.key === 'ArrowUp' && plain && at === 0) scroller.current!.querySelector<HTMLElement>('.table-head button')?.focus();
    else if (event.key in jumps && plain) move(jumps[event.key]!, cell);
    else if (event.key === 'ArrowLeft' && plain) sideways(-1, cell);
    else if (event.key === 'ArrowRight' && plain) sideways(1, cell);
    else if (event.key === 'Enter' && target.tagName !== 'A' && target.tagName !== 'BUTTON') line.kind === 'group' ? toggle(line.name) : onOpen?.(line.row);
    else if (event.key === ' ' && plain && row && props.onTick) props.onTick(row);
    else if (event.key.toLowerCase() === 't' && plain && row && props.onShow) props.onShow(row);
    else if (event.key.toLowerCase() === 'c' && (event.ctrlKey || event.metaKey) && getSelection()?.isCollapsed) copyRows(columns, rows, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const click = (index: number) => (event: MouseEvent) => {
    if ((event.target as Element).closest('a,button,input') || !getSelection()?.isCollapsed) return;
    setCurrent(index);
    const line = lines[index]!;
    if (line.kind === 'group') return toggle(line.name);
    onFocusRow?.(line.row);
    if (opens) onOpen?.(line.row);
  };

  return (
    <div
      ref={scroller} class={`table${scroll ? ' scroll' : ''}${opens ? ' opens' : ''}`} role={groupOf ? 'treegrid' : 'grid'} aria-label={props.label}
      aria-rowcount={(props.rowCount ?? rows.length) + 1} aria-colcount={columns.length} style={{ '--columns': template }} onKeyDown={key}
    >
      <TableHead
        columns={columns} sort={props.sort ?? ''} onSort={props.onSort} onWidth={(name, pixels) => setDragged({ ...dragged, [name]: pixels })}
        onFit={(name) => setDragged({ ...dragged, [name]: fittingWidth(columns.find((column) => column.key === name)!, rows) })}
      />
      <div ref={body} class="table-body" role="rowgroup" style={scroll ? { height: `${virtual.height}px` } : undefined}>
        {items.map(({ index, top }) => {
          const line = lines[index];
          if (line === undefined) return null;
          if (line.kind === 'group')
            return <GroupRow key={`group ${line.name}`} line={line} index={index} columns={columns} widths={widths} current={index === at} top={top} onClick={() => (setCurrent(index), toggle(line.name))} />;
          const id = rowKey(line.row);
          return (
            <Row
              key={id} row={line.row} index={index} columns={columns} widths={widths} selected={id === focused} current={index === at} top={top}
              level={groupOf ? 2 : undefined} onClick={click(index)} onHover={props.onHoverRow}
            />
          );
        })}
      </div>
      {rest && <RestRow columns={columns} rest={rest} index={lines.length} />}
      {props.foot}
    </div>
  );
}
