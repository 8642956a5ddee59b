/* SPDX-License-Identifier: Apache-2.0 */
/* What a table is asked for, kept in the address: `sort`, `q`, `group`, `columns`, `units`; of a second
 * table on a page `PREFIX_sort` and so on.
 *
 * The columns say all of it: by `value` rows are filtered and, where the server does not, ordered;
 * by `groups` they are grouped, by `sums` groups have subtotals. Without a `value` a column is the
 * member of the row that its key names.
 */
import { go, query } from '../data/place';
import { sortRows, type Cell } from '../model/table';
import { useFilter, type FilterState } from './filter_field';
import type { Column } from './table';

interface Asked<R> {
  columns: readonly Column<R>[];
  rows: readonly R[];
  sort: string; // without one in the address
  here?: boolean; // all rows are here, so they are ordered here
  also?: Readonly<Record<string, (row: R) => Cell>>; // to filter by, without a column
  groupOf?: (row: R, key: string) => string; // where a group's name is not the value
  foldOf?: ((row: R) => string) | null; // rows alike are one that opens, while nothing else is asked for
  prefix?: string; // of its words in the address
}

export interface TableState<R> {
  columns: readonly Column<R>[];
  rows: readonly R[]; // what the filter leaves, in order
  filter: FilterState;
  sort: string;
  group: string | null; // key of a column
  groups: readonly Column<R>[];
  onSort: (sort: string) => void;
  groupOf: ((row: R) => string) | null;
  folds: boolean; // they are of rows alike
  word: (of: 'sort' | 'q' | 'group' | 'columns') => string; // in the address
}

function memberOf(row: unknown, key: string): Cell {
  const value = (row as Record<string, unknown>)[key];
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/* `self` for `self_ps`, as people say it; the key itself works, too. */
function namesOf<R>(columns: readonly Column<R>[]): Map<string, (row: R) => Cell> {
  const names = new Map<string, (row: R) => Cell>();
  for (const { key, title, value } of columns) if (value && title !== '') names.set(key.replace(/_ps$/, ''), value);
  for (const { title, value } of columns)
    if (value && /^[a-z]\w*$/.test(title) && !names.has(title)) names.set(title, value);
  for (const { key, title, value } of columns) if (value && title !== '' && !names.has(key)) names.set(key, value);
  return names;
}

export function useTable<R>({
  columns: given,
  rows,
  sort: usual,
  here = false,
  also = {},
  groupOf,
  foldOf = null,
  prefix = '',
}: Asked<R>): TableState<R> {
  const columns = given.map((column): Column<R> =>
    column.value ? column : { ...column, value: (row) => memberOf(row, column.key) },
  );
  const names = namesOf(columns);
  for (const [name, value] of Object.entries(also)) if (!names.has(name)) names.set(name, value);
  const word: TableState<R>['word'] = (of) => prefix + of;
  const filter = useFilter([...names.keys()], word('q'));
  const first = columns[0]?.value;
  const sort = query.value[word('sort')] ?? usual;
  const byKey = new Map(columns.map((column) => [column.key, column]));
  const left = filter.filter.empty
    ? rows
    : rows.filter((row) => filter.filter.test(String(first?.(row) ?? ''), (name) => names.get(name)?.(row) ?? null));
  const groups = columns.filter(
    (column) => column.groups && rows.some((row) => (column.value?.(row) ?? null) !== null),
  );
  const by = groups.find((column) => column.key === query.value[word('group')]) ?? null;
  const folds = by === null && foldOf !== null && query.value[word('sort')] === undefined;
  return {
    columns: columns.map((column) =>
      column.sums && !column.subtotal ? { ...column, subtotal: subtotalOf(column) } : column,
    ),
    rows: here ? sortRows(left, sort, (row, key) => byKey.get(key)?.value?.(row) ?? null) : left,
    filter,
    sort,
    group: by?.key ?? null,
    groups,
    onSort: (next) => go({ [word('sort')]: next }, 'replace'),
    groupOf: folds ? foldOf : by && ((row) => groupOf?.(row, by.key) ?? String(by.value!(row) ?? `no ${by.title}`)),
    folds,
    word,
  };
}

/* Unknown ones are left out; a group of only those has none. */
function subtotalOf<R>(column: Column<R>): (rows: readonly R[]) => preact.ComponentChildren {
  return (rows) => {
    const known = rows.flatMap((row) => {
      const value = column.value?.(row);
      return typeof value === 'number' ? [value] : [];
    });
    return known.length === 0 ? null : column.sums!(known.reduce((sum, value) => sum + value, 0));
  };
}
