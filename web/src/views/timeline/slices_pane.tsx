/* Slices of the window as a table: the same picture for every reader, a million rows long. */
import { useState } from 'preact/hooks';
import { address } from '../../data/api';
import { usePages } from '../../data/pages';
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { Slice, SliceList } from '../../data/types';
import type { Span } from '../../model/address';
import { shown } from '../../model/cut';
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
    { key: 'self_ps', title: 'self', unit: durations.unit, width: '96px', numeric: true, cell: (row) => inScale(row.self_ps, durations), exact: (row) => (row.self_ps === null ? null : timeExact(row.self_ps)) },
  ];
}

export function SlicesPane({ state, span }: { state: TimelineState; span: Span }) {
  const [sort, setSort] = useState('-dur_ps');
  const asked = { run: state.run.id, track: restriction.value.track, host: restriction.value.host, name: restriction.value.name, start_ps: span.start, end_ps: span.end };
  const longest = useJson<SliceList>('api/slices', { ...asked, sort: '-dur_ps', limit: 1 });
  const { pages, error } = usePages<Slice>('api/slices', { ...asked, sort }, PICKED_MAX);
  const all = longest.data?.row_count ?? 0;
  return (
    <>
      <div class="toolbar">
        {pages && (
          <span>
            {all > pages.count ? `The first ${count(pages.count)} of ${plural(all, 'slice')}. ` : `${plural(pages.count, 'slice')}. `}
            <a href={address('api/slices', { ...asked, sort, limit: 10_000, format: 'csv' })} download={`${state.run.name}-slices.csv`}>
              CSV
            </a>
            {all > 10_000 && ' of the first 10 000'}
          </span>
        )}
      </div>
      {error && <Failed error={error} />}
      {pages && pages.count > 0 && longest.data && (
        <Table
          key={sort} label="Slices in the window" columns={columnsOf(state, longest.data.rows[0], span)} rows={[]} pages={pages} rowKey={(row) => row.id} rowCount={all} focused={state.focus.value?.id ?? null}
          sort={sort} onSort={(next) => setSort(ORDERS[next.replace(/^-/, '')] ?? sort)} onOpen={(row) => go({ slice: row.id })} scroll
        />
      )}
    </>
  );
}
