/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that tables of kernels share: times, texts, names, shares, occupancy. */
import type { Changes } from '../../model/address';
import { kernelLabels } from '../../model/kernel_label';
import { type KernelRow } from '../../model/kernels';
import { count, inScale, shareCell, timeExact, UNKNOWN, type Scale } from '../../model/numbers';
import { slicesOf } from '../../ui/op_link';
import { query } from '../../data/place';
import { Link } from '../../ui/link';
import { toOp } from '../../ui/op_link';
import { type Column } from '../../ui/table';
import { Name, nameRoom } from '../../ui/text';

export const BY: Record<string, string> = {
  kernel: 'kernel',
  variant: 'launch shape',
  activity: 'activity',
  api: 'call',
  annotation: 'annotation',
  range: 'range',
  'range-kernel': 'range\u2019s kernel',
};
type TimeKey = { [K in keyof KernelRow]: K extends `${string}_ps` ? K : never }[keyof KernelRow] & string;

export const why = (row: KernelRow, key: string): string | null => row.reasons?.[key] ?? null;

export function goalOf(row: KernelRow): Changes {
  if (row.slice !== undefined) return { view: 'timeline', slice: row.slice, by: null };
  return toOp({ name: row.name, module: null, by: 'name' }, null);
}

/* Its slices, as many as the row counts. */
export function timelineOf(row: KernelRow, counted: string | null | undefined): Changes {
  if (row.slice !== undefined) return goalOf(row);
  return slicesOf({ name: row.name, module: null, by: 'name' }, query.value, counted);
}

/* Times of all executions add up over kernels; spreads do not. */
const SUMS = new Set(['total_ps', 'self_ps', 'device_ps', 'device_self_ps', 'inner_ps']);

export function timeColumn(
  key: TimeKey,
  title: string,
  scale: Scale,
  more: Partial<Column<KernelRow>> = {},
): Column<KernelRow> {
  return {
    key,
    title,
    unit: scale.unit,
    width: '96px',
    numeric: true,
    cell: (row) => inScale(row[key] as number | null, scale),
    ...(SUMS.has(key) ? { sums: (total: number) => inScale(total, scale) } : {}),
    exact: (row) => (row[key] === null || row[key] === undefined ? why(row, key) : timeExact(row[key] as number)),
    ...more,
  };
}

export function textColumn(
  key: keyof KernelRow & string,
  title: string,
  width: string,
  more: Partial<Column<KernelRow>> = {},
): Column<KernelRow> {
  return {
    key,
    title,
    width,
    exact: (row) => (row[key] as string | null) ?? why(row, key),
    cell: (row) => (row[key] ? <Name text={row[key] as string} /> : UNKNOWN),
    ...more,
  };
}

export function nameColumn(by: string, rows: readonly KernelRow[] = []): Column<KernelRow> {
  const labels = kernelLabels(
    rows.map((row) => row.name),
    nameRoom(false),
  );
  return {
    key: 'name',
    title: BY[by] ?? by,
    width: 'minmax(200px, 4fr)',
    indent: 16,
    exact: (row) => row.name,
    cell: (row) => (
      <span class={row.kind ? `kind-${row.kind}` : undefined}>
        {row.kind && <span class="swatch" data-tip={row.kind} />}
        {row.count === null && row.slice === undefined ? (
          <span class="quiet">{row.name}</span>
        ) : (
          <Link to={goalOf(row)}>
            <Name text={labels.get(row.name) ?? row.name} />
          </Link>
        )}
      </span>
    ),
  };
}

export function shareColumn(key: 'share' | 'device_share'): Column<KernelRow> {
  return {
    key,
    title: 'share',
    width: '128px',
    numeric: true,
    cell: (row) => shareCell(row[key]),
    bar: (row) => row[key] ?? null,
    exact: (row) => why(row, key),
  };
}

/* How near it comes to what its device can do; more than the whole is left as it is. */
export function speedColumn(
  key: 'compute_share' | 'memory_share',
  title: string,
  rows: readonly KernelRow[],
  tip: string,
): Column<KernelRow> {
  return {
    key,
    title,
    tip,
    width: '92px',
    numeric: true,
    ...(rows.some((row) => row[key] !== null && row[key] !== undefined) ? { from: 1240 } : { optional: true }),
    cell: (row) => shareCell(row[key]),
    exact: (row) => why(row, key),
  };
}

export const countColumn: Column<KernelRow> = {
  key: 'count',
  title: 'count',
  width: '72px',
  numeric: true,
  cell: (row) => (row.count === null ? UNKNOWN : count(row.count)),
  sums: count,
  exact: (row) => why(row, 'count'),
};

/* A bar that is half empty says more than a number. */
export function occupancyColumn(rows: readonly KernelRow[]): Column<KernelRow> {
  return {
    key: 'occupancy',
    title: 'occupancy',
    tip: 'warps that fit on a multiprocessor, of those it can hold',
    width: '128px',
    numeric: true,
    optional: !rows.some((row) => row.occupancy !== null && row.occupancy !== undefined),
    value: (row) => row.occupancy ?? row.shapes?.mean ?? null,
    cell: (row) => shareCell(row.occupancy ?? row.shapes?.mean),
    bar: (row) => row.occupancy ?? row.shapes?.mean ?? null,
    exact: (row) =>
      row.shapes
        ? `${shareCell(row.shapes.least)} to ${shareCell(row.shapes.most)} by launch shape; the mean by their times`
        : row.occupancy === null
          ? why(row, 'occupancy')
          : row.limited_by
            ? `limited by ${row.limited_by}`
            : why(row, 'limited_by'),
  };
}
