/* SPDX-License-Identifier: Apache-2.0 */
/* Why steps take as long as they do: what lies on their critical paths, and what would change that. */
import { address } from '../../data/api';
import type { PathRow, PathRows } from '../../data/critical';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { restrictedBy } from '../../data/restriction';
import type { RunDetails } from '../../data/types';
import { PIECE_WORDS } from '../../model/critical/path';
import {
  count,
  inScale,
  plural,
  share,
  shareCell,
  timeExact,
  time,
  timeScale,
  toNumber,
  UNKNOWN,
} from '../../model/numbers';
import { strong, type Sentence } from '../../model/sentence';
import { By } from '../../ui/by';
import { Failed, NothingHere, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, SentenceLine } from '../../ui/text';
import { useTable } from '../../ui/use_table';
import { WhatIfBox } from './whatif';

const ROWS_MAX = 5000;
const BYS = { place: 'place', op: 'op', scope: 'scope', kind: 'kind', device: 'device', host: 'host' };

/* "5 steps: 168 ms of path. 87 % is in layer_1/mlp, ...": the first three. */
function sentenceOf(rows: PathRows): Sentence {
  const total = toNumber(rows.total_ps);
  if (total <= 0 || rows.rows.length === 0) return [];
  const shown = rows.rows.filter((row) => toNumber(row.on_path_ps) >= total / 20).slice(0, 3);
  const first = shown.find((row) => row.count > 0); // the others are delays
  const parts = shown.flatMap((row, index): Sentence => [
    index === 0 ? ' ' : ', ',
    strong(share(toNumber(row.on_path_ps) / total)),
    row.count === 0 ? ` is ${row.name}` : `${row === first ? ' lies' : ''} in ${row.name}`,
  ]);
  return [
    strong(plural(rows.step_count, 'step')),
    rows.step_count === 1 ? ' takes ' : ' take ',
    strong(time(rows.total_ps)),
    '.',
    ...parts,
    parts.length > 0 ? '.' : '',
  ];
}

function columnsOf(rows: readonly PathRow[]): Column<PathRow>[] {
  const ps = (
    key: 'on_path_ps' | 'slack_ps' | 'time_ps',
    title: string,
    more: Partial<Column<PathRow>> = {},
  ): Column<PathRow> => {
    const scale = timeScale(rows.map((row) => row[key]));
    return {
      key,
      title,
      unit: scale.unit,
      width: '104px',
      numeric: true,
      cell: (row) => (row[key] === null ? UNKNOWN : inScale(row[key], scale)),
      exact: (row) => (row[key] === null ? (row.reasons[key] ?? null) : timeExact(row[key])),
      ...more,
    };
  };
  return [
    {
      key: 'name',
      title: 'what',
      width: 'minmax(200px, 3fr)',
      exact: (row) => row.name,
      cell: (row) => <Name text={row.name} />,
    },
    {
      key: 'kind',
      title: 'kind',
      groups: true,
      width: '116px',
      cell: (row) => (row.kind === null ? UNKNOWN : PIECE_WORDS[row.kind]),
      exact: (row) => row.kind ?? row.reasons.kind ?? null,
    },
    ps('on_path_ps', 'on the path', { tip: 'Of all steps that count; the rows sum to them' }),
    {
      key: 'share',
      title: 'share',
      width: '128px',
      numeric: true,
      cell: (row) => shareCell(row.share),
      exact: (row) => row.reasons.share ?? null,
      bar: (row) => row.share,
    },
    ps('slack_ps', 'slack', { tip: 'Minimum: how much later it could end without delaying a step' }),
    ps('time_ps', 'its time', { tip: 'On the path or beside it' }),
    {
      key: 'count',
      title: 'count',
      width: '84px',
      numeric: true,
      cell: (row) => (row.count === 0 ? UNKNOWN : count(row.count)),
    },
  ];
}

/* `alone`: nobody is there who could replay the steps. */
export function WhyView({ run, alone = false }: { run: RunDetails; alone?: boolean }) {
  const by = query.value.by ?? 'place';
  const sort = query.value.sort ?? '-on_path_ps';
  const params = { run: run.id, by, ...restrictedBy('host', 'step'), sort: query.value.sort };
  const list = useJson<PathRows>('api/critical', { ...params, limit: ROWS_MAX });
  const { data } = list;
  const rows = data?.rows ?? [];
  const table = useTable<PathRow>({ columns: columnsOf(rows), rows, sort });
  const total = toNumber(data?.total_ps ?? 0);
  return (
    <>
      {data && <SentenceLine sentence={sentenceOf(data)} />}
      {list.error && <Failed error={list.error} />}
      {!data && list.waiting && <Waiting what="Walking back from the end of each step." progress={list.progress} />}
      {data && rows.length === 0 && <NothingHere did="Nothing lies on a path" />}
      {data && rows.length > 0 && (
        <>
          {!alone && by !== 'device' && by !== 'host' && (
            <WhatIfBox key={`${run.id} ${run.content_id}`} run={run} rows={rows} by={by} totalPs={total} />
          )}
          <TableBar
            table={table}
            noun="part"
            total={data.row_count}
            example="mlp share>5%"
            file={`${run.name}-path`}
            csv={address('api/critical', { ...params, limit: 10_000, format: 'csv' })}
          >
            <By value={by} words={BYS} onChoose={(to) => go({ by: to, sort: null, scale: null }, 'replace')} />
          </TableBar>
          <TableBelow
            table={table}
            total={data.row_count}
            label="What lies on the critical path"
            rowKey={(row) => `${row.name} ${row.module ?? ''} ${row.host ?? ''} ${row.device ?? ''}`}
            weight={(row) => toNumber(row.on_path_ps)}
            focused={query.value.key ?? null}
            onFocusRow={(row) =>
              go({ key: `${row.name} ${row.module ?? ''} ${row.host ?? ''} ${row.device ?? ''}` }, 'replace')
            }
            openOn="enter"
          />
          {data.notes.map((note) => (
            <p key={note.kind} class={note.severity === 'warning' ? 'warn' : 'quiet'}>
              {note.message}
            </p>
          ))}
        </>
      )}
    </>
  );
}
