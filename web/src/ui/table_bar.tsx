/* SPDX-License-Identifier: Apache-2.0 */
/* Over a table: what it is by, its groups, columns, unit and filter; how many rows; copies and files.
 * And the table as it was asked for. */
import type { ComponentChildren } from 'preact';
import { go, query } from '../data/place';
import { count, plural, TIME_UNITS, unitChoice } from '../model/numbers';
import { chosenColumns } from '../model/table';
import { ColumnsMenu } from './columns_menu';
import { FilterField } from './filter_field';
import { Menu } from './menu';
import { pageWidth, Table, type Column, type Props as TableProps } from './table';
import { copyRows, saveRows } from './table_copy';
import type { TableState } from './use_table';

interface Props<R> {
  table: TableState<R>;
  noun: string;
  nouns?: string;
  total: number; // without the filter
  listed?: number; // page by page: so many, which are not all here to be copied
  example: string;
  csv?: string | undefined; // address of all rows as a file
  csvTip?: string | undefined; // where it has not all
  file: string; // its name, without an end
  remark?: string | undefined; // behind the count
  aside?: boolean; // `/` searches something else
  children?: ComponentChildren; // before all else
}

function Groups<R>({ table }: { table: TableState<R> }) {
  if (table.groups.length === 0) return null;
  return (
    <label>
      group
      <select
        value={table.group ?? ''}
        onChange={(event) => go({ [table.word('group')]: event.currentTarget.value || null }, 'replace')}
      >
        <option value="">–</option>
        {table.groups.map((column) => (
          <option key={column.key} value={column.key}>
            {column.title}
          </option>
        ))}
      </select>
    </label>
  );
}

/* Only where a column has times. */
function Units<R>({ columns }: { columns: readonly Column<R>[] }) {
  if (!columns.some((column) => column.unit !== undefined && TIME_UNITS.includes(column.unit))) return null;
  return (
    <label>
      unit
      <select
        value={unitChoice.value ?? ''}
        onChange={(event) => go({ units: event.currentTarget.value || null }, 'replace')}
      >
        <option value="">auto</option>
        {TIME_UNITS.map((unit) => (
          <option key={unit}>{unit}</option>
        ))}
      </select>
    </label>
  );
}

function CopyMenu<R>({ table: { columns, rows, word }, file }: { table: TableState<R>; file: string }) {
  const shown = (): Column<R>[] => chosenColumns(columns, query.value[word('columns')], pageWidth.value);
  const items: [string, string, () => void][] = [
    ['as TSV', 'ctrl C', () => copyRows(shown(), rows, 'tsv')],
    ['as Markdown', 'ctrl shift C', () => copyRows(shown(), rows, 'md')],
    ['to a CSV file', '', () => saveRows(shown(), rows, `${file}.csv`)],
  ];
  return (
    <Menu words="copy">
      {(close) =>
        items.map(([words, hint, run]) => (
          <button
            key={words}
            role="menuitem"
            onClick={() => {
              run();
              close();
            }}
          >
            {words}
            <kbd>{hint}</kbd>
          </button>
        ))
      }
    </Menu>
  );
}

export function TableBar<R>({
  table,
  noun,
  nouns,
  total,
  listed,
  example,
  csv,
  csvTip = 'all rows and columns',
  file,
  remark,
  aside = false,
  children,
}: Props<R>) {
  const { columns, filter } = table;
  const length = listed ?? table.rows.length;
  return (
    <div class="toolbar">
      {children}
      <Groups table={table} />
      <ColumnsMenu columns={columns} word={table.word('columns')} />
      <Units columns={columns} />
      <FilterField state={filter} label="Filter rows" example={example} aside={aside} />
      <span aria-live="polite">
        {length === total ? plural(total, noun, nouns) : `${count(length)} of ${count(total)}`}
        {remark}
      </span>
      {listed === undefined && <CopyMenu table={table} file={file} />}
      {csv !== undefined && (
        <a href={csv} download={`${file}.csv`} data-tip={csvTip}>
          CSV
        </a>
      )}
    </div>
  );
}

/* The filter leaves nothing: what it is, and the way back. */
export function NothingMatches<R>({ table, total }: { table: TableState<R>; total: number }) {
  return (
    <p class="state">
      Nothing matches <code class="mono">{table.filter.text}</code>; without the filter there are {count(total)}.
      <button class="framed" onClick={() => table.filter.set('')}>
        Remove it
      </button>
    </p>
  );
}

type Rest<R> = Omit<
  TableProps<R>,
  'columns' | 'chosen' | 'rows' | 'rowCount' | 'sort' | 'onSort' | 'groupOf' | 'folds'
>;

/* The table that the bar is over, or that its filter leaves nothing. */
export function TableBelow<R>({ table, total, ...rest }: { table: TableState<R>; total: number } & Rest<R>) {
  if (table.rows.length === 0) return total === 0 ? null : <NothingMatches table={table} total={total} />;
  return (
    <Table
      {...(rest as TableProps<R>)}
      columns={table.columns}
      chosen={query.value[table.word('columns')]}
      rows={table.rows}
      rowCount={total}
      sort={table.sort}
      onSort={table.onSort}
      groupOf={table.groupOf}
      folds={table.folds}
      sumOf={table.filter.filter.empty ? undefined : `${count(table.rows.length)} of ${count(total)}`}
    />
  );
}
