/* Slices of the window as a table: the same picture for every reader, a million rows long. */
import { useState } from 'preact/hooks';
import { address, type Params } from '../../data/api';
import { usePages } from '../../data/pages';
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { Slice, SliceList } from '../../data/types';
import type { Span } from '../../model/address';
import { shown } from '../../model/cut';
import { pathTo } from '../../model/layout';
import { count, inScale, plural, timeExact, timeScale } from '../../model/numbers';
import { Failed } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Name } from '../../ui/text';
import type { TimelineState } from './state';

const PICKED_MAX = 1_000_000; // the server's pages go no further

/* The orders that the server knows. */
const ORDERS: Record<string, string> = { start_ps: 'start_ps', dur_ps: '-dur_ps', self_ps: '-self_ps' };

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
function columnsOf(state: TimelineState, longest: Slice | undefined, span: Span): Column<Slice>[] {
  const begins = timeScale([span.start, span.end]);
  const durations = timeScale([longest?.dur_ps]);
  const names = trackNames(state);
  /* Of a search: where the word stands, if in no name. */
  const found = longest?.matched && longest.matched !== 'name';
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
    ...(found ? [{ key: 'matched', title: 'found in', sortable: false, width: '80px', cell: (row: Slice) => row.matched }] : []),
    { key: 'track', title: 'track', sortable: false, width: 'minmax(80px, 1fr)', cell: (row) => <Name text={names.get(row.track) ?? row.track} /> },
    { key: 'start_ps', title: 'begin', unit: begins.unit, width: '112px', numeric: true, cell: (row) => inScale(row.start_ps, begins), exact: (row) => timeExact(row.start_ps) },
    { key: 'dur_ps', title: 'duration', unit: durations.unit, width: '112px', numeric: true, cell: (row) => inScale(row.dur_ps, durations), exact: (row) => timeExact(row.dur_ps) },
    { key: 'self_ps', title: 'self', unit: durations.unit, width: '96px', numeric: true, cell: (row) => inScale(row.self_ps, durations), exact: (row) => (row.self_ps === null ? null : timeExact(row.self_ps)) },
  ];
}

interface RowsProps {
  state: TimelineState;
  path: 'api/slices' | 'api/search';
  asked: Params;
  span: Span; // in which they begin
  label: string;
  sort: string;
  onSort?: (sort: string) => void;
}

/* All of them, page by page, with how many there are. */
export function SliceRows({ state, path, asked, span, label, sort, onSort }: RowsProps) {
  const longest = useJson<SliceList>(path, { ...asked, sort: '-dur_ps', limit: 1 });
  const { pages, error } = usePages<Slice>(path, { ...asked, sort }, PICKED_MAX);
  const all = longest.data?.row_count ?? 0;
  if (error) return <Failed error={error} />;
  return (
    <>
      <div class="toolbar">
        {pages && (
          <span>
            {all > pages.count ? `The first ${count(pages.count)} of ${plural(all, 'slice')}. ` : `${plural(pages.count, 'slice')}. `}
            <a href={address(path, { ...asked, sort, limit: 10_000, format: 'csv' })} download={`${state.run.name}-slices.csv`}>
              CSV
            </a>
            {all > 10_000 && ' of the first 10 000'}
          </span>
        )}
      </div>
      {pages && pages.count > 0 && longest.data && (
        <Table
          key={sort} label={label} columns={columnsOf(state, longest.data.rows[0], span)} rows={[]} pages={pages} rowKey={(row) => row.id} rowCount={all} focused={state.focus.value?.id ?? null}
          sort={sort} {...(onSort ? { onSort: (next: string) => onSort(ORDERS[next.replace(/^-/, '')] ?? sort) } : {})} onOpen={(row) => go({ slice: row.id })} scroll
        />
      )}
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
      <SliceRows state={state} path="api/slices" asked={{ run: state.run.id, track, start_ps: span.start, end_ps: span.end }} span={span} label={`Events of ${name}`} sort="start_ps" />
    </>
  );
}

export function SlicesPane({ state, span }: { state: TimelineState; span: Span }) {
  const [sort, setSort] = useState('-dur_ps');
  const listing = state.listing.value;
  if (listing) return <TrackEvents state={state} {...listing} />;
  const { track, host, name } = restriction.value;
  const asked = { run: state.run.id, track, host, name, start_ps: span.start, end_ps: span.end };
  return <SliceRows state={state} path="api/slices" asked={asked} span={span} label="Slices in the window" sort={sort} onSort={setSort} />;
}
