/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as text for elsewhere: with heads, and with exact values where they are known. */
import type { ComponentChildren } from 'preact';
import { csvOf, markdownOf, tsvOf } from '../model/table';
import type { Column } from './table';
import { say } from './said';
import { copyText } from './text';
import { count } from '../model/numbers';

export type Form = 'tsv' | 'md' | 'csv';

function cellsOf<R>(columns: readonly Column<R>[], rows: readonly R[]): string[][] {
  const text = (value: ComponentChildren): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return rows.map((row) =>
    columns.map((column) => column.exact?.(row) ?? (text(column.cell(row)) || String(column.value?.(row) ?? ''))),
  );
}

export function rowsAsText<R>(columns: readonly Column<R>[], rows: readonly R[], form: Form): string {
  const cells = cellsOf(columns, rows);
  if (form === 'md')
    return markdownOf(
      columns.map((column) => column.title),
      cells,
      columns.map((column) => column.numeric ?? false),
    );
  return (form === 'csv' ? csvOf : tsvOf)(
    columns.map((column) => column.key),
    cells,
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
