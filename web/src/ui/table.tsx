/* SPDX-License-Identifier: Apache-2.0 */
/* The one table: aligned numbers, a head that sorts, rows that lead on.
 *
 *   columns  what, where, how often, how much, share, spread, rates
 *   lines    rows; with `groupOf` groups with their subtotals; last what is not shown, summed
 *   pages    instead of rows: as many as there are, each asked for when it comes into sight
 *   sums     of what a filter leaves, of rows that are chosen
 *   keys     ↑ ↓ PgUp PgDn Home End rows, ← → cells or groups, Enter goes on, Space ticks or chooses, T shows it
 *            on the timeline, ' and letters go to a name (letters alone where letter keys are off),
 *            ctrl C copies as TSV, ctrl shift C as Markdown
 */
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../model/numbers';
import { chosenColumns, groupLines, typedTo, type Cell, type Line } from '../model/table';
import { textWidth } from './fit';
import { registerActions } from './keys';
import { say } from './said';
import { settings } from './settings';
import { copyRows } from './table_copy';
import { roomOf, TableHead } from './table_head';
import { GroupRow, PendingRow, RestRow, Row, SumRow } from './table_row';
import { useVirtual } from './virtual';
import { onResize } from './size';

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
  value?: (row: R) => Cell; // what filters and orders by it; picoseconds, bytes
  groups?: boolean; // rows may be grouped by its values
  sums?: (total: number) => ComponentChildren; // values of a group add up, and read so
  cutFront?: boolean; // what says most stands at the end
  bar?: (row: R) => number | null; // share of the longest bar, 0 to 1
  subtotal?: (rows: readonly R[]) => ComponentChildren; // of a group
}

/* Instead of what its last columns do not know, a row says something, from the column `from` on. */
export interface Span {
  from: string;
  cell: ComponentChildren;
  exact: string;
}

/* More rows than anyone loads at once. */
export interface Pages<R> {
  count: number;
  at: (index: number) => R | undefined; // undefined: not here yet
  want: (first: number, end: number) => void;
}

export interface Props<R> {
  label: string;
  columns: readonly Column<R>[];
  chosen?: string | undefined; // keys of columns; without: what fits
  rows: readonly R[];
  rowKey: (row: R) => string;
  rowCount?: number; // of all, when `rows` is a part
  pages?: Pages<R> | undefined; // instead of `rows`
  sort?: string | undefined; // "-self_ps,name"
  onSort?: (sort: string) => void;
  spanOf?: (row: R) => Span | null;
  onOpen?: (row: R) => void;
  openOn?: 'click' | 'enter'; // a click on a row that only focuses leaves going on to its link
  onShow?: (row: R) => void; // on the timeline
  onTick?: (row: R) => void;
  onFocusRow?: (row: R) => void;
  onHoverRow?: (row: R | null) => void;
  focused?: string | null;
  groupOf?: ((row: R) => string) | null;
  folds?: boolean; // groups are of rows alike: one without its like is no group
  weight?: (row: R) => number; // of groups
  rest?: Record<string, ComponentChildren> | null; // what is not shown, by column
  sumOf?: string | undefined; // what all `rows` are, where they are summed: "12 of 412"
  foot?: ComponentChildren;
  scroll?: boolean; // own scroller with only the visible rows in the page
  more?: (() => void) | undefined; // the end came into sight
}

const NONE: readonly never[] = [];

export const ROW_HEIGHT = 24;
export const HEAD_HEIGHT = 28;
const PAGE_ROWS = 20;
const TYPING_MS = 1200;

const windowWidth = signal(innerWidth);
addEventListener('resize', () => {
  windowWidth.value = innerWidth;
});
export const besideWidth = signal(0); // of what stands beside the page
export const pageWidth = computed(() => windowWidth.value - besideWidth.value);

/* Widths of the columns as they stand, so that names are cut to them. */
function useWidths(box: { current: HTMLElement | null }, template: string): readonly number[] {
  const [widths, setWidths] = useState<readonly number[]>([]);
  useLayoutEffect(() => {
    const head = box.current!.querySelector<HTMLElement>('.table-head')!;
    const measure = (): void => {
      const now = [...head.children].map((cell) => roomOf(cell as HTMLElement));
      setWidths((last) => (last.length === now.length && last.every((width, at) => width === now[at]) ? last : now));
    };
    measure();
    return onResize(head, measure);
  }, [template]);
  return widths;
}

/* As wide as the widest text on the screen. */
function fittingWidth<R>(column: Column<R>, rows: readonly R[]): number {
  const widest = rows
    .slice(0, 200)
    .reduce((most, row) => Math.max(most, textWidth(column.exact?.(row) ?? '')), textWidth(column.title));
  return Math.min(800, Math.ceil(widest) + (column.indent ?? 0) + 8);
}

export function Table<R>(props: Props<R>) {
  const {
    rows,
    rowKey,
    focused = null,
    onOpen,
    onFocusRow,
    groupOf = null,
    pages,
    scroll = false,
    rest = null,
  } = props;
  const opens = onOpen !== undefined && props.openOn !== 'enter';
  const columns = chosenColumns(props.columns, props.chosen, pageWidth.value);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [dragged, setDragged] = useState<Readonly<Record<string, number>>>({});
  const lines = groupLines(rows, groupOf, props.weight ?? (() => 1), opened, props.folds);
  const length = pages ? pages.count : lines.length;
  const virtual = useVirtual(scroller, scroll ? length : 0, ROW_HEIGHT, HEAD_HEIGHT);
  const at = Math.min(current, Math.max(0, length - 1));
  const items = scroll
    ? virtual.items.map((item) => ({ index: item.index, top: item.start }))
    : lines.map((_, index) => ({ index, top: null }));
  const lineAt = (index: number): Line<R> | undefined => {
    if (!pages) return lines[index];
    const row = pages.at(index);
    return row === undefined ? undefined : { kind: 'row', row };
  };
  const stop = items.some(({ index }) => index === at) ? at : (items[0]?.index ?? 0); // for Tab
  const template = columns
    .map((column) => (dragged[column.key] === undefined ? column.width : `${dragged[column.key]}px`))
    .join(' ');
  const widths = useWidths(scroller, template);
  const last = virtual.items.at(-1)?.index ?? 0;

  const first = items[0]?.index ?? 0;
  const typing = useRef({ text: '', until: 0 });

  useEffect(() => {
    if (scroll && length > 0 && last >= length - 1) props.more?.();
  }, [last, length]);
  useEffect(() => pages?.want(first, last + 1), [first, last, pages]);

  const toggle = (name: string): void => {
    const next = new Set(opened);
    if (!next.delete(name)) next.add(name);
    setOpened(next);
  };
  const move = (to: number, cell = -1): void => {
    const next = Math.min(length - 1, Math.max(0, to));
    setCurrent(next);
    if (scroll) virtual.scrollTo(next);
    const focus = (): boolean => {
      const row = body.current?.querySelector<HTMLElement>(`[data-index="${next}"]`);
      const target = (cell < 0 ? row : (row?.children[cell] as HTMLElement | undefined)) ?? row;
      target?.focus();
      return target !== undefined && target !== null && document.activeElement === target;
    };
    // At once where it stands already: the next key may follow in this frame.
    if (!focus()) requestAnimationFrame(focus);
    const line = lineAt(next);
    if (line?.kind === 'row') onFocusRow?.(line.row);
  };
  /* `'` begins, and every letter within a moment goes on; where letter keys are off, any letter begins. */
  const typed = (event: KeyboardEvent): boolean => {
    const now = performance.now();
    const goesOn = now < typing.current.until;
    if (event.key === "'" && !goesOn) {
      typing.current = { text: '', until: now + 2 * TYPING_MS };
      say('Type the beginning of a name.');
      return true;
    }
    if (event.key.length !== 1 || (!goesOn && settings.value.letters) || (event.key === ' ' && !goesOn)) return false;
    const text = (goesOn ? typing.current.text : '') + event.key;
    typing.current = { text, until: now + TYPING_MS };
    const name = columns[0]!;
    const found = typedTo(text, text.length > 1 ? at : at + 1, pages ? Math.min(length, last + 1) : length, (index) => {
      const line = lineAt(index);
      return line === undefined
        ? null
        : line.kind === 'group'
          ? line.name
          : String(name.value?.(line.row) ?? name.exact?.(line.row) ?? '');
    });
    if (found >= 0) move(found);
    else say(`No row is called ${text}.`);
    return true;
  };
  /* Rows that are chosen to be summed and copied: Space, a click with ctrl; with shift all up to it. */
  const chosen = marked.size === 0 ? NONE : rows.filter((row) => marked.has(rowKey(row)));
  const mark = (row: R, upTo: boolean): void => {
    const next = new Set(marked);
    const between = upTo ? lines.slice(Math.min(at, lineOf(row)), Math.max(at, lineOf(row)) + 1) : [];
    if (upTo) for (const line of between) line.kind === 'row' && next.add(rowKey(line.row));
    else if (!next.delete(rowKey(row))) next.add(rowKey(row));
    setMarked(next);
  };
  const lineOf = (row: R): number => lines.findIndex((line) => line.kind === 'row' && line.row === row);
  const marks = props.onTick === undefined && !pages && columns.some((column) => column.subtotal !== undefined);
  const copy = (form: 'tsv' | 'md'): void =>
    copyRows(
      columns,
      pages ? items.flatMap(({ index }) => pages.at(index) ?? []) : chosen.length > 0 ? chosen : rows,
      form,
    );
  const copying = useRef(copy);
  copying.current = copy;
  useEffect(
    () =>
      registerActions({ 'table-copy': () => copying.current('tsv'), 'table-markdown': () => copying.current('md') }),
    [],
  );
  /* Into the cells by the right arrow, out again at the first by the left one; groups fold. */
  const sideways = (by: 1 | -1, cell: number): void => {
    const line = lineAt(at);
    if (line?.kind === 'group' && cell < 0 && line.open === by < 0) return toggle(line.name);
    if (line?.kind === 'row' && groupOf && by < 0 && cell < 0)
      return move(lines.findLastIndex((one, index) => index < at && one.kind === 'group'));
    move(at, Math.min(columns.length - 1, cell + by));
  };
  /* The head is a row above the first. */
  const headKey = (event: KeyboardEvent, target: HTMLElement): void => {
    const buttons = [...scroller.current!.querySelectorAll<HTMLElement>('.table-head button')];
    const place = buttons.indexOf(target);
    if (event.key === 'ArrowDown') move(at);
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight')
      buttons[place + (event.key === 'ArrowLeft' ? -1 : 1)]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const key = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest('.table-head')) return headKey(event, target);
    const inside = target.closest('.table-row');
    const line = lineAt(at);
    if (!inside) return;
    const cell = target.role === 'gridcell' ? Number(target.getAttribute('aria-colindex')) - 1 : -1;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const jumps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + PAGE_ROWS,
      PageUp: at - PAGE_ROWS,
      Home: 0,
      End: length - 1,
    };
    const row = line?.kind === 'row' ? line.row : null;
    if (plain && typed(event)) void 0;
    else if (event.key === 'ArrowUp' && plain && at === 0)
      scroller.current!.querySelector<HTMLElement>('.table-head button')?.focus();
    else if (event.key in jumps && plain) move(jumps[event.key]!, cell);
    else if (event.key === 'ArrowLeft' && plain) sideways(-1, cell);
    else if (event.key === 'ArrowRight' && plain) sideways(1, cell);
    else if (event.key === 'Enter' && target.tagName !== 'A' && target.tagName !== 'BUTTON' && line)
      line.kind === 'group' ? toggle(line.name) : onOpen?.(line.row);
    else if (event.key === ' ' && plain && row && props.onTick) props.onTick(row);
    else if (event.key === ' ' && plain && row && marks) mark(row, event.shiftKey);
    else if (event.key === 'Escape' && marked.size > 0) setMarked(new Set());
    else if (event.key.toLowerCase() === 't' && plain && row && props.onShow) props.onShow(row);
    else if (event.key.toLowerCase() === 'c' && (event.ctrlKey || event.metaKey) && getSelection()?.isCollapsed)
      copy(event.shiftKey ? 'md' : 'tsv');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const click = (index: number) => (event: MouseEvent) => {
    if ((event.target as Element).closest('a,button,input') || !getSelection()?.isCollapsed) return;
    const line = lineAt(index);
    if (line?.kind === 'row' && marks && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      mark(line.row, event.shiftKey);
      return setCurrent(index);
    }
    setCurrent(index);
    if (!line) return;
    if (line.kind === 'group') return toggle(line.name);
    onFocusRow?.(line.row);
    if (opens) onOpen?.(line.row);
  };

  return (
    <div
      ref={scroller}
      class={`table${scroll ? ' scroll' : ''}${opens ? ' opens' : ''}`}
      role={groupOf ? 'treegrid' : 'grid'}
      aria-label={props.label}
      aria-multiselectable={marks || undefined}
      aria-rowcount={(props.rowCount ?? pages?.count ?? rows.length) + 1}
      aria-colcount={columns.length}
      style={{ '--columns': template }}
      onKeyDown={key}
      onFocusIn={(event) => {
        const index = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset.index;
        if (index !== undefined) setCurrent(Number(index));
      }}
    >
      <TableHead
        columns={columns}
        sort={props.sort ?? ''}
        onSort={props.onSort}
        onWidth={(name, pixels) => setDragged({ ...dragged, [name]: pixels })}
        onFit={(name) =>
          setDragged({
            ...dragged,
            [name]: fittingWidth(
              columns.find((column) => column.key === name)!,
              rows,
            ),
          })
        }
      />
      <div ref={body} class="table-body" role="rowgroup" style={scroll ? { height: `${virtual.height}px` } : undefined}>
        {items.map(({ index, top }) => {
          const line = lineAt(index);
          if (line === undefined)
            return pages && <PendingRow key={`pending ${index}`} index={index} top={top} columns={columns.length} />;
          if (line.kind === 'group')
            return (
              <GroupRow
                key={`group ${line.name}`}
                line={line}
                index={index}
                columns={columns}
                widths={widths}
                current={index === stop}
                top={top}
                onClick={() => (setCurrent(index), toggle(line.name))}
              />
            );
          const id = rowKey(line.row);
          return (
            <Row
              key={id}
              row={line.row}
              index={index}
              columns={columns}
              widths={widths}
              selected={id === focused}
              marked={marked.has(id)}
              current={index === stop}
              top={top}
              span={props.spanOf?.(line.row) ?? null}
              level={groupOf ? (line.alone ? 1 : 2) : undefined}
              onClick={click(index)}
              onHover={props.onHoverRow}
            />
          );
        })}
      </div>
      {rest && <RestRow columns={columns} rest={rest} index={length} />}
      {props.sumOf && <SumRow columns={columns} rows={rows} words={props.sumOf} index={length + (rest ? 1 : 0)} />}
      {chosen.length > 0 && (
        <SumRow
          columns={columns}
          rows={chosen}
          words={`${plural(chosen.length, 'row')} chosen`}
          index={length + (rest ? 1 : 0) + (props.sumOf ? 1 : 0)}
        />
      )}
      {props.foot}
    </div>
  );
}
