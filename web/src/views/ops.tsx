/* SPDX-License-Identifier: Apache-2.0 */
/* What took the time, by op, scope, module and the rest; every row leads to its slices. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { opRestriction } from '../data/restriction';
import type { RunDetails, TopList, TopRow } from '../data/types';
import { shortScope } from '../model/cut';
import { kernelLabels } from '../model/kernel_label';
import { slicesOf, type OpPlace } from '../ui/op_link';
import { areNamesShared, type Cell } from '../model/table';
import {
  count,
  inScale,
  plural,
  rateScale,
  shareCell,
  timeExact,
  timeScale,
  toBig,
  toNumber,
  UNKNOWN,
  type Scale,
} from '../model/numbers';
import { opsSentence, sentenceCase } from '../model/sentence';
import { lazy } from '../ui/lazy';
import { Link } from '../ui/link';
import { toOp } from '../ui/op_link';
import { SourceLink } from '../ui/source';
import { Failed, isWhole, NothingHere, Waiting } from '../ui/states';
import type { Column } from '../ui/table';
import { TableBar, TableBelow } from '../ui/table_bar';
import { Name, SentenceLine, nameRoom } from '../ui/text';
import { useTable } from '../ui/use_table';
import type { Changes } from '../model/address';
import { Outside } from './outside';

const BY = ['op', 'name', 'scope', 'module', 'phase', 'category', 'source', 'track', 'device', 'host'];
const PATH_BY = ['op', 'name', 'kernel', 'api', 'scope', 'module', 'category', 'source'];
const PATH_COLUMN = /(^|,)\+?(on_path_ps|slack_ps)(,|$)/;
const ROWS_MAX = 5000;
/* Rates get the unit of the rows that matter: what lasts nanoseconds has any rate. */
const HEAVY_SHARE = 0.005;
/* What there is to filter by without a column of its own. */
const ALSO: Record<string, (row: TopRow) => Cell> = {
  kind: (row) => row.kind,
  flops: (row) => row.flops,
  bytes: (row) => row.bytes,
  event_count: (row) => row.event_count,
};

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/* Rows that are slices of one name have a card. */
function opOfRow(row: TopRow, by: string): OpPlace | null {
  if (by === 'op') return { name: row.name, module: row.module, by: 'op' };
  if (by === 'name' || by === 'kernel' || by === 'api' || by === 'annotation')
    return { name: row.name, module: null, by: 'name' };
  return null;
}

/* Where the name of a row leads. */
function goalOf(row: TopRow, by: string, counted: string | null | undefined): Changes {
  const op = opOfRow(row, by);
  if (op !== null) return toOp(op, counted);
  if (by === 'track') return { view: 'timeline', track: row.key };
  if (by === 'phase') return { view: 'flame', by: 'phase' };
  if (by === 'scope' || by === 'module' || by === 'host' || by === 'device')
    return { by: 'op', [by]: by === 'device' ? row.name.replace(/^\D+/, '') || row.name : row.name, q: null };
  return { by: 'op', q: `${by}:"${row.name}"` };
}

/* The same on the timeline: its slices, or all that it is narrowed to. */
function timelineOf(row: TopRow, by: string, counted: string | null | undefined): Changes {
  const op = opOfRow(row, by);
  if (op !== null) return slicesOf(op, query.value, counted);
  const goal = goalOf(row, by, counted);
  return goal.view === 'timeline'
    ? goal
    : { view: 'timeline', ...(goal.by === 'op' && goal.q === null ? goal : { find: row.name }), by: null, q: null };
}

function unknown(row: TopRow, field: string): string | null {
  return row.reasons?.[field] ?? null;
}

/* What lasts a few nanoseconds may have a rate that no machine has: told on hover only. */
const RATE_FAR = 10_000;

function rateCell(rate: number | null, scale: Scale): string {
  return rate !== null && rate / scale.divisor > RATE_FAR ? `>${count(RATE_FAR)}` : inScale(rate, scale);
}

function rateExact(row: TopRow, key: 'flops_per_s' | 'bytes_per_s', unit: string): string | null {
  return row[key] === null ? unknown(row, key) : `${count(row[key])} ${unit}`;
}

function sumOf(rows: readonly TopRow[], of: (row: TopRow) => number | bigint | null): bigint {
  return rows.reduce((sum, row) => sum + toBig(of(row) ?? 0), 0n);
}

function columnsOf(rows: readonly TopRow[], by: string, counted: string | null | undefined): Column<TopRow>[] {
  const self = timeScale(rows.map((row) => row.self_ps));
  const each = timeScale(rows.map((row) => row.p95_ps ?? row.mean_ps));
  const heavy = rows.filter((row) => (row.share ?? 0) >= HEAVY_SHARE);
  const flops = rateScale(
    (heavy.length > 0 ? heavy : rows).map((row) => row.flops_per_s),
    'FLOP/s',
  );
  const bytes = rateScale(
    (heavy.length > 0 ? heavy : rows).map((row) => row.bytes_per_s),
    'B/s',
  );
  let sum = 0;
  const upTo = new Map(rows.map((row) => [row, (sum += row.share ?? 0)]));
  const has = (key: keyof TopRow) => rows.some((row) => row[key] !== null && row[key] !== undefined && row[key] !== '');
  const swatch = has('kind') ? 16 : 0;
  const labels =
    by === 'kernel'
      ? kernelLabels(
          rows.map((row) => row.name),
          nameRoom(true),
        )
      : null;
  const spread = (
    key: 'mean_ps' | 'stdev_ps' | 'min_ps' | 'p50_ps' | 'p95_ps' | 'max_ps',
    title: string,
    more: Partial<Column<TopRow>>,
  ): Column<TopRow> => ({
    key,
    title,
    unit: each.unit,
    width: '88px',
    numeric: true,
    cell: (row) => inScale(row[key], each),
    exact: (row) => (row[key] === null || row[key] === undefined ? unknown(row, key) : timeExact(row[key])),
    ...more,
  });
  /* Of a large run paths are asked for where a column of them is chosen. */
  const path = (key: 'on_path_ps' | 'slack_ps', title: string, tip: string): Column<TopRow> | false =>
    PATH_BY.includes(by) && {
      key,
      title,
      tip,
      unit: self.unit,
      width: '96px',
      from: 1300,
      optional: !has(key) || key === 'slack_ps',
      numeric: true,
      cell: (row) => inScale(row[key], self),
      exact: (row) => (row[key] === null || row[key] === undefined ? unknown(row, key) : timeExact(row[key])),
    };
  const words = (
    key: 'module' | 'category' | 'phase' | 'kind',
    more: Partial<Column<TopRow>>,
  ): Column<TopRow> | false =>
    by !== key &&
    has(key) && {
      key,
      title: key,
      groups: true,
      width: 'minmax(104px, 1fr)',
      exact: (row) => row[key],
      cell: (row) => (row[key] ? <Name text={row[key]} /> : UNKNOWN),
      ...more,
    };
  const columns: (Column<TopRow> | false)[] = [
    {
      key: 'name',
      title: by,
      width: 'minmax(180px, 3fr)',
      indent: swatch,
      cutFront: by === 'scope',
      exact: (row) => row.name,
      cell: (row) => (
        <span class={row.kind ? `kind-${row.kind}` : undefined}>
          {row.kind && <span class="swatch" data-tip={row.kind} />}
          <Link to={goalOf(row, by, counted)}>
            <Name text={by === 'scope' ? shortScope(row.name) : (labels?.get(row.name) ?? row.name)} />
          </Link>
        </span>
      ),
    },
    by !== 'scope' &&
      has('scope') && {
        key: 'scope',
        groups: true,
        title: 'scope',
        width: 'minmax(140px, 3fr)',
        cutFront: true,
        from: 760,
        exact: (row) => row.scope,
        cell: (row) =>
          row.scope ? (
            <Link to={{ scope: row.scope }}>
              <Name text={shortScope(row.scope)} />
            </Link>
          ) : (
            UNKNOWN
          ),
      },
    by !== 'source' &&
      has('source') && {
        key: 'source',
        groups: true,
        title: 'source',
        width: 'minmax(132px, 1fr)',
        cutFront: true,
        from: 860,
        exact: (row) => row.source,
        cell: (row) => (row.source ? <SourceLink source={row.source} /> : UNKNOWN),
      },
    words('category', { from: 1500 }),
    words('module', areNamesShared(rows) ? { from: 1000 } : { optional: true }),
    words('phase', { optional: true }),
    words('kind', { optional: true }),
    {
      key: 'count',
      title: 'count',
      width: '72px',
      numeric: true,
      cell: (row) => {
        const op = opOfRow(row, by);
        return op === null ? count(row.count) : <Link to={slicesOf(op, query.value, counted)}>{count(row.count)}</Link>;
      },
      exact: (row) => `${plural(row.event_count, 'slice')}, on the timeline`,
      subtotal: (group) => count(group.reduce((sum, row) => sum + row.count, 0)),
    },
    {
      key: 'self_ps',
      title: 'self',
      unit: self.unit,
      width: '96px',
      numeric: true,
      cell: (row) => inScale(row.self_ps, self),
      exact: (row) => timeExact(row.self_ps),
      subtotal: (group) =>
        inScale(
          sumOf(group, (row) => row.self_ps),
          self,
        ),
    },
    {
      key: 'share',
      title: 'share',
      width: '144px',
      numeric: true,
      sortable: false,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share,
      exact: (row) => unknown(row, 'share') ?? 'self time of all rows',
      subtotal: (group) => shareCell(group.reduce((sum, row) => sum + (row.share ?? 0), 0)),
    },
    {
      key: 'cumulative',
      title: 'cumulative',
      width: '96px',
      from: 1500,
      numeric: true,
      sortable: false,
      cell: (row) => (row.share === null ? UNKNOWN : shareCell(Math.min(1, upTo.get(row)!))),
      exact: () => 'this row and all above it in this order, filtered or not',
    },
    {
      key: 'total_ps',
      title: 'total',
      unit: self.unit,
      width: '96px',
      from: 1500,
      numeric: true,
      cell: (row) => inScale(row.total_ps, self),
      exact: (row) => timeExact(row.total_ps),
      subtotal: (group) =>
        inScale(
          sumOf(group, (row) => row.total_ps),
          self,
        ),
    },
    path('on_path_ps', 'on path', 'Its time on the critical paths of the steps'),
    path('slack_ps', 'slack', 'Minimum: how much later it could end without delaying a step'),
    spread('mean_ps', 'mean', { from: 1100 }),
    spread('stdev_ps', 'stdev', { optional: true }),
    spread('min_ps', 'min', { optional: true }),
    spread('p50_ps', 'p50', { optional: true }),
    spread('p95_ps', 'p95', { from: 900 }),
    spread('max_ps', 'max', { optional: true }),
    has('flops_per_s') && {
      key: 'flops_per_s',
      title: flops.unit,
      width: '80px',
      from: 1400,
      numeric: true,
      cell: (row) => rateCell(row.flops_per_s, flops),
      exact: (row) => rateExact(row, 'flops_per_s', 'FLOP/s'),
    },
    has('bytes_per_s') && {
      key: 'bytes_per_s',
      title: bytes.unit,
      width: '80px',
      from: 1400,
      numeric: true,
      cell: (row) => rateCell(row.bytes_per_s, bytes),
      exact: (row) => rateExact(row, 'bytes_per_s', 'B/s'),
    },
    has('peak_share') && {
      key: 'peak_share',
      title: 'of peak',
      width: '80px',
      from: 1000,
      numeric: true,
      cell: (row) => shareCell(row.peak_share),
      exact: (row) =>
        row.peak_share === null ? unknown(row, 'peak_share') : `of the device’s peak, bound by ${row.bound_by}`,
    },
    has('bound_by') && {
      key: 'bound_by',
      title: 'bound by',
      width: '104px',
      from: 1800,
      cell: (row) => row.bound_by ?? UNKNOWN,
      exact: (row) => unknown(row, 'bound_by'),
    },
  ];
  return columns.filter((column) => column !== false);
}

/* What is not shown, so that the columns add up to the sentence. */
function restOf(top: TopList, rows: readonly TopRow[], noun: string): Record<string, string> | null {
  const left = top.row_count - rows.length;
  if (left <= 0) return null;
  const total = toBig(top.total_self_ps);
  const self = total - sumOf(rows, (row) => row.self_ps);
  const scale = timeScale(top.rows.map((row) => row.self_ps));
  const inside = top.rows.length === top.row_count;
  const shown = new Set(rows.map((row) => row.key));
  const counts = inside ? top.rows.filter((row) => !shown.has(row.key)).reduce((sum, row) => sum + row.count, 0) : null;
  return {
    name: `(rest) ${plural(left, noun, pluralOf(noun))}`,
    count: counts === null ? UNKNOWN : count(counts),
    self_ps: inScale(self < 0n ? 0n : self, scale),
    share: total > 0n ? shareCell(Math.max(0, Number(self) / Number(total))) : UNKNOWN,
  };
}

/* As a tree, where that is asked for. */
const OpTreeView = lazy(() => import('./later').then((module) => module.OpTreeView));

/* A range or step cuts what reaches over its edge, but of no op how long it took. */
const CUT_SHARE = 0.01;
const isCut = (row: TopRow): boolean =>
  row.mean_ps !== null &&
  row.count > 0 &&
  Math.abs(toNumber(row.total_ps) / row.count - toNumber(row.mean_ps)) > CUT_SHARE * toNumber(row.mean_ps) + 1;

export function OpsView({ run }: { run: RunDetails }) {
  return query.value.as === 'tree' ? <OpTreeView run={run} /> : <OpsTable run={run} />;
}

function OpsTable({ run }: { run: RunDetails }) {
  const asked = query.value.by ?? 'op';
  const params = {
    run: run.id,
    by: asked,
    ...opRestriction.value,
    sort: query.value.sort,
    path: PATH_COLUMN.test(query.value.columns ?? '') ? 'yes' : null,
  };
  const top = useJson<TopList>('api/top', { ...params, limit: ROWS_MAX });
  const data = top.data;
  const rows = data?.rows ?? [];
  const by = data?.by ?? asked;
  const table = useTable<TopRow>({
    columns: columnsOf(rows, by, data?.counted),
    rows,
    sort: '-self_ps',
    also: ALSO,
    groupOf: (row, key) =>
      key === 'scope' && row.scope ? shortScope(row.scope) : String(row[key as 'scope'] ?? `no ${key}`),
  });
  const shown = table.rows;
  return (
    <>
      {data && data.row_count > 0 && <SentenceLine sentence={opsSentence(data, by)} />}
      {data && data.by !== asked && data.notes.length === 0 && (
        <p class="basis">{`This run names no ${asked}s, so the rows are by ${data.by}.`}</p>
      )}
      {data && data.row_count > 0 && <Outside run={run} of={data} />}
      {rows.some(isCut) && (
        <p class="basis">
          Self and total are cut at the edges of what is asked for; mean and spread are of whole slices.
        </p>
      )}
      {data?.notes.map((note) => (
        <p key={note.message} class={`basis${note.severity === 'info' ? '' : ' warn'}`}>
          {sentenceCase(note.message)}
        </p>
      ))}
      <TableBar
        table={table}
        noun={by}
        nouns={pluralOf(by)}
        total={data?.row_count ?? 0}
        example="scope:mlp self>1ms kind=copy"
        file={`${run.name}-${by}`}
        csv={address('api/top', { ...params, limit: 10_000, format: 'csv' })}
        remark={
          data && data.approx.length > 0
            ? ` · ≈ ${data.approx.map((one) => one.replace(/_ps$/, '')).join(', ')}`
            : undefined
        }
      >
        <nav class="crumbs shown-as" aria-label="Shown as">
          <Link to={{ as: null }} current>
            table
          </Link>
          <Link to={{ as: 'tree' }}>tree</Link>
        </nav>
        <label>
          by
          <select value={asked} onChange={(event) => go({ by: event.currentTarget.value, key: null }, 'push')}>
            {BY.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </TableBar>
      {top.error && <Failed error={top.error} />}
      {!data && top.waiting && <Waiting what="Adding up." progress={top.progress} />}
      {data &&
        data.row_count === 0 &&
        (by === 'name' || !isWhole() ? (
          <NothingHere did="Nothing ran" />
        ) : (
          <p class="state">
            {`No ${by} ran on a device in this run. `}
            <Link to={{ by: 'name' }}>By name</Link> there is what its hosts did.
          </p>
        ))}
      {data && (
        <TableBelow
          table={table}
          total={data.row_count}
          label={`Time by ${by}`}
          rowKey={(row) => row.key}
          focused={query.value.key ?? null}
          onFocusRow={(row) => go({ key: row.key }, 'replace')}
          onOpen={(row) => go(goalOf(row, by, data.counted), 'push')}
          openOn="enter"
          onShow={(row) => go(timelineOf(row, by, data.counted), 'push')}
          weight={(row) => toNumber(row.self_ps)}
          rest={restOf(data!, shown, by)}
          scroll
        />
      )}
    </>
  );
}
