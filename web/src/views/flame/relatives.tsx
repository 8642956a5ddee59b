/* SPDX-License-Identifier: Apache-2.0 */
/* Below the graph: what leads to the name in focus, where it leads, and where else it is told. */
import { useMemo } from 'preact/hooks';
import type { Params } from '../../data/api';
import { useJson } from '../../data/resource';
import type { FlameRelative, FlameReply } from '../../data/types';
import type { Changes } from '../../model/address';
import type { Amount } from '../../model/amount';
import type { FlameLayout } from '../../model/flame_layout';
import { exactly, relationsOf, type Relative, type Relations } from '../../model/flame_relations';
import { inScale, plural, share, shareCell, toNumber } from '../../model/numbers';
import { query } from '../../data/place';
import { slicesOf, type OpPlace } from '../../ui/op_link';
import { Link } from '../../ui/link';
import { toOp } from '../../ui/op_link';
import { SourcePlace } from '../../ui/source';
import { Table, type Column } from '../../ui/table';
import { Name } from '../../ui/text';

function columnsOf(title: string, rows: readonly Relative[], of: number, amount: Amount): Column<Relative>[] {
  const scale = amount.scale(rows.map((row) => row.totalPs));
  return [
    {
      key: 'name',
      title,
      width: 'minmax(120px, 1fr)',
      sortable: false,
      exact: (row) => row.name,
      cell: (row) => <Name text={row.name} />,
    },
    {
      key: 'total',
      title: amount.title,
      unit: scale.unit,
      width: '96px',
      numeric: true,
      sortable: false,
      cell: (row) => inScale(row.totalPs, scale),
      exact: (row) => amount.exact(row.totalPs),
    },
    {
      key: 'share',
      title: 'share',
      width: '144px',
      numeric: true,
      sortable: false,
      cell: (row) => shareCell(of === 0 ? null : row.totalPs / of),
      bar: (row) => (of === 0 ? null : row.totalPs / of),
    },
  ];
}

function List({
  title,
  rows,
  of,
  amount,
  none,
  onOpen,
}: {
  title: string;
  rows: readonly Relative[];
  of: number;
  amount: Amount;
  none: string;
  onOpen: (index: number) => void;
}) {
  if (rows.length === 0) return <p class="quiet">{none}</p>;
  return (
    <Table
      label={title}
      columns={columnsOf(title, rows, of, amount)}
      rows={rows}
      rowKey={(row) => row.name}
      onOpen={(row) => row.index >= 0 && onOpen(row.index)}
      scroll
    />
  );
}

function pathTo(layout: FlameLayout, index: number): string[] {
  const path: string[] = [];
  for (let at = index; at > 0; at = layout.parent[at]!) path.unshift(layout.nodes[at]!.name);
  return path;
}

/* A leaf of scopes, modules or source lines is an op; the first name above it may be its module. */
function opAt(layout: FlameLayout, index: number, by: string): OpPlace | null {
  const path = pathTo(layout, index);
  if (layout.nodes[index]!.children.length > 0 || path.length < 2 || !/^(scope|module|source)$/.test(by)) return null;
  const module = by !== 'source' && /^\w+(\(\d+\))?$/.test(path[0]!) ? path[0]! : null;
  return { name: path.at(-1)!, module, by: 'op' };
}

/* The table's rows that this node stands for; null: there is none of its kind. */
function rowsOf(layout: FlameLayout, index: number, by: string): Changes | null {
  const path = pathTo(layout, index);
  const isOp = layout.nodes[index]!.children.length === 0;
  const place = { view: 'ops', zoom: null, key: null, weight: null, order: null, roots: null };
  if (by === 'track') return null;
  if (isOp && path.length > 1) return { ...place, by: 'op', q: `"${path.at(-1)!}"` };
  if (by === 'module') return { ...place, by: 'op', q: null, module: path[0]! };
  if (by === 'source') return { ...place, by: 'op', q: `source:"${path[0]!}"` };
  if (by === 'scope') return { ...place, by: 'op', q: null, module: path[0]!, scope: path.slice(1).join('/') || null };
  return null;
}

/* Over the whole tree where the page has a part of it. */
function useRelations(layout: FlameLayout, focus: number, params: Params | null): Relations {
  const found = useMemo(() => relationsOf(layout, focus), [layout, focus]);
  const whole = useJson<FlameReply>(params ? 'api/flame' : null, { ...params, focus: found.name, limit: 1 });
  const told = params && whole.data?.focus?.name === found.name ? whole.data.focus : null;
  return told
    ? exactly(found, {
        ...told,
        callers: amounts(told.callers),
        callees: amounts(told.callees),
        total: toNumber(told.total_ps ?? told.total ?? 0),
        self: toNumber(told.self_ps ?? told.self ?? 0),
      })
    : found;
}

const amounts = (rows: readonly FlameRelative[]) =>
  rows.map((row) => ({ name: row.name, total: toNumber(row.total_ps ?? row.total ?? 0) }));

export function Relatives({
  layout,
  focus,
  by,
  counted,
  params,
  onOpen,
}: {
  layout: FlameLayout;
  focus: number;
  by: string;
  counted: string | null | undefined;
  params: Params | null;
  onOpen: (index: number) => void;
}) {
  const found = useRelations(layout, focus, params);
  const node = layout.nodes[focus]!;
  const whole = toNumber(layout.nodes[0]!.total_ps);
  const rows = rowsOf(layout, focus, by);
  const op = opAt(layout, focus, by);
  return (
    <section class="relatives" aria-label="Callers and callees">
      <p class="dots">
        <strong>
          <Name text={found.name} />
        </strong>
        <span>
          {layout.amount.say(found.totalPs)}
          {whole > 0 && `, ${share(found.totalPs / whole)} of all`}
        </span>
        <span>self {layout.amount.say(found.selfPs)}</span>
        <span>{plural(found.places, 'place')}</span>
        {node.file && <SourcePlace file={node.file} line={node.line} />}
        {op && (
          <span>
            <Link to={toOp(op, counted)}>its card</Link>
          </span>
        )}
        {rows && (
          <span>
            <Link to={rows}>its ops</Link>
          </span>
        )}
        <span>
          <Link to={{ sandwich: found.name, zoom: null, key: null }} title="All its callers and callees, as graphs">
            sandwich
          </Link>
        </span>
        <span>
          <Link
            to={
              op
                ? { ...slicesOf(op, query.value, counted), zoom: null }
                : { view: 'timeline', find: found.name, slice: null, zoom: null, key: null, by: null }
            }
          >
            on the timeline
          </Link>
        </span>
      </p>
      <div class="relative-lists">
        <List
          title="above it"
          rows={found.callers}
          of={found.totalPs}
          amount={layout.amount}
          none="Nothing stands above it."
          onOpen={onOpen}
        />
        <List
          title="below it"
          rows={found.callees}
          of={found.totalPs}
          amount={layout.amount}
          none="Nothing stands below it."
          onOpen={onOpen}
        />
      </div>
    </section>
  );
}
