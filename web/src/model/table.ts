/* SPDX-License-Identifier: Apache-2.0 */
/* What a table does before it is drawn: which columns, in which order, in which groups; and how it
 * reads as text. */

/* A plain click sorts by that column alone, shift adds it; again turns it round. */
export function nextSort(sort: string, key: string, numeric: boolean, add: boolean): string {
  const parts = sort.split(',').filter(Boolean);
  const at = parts.findIndex((part) => part.replace(/^-/, '') === key);
  const turned = at >= 0 ? (parts[at]!.startsWith('-') ? key : `-${key}`) : numeric ? `-${key}` : key;
  if (!add) return turned;
  return at >= 0 ? parts.with(at, turned).join(',') : [...parts, turned].join(',');
}

/* Where a column stands in the order of sorting: from 0; -1 when it does not. */
export function sortPlace(sort: string, key: string): { at: number; down: boolean; of: number } {
  const parts = sort.split(',').filter(Boolean);
  const at = parts.findIndex((part) => part.replace(/^-/, '') === key);
  return { at, down: at >= 0 && parts[at]!.startsWith('-'), of: parts.length };
}

export type Cell = string | number | null;

const inWords = new Intl.Collator('en', { numeric: true });

/* What is unknown stands last, whichever way the rows run. */
function compareCells(a: Cell, b: Cell, down: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : inWords.compare(String(a), String(b));
  return down ? -order : order;
}

/* Rows that are all here, in the order of `-self_ps,name`; equal ones stay as they came. */
export function sortRows<R>(rows: readonly R[], sort: string, valueOf: (row: R, key: string) => Cell): readonly R[] {
  const parts = sort
    .split(',')
    .filter(Boolean)
    .map((part) => ({ key: part.replace(/^-/, ''), down: part.startsWith('-') }));
  if (parts.length === 0) return rows;
  const keyed = rows.map((row) => ({ row, cells: parts.map(({ key }) => valueOf(row, key)) }));
  keyed.sort((a, b) => {
    for (const [at, { down }] of parts.entries()) {
      const order = compareCells(a.cells[at]!, b.cells[at]!, down);
      if (order !== 0) return order;
    }
    return 0;
  });
  return keyed.map(({ row }) => row);
}

/* The next name behind `from` that begins with what was typed, else one that holds it; -1 for none. */
export function typedTo(typed: string, from: number, count: number, nameOf: (index: number) => string | null): number {
  const wanted = typed.toLowerCase();
  let holds = -1;
  for (let turn = 0; turn < count; turn++) {
    const at = (from + turn) % count;
    const name = nameOf(at)?.toLowerCase();
    if (name?.startsWith(wanted)) return at;
    if (holds < 0 && name?.includes(wanted)) holds = at;
  }
  return holds;
}

export interface Choosable {
  key: string;
  from?: number | undefined; // width of the page in pixels from which there is room for it
  optional?: boolean | undefined; // only when asked for
}

/* `asked`: the keys of the address, by comma; without them what fits. The first column always stays. */
export function chosenColumns<C extends Choosable>(
  columns: readonly C[],
  asked: string | undefined,
  pageWidth: number,
): C[] {
  const keys = asked === undefined ? null : new Set(asked.split(','));
  return columns.filter(
    (column, index) =>
      index === 0 || (keys ? keys.has(column.key) : !column.optional && (column.from ?? 0) <= pageWidth),
  );
}

/* A name alone does not tell all rows apart. */
export const areNamesShared = (rows: readonly { name: string }[]): boolean =>
  new Set(rows.map((row) => row.name)).size < rows.length;

export type Line<R> = { kind: 'row'; row: R; alone?: true } | { kind: 'group'; name: string; rows: R[]; open: boolean };

/* Groups in the order of their first rows when these come by size, else of `weight`; where only alike rows
 * are folded, a row without its like stands by itself. */
export function groupLines<R>(
  rows: readonly R[],
  groupOf: ((row: R) => string) | null,
  weight: (row: R) => number,
  opened: ReadonlySet<string>,
  folds = false,
): Line<R>[] {
  if (groupOf === null) return rows.map((row) => ({ kind: 'row', row }));
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const name = groupOf(row);
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  const sum = (group: readonly R[]) => group.reduce((total, row) => total + weight(row), 0);
  const ordered = [...groups]
    .map(([name, group]) => ({ name, group, sum: sum(group) }))
    .sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1));
  return ordered.flatMap(({ name, group }): Line<R>[] => {
    if (folds && group.length === 1) return [{ kind: 'row', row: group[0]!, alone: true }];
    const open = opened.has(name);
    return [
      { kind: 'group', name, rows: group, open },
      ...(open ? group.map((row): Line<R> => ({ kind: 'row', row })) : []),
    ];
  });
}

/* Plain ASCII spaces, no tabs, no line ends. */
function flat(text: string): string {
  return text.replace(/[\u202f\u00a0\t\r\n]+/g, ' ').replace(/\u2212/g, '-');
}

export function tsvOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, ...rows].map((cells) => cells.map(flat).join('\t')).join('\n');
}

/* RFC 4180; what a spreadsheet would run as a formula stays text. */
export function csvOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => {
    const safe = /^[=+@]|^-(?![\d.])/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [heads, ...rows].map((cells) => cells.map((one) => cell(flat(one))).join(',')).join('\r\n') + '\r\n';
}

export function markdownOf(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly boolean[],
): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => flat(cell).replaceAll('\\', '\\\\').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), `|${numeric.map((right) => (right ? '---:' : '---')).join('|')}|`, ...rows.map(line)].join('\n');
}
