/* Slices of the window, and hits of the search, as tables: the same picture for every reader. */
import { useState } from 'preact/hooks';
import { address } from '../../data/api';
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { SearchReply, Slice, SliceList } from '../../data/types';
import type { Span } from '../../model/address';
import { shown } from '../../model/cut';
import { count, inScale, timeExact, timeScale } from '../../model/numbers';
import { Failed } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Name } from '../../ui/text';
import type { TimelineState } from './state';

const ROWS_MAX = 1000;

function columnsOf(state: TimelineState, rows: readonly Slice[]): Column<Slice>[] {
  const begins = timeScale(rows.map((row) => row.start_ps));
  const durations = timeScale(rows.map((row) => row.dur_ps));
  const self = timeScale(rows.map((row) => row.self_ps));
  const names = new Map<string, string>();
  const walk = (nodes: typeof state.roots): void => {
    for (const node of nodes) {
      names.set(node.id, node.name);
      walk(node.children);
    }
  };
  walk(state.roots);
  return [
    {
      key: 'name', title: 'name', sortable: false, width: 'minmax(160px, 3fr)', indent: 16, exact: (row) => shown(row.name),
      cell: (row) => (
        <span class={`kind-${row.kind}`}>
          <span class="swatch" data-tip={row.kind} />
          <Name text={row.name} />
        </span>
      ),
    },
    { key: 'track', title: 'track', sortable: false, width: 'minmax(80px, 1fr)', cell: (row) => <Name text={names.get(row.track) ?? row.track} /> },
    { key: 'start_ps', title: 'begin', unit: begins.unit, width: '112px', numeric: true, cell: (row) => inScale(row.start_ps, begins), exact: (row) => timeExact(row.start_ps) },
    { key: 'dur_ps', title: 'duration', unit: durations.unit, width: '112px', numeric: true, cell: (row) => inScale(row.dur_ps, durations), exact: (row) => timeExact(row.dur_ps) },
    { key: 'self_ps', title: 'self', unit: self.unit, width: '96px', numeric: true, cell: (row) => inScale(row.self_ps, self), exact: (row) => (row.self_ps === null ? null : timeExact(row.self_ps)) },
  ];
}

interface RowsProps {
  state: TimelineState;
  rows: readonly Slice[];
  all: number;
  label: string;
  sort?: string;
  onSort?: (sort: string) => void;
}

function Rows({ state, rows, all, label, sort, onSort }: RowsProps) {
  const focused = state.focus.value?.id ?? null;
  return (
    <Table
      label={label} columns={columnsOf(state, rows)} rows={rows} rowKey={(row) => row.id} rowCount={all} focused={focused} sort={sort}
      {...(onSort ? { onSort } : {})}
      onOpen={(row) => go({ slice: row.id })} scroll
    />
  );
}

/* The orders that the server knows. */
const ORDERS: Record<string, string> = { start_ps: 'start_ps', dur_ps: '-dur_ps', self_ps: '-self_ps' };

export function SlicesPane({ state, span }: { state: TimelineState; span: Span }) {
  const [sort, setSort] = useState('-dur_ps');
  const params = { run: state.run.id, track: restriction.value.track, start_ps: span.start, end_ps: span.end, sort, limit: ROWS_MAX };
  const slices = useJson<SliceList>('api/slices', params);
  const rows = slices.data?.rows ?? [];
  return (
    <>
      <div class="toolbar">
        {slices.data && (
          <span>
            {rows.length < slices.data.row_count
              ? `The first ${count(rows.length)} of ${count(slices.data.row_count)} slices. Narrow the range, or take the`
              : `${count(rows.length)} slices, as`}{' '}
            <a href={address('api/slices', { ...params, limit: 10_000, format: 'csv' })} download={`${state.run.name}-slices.csv`}>
              CSV
            </a>
          </span>
        )}
      </div>
      {slices.error && <Failed error={slices.error} />}
      {rows.length > 0 && <Rows state={state} rows={rows} all={slices.data!.row_count} label="Slices in the window" sort={sort} onSort={(next) => setSort(ORDERS[next.replace(/^-/, '')] ?? sort)} />}
    </>
  );
}

export function useSearch(state: TimelineState, find: string | undefined) {
  return useJson<SearchReply>(find ? 'api/search' : null, { run: state.run.id, q: find, limit: ROWS_MAX });
}

export function SearchPane({ state, reply, find }: { state: TimelineState; reply: ReturnType<typeof useSearch>; find: string }) {
  if (reply.error) return <Failed error={reply.error} />;
  if (!reply.data) return null;
  if (reply.data.row_count === 0)
    return (
      <p class="state">
        No slice matches <code class="mono">{find}</code>.
        <button class="framed" onClick={() => go({ find: null }, 'replace')}>
          Remove it
        </button>
      </p>
    );
  return <Rows state={state} rows={reply.data.rows} all={reply.data.row_count} label="Hits of the search" />;
}
