/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of hosts: how long each had something open, and what lasted longest on it. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { restrictedBy } from '../data/restriction';
import type { RunDetails } from '../data/types';
import { count, inScale, shareCell, timeExact, timeScale, toNumber, UNKNOWN } from '../model/numbers';
import { areNamesShared } from '../model/table';
import { threadName, threadsSentence, type ThreadList, type ThreadRow } from '../model/threads';
import { Link } from '../ui/link';
import { Failed, NothingHere, Waiting } from '../ui/states';
import type { Column } from '../ui/table';
import { TableBar, TableBelow } from '../ui/table_bar';
import { Name, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';

const ROWS_MAX = 5000;

const goalOf = (row: ThreadRow) => ({ view: 'timeline', track: row.track, slice: null });

function columnsOf(rows: readonly ThreadRow[]): Column<ThreadRow>[] {
  const differ = (key: 'host' | 'process') => new Set(rows.map((row) => row[key])).size > 1;
  const ps = (
    key: 'busy_ps' | 'start_ps' | 'end_ps' | 'longest_ps',
    title: string,
    more: Partial<Column<ThreadRow>> = {},
  ): Column<ThreadRow> => {
    const scale = timeScale(rows.map((row) => row[key]));
    return {
      key,
      title,
      unit: scale.unit,
      width: '92px',
      numeric: true,
      cell: (row) => inScale(row[key], scale),
      exact: (row) => timeExact(row[key]),
      ...more,
    };
  };
  return [
    {
      key: 'name',
      title: 'thread',
      width: 'minmax(160px, 3fr)',
      exact: (row) => threadName(row),
      cell: (row) => (
        <Link to={goalOf(row)}>
          <Name text={threadName(row)} />
        </Link>
      ),
    },
    {
      key: 'process',
      title: 'process',
      groups: true,
      optional: !differ('process'),
      width: 'minmax(96px, 1fr)',
      cell: (row) => (row.process === null ? UNKNOWN : <Name text={row.process} />),
      exact: (row) => row.process ?? row.reasons.process ?? null,
    },
    {
      key: 'host',
      title: 'host',
      groups: true,
      optional: !differ('host'),
      width: 'minmax(80px, 1fr)',
      cell: (row) => <Name text={row.host} />,
      exact: (row) => row.host,
    },
    {
      key: 'tid',
      title: 'id',
      optional: !areNamesShared(rows.map((row) => ({ name: `${row.host} ${row.name}` }))),
      width: '184px',
      cell: (row) => row.tid,
    },
    { key: 'slice_count', title: 'slices', width: '76px', numeric: true, cell: (row) => count(row.slice_count) },
    ps('busy_ps', 'busy', { tip: 'While any slice was open, waits included' }),
    {
      key: 'share',
      title: 'share',
      width: '128px',
      numeric: true,
      cell: (row) => shareCell(row.share),
      exact: (row) => row.reasons.share ?? null,
      bar: (row) => row.share,
    },
    ps('start_ps', 'first', { from: 1000 }),
    ps('end_ps', 'last', { from: 1000 }),
    {
      key: 'longest',
      title: 'longest slice',
      width: 'minmax(120px, 3fr)',
      exact: (row) => row.longest,
      cell: (row) => (
        <Link to={{ view: 'timeline', slice: row.slice }}>
          <Name text={row.longest} />
        </Link>
      ),
    },
    ps('longest_ps', 'its time'),
  ];
}

export function ThreadsView({ run }: { run: RunDetails }) {
  const sort = query.value.sort ?? '-busy_ps';
  const params = {
    run: run.id,
    ...restrictedBy('host', 'track', 'step', 'start_ps', 'end_ps'),
    sort: query.value.sort,
  };
  const list = useJson<ThreadList>('api/threads', { ...params, limit: ROWS_MAX });
  const { data } = list;
  const rows = data?.rows ?? [];
  const table = useTable<ThreadRow>({ columns: columnsOf(rows), rows, sort });
  return (
    <>
      {data && rows.length > 0 && <SentenceLine sentence={threadsSentence(data)} />}
      <TableBar
        table={table}
        noun="thread"
        total={data?.row_count ?? 0}
        example="python share>50%"
        file={`${run.name}-threads`}
        csv={address('api/threads', { ...params, limit: 10_000, format: 'csv' })}
      />
      {list.error && <Failed error={list.error} />}
      {!data && list.waiting && <Waiting what="Adding up." progress={list.progress} />}
      {data && rows.length === 0 && <NothingHere did="No thread of a host recorded anything" />}
      {data && (
        <TableBelow
          table={table}
          total={data.row_count}
          label="Threads of hosts"
          rowKey={(row) => row.track}
          weight={(row) => toNumber(row.busy_ps)}
          focused={query.value.key ?? null}
          onFocusRow={(row) => go({ key: row.track }, 'replace')}
          onOpen={(row) => go(goalOf(row), 'push')}
          openOn="enter"
          onShow={(row) => go(goalOf(row), 'push')}
          scroll
        />
      )}
    </>
  );
}
