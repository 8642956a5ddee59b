/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as a table: a row a step. */
import { go } from '../../data/place';
import { KINDS, type StepDeviceRow, type StepRow } from '../../data/types';
import { fixed, inScale, shareCell, THIN, timeExact, timeScale, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { stepWindow } from '../../ui/step_bars';
import type { Column } from '../../ui/table';
import { TableBelow } from '../../ui/table_bar';
import type { TableState } from '../../ui/use_table';
import { Name } from '../../ui/text';

/* A number has up to twenty digits, and none may be cut off. */
const DIGIT_PIXELS = 9;
function stepWidth(rows: readonly { step: number | bigint | string }[]): string {
  return `${rows.reduce((most, row) => Math.max(most, String(row.step).length * DIGIT_PIXELS), 64)}px`;
}

export function stepColumns(rows: readonly StepRow[], median: number | null): Column<StepRow>[] {
  const begin = timeScale(rows.map((row) => row.start_ps));
  const duration = timeScale(rows.map((row) => row.dur_ps));
  const kinds = KINDS.filter((kind) =>
    rows.some((row) => row.breakdown.some((part) => part.kind === kind && toNumber(part.self_ps) > 0)),
  );
  const part = (row: StepRow, kind: string) => row.breakdown.find((one) => one.kind === kind)?.self_ps ?? null;
  const has = (key: 'slowest_by' | 'wait_ps' | 'hidden_communication_ps') =>
    rows.some((row) => row[key] && (key === 'slowest_by' || toNumber(row[key] as number) > 0));
  const hosts = new Set(rows.map((row) => row.host)).size > 1;
  const delta = (row: StepRow): number | null => (median === null ? null : toNumber(row.dur_ps) - median);
  const deltas = timeScale(rows.map(delta));
  const signed = (value: number | null): string =>
    value === null || value <= 0 ? inScale(value, deltas) : `+${inScale(value, deltas)}`;
  const columns: (Column<StepRow> | false)[] = [
    { key: 'step', title: 'step', width: stepWidth(rows), numeric: true, cell: (row) => String(row.step) },
    hosts && {
      key: 'host',
      title: 'host',
      groups: true,
      width: 'minmax(80px, 320px)',
      cell: (row) => <Name text={row.host} />,
    },
    {
      key: 'start_ps',
      title: 'begin',
      unit: begin.unit,
      width: '88px',
      numeric: true,
      cell: (row) => inScale(row.start_ps, begin),
      exact: (row) => timeExact(row.start_ps),
    },
    {
      key: 'dur_ps',
      title: 'time',
      unit: duration.unit,
      width: '88px',
      numeric: true,
      sums: (total) => inScale(total, duration),
      cell: (row) => inScale(row.dur_ps, duration),
      exact: (row) => timeExact(row.dur_ps),
    },
    {
      key: 'delta',
      title: 'Δ median',
      unit: deltas.unit,
      width: '104px',
      numeric: true,
      optional: rows.every((row) => delta(row) === 0),
      value: delta,
      cell: (row) => signed(delta(row)),
      exact: (row) => {
        if (!median) return null;
        const ratio = toNumber(row.dur_ps) / median;
        return `${ratio < 1 ? '' : '+'}${fixed((ratio - 1) * 100, 1)}${THIN}% of the median`;
      },
    },
    ...kinds.map((kind): Column<StepRow> => ({
      key: kind,
      title: kind,
      unit: duration.unit,
      width: kind === 'communication' ? '124px' : 'minmax(80px, 96px)',
      numeric: true,
      value: (row) => toNumber(part(row, kind) ?? 0),
      sums: (total) => inScale(total, duration),
      cell: (row) => inScale(part(row, kind), duration),
      exact: (row) =>
        part(row, kind) === null
          ? null
          : `${timeExact(part(row, kind)!)}, ${shareCell(toNumber(part(row, kind)!) / toNumber(row.dur_ps))}`,
    })),
    has('slowest_by') && {
      key: 'slowest_by',
      title: 'slower by',
      tip: 'The op, else what the stepping thread did, that took longer than in the other steps',
      width: 'minmax(104px, 4fr)',
      groups: true,
      cell: (row) =>
        row.slowest_by ? (
          <Link to={{ view: 'timeline', find: row.slowest_by, window: stepWindow(row) }}>
            <Name text={row.slowest_by} />
          </Link>
        ) : (
          ''
        ),
      exact: (row) => row.slowest_by ?? row.reasons?.slowest_by ?? null,
    },
    has('slowest_by') && {
      key: 'slowest_by_ps',
      title: 'longer',
      unit: duration.unit,
      width: '80px',
      numeric: true,
      ...(hosts ? { from: 1440 } : {}),
      cell: (row) => (row.slowest_by_ps ? `+${inScale(row.slowest_by_ps, duration)}` : ''),
      exact: (row) => (row.slowest_by_ps ? timeExact(row.slowest_by_ps) : null),
    },
    has('wait_ps') && {
      key: 'wait_ps',
      title: 'waits',
      tip: 'Of the devices’ time: only ops that wait ran, such as copy-done',
      unit: duration.unit,
      width: '88px',
      numeric: true,
      cell: (row) => inScale(row.wait_ps, duration),
      exact: (row) => (row.wait_ps ? timeExact(row.wait_ps) : null),
    },
    has('hidden_communication_ps') && {
      key: 'hidden_communication_ps',
      title: 'hidden',
      tip: 'Communication beneath other work of its device; in no kind',
      unit: duration.unit,
      width: '88px',
      numeric: true,
      cell: (row) => inScale(row.hidden_communication_ps, duration),
      exact: (row) => (row.hidden_communication_ps ? timeExact(row.hidden_communication_ps) : null),
    },
    rows.some((row) => row.warmup || row.outlier) && {
      key: 'remark',
      title: 'remark',
      width: '72px',
      sortable: false,
      cell: (row) => (row.warmup ? 'warm-up' : row.outlier ? 'outlier' : ''),
      exact: (row) => (row.warmup ? 'a warm-up: left out of the figures' : null),
    },
  ];
  return columns.filter((column) => column !== false);
}

export function StepTable({ table, rowCount }: { table: TableState<StepRow>; rowCount: number }) {
  return (
    <TableBelow
      table={table}
      total={rowCount}
      label="Steps"
      rowKey={(row) => `${row.host} ${row.step} ${row.start_ps}`}
      weight={(row) => toNumber(row.dur_ps)}
      onOpen={(row) => go({ view: 'timeline', window: stepWindow(row) })}
      scroll
    />
  );
}

export function deviceColumns(rows: readonly StepDeviceRow[]): Column<StepDeviceRow>[] {
  const duration = timeScale(rows.map((row) => row.dur_ps));
  const kinds = KINDS.filter((kind) =>
    rows.some((row) => row.breakdown.some((part) => part.kind === kind && toNumber(part.self_ps) > 0)),
  );
  const hosts = new Set(rows.map((row) => row.host)).size > 1;
  const part = (row: StepDeviceRow, kind: string) => row.breakdown.find((one) => one.kind === kind)?.self_ps ?? null;
  const ps = (key: 'busy_ps' | 'wait_ps' | 'hidden_communication_ps', title: string): Column<StepDeviceRow> | false =>
    (key === 'busy_ps' || rows.some((row) => toNumber(row[key]) > 0)) && {
      key,
      title,
      unit: duration.unit,
      width: '88px',
      numeric: true,
      sums: (total) => inScale(total, duration),
      cell: (row) => inScale(row[key], duration),
      exact: (row) => timeExact(row[key]),
    };
  const columns: (Column<StepDeviceRow> | false)[] = [
    { key: 'step', title: 'step', width: stepWidth(rows), numeric: true, cell: (row) => String(row.step) },
    hosts && {
      key: 'host',
      title: 'host',
      width: 'minmax(80px, 1fr)',
      groups: true,
      cell: (row) => <Name text={row.host} />,
    },
    {
      key: 'device',
      title: 'device',
      groups: true,
      width: '72px',
      numeric: true,
      cell: (row) => (row.device === null ? '–' : String(row.device)),
    },
    {
      key: 'dur_ps',
      title: 'time',
      unit: duration.unit,
      width: '96px',
      numeric: true,
      cell: (row) => inScale(row.dur_ps, duration),
      exact: (row) => timeExact(row.dur_ps),
    },
    ps('busy_ps', 'busy'),
    ...kinds.map((kind): Column<StepDeviceRow> => ({
      key: kind,
      title: kind,
      unit: duration.unit,
      width: 'minmax(80px, 112px)',
      numeric: true,
      value: (row) => toNumber(part(row, kind) ?? 0),
      sums: (total) => inScale(total, duration),
      cell: (row) => inScale(part(row, kind), duration),
      exact: (row) =>
        part(row, kind) === null
          ? null
          : `${timeExact(part(row, kind)!)}, ${shareCell(toNumber(part(row, kind)!) / toNumber(row.dur_ps))}`,
    })),
    ps('wait_ps', 'waits'),
    ps('hidden_communication_ps', 'hidden'),
    {
      key: 'remark',
      title: 'remark',
      sortable: false,
      width: 'minmax(80px, 1fr)',
      cell: (row) => (row.in_mean ? '' : 'hardly used: not in the mean'),
    },
  ];
  return columns.filter((column) => column !== false);
}

export function StepDeviceTable({ table, rowCount }: { table: TableState<StepDeviceRow>; rowCount: number }) {
  return (
    <TableBelow
      table={table}
      total={rowCount}
      label="Steps by device"
      rowKey={(row) => `${row.host} ${row.step} ${row.start_ps} ${row.device}`}
      weight={(row) => toNumber(row.dur_ps)}
      onOpen={(row) =>
        go({ view: 'timeline', window: stepWindow(row), device: row.device === null ? null : String(row.device) })
      }
      scroll
    />
  );
}
