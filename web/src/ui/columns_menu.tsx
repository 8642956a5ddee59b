/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns a table shows, kept in the address; untouched, what fits. */
import { go, query } from '../data/place';
import { chosenColumns } from '../model/table';
import { Menu } from './menu';
import { pageWidth, type Column } from './table';

export function ColumnsMenu<R>({ columns, word = 'columns' }: { columns: readonly Column<R>[]; word?: string }) {
  const shown = new Set(chosenColumns(columns, query.value[word], pageWidth.value).map((column) => column.key));
  const toggle = (key: string): void => {
    const keys = columns.map((column) => column.key).filter((one) => (one === key ? !shown.has(one) : shown.has(one)));
    go({ [word]: keys.join(',') }, 'replace');
  };
  return (
    <Menu words="columns">
      {() => (
        <>
          {columns.slice(1).map((column) => (
            <button
              key={column.key}
              role="menuitemcheckbox"
              aria-checked={shown.has(column.key)}
              onClick={() => toggle(column.key)}
            >
              {column.title}
              <span aria-hidden="true">{shown.has(column.key) ? '✓' : ''}</span>
            </button>
          ))}
          {query.value[word] !== undefined && (
            <button role="menuitem" onClick={() => go({ [word]: null }, 'replace')}>
              automatic
            </button>
          )}
        </>
      )}
    </Menu>
  );
}
