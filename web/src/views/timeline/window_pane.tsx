/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside a range, else inside the window: one sentence, then a table of names or ops. */
import { useEffect, useState } from 'preact/hooks';
import { address } from '../../data/api';
import { restriction } from '../../data/restriction';
import { loadJson } from '../../data/resource';
import { useSteady } from '../../data/steady';
import type { IdleRow, StepRow, TopList, TopRow } from '../../data/types';
import { formatSpan, type Span } from '../../model/address';
import { shown } from '../../model/cut';
import { spelledLabels } from '../../model/kernel_label';
import { areNamesShared } from '../../model/table';
import {
  count,
  inScale,
  plural,
  share,
  shareCell,
  significant,
  time,
  timeExact,
  timeScale,
  toBig,
  toNumber,
  UNKNOWN,
} from '../../model/numbers';
import { go, query } from '../../data/place';
import { Link } from '../../ui/link';
import { Failed } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Name, nameRoom } from '../../ui/text';
import { named, timeOf } from '../../model/sentence';
import { CountersPane, countersIn } from './counters_pane';
import { litBySearch, type TimelineState } from './state';

/* Rows of these are names of slices. */
const NAMES = new Set(['op', 'name', 'kernel']);
const BY = ['op', 'name', 'kind', 'category', 'module', 'scope', 'source', 'track', 'idle'];
const ROWS_MAX = 100;

function columnsOf(rows: readonly TopRow[], by: string): Column<TopRow>[] {
  const labels = spelledLabels(
    rows.map((row) => row.name),
    nameRoom(true),
  );
  const self = timeScale(rows.map((row) => row.self_ps));
  const total = timeScale(rows.map((row) => row.total_ps));
  const mean = timeScale(rows.map((row) => row.mean_ps));
  const columns: (Column<TopRow> | false)[] = [
    {
      key: 'name',
      title: by,
      cutFront: by === 'scope',
      width: 'minmax(160px, 3fr)',
      indent: 16,
      exact: (row) => shown(row.name),
      cell: (row) => (
        <span class={row.kind ? `kind-${row.kind}` : undefined}>
          {row.kind && <span class="swatch" data-tip={row.kind} />}
          <Name text={labels.get(row.name) ?? row.name} />
        </span>
      ),
    },
    by === 'op' &&
      areNamesShared(rows) && {
        key: 'module',
        title: 'module',
        width: 'minmax(120px, 2fr)',
        from: 900,
        exact: (row) => row.module,
        cell: (row) => (row.module ? <Name text={row.module} /> : UNKNOWN),
      },
    { key: 'count', title: 'count', width: '72px', numeric: true, cell: (row) => count(row.count) },
    {
      key: 'self_ps',
      title: 'self',
      unit: self.unit,
      width: '88px',
      numeric: true,
      cell: (row) => inScale(row.self_ps, self),
      exact: (row) => timeExact(row.self_ps),
    },
    {
      key: 'share',
      title: 'share',
      width: '144px',
      numeric: true,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share,
    },
    {
      key: 'total_ps',
      title: 'total',
      unit: total.unit,
      width: '96px',
      from: 800,
      numeric: true,
      cell: (row) => inScale(row.total_ps, total),
      exact: (row) => timeExact(row.total_ps),
    },
    {
      key: 'mean_ps',
      title: 'mean',
      unit: mean.unit,
      width: '96px',
      from: 700,
      numeric: true,
      cell: (row) => inScale(row.mean_ps, mean),
      exact: (row) => (row.mean_ps === null ? null : timeExact(row.mean_ps)),
    },
  ];
  return columns.filter((column) => column !== false);
}

/* How much of a step lies in the span, 0 to 1. */
function partInside(step: StepRow, span: Span): number {
  const { start, end } = spanOfSlice(step);
  const from = start > span.start ? start : span.start;
  const to = end < span.end ? end : span.end;
  return to > from ? Number(to - from) / Number(end - start) : 0;
}

function Sentence({
  state,
  span,
  range,
  top,
}: {
  state: TimelineState;
  span: Span;
  range: boolean;
  top: TopList | null;
}) {
  const size = span.end - span.start;
  const steps = state.steps.value;
  const inSteps = steps.reduce((sum, step) => sum + partInside(step, span), 0);
  const first = top?.rows[0];
  const whole = time(state.end - state.start);
  const all = span.start <= state.start && span.end >= state.end; // the window has a margin
  return (
    <p>
      {range ? 'Range: ' : 'In view: '}
      {all ? 'all ' : ''}
      <strong>{all ? whole : time(size)}</strong>
      {all ? '' : ` of ${whole}`}
      {steps.length > 0 && `, ${inSteps > 0 && inSteps < 0.01 ? '<0.01' : significant(inSteps)} steps`}
      {top && `; ${plural(top.row_count, top.by, top.by.endsWith('y') ? `${top.by.slice(0, -1)}ies` : `${top.by}s`)}`}
      {top && top.row_count > 0 && (
        <>
          {top.row_count === 1 ? ' takes ' : ' take '}
          <strong>{time(top.total_self_ps)}</strong>
          {` of ${timeOf(top.by, top.of)}`}
        </>
      )}
      {first && first.share !== null && (
        <>
          {', '}
          <Name text={named(first.name)} /> <strong>{share(first.share)}</strong>
          {' of it'}
        </>
      )}
      .
    </p>
  );
}

function restOf(top: TopList, rows: readonly TopRow[]): Record<string, string> | null {
  const left = top.row_count - rows.length;
  if (left <= 0) return null;
  const self = toBig(top.total_self_ps) - rows.reduce((sum, row) => sum + toBig(row.self_ps), 0n);
  const total = toNumber(top.total_self_ps);
  return {
    name: `(rest) ${count(left)}`,
    self_ps: inScale(self, timeScale(rows.map((row) => row.self_ps))),
    share: total > 0 ? shareCell(Math.max(0, Number(self) / total)) : UNKNOWN,
  };
}

/* The next slice of that name inside the span goes into focus. */
async function openRow(state: TimelineState, row: TopRow, by: string, span: Span): Promise<void> {
  if (by === 'track') return go({ track: row.key, start_ps: String(span.start), end_ps: String(span.end) });
  if (by === 'kind') return;
  if (!NAMES.has(by)) return go({ [by]: row.name });
  const reply = await loadJson<{ rows: { id: string }[] }>('api/slices', {
    run: state.run.id,
    name: row.name,
    start_ps: span.start,
    end_ps: span.end,
    limit: 1,
  });
  if (reply.rows[0]) go({ slice: reply.rows[0].id, piece: null });
}

/* Where devices had nothing to do meanwhile, by what the host did. */
function IdlePane({ state, span }: { state: TimelineState; span: Span }) {
  const { data, error } = useSteady<{ rows: IdleRow[] }>('api/steps', {
    run: state.run.id,
    view: 'idle',
    start_ps: span.start,
    end_ps: span.end,
    limit: ROWS_MAX,
  });
  if (error) return <Failed error={error} />;
  if (!data) return null;
  if (data.rows.length === 0) return <p class="quiet">No device that recorded an op was idle here.</p>;
  const { rows } = data;
  const scale = timeScale(rows.map((row) => row.idle_ps));
  const columns: Column<IdleRow>[] = [
    {
      key: 'cause',
      title: 'host meanwhile',
      sortable: false,
      width: 'minmax(140px, 3fr)',
      cell: (row) => <Name text={row.cause} />,
    },
    {
      key: 'device',
      title: 'device',
      sortable: false,
      width: '72px',
      numeric: true,
      cell: (row) => String(row.device),
    },
    {
      key: 'idle_ps',
      title: 'idle',
      unit: scale.unit,
      sortable: false,
      width: '96px',
      numeric: true,
      cell: (row) => inScale(row.idle_ps, scale),
      exact: (row) => timeExact(row.idle_ps),
    },
    {
      key: 'share',
      title: 'of idle',
      sortable: false,
      width: '144px',
      numeric: true,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share ?? 0,
    },
  ];
  return (
    <Table
      label="Idle devices, by cause"
      columns={columns}
      rows={rows}
      rowKey={(row) => `${row.host} ${row.device} ${row.cause}`}
      scroll
    />
  );
}

/* What the table is by: as chosen; else ops, or where the tracks of the box hold none, names. */
function useBy(tracks: string | undefined): {
  asked: string;
  setBy: (by: string) => void;
  note: (top: TopList) => void;
} {
  const [chosen, setBy] = useState<string | null>(null);
  const [without, setWithout] = useState<string | null>(null); // tracks of no op
  const asked = chosen ?? (tracks !== undefined && tracks === without ? 'name' : 'op');
  const note = (top: TopList): void => {
    if (tracks !== undefined && top.by === 'op' && top.row_count === 0 && without !== tracks) setWithout(tracks);
  };
  return { asked, setBy, note };
}

export function WindowPane({ state, span, range }: { state: TimelineState; span: Span; range: boolean }) {
  const tracks = state.rangeTracks.value?.join(',') ?? restriction.value.track;
  const { asked, setBy, note } = useBy(tracks);
  const [sort, setSort] = useState('-self_ps');
  const params = {
    run: state.run.id,
    by: asked,
    ...restriction.value,
    ...(tracks === undefined ? {} : { track: tracks }),
    start_ps: span.start,
    end_ps: span.end,
    sort,
    limit: ROWS_MAX,
  };
  const idle = asked === 'idle';
  const counters = asked === 'counters';
  const top = useSteady<TopList>(idle || counters ? null : 'api/top', { ...params, spread: 'none' });
  useEffect(() => void (top.data && note(top.data)), [top.data]);
  const rows = top.data?.rows ?? [];
  const by = top.data?.by ?? asked;
  const light = (row: TopRow | null) =>
    (state.lit.value =
      row === null || !NAMES.has(by) ? litBySearch(query.value.find) : { text: row.name, exact: true });
  useEffect(() => () => void (state.lit.value = litBySearch(query.value.find)), [state]);
  const ranged = { start_ps: String(span.start), end_ps: String(span.end) };
  return (
    <>
      <div class="toolbar">
        <Sentence state={state} span={span} range={range} top={top.data} />
        <label>
          by
          <select value={asked} onChange={(event) => setBy(event.currentTarget.value)}>
            {[...BY, ...(countersIn(state).length > 0 ? ['counters'] : [])].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Link to={{ view: 'flame', ...ranged, by: null, window: null }}>flame</Link>
        <Link to={{ view: 'ops', ...ranged, by: asked, window: null }}>all columns</Link>
        <a
          href={address('api/top', { ...params, limit: 10_000, format: 'csv' })}
          download={`${state.run.name}-${by}-${formatSpan(span)}.csv`}
        >
          CSV
        </a>
      </div>
      {idle && <IdlePane state={state} span={span} />}
      {counters && <CountersPane state={state} span={span} />}
      {top.error && <Failed error={top.error} />}
      {rows.length > 0 && (
        <Table
          label={`What is inside, by ${by}`}
          columns={columnsOf(rows, by)}
          rows={rows}
          rowKey={(row) => row.key}
          rowCount={top.data?.row_count ?? 0}
          sort={sort}
          onSort={setSort}
          onOpen={(row) => void openRow(state, row, by, span)}
          onHoverRow={light}
          rest={restOf(top.data!, rows)}
          scroll
        />
      )}
      {top.data && rows.length === 0 && (
        <p class="quiet">
          {`No ${by} ran here. `}
          {by !== 'name' && (
            <button class="framed" onClick={() => setBy('name')}>
              By name
            </button>
          )}
        </p>
      )}
    </>
  );
}

export function spanOfSlice(slice: { start_ps: number | bigint; dur_ps: number | bigint }): Span {
  const start = toBig(slice.start_ps);
  return { start, end: start + toBig(slice.dur_ps) };
}
