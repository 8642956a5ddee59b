/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of the window as a table: the same picture for every reader, a million rows long.
 *
 *   as it comes          every page that comes into sight, in an order of the server's
 *   filtered, in groups  the first PART_MAX of that order, held here; the bar says of how many
 */
import { address, type Params } from '../../data/api';
import { usePages } from '../../data/pages';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { Slice, SliceList } from '../../data/types';
import type { Span } from '../../model/address';
import { shown } from '../../model/cut';
import { pathTo } from '../../model/layout';
import { count, inScale, timeExact, timeScale } from '../../model/numbers';
import { Failed, Waiting } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name } from '../../ui/text';
import { useTable } from '../../ui/use_table';
import type { TimelineState } from './state';

const PICKED_MAX = 1_000_000; // the server's pages go no further
const PART_MAX = 10_000;
const PREFIX = 'slices_';

/* The orders that the server knows, and the first rows of each. */
const ORDERS: Record<string, string> = { start_ps: 'start_ps', dur_ps: '-dur_ps', self_ps: '-self_ps' };
const FIRST: Record<string, string> = {
  start_ps: 'earliest',
  '-dur_ps': 'longest',
  '-self_ps': 'longest by self time',
};

function trackNames(state: TimelineState): Map<string, string> {
  const names = new Map<string, string>();
  const walk = (nodes: typeof state.roots): void => {
    for (const node of nodes) {
      names.set(node.id, node.name);
      walk(node.children);
    }
  };
  walk(state.roots);
  return names;
}

/* Scales stand on the longest slice and the window, not on the rows at hand: they hold for every page. */
function columnsOf(state: TimelineState, longest: Slice | undefined, span: Span, held: boolean): Column<Slice>[] {
  const begins = timeScale([span.start, span.end]);
  const durations = timeScale([longest?.dur_ps]);
  const names = trackNames(state);
  /* Of a search: where the word stands, if in no name. */
  const found = longest?.matched && longest.matched !== 'name';
  return [
    {
      key: 'name',
      title: 'name',
      sortable: held,
      width: 'minmax(160px, 3fr)',
      indent: 16,
      groups: true,
      exact: (row) => shown(row.name),
      cell: (row) => (
        <span class={`kind-${row.kind}`}>
          <span class="swatch" data-tip={row.kind} />
          <Name text={row.name} />
        </span>
      ),
    },
    {
      key: 'kind',
      title: 'kind',
      sortable: held,
      optional: true,
      groups: true,
      width: '112px',
      cell: (row) => row.kind,
    },
    ...(found
      ? [
          {
            key: 'matched',
            title: 'found in',
            sortable: held,
            groups: true,
            width: '80px',
            cell: (row: Slice) => row.matched,
          },
        ]
      : []),
    {
      key: 'track',
      title: 'track',
      sortable: held,
      groups: true,
      width: 'minmax(80px, 1fr)',
      value: (row) => names.get(row.track) ?? row.track,
      cell: (row) => <Name text={names.get(row.track) ?? row.track} />,
    },
    {
      key: 'start_ps',
      title: 'begin',
      unit: begins.unit,
      width: '112px',
      numeric: true,
      cell: (row) => inScale(row.start_ps, begins),
      exact: (row) => timeExact(row.start_ps),
    },
    {
      key: 'dur_ps',
      title: 'duration',
      unit: durations.unit,
      width: '112px',
      numeric: true,
      sums: (total) => inScale(total, durations),
      cell: (row) => inScale(row.dur_ps, durations),
      exact: (row) => timeExact(row.dur_ps),
    },
    {
      key: 'self_ps',
      title: 'self',
      unit: durations.unit,
      width: '96px',
      numeric: true,
      sums: (total) => inScale(total, durations),
      cell: (row) => inScale(row.self_ps, durations),
      exact: (row) => (row.self_ps === null ? null : timeExact(row.self_ps)),
    },
  ];
}

interface RowsProps {
  state: TimelineState;
  path: 'api/slices' | 'api/search';
  asked: Params;
  span: Span; // in which they begin
  label: string;
  usual: string; // order
  fixed?: boolean; // no other
}

/* All of them, page by page, with how many there are. */
export function SliceRows({ state, path, asked, span, label, usual, fixed = false }: RowsProps) {
  const held = Boolean(query.value[`${PREFIX}q`] ?? query.value[`${PREFIX}group`]);
  const told = (query.value[`${PREFIX}sort`] ?? usual).split(',')[0]!.replace(/^-/, '');
  const order = fixed ? usual : (ORDERS[told] ?? usual);
  const longest = useJson<SliceList>(path, { ...asked, sort: '-dur_ps', limit: 1 });
  const { pages, first, error } = usePages<Slice>(path, { ...asked, sort: order }, PICKED_MAX);
  const part = useJson<SliceList>(held ? path : null, { ...asked, sort: order, limit: PART_MAX });
  const table = useTable<Slice>({
    columns: columnsOf(state, longest.data?.rows[0], span, held),
    rows: held ? (part.data?.rows ?? []) : first,
    sort: order,
    here: held,
    prefix: PREFIX,
  });
  const all = longest.data?.row_count ?? 0;
  const rows = {
    label,
    rowKey: (row: Slice) => row.id,
    focused: state.focus.value?.id ?? null,
    onOpen: (row: Slice) => go({ slice: row.id, piece: null }),
    scroll: true,
  };
  const failed = error ?? part.error;
  if (failed) return <Failed error={failed} />;
  if (!pages || pages.count === 0 || !longest.data) return null;
  return (
    <>
      <TableBar
        table={table}
        noun="slice"
        aside
        total={held ? Math.min(all, PART_MAX) : all}
        {...(held ? {} : { listed: pages.count })}
        example="dot kind:compute duration>1ms"
        file={`${state.run.name}-slices`}
        remark={held && all > PART_MAX ? ` of ${count(all)}, ${FIRST[order]} first` : undefined}
        csv={address(path, { ...asked, sort: order, limit: PART_MAX, format: 'csv' })}
        csvTip={all > PART_MAX ? `the first ${count(PART_MAX)}` : undefined}
      />
      {!held && (
        <Table
          key={order}
          {...rows}
          columns={table.columns}
          chosen={query.value[table.word('columns')]}
          rows={[]}
          pages={pages}
          rowCount={all}
          sort={order}
          {...(fixed ? {} : { onSort: (next: string) => table.onSort(ORDERS[next.replace(/^-/, '')] ?? order) })}
        />
      )}
      {held &&
        (part.data ? (
          <TableBelow {...rows} table={table} total={Math.min(all, PART_MAX)} />
        ) : (
          <Waiting what="Asking for the slices." progress={part.progress} />
        ))}
    </>
  );
}

/* The events of one track, from the slice on that was double clicked. */
function TrackEvents({ state, track, at }: { state: TimelineState; track: string; at: bigint }) {
  const name = pathTo(state.roots, track)?.at(-1)?.name ?? track;
  const span = { start: at, end: state.end + 1n };
  return (
    <>
      <p>
        Events of <Name text={name} /> from this one on.{' '}
        <button class="framed" onClick={() => void (state.listing.value = null)}>
          All tracks of the window
        </button>
      </p>
      <SliceRows
        state={state}
        path="api/slices"
        asked={{ run: state.run.id, track, start_ps: span.start, end_ps: span.end }}
        span={span}
        label={`Events of ${name}`}
        usual="start_ps"
        fixed
      />
    </>
  );
}

export function SlicesPane({ state, span }: { state: TimelineState; span: Span }) {
  const listing = state.listing.value;
  if (listing) return <TrackEvents state={state} {...listing} />;
  const { track, host, name } = restriction.value;
  const asked = { run: state.run.id, track, host, name, start_ps: span.start, end_ps: span.end };
  return (
    <SliceRows state={state} path="api/slices" asked={asked} span={span} label="Slices in the window" usual="-dur_ps" />
  );
}
