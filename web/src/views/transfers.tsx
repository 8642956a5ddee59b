/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that moved: by direction, by size, and a row a group or a transfer. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { restriction } from '../data/restriction';
import type { RunDetails } from '../data/types';
import type { Changes } from '../model/address';
import {
  count,
  inScale,
  plural,
  rateScale,
  shareCell,
  sizeScale,
  time,
  timeExact,
  timeScale,
  toNumber,
  UNKNOWN,
  type Scale,
} from '../model/numbers';
import { directionWords, transfersSentence, type TransferList, type TransferRow } from '../model/transfers';
import { sentenceCase } from '../model/sentence';
import { By } from '../ui/by';
import { Link } from '../ui/link';
import { Empty, Failed, NothingHere, Waiting } from '../ui/states';
import { stepWindow } from '../ui/step_bars';
import type { Column } from '../ui/table';
import { TableBar, TableBelow } from '../ui/table_bar';
import { Name, Prose, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';

const BY = ['direction', 'size', 'stream', 'caller', 'transfer'];
const ROWS_MAX = 5000;
const HEAVY_SHARE = 0.05; // what gives rates their unit
const SIZES = [
  'below 1 KiB',
  '1 KiB to 16 KiB',
  '16 KiB to 256 KiB',
  '256 KiB to 4 MiB',
  '4 MiB to 64 MiB',
  '64 MiB to 1 GiB',
  '1 GiB and more',
  'unknown',
];

function goalOf(row: TransferRow): Changes {
  const window = row.dur_ps === undefined ? null : stepWindow({ start_ps: row.start_ps, dur_ps: row.dur_ps });
  return { view: 'timeline', slice: row.slice, window, by: null };
}

/* Bars with their words: how often each class of sizes was moved. */
function Bars({ label, rows }: { label: string; rows: readonly { words: string; value: number; told: string }[] }) {
  const largest = Math.max(1e-9, ...rows.map((row) => row.value));
  return (
    <table class="transfer-bars" aria-label={label}>
      <tbody>
        {rows.map((row) => (
          <tr key={row.words}>
            <th scope="row">{row.words}</th>
            <td>
              <svg class="transfer-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="kind-copy strip-copy" width={(row.value / largest) * 100} height={8} />
              </svg>
            </td>
            <td class="numeric">{row.told}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sizes({ rows }: { rows: readonly TransferRow[] }) {
  const known = SIZES.map((words) => ({ words, row: rows.find((row) => row.key === words) })).filter((one) => one.row);
  return (
    <Bars
      label="How many of each size"
      rows={known.map(({ words, row }) => ({
        words: words === 'unknown' ? 'size unknown' : words,
        value: row!.count ?? 0,
        told: plural(row!.count ?? 0, 'transfer'),
      }))}
    />
  );
}

function columnsOf(rows: readonly TransferRow[], by: string): Column<TransferRow>[] {
  const each = by === 'transfer';
  const scale = timeScale(rows.map((row) => row.total_ps ?? row.dur_ps));
  const one = timeScale(rows.map((row) => row.mean_ps));
  const begin = timeScale(rows.map((row) => row.start_ps));
  const sizes = sizeScale(rows.map((row) => row.bytes));
  const known = (key: keyof TransferRow): boolean => rows.some((row) => row[key] !== null && row[key] !== undefined);
  const heavy = rows.filter((row) => (row.share ?? 1) >= HEAVY_SHARE);
  const rates = rateScale(
    (heavy.length > 0 ? heavy : rows).map((row) => row.bytes_per_s),
    'B/s',
  );
  const why = (row: TransferRow, key: string): string | null => row.reasons[key] ?? null;
  const ps = (
    key: keyof TransferRow & string,
    title: string,
    in_: Scale,
    more: Partial<Column<TransferRow>> = {},
  ): Column<TransferRow> => ({
    key,
    title,
    unit: in_.unit,
    width: '96px',
    numeric: true,
    cell: (row) => inScale(row[key] as number | null, in_),
    exact: (row) => (row[key] === null || row[key] === undefined ? why(row, key) : timeExact(row[key] as number)),
    ...more,
  });
  const number = (
    key: keyof TransferRow & string,
    title: string,
    more: Partial<Column<TransferRow>> = {},
  ): Column<TransferRow> => ({
    key,
    title,
    width: '80px',
    numeric: true,
    cell: (row) => (row[key] === null || row[key] === undefined ? UNKNOWN : count(row[key] as number)),
    exact: (row) => why(row, key),
    ...more,
  });
  const text = (
    key: keyof TransferRow & string,
    title: string,
    width: string,
    more: Partial<Column<TransferRow>> = {},
  ): Column<TransferRow> => ({
    key,
    title,
    width,
    cell: (row) => (row[key] ? <Name text={row[key] as string} /> : UNKNOWN),
    exact: (row) => (row[key] as string | null) ?? why(row, key),
    ...more,
  });
  const columns: (Column<TransferRow> | false)[] = [
    {
      key: each ? 'direction' : 'key',
      title: each ? 'direction' : by,
      width: by === 'direction' || each ? 'minmax(140px, 320px)' : 'minmax(140px, 2fr)',
      exact: (row) => row.key ?? row.name ?? why(row, 'key'),
      cell: (row) => (
        <Link to={goalOf(row)}>
          <Name text={each || by === 'direction' ? directionWords(row.direction) : (row.key ?? '(unknown)')} />
        </Link>
      ),
    },
    each && text('name', 'name', 'minmax(120px, 2fr)', { from: 1500 }),
    each && ps('start_ps', 'begin', begin),
    !each && number('count', 'count'),
    known('bytes') && {
      key: 'bytes',
      title: 'size',
      unit: sizes.unit,
      width: '96px',
      numeric: true,
      cell: (row) => inScale(row.bytes, sizes),
      exact: (row) => {
        if (row.bytes === null) return why(row, 'bytes');
        const unsized = row.unsized_count ?? 0;
        const without = unsized > 0 ? `, without ${plural(unsized, 'transfer')} of unknown size` : '';
        return `${count(row.bytes)} bytes${without}`;
      },
    },
    ps(each ? 'dur_ps' : 'total_ps', each ? 'time' : 'total', scale, { sums: (total) => inScale(total, scale) }),
    !each && {
      key: 'share',
      title: 'share',
      width: '128px',
      numeric: true,
      cell: (row) => shareCell(row.share ?? null),
      bar: (row) => row.share ?? null,
    },
    known('bytes_per_s') && {
      key: 'bytes_per_s',
      title: rates.unit,
      width: '80px',
      numeric: true,
      cell: (row) => (row.bytes_per_s === null ? UNKNOWN : inScale(row.bytes_per_s, rates)),
      exact: (row) => why(row, 'bytes_per_s'),
    },
    !each && ps('mean_ps', 'mean', one, { from: 1000 }),
    !each && {
      key: 'overlapped_share',
      title: 'overlapped',
      tip: 'while its device computes',
      width: '96px',
      numeric: true,
      cell: (row) =>
        row.overlapped_share === null || row.overlapped_share === undefined ? UNKNOWN : shareCell(row.overlapped_share),
      exact: (row) => why(row, 'overlapped_share'),
    },
    each && ps('overlapped_ps', 'overlapped', scale, { width: '116px', tip: 'while its device computes' }),
    !each &&
      known('blocking_count') &&
      number('blocking_count', 'blocking', { tip: 'whose call returned only when they had finished' }),
    each &&
      known('blocking') && {
        key: 'blocking',
        title: 'blocking',
        width: '80px',
        cell: (row) => (row.blocking === null || row.blocking === undefined ? UNKNOWN : row.blocking ? 'yes' : 'no'),
        exact: (row) => why(row, 'blocking'),
      },
    !each && known('pageable_count') && number('pageable_count', 'pageable', { from: 900 }),
    each && known('memory') && text('memory', 'host memory', '100px', { from: 1000 }),
    each && known('caller') && text('caller', 'caller', 'minmax(120px, 2fr)', { groups: true }),
    each && number('device', 'device', { from: 1360, groups: true }),
    each &&
      known('step') && {
        key: 'step',
        title: 'step',
        groups: true,
        width: '64px',
        numeric: true,
        cell: (row) => (row.step === null || row.step === undefined ? UNKNOWN : String(row.step)),
        exact: (row) => why(row, 'step'),
      },
    !each && known('steps') && text('steps', 'in steps', 'minmax(72px, 1fr)', { from: 1200 }),
  ];
  return columns.filter((column) => column !== false);
}

export function TransfersView({ run, absent }: { run: RunDetails; absent: string | null }) {
  const by = query.value.by !== undefined && BY.includes(query.value.by) ? query.value.by : 'direction';
  const sort = query.value.sort ?? (by === 'transfer' ? 'start_ps' : '-total_ps');
  const { module: _module, scope: _scope, ...asked } = restriction.value;
  const params = { run: run.id, by, ...asked, sort: query.value.sort };
  const path = absent === null ? 'api/transfers' : null;
  const list = useJson<TransferList>(path, { ...params, limit: ROWS_MAX });
  const directions = useJson<TransferList>(path, { ...params, by: 'direction', sort: '-total_ps', limit: 10 });
  const sizes = useJson<TransferList>(path, { ...params, by: 'size', sort: '-total_ps', limit: 10 });
  const data = list.data?.by === by ? list.data : null;
  const rows = data?.rows ?? [];
  const table = useTable<TransferRow>({ columns: columnsOf(rows, by), rows, sort });
  if (absent !== null)
    return (
      <Empty>
        <Prose text={sentenceCase(absent)} />
      </Empty>
    );
  return (
    <>
      {directions.data && directions.data.rows.length > 0 && (
        <SentenceLine sentence={transfersSentence(directions.data.rows)} />
      )}
      <div class="transfer-pictures">
        {directions.data && (
          <Bars
            label="Time by direction"
            rows={directions.data.rows.map((row) => ({
              words: directionWords(row.direction),
              value: toNumber(row.total_ps ?? 0),
              told: time(row.total_ps ?? 0),
            }))}
          />
        )}
        {sizes.data && <Sizes rows={sizes.data.rows} />}
      </div>
      <TableBar
        table={table}
        noun={by === 'transfer' ? 'transfer' : by}
        total={data?.row_count ?? 0}
        example="size>1MiB overlapped_share<50%"
        file={`${run.name}-transfers`}
        csv={address('api/transfers', { ...params, limit: 10_000, format: 'csv' })}
      >
        <By value={by} words={BY} onChoose={(word) => go({ by: word, sort: null, columns: null, key: null }, 'push')} />
      </TableBar>
      {list.error && <Failed error={list.error} />}
      {!data && list.waiting && <Waiting what="Adding up." progress={list.progress} />}
      {data && data.row_count === 0 && <NothingHere did="Nothing moved" />}
      {data && (
        <TableBelow
          table={table}
          total={data.row_count}
          label={`Transfers by ${by}`}
          rowKey={(row) => `${row.key ?? ''} ${row.slice}`}
          weight={(row) => toNumber(row.total_ps ?? row.dur_ps ?? 0)}
          focused={query.value.key ?? null}
          onFocusRow={(row) => go({ key: `${row.key ?? ''} ${row.slice}` }, 'replace')}
          onOpen={(row) => go(goalOf(row), 'push')}
          openOn="enter"
          onShow={(row) => go(goalOf(row), 'push')}
          scroll
        />
      )}
    </>
  );
}
