/* SPDX-License-Identifier: Apache-2.0 */
/* Who held an allocator's memory at its peak, or at the moment that was clicked. */
import type { Allocator, OwnerRow, OwnersReply } from '../../data/memory';
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { memoryRestriction } from '../../data/restriction';
import type { RunDetails } from '../../data/types';
import { inScale, shareCell, size, sizeScale, time, timeExact, timeScale, UNKNOWN } from '../../model/numbers';
import { By } from '../../ui/by';
import { Link } from '../../ui/link';
import { Failed, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name } from '../../ui/text';
import { useTable } from '../../ui/use_table';

const BY = ['owner', 'op', 'scope', 'shape', 'category', 'allocation'] as const;
const ROWS_MAX = 5000;

function columnsOf(rows: readonly OwnerRow[]): Column<OwnerRow>[] {
  const sizes = sizeScale(rows.map((row) => row.bytes));
  const times = timeScale(rows.map((row) => row.since_ps));
  const text = (
    key: 'scope' | 'category' | 'shape',
    title: string,
    width: string,
    from?: number,
  ): Column<OwnerRow> => ({
    key,
    title,
    width,
    groups: true,
    ...(from ? { from } : {}),
    exact: (row) => row[key] ?? row.reasons[key] ?? null,
    cell: (row) => (row[key] === null ? UNKNOWN : <Name text={row[key]} mono={key === 'shape'} />),
    cutFront: key === 'scope',
  });
  const columns: (Column<OwnerRow> | false)[] = [
    {
      key: 'name',
      title: 'op',
      width: 'minmax(140px, 2fr)',
      exact: (row) => row.name ?? row.reasons.name ?? null,
      cell: (row) =>
        row.row_kind === 'owner' ? <Name text={row.name ?? UNKNOWN} /> : <span class="quiet">{row.name}</span>,
    },
    rows.some((row) => row.scope !== null) && text('scope', 'scope', 'minmax(120px, 3fr)'),
    rows.some((row) => row.category !== null) && text('category', 'category', 'minmax(72px, 110px)', 900),
    rows.some((row) => row.shape !== null) && text('shape', 'shape', 'minmax(90px, 1fr)', 1000),
    {
      key: 'bytes',
      title: 'size',
      unit: sizes.unit,
      width: '104px',
      numeric: true,
      sums: (sum) => inScale(sum, sizes),
      cell: (row) => inScale(row.bytes, sizes),
      exact: (row) => `${row.bytes} bytes`,
    },
    {
      key: 'share',
      title: 'share',
      width: '144px',
      numeric: true,
      sums: shareCell,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share, // of one whole, so that bars of groups add up
    },
    {
      key: 'count',
      title: 'count',
      width: '72px',
      numeric: true,
      sums: String,
      cell: (row) => (row.count === null ? UNKNOWN : String(row.count)),
    },
    {
      key: 'since_ps',
      title: 'since',
      unit: times.unit,
      width: '96px',
      numeric: true,
      cell: (row) => inScale(row.since_ps, times),
      exact: (row) => (row.since_ps === null ? (row.reasons.since_ps ?? null) : timeExact(row.since_ps)),
    },
  ];
  return columns.filter((column) => column !== false);
}

export function Owners({ run, allocator, at }: { run: RunDetails; allocator: Allocator; at: string | null }) {
  const by = BY.find((one) => one === query.value.by) ?? 'owner';
  const asked = {
    run: run.id,
    view: 'peak',
    allocator: allocator.name,
    by,
    ...(at ? { at_ps: at } : {}),
    ...memoryRestriction(),
    ...(allocator.host ? { host: allocator.host } : {}),
  };
  const owners = useJson<OwnersReply>('api/memory', { ...asked, limit: ROWS_MAX, sort: query.value.sort });
  const rows = owners.data?.rows ?? [];
  const table = useTable<OwnerRow>({ columns: columnsOf(rows), rows, sort: '-bytes' });
  if (owners.error) return <Failed error={owners.error} />;
  if (!owners.data) return owners.waiting ? <Waiting what="Replaying allocations." progress={owners.progress} /> : null;
  const reply = owners.data;
  if (reply.total_bytes === null || reply.at_ps === null) return null;
  return (
    <>
      <TableBar
        table={table}
        noun={by}
        total={reply.row_count}
        example="size>1GiB scope:mlp"
        file={`${run.name}-memory`}
        csv={address('api/memory', { ...asked, limit: 10_000, format: 'csv' })}
      >
        <span>
          {at ? `In use at ${time(reply.at_ps)}: ` : 'In use at the peak: '}
          <strong>{size(reply.total_bytes)}</strong>
        </span>
        {at && <Link to={{ at: null }}>the peak</Link>}
        <By value={by} words={BY} onChoose={(word) => go({ by: word, sort: null, group: null })} />
      </TableBar>
      <TableBelow
        table={table}
        total={reply.row_count}
        label={`Who holds ${allocator.name}`}
        weight={(row) => row.bytes}
        rowKey={(row) => `${row.name}\n${row.scope}\n${row.category}\n${row.shape}\n${row.dtype}\n${row.slice}`}
        onOpen={(row) => row.slice !== null && go({ view: 'timeline', slice: row.slice }, 'push')}
      />
      {reply.notes.map((note) => (
        <p class="basis">{note.message}</p>
      ))}
    </>
  );
}
