/* What took the time, by op, scope, module and the rest; every row leads to its slices. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { restriction } from '../data/restriction';
import type { RunDetails, TopList, TopRow } from '../data/types';
import { lastScopes, shortScope, shortSource } from '../model/cut';
import type { Cell } from '../model/filter';
import { count, inScale, plural, rateScale, shareCell, time, timeExact, timeScale, toNumber, UNKNOWN } from '../model/numbers';
import { opsSentence } from '../model/sentence';
import { FilterField, useFilter } from '../ui/filter_field';
import { Link } from '../ui/link';
import { Failed, Waiting } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { Name, SentenceLine } from '../ui/text';
import type { Changes } from '../model/address';

const BY = ['op', 'name', 'scope', 'module', 'category', 'source', 'track', 'device', 'host'];
const ROWS_MAX = 5000;
const FILTER_COLUMNS = ['name', 'scope', 'source', 'module', 'category', 'kind', 'count', 'self', 'total', 'mean', 'p50', 'p95', 'max', 'share', 'flops', 'bytes'];

function lookup(row: TopRow, column: string): Cell {
  const times: Record<string, number | bigint | null> = { self: row.self_ps, total: row.total_ps, mean: row.mean_ps, p50: row.p50_ps, p95: row.p95_ps, max: row.max_ps };
  if (column in times) return times[column] === null ? null : toNumber(times[column]!);
  return ((row as unknown as Record<string, Cell>)[column] ?? null) as Cell;
}

/* Where the name of a row leads. */
function goalOf(row: TopRow, by: string): Changes {
  if (by === 'op' || by === 'name' || by === 'kernel' || by === 'api' || by === 'annotation') return { view: 'timeline', find: row.name, slice: null };
  if (by === 'track') return { view: 'timeline', track: row.key };
  if (by === 'scope' || by === 'module' || by === 'host' || by === 'device') return { by: 'op', [by]: by === 'device' ? row.name.replace(/^\D+/, '') || row.name : row.name, q: null };
  return { by: 'op', q: `${by}:"${row.name}"` };
}

function unknown(row: TopRow, field: string): string | null {
  return row.reasons?.[field] ?? null;
}

function columnsOf(rows: readonly TopRow[], by: string): Column<TopRow>[] {
  const self = timeScale(rows.map((row) => row.self_ps));
  const each = timeScale(rows.map((row) => row.p95_ps ?? row.mean_ps));
  const flops = rateScale(rows.map((row) => row.flops_per_s), 'FLOP/s');
  const bytes = rateScale(rows.map((row) => row.bytes_per_s), 'B/s');
  const largest = Math.max(1e-9, ...rows.map((row) => row.share ?? 0));
  const has = (key: keyof TopRow) => rows.some((row) => row[key] !== null && row[key] !== undefined && row[key] !== '');
  const columns: (Column<TopRow> | false)[] = [
    {
      key: 'name', title: by, width: 'minmax(180px, 3fr)', cutFront: by === 'scope', exact: (row) => row.name,
      cell: (row) => (
        <span class={row.kind ? `kind-${row.kind}` : undefined}>
          {row.kind && <span class="swatch" data-tip={row.kind} />}
          <Link to={goalOf(row, by)}>
            <Name text={by === 'scope' ? shortScope(row.name) : row.name} />
          </Link>
        </span>
      ),
    },
    by !== 'scope' && has('scope') && {
      key: 'scope', title: 'scope', width: 'minmax(140px, 3fr)', cutFront: true, exact: (row) => row.scope,
      cell: (row) => (row.scope ? <Link to={{ scope: row.scope }}><Name text={lastScopes(row.scope)} /></Link> : UNKNOWN),
    },
    by !== 'source' && has('source') && {
      key: 'source', title: 'source', width: 'minmax(132px, 1fr)', cutFront: true, from: 800, exact: (row) => row.source,
      cell: (row) => (row.source ? <Name text={shortSource(row.source)} mono /> : UNKNOWN),
    },
    by !== 'category' && has('category') && { key: 'category', title: 'category', width: 'minmax(104px, 1fr)', from: 1500, exact: (row) => row.category, cell: (row) => row.category ?? UNKNOWN },
    { key: 'count', title: 'count', width: '72px', numeric: true, cell: (row) => count(row.count), exact: (row) => `${row.event_count} events` },
    { key: 'self_ps', title: 'self', unit: self.unit, width: '96px', numeric: true, cell: (row) => inScale(row.self_ps, self), exact: (row) => timeExact(row.self_ps) },
    { key: 'share', title: 'share', width: '144px', numeric: true, sortable: false, cell: (row) => shareCell(row.share), bar: (row) => (row.share ?? 0) / largest, exact: (row) => unknown(row, 'share') ?? 'self time of all rows' },
    { key: 'total_ps', title: 'total', unit: self.unit, width: '96px', from: 1000, numeric: true, cell: (row) => inScale(row.total_ps, self), exact: (row) => timeExact(row.total_ps) },
    { key: 'mean_ps', title: 'mean', unit: each.unit, width: '88px', numeric: true, cell: (row) => inScale(row.mean_ps, each), exact: (row) => (row.mean_ps === null ? unknown(row, 'mean_ps') : timeExact(row.mean_ps)) },
    { key: 'p95_ps', title: 'p95', unit: each.unit, width: '88px', from: 900, numeric: true, cell: (row) => inScale(row.p95_ps, each), exact: (row) => (row.p95_ps === null ? unknown(row, 'p95_ps') : timeExact(row.p95_ps)) },
    has('flops_per_s') && { key: 'flops_per_s', title: flops.unit, width: '80px', numeric: true, cell: (row) => inScale(row.flops_per_s, flops), exact: (row) => unknown(row, 'flops_per_s') },
    has('bytes_per_s') && { key: 'bytes_per_s', title: bytes.unit, width: '80px', numeric: true, cell: (row) => inScale(row.bytes_per_s, bytes), exact: (row) => unknown(row, 'bytes_per_s') },
  ];
  return columns.filter((column) => column !== false);
}

function Rest({ all, shown, top }: { all: number; shown: readonly TopRow[]; top: TopList }) {
  const rest = all - shown.length;
  if (rest <= 0) return null;
  const self = BigInt(top.total_self_ps) - shown.reduce((sum, row) => sum + BigInt(row.self_ps), 0n);
  const total = toNumber(top.total_self_ps);
  return (
    <div class="table-rest">
      (rest) {plural(rest, 'row')}, self {time(self < 0n ? 0n : self)}
      {total > 0 && `, ${shareCell(Math.max(0, Number(self) / total))}`}
    </div>
  );
}

export function OpsView({ run }: { run: RunDetails }) {
  const asked = query.value.by ?? 'op';
  const sort = query.value.sort ?? '-self_ps';
  const params = { run: run.id, by: asked, ...restriction.value, sort };
  const top = useJson<TopList>('api/top', { ...params, limit: ROWS_MAX });
  const filter = useFilter(FILTER_COLUMNS);
  const data = top.data;
  const rows = data?.rows ?? [];
  const shown = filter.filter.empty ? rows : rows.filter((row) => filter.filter.test(row.name, (column) => lookup(row, column)));
  const by = data?.by ?? asked;
  return (
    <>
      {data && data.row_count > 0 && <SentenceLine sentence={opsSentence(data, by === 'category' ? 'category' : by)} />}
      {data && data.by !== asked && <p class="basis">{`This run names no ${asked}s, so the rows are by ${data.by}.`}</p>}
      {data?.notes.map((note) => (
        <p key={note.message} class={`basis${note.severity === 'info' ? '' : ' warn'}`}>
          {note.message}
        </p>
      ))}
      <div class="toolbar">
        <label>
          by
          <select value={asked} onChange={(event) => go({ by: event.currentTarget.value, key: null }, 'push')}>
            {BY.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <FilterField state={filter} label="Filter rows" example="scope:mlp self>1ms -copy" />
        {data && (
          <span aria-live="polite">
            {shown.length === data.row_count ? count(data.row_count) : `${count(shown.length)} of ${count(data.row_count)}`}
            {data.approx.length > 0 && ` · ≈ ${data.approx.join(', ')}`}
          </span>
        )}
        <a href={address('api/top', { ...params, limit: 10_000, format: 'csv' })} download={`${run.name}-${by}.csv`}>
          CSV
        </a>
      </div>
      {top.error && <Failed error={top.error} />}
      {!data && top.waiting && <Waiting what="Adding up." progress={top.progress} />}
      {data && data.row_count === 0 && <p class="state">Nothing ran in what this page is narrowed to.</p>}
      {data && rows.length > 0 && shown.length === 0 && (
        <p class="state">
          Nothing matches <code class="mono">{filter.text}</code>; without the filter there are {count(data.row_count)}.
          <button class="framed" onClick={() => filter.set('')}>
            Remove it
          </button>
        </p>
      )}
      {shown.length > 0 && (
        <Table
          label={`Time by ${by}`} columns={columnsOf(rows, by)} rows={shown} rowKey={(row) => row.key} rowCount={data!.row_count} sort={sort}
          onSort={(next) => go({ sort: next }, 'replace')} focused={query.value.key ?? null} onFocusRow={(row) => go({ key: row.key }, 'replace')}
          foot={<Rest all={data!.row_count} shown={shown} top={data!} />} scroll
        />
      )}
    </>
  );
}
