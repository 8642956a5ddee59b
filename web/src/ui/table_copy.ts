/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as text for elsewhere: TSV and CSV hold what the server says, Markdown what the page shows. */
import type { ComponentChildren } from 'preact';
import { csvOf, markdownOf, tsvOf } from '../model/table';
import type { Column } from './table';
import { say } from './said';
import { copyText } from './text';
import { count, plainDigits } from '../model/numbers';

export type Form = 'tsv' | 'md' | 'csv';

const textOf = (value: ComponentChildren): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/* The value as the server says it, in picoseconds and bytes: what a table of its CSV holds. */
function rawOf<R>(column: Column<R>, row: R): string {
  const own = (row as Record<string, unknown>)[column.key];
  const value = own === undefined || typeof own === 'object' ? column.value?.(row) : own;
  if (own === null) return '';
  return value === undefined || value === null
    ? textOf(column.cell(row)) || (column.exact?.(row) ?? '')
    : String(value);
}

/* As the page shows it, in plain letters. */
function shownOf<R>(column: Column<R>, row: R): string {
  const text = textOf(column.cell(row));
  return text === '' ? rawOf(column, row) : plainDigits(text);
}

export function rowsAsText<R>(columns: readonly Column<R>[], rows: readonly R[], form: Form): string {
  if (form === 'md')
    return markdownOf(
      columns.map(({ title, unit }) => (unit ? `${title} (${unit})` : title)),
      rows.map((row) => columns.map((column) => shownOf(column, row))),
      columns.map((column) => column.numeric ?? false),
    );
  return (form === 'csv' ? csvOf : tsvOf)(
    columns.map((column) => column.key),
    rows.map((row) => columns.map((column) => rawOf(column, row))),
  );
}

export function copyRows<R>(columns: readonly Column<R>[], rows: readonly R[], form: Form): void {
  void copyText(rowsAsText(columns, rows, form)).then(() =>
    say(`${count(rows.length)} rows are copied${form === 'md' ? ' as Markdown' : ''}.`),
  );
}

/* A file of what is shown, made in the page. */
export function saveRows<R>(columns: readonly Column<R>[], rows: readonly R[], name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([rowsAsText(columns, rows, 'csv')], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
