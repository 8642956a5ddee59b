/* SPDX-License-Identifier: Apache-2.0 */
/* Counters in a range: what each was at its begin and at its end, by how much it changed, and how fast. */
import { useEffect, useState } from 'preact/hooks';
import { loadJson } from '../../data/resource';
import type { Span } from '../../model/address';
import { shown } from '../../model/cut';
import { sampled } from '../../data/counter_store';
import { count, toNumber, UNKNOWN } from '../../model/numbers';
import { tracksIn, type Node } from '../../model/layout';
import { Failed } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Name } from '../../ui/text';
import type { TimelineState } from './state';

interface Bucket {
  first: number;
  last: number;
  min: number;
  max: number;
  count: number;
}

interface Row {
  track: string;
  name: string;
  bucket: Bucket | null; // null: no sample in the range
}

const COUNTERS_MAX = 100;

function countersOf(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node) => [...(node.kind === 'counter' ? [node] : []), ...countersOf(node.children)]);
}

/* Of the tracks of a box, or all of them. */
export function countersIn(state: TimelineState): Node[] {
  const tracks = state.rangeTracks.value;
  const all = countersOf(state.roots);
  if (tracks === null) return all;
  const within = new Set(
    state.layout.value.bands.filter((band) => tracks.includes(band.node.id)).flatMap((band) => tracksIn(band.node)),
  );
  return all.filter((node) => within.has(node.id));
}

function useRows(state: TimelineState, span: Span): { rows: Row[] | null; error: Error | null } {
  const counters = countersIn(state).slice(0, COUNTERS_MAX);
  const [answer, setAnswer] = useState<{ rows: Row[] | null; error: Error | null }>({ rows: null, error: null });
  const asked = `${span.start}-${span.end} ${counters.map((node) => node.id).join()}`;
  useEffect(() => {
    const abort = new AbortController();
    const params = { run: state.run.id, start_ps: span.start, end_ps: span.end, px: 1 };
    const load = async (node: Node): Promise<Row> => {
      const reply = await loadJson<{ rows: Bucket[] }>('api/counters', { ...params, track: node.id }, abort.signal);
      return { track: node.id, name: node.name, bucket: reply.rows[0] ?? null };
    };
    Promise.all(counters.map(load)).then(
      (rows) => abort.signal.aborted || setAnswer({ rows, error: null }),
      (error: Error) => abort.signal.aborted || setAnswer({ rows: null, error }),
    );
    return () => abort.abort();
  }, [state, asked]);
  return answer;
}

export function CountersPane({ state, span }: { state: TimelineState; span: Span }) {
  const { rows, error } = useRows(state, span);
  if (error) return <Failed error={error} />;
  if (rows === null) return null;
  if (rows.length === 0) return <p class="quiet">No counter is among these tracks.</p>;
  const seconds = Number(span.end - span.start) / 1e12;
  const figure = (
    key: string,
    title: string,
    of: (bucket: Bucket) => number,
    words: (row: Row, value: number) => string = (row, value) => sampled(row.name, value),
  ): Column<Row> => ({
    key,
    title,
    sortable: false,
    width: '112px',
    numeric: true,
    cell: (row) => (row.bucket ? words(row, of(row.bucket)) : UNKNOWN),
    exact: (row) => (row.bucket ? String(of(row.bucket)) : null),
  });
  const signed = (row: Row, value: number): string => `${value > 0 ? '+' : ''}${sampled(row.name, value)}`;
  const columns: Column<Row>[] = [
    {
      key: 'name',
      title: 'counter',
      sortable: false,
      width: 'minmax(160px, 3fr)',
      exact: (row) => shown(row.name),
      cell: (row) => <Name text={row.name} />,
    },
    figure('first', 'at the start', (bucket) => bucket.first),
    figure('last', 'at the end', (bucket) => bucket.last),
    figure('delta', 'change', (bucket) => bucket.last - bucket.first, signed),
    figure(
      'rate',
      'a second',
      (bucket) => (bucket.last - bucket.first) / seconds,
      (row, value) => `${signed(row, value)}/s`,
    ),
    figure('min', 'lowest', (bucket) => bucket.min),
    figure('max', 'highest', (bucket) => bucket.max),
    {
      key: 'count',
      title: 'samples',
      sortable: false,
      width: '80px',
      numeric: true,
      cell: (row) => count(toNumber(row.bucket?.count ?? 0)),
    },
  ];
  return <Table label="Counters in the range" columns={columns} rows={rows} rowKey={(row) => row.track} scroll />;
}
