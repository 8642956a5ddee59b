/* Below the graph: what leads to the name in focus, and where it leads. */
import { useMemo } from 'preact/hooks';
import type { Amount } from '../../model/amount';
import type { FlameLayout } from '../../model/flame_layout';
import { relationsOf, type Relative } from '../../model/flame_relations';
import { inScale, plural, share, shareCell, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Table, type Column } from '../../ui/table';
import { Name } from '../../ui/text';

function columnsOf(title: string, rows: readonly Relative[], of: number, amount: Amount): Column<Relative>[] {
  const scale = amount.scale(rows.map((row) => row.totalPs));
  const largest = Math.max(1, ...rows.map((row) => row.totalPs));
  return [
    { key: 'name', title, width: 'minmax(120px, 1fr)', sortable: false, exact: (row) => row.name, cell: (row) => <Name text={row.name} /> },
    { key: 'total', title: amount.title, unit: scale.unit, width: '96px', numeric: true, sortable: false, cell: (row) => inScale(row.totalPs, scale), exact: (row) => amount.exact(row.totalPs) },
    { key: 'share', title: 'share', width: '144px', numeric: true, sortable: false, cell: (row) => shareCell(of === 0 ? null : row.totalPs / of), bar: (row) => row.totalPs / largest },
  ];
}

function List({ title, rows, of, amount, none, onOpen }: { title: string; rows: readonly Relative[]; of: number; amount: Amount; none: string; onOpen: (index: number) => void }) {
  if (rows.length === 0) return <p class="quiet">{none}</p>;
  return <Table label={title} columns={columnsOf(title, rows, of, amount)} rows={rows} rowKey={(row) => row.name} onOpen={(row) => onOpen(row.index)} scroll />;
}

export function Relatives({ layout, focus, onOpen }: { layout: FlameLayout; focus: number; onOpen: (index: number) => void }) {
  const found = useMemo(() => relationsOf(layout, focus), [layout, focus]);
  const whole = toNumber(layout.nodes[0]!.total_ps);
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
        <span>
          <Link to={{ view: 'timeline', find: found.name, slice: null, zoom: null, key: null, by: null }}>on the timeline</Link>
        </span>
      </p>
      <div class="relative-lists">
        <List title="above it" rows={found.callers} of={found.totalPs} amount={layout.amount} none="Nothing stands above it." onOpen={onOpen} />
        <List title="below it" rows={found.callees} of={found.totalPs} amount={layout.amount} none="Nothing stands below it." onOpen={onOpen} />
      </div>
    </section>
  );
}
