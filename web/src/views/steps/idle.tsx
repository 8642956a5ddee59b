/* SPDX-License-Identifier: Apache-2.0 */
/* Where devices had nothing to do: by what the host did meanwhile, and gap by gap. */
import { go } from '../../data/place';
import type { GapRow, IdleRow } from '../../data/types';
import { formatSpan } from '../../model/address';
import { inScale, shareCell, timeExact, timeScale, toBig, toNumber, UNKNOWN } from '../../model/numbers';
import type { Column } from '../../ui/table';
import { TableBelow } from '../../ui/table_bar';
import { Name } from '../../ui/text';
import type { TableState } from '../../ui/use_table';

/* A gap with as much again around it. */
function gapWindow(start: number | bigint, dur: number | bigint): string {
  const from = toBig(start);
  const size = toBig(dur);
  return formatSpan({ start: from - size / 2n, end: from + size + size / 2n });
}

export function idleColumns(rows: readonly IdleRow[]): Column<IdleRow>[] {
  const idle = timeScale(rows.map((row) => row.idle_ps));
  const longest = timeScale(rows.map((row) => row.longest_ps));
  const hosts = new Set(rows.map((row) => row.host)).size > 1;
  const columns: (Column<IdleRow> | false)[] = [
    hosts && {
      key: 'host',
      title: 'host',
      groups: true,
      width: 'minmax(80px, 1fr)',
      cell: (row) => <Name text={row.host} />,
    },
    { key: 'device', title: 'device', groups: true, width: '72px', numeric: true, cell: (row) => String(row.device) },
    { key: 'cause', title: 'host meanwhile', groups: true, width: 'minmax(140px, 1fr)', cell: (row) => row.cause },
    {
      key: 'idle_ps',
      title: 'idle',
      unit: idle.unit,
      width: '104px',
      numeric: true,
      sums: (total) => inScale(total, idle),
      cell: (row) => inScale(row.idle_ps, idle),
      exact: (row) => timeExact(row.idle_ps),
    },
    {
      key: 'share',
      title: 'of idle',
      width: '144px',
      numeric: true,
      bar: (row) => row.share,
      cell: (row) => shareCell(row.share),
    },
    {
      key: 'share_of_time',
      title: 'of time',
      width: '88px',
      numeric: true,
      cell: (row) => shareCell(row.share_of_time),
    },
    {
      key: 'longest_ps',
      title: 'longest gap',
      unit: longest.unit,
      width: '120px',
      numeric: true,
      cell: (row) => (row.longest_ps === null ? UNKNOWN : inScale(row.longest_ps, longest)),
      exact: (row) => (row.longest_ps === null ? null : timeExact(row.longest_ps)),
    },
  ];
  return columns.filter((column) => column !== false);
}

export function IdleTable({ table, rowCount }: { table: TableState<IdleRow>; rowCount: number }) {
  return (
    <TableBelow
      table={table}
      total={rowCount}
      label="Idle time by cause"
      weight={(row) => toNumber(row.idle_ps)}
      rowKey={(row) => `${row.host} ${row.device} ${row.cause}`}
      onOpen={(row) =>
        row.longest_start_ps !== null &&
        row.longest_ps !== null &&
        go({ view: 'timeline', window: gapWindow(row.longest_start_ps, row.longest_ps), by: null })
      }
      scroll
    />
  );
}

export function gapColumns(rows: readonly GapRow[], idlePs: number): Column<GapRow>[] {
  const begin = timeScale(rows.map((row) => row.start_ps));
  const idle = timeScale(rows.map((row) => row.dur_ps));
  const hosts = new Set(rows.map((row) => row.host)).size > 1;
  const columns: (Column<GapRow> | false)[] = [
    hosts && {
      key: 'host',
      title: 'host',
      groups: true,
      width: 'minmax(80px, 1fr)',
      cell: (row) => <Name text={row.host} />,
    },
    { key: 'device', title: 'device', groups: true, width: '72px', numeric: true, cell: (row) => String(row.device) },
    {
      key: 'step',
      title: 'step',
      groups: true,
      width: '64px',
      numeric: true,
      cell: (row) => (row.step === null ? UNKNOWN : String(row.step)),
    },
    {
      key: 'start_ps',
      title: 'begin',
      unit: begin.unit,
      width: '104px',
      numeric: true,
      cell: (row) => inScale(row.start_ps, begin),
      exact: (row) => timeExact(row.start_ps),
    },
    {
      key: 'dur_ps',
      title: 'idle',
      unit: idle.unit,
      width: '144px',
      numeric: true,
      bar: (row) => toNumber(row.dur_ps) / idlePs, // of one whole, so that bars of groups add up
      sums: (total) => inScale(total, idle),
      cell: (row) => inScale(row.dur_ps, idle),
      exact: (row) => timeExact(row.dur_ps),
    },
    {
      key: 'cause',
      title: 'host meanwhile',
      groups: true,
      width: 'minmax(120px, 1fr)',
      cell: (row) => row.cause,
      exact: (row) => `${shareCell(toNumber(row.cause_ps) / Math.max(1, toNumber(row.dur_ps)))} of the gap`,
    },
    {
      key: 'before',
      title: 'after op',
      width: 'minmax(120px, 2fr)',
      cell: (row) => (row.before === null ? UNKNOWN : <Name text={row.before} />),
      exact: (row) => row.before,
    },
    {
      key: 'after',
      title: 'before op',
      width: 'minmax(120px, 2fr)',
      cell: (row) => (row.after === null ? UNKNOWN : <Name text={row.after} />),
      exact: (row) => row.after,
    },
  ];
  return columns.filter((column) => column !== false);
}

export function GapTable({ table, rowCount }: { table: TableState<GapRow>; rowCount: number }) {
  return (
    <TableBelow
      table={table}
      total={rowCount}
      label="Idle gaps"
      weight={(row) => toNumber(row.dur_ps)}
      rowKey={(row) => `${row.host} ${row.device} ${row.start_ps}`}
      onOpen={(row) => go({ view: 'timeline', window: gapWindow(row.start_ps, row.dur_ps), by: null })}
      scroll
    />
  );
}
