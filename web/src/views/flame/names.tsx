/* SPDX-License-Identifier: Apache-2.0 */
/* Every name of the tree once, the heaviest first: a click shows who stands above and below it. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FlameLayout } from '../../model/flame_layout';
import { namesOf, sortNames, type NameSum } from '../../model/flame_relations';
import { count, inScale, plural, share, shareCell, toNumber } from '../../model/numbers';
import { spelledLabels } from '../../model/kernel_label';
import { Table, type Column } from '../../ui/table';
import { Name, nameRoom } from '../../ui/text';

const SHOWN_MAX = 10_000;
const LABELS_MAX = 200; // rows that stand beside one another
const NONE: readonly NameSum[] = [];

function columnsOf(rows: readonly NameSum[], layout: FlameLayout): Column<NameSum>[] {
  const { amount } = layout;
  const labels = spelledLabels(
    rows.slice(0, LABELS_MAX).map((row) => row.name),
    nameRoom(true),
  );
  const whole = toNumber(layout.nodes[0]!.total_ps);
  const [own, all] = [amount.scale(rows.map((row) => row.selfPs)), amount.scale(rows.map((row) => row.totalPs))];
  return [
    {
      key: 'name',
      title: 'name',
      width: 'minmax(160px, 1fr)',
      exact: (row) => row.name,
      cell: (row) => <Name text={labels.get(row.name) ?? row.name} />,
    },
    {
      key: 'self',
      title: 'self',
      unit: own.unit,
      width: '96px',
      numeric: true,
      cell: (row) => inScale(row.selfPs, own),
      exact: (row) => amount.exact(row.selfPs),
    },
    {
      key: 'share',
      title: 'share',
      width: '144px',
      numeric: true,
      sortable: false,
      cell: (row) => shareCell(whole === 0 ? null : row.selfPs / whole),
      bar: (row) => (whole === 0 ? null : row.selfPs / whole),
    },
    {
      key: 'total',
      title: 'with all below',
      unit: all.unit,
      width: '144px',
      numeric: true,
      cell: (row) => inScale(row.totalPs, all),
      exact: (row) => amount.exact(row.totalPs),
    },
    { key: 'places', title: 'places', width: '80px', numeric: true, cell: (row) => count(row.places) },
  ];
}

/* After the graph is painted: of a large tree they take longer than it. */
function useNames(layout: FlameLayout): readonly NameSum[] {
  const [known, know] = useState<{ layout: FlameLayout; rows: readonly NameSum[] } | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => know({ layout, rows: namesOf(layout) }));
    return () => clearTimeout(timer);
  }, [layout]);
  return known?.layout === layout ? known.rows : NONE;
}

export function Names({
  layout,
  lit,
  isCut,
  onOpen,
}: {
  layout: FlameLayout;
  lit: ((name: string) => boolean) | null;
  isCut: boolean;
  onOpen: (index: number) => void;
}) {
  const [sort, setSort] = useState('-self');
  const all = useNames(layout);
  const rows = useMemo(() => sortNames(lit ? all.filter((row) => lit(row.name)) : all, sort), [all, lit, sort]);
  const shown = useMemo(() => rows.slice(0, SHOWN_MAX), [rows]);
  const columns = useMemo(() => columnsOf(shown, layout), [shown, layout]);
  const whole = toNumber(layout.nodes[0]!.total_ps);
  const own = all.reduce((sum, row) => sum + row.selfPs, 0);
  return (
    <section class="relatives" aria-label="Names">
      <p class="dots">
        <strong>{all.length > 0 && plural(all.length, 'name')}</strong>
        {lit && <span>{count(rows.length)} found</span>}
        {rows.length > shown.length && <span>the first {count(shown.length)}</span>}
        {isCut && own > 0 && whole > 0 && <span>of the largest nodes, which are {share(own / whole)} of all</span>}
      </p>
      {all.length > 0 && (
        <Table
          label="Names"
          columns={columns}
          rows={shown}
          rowKey={(row) => row.name}
          sort={sort}
          onSort={setSort}
          onOpen={(row) => onOpen(row.index)}
          scroll
        />
      )}
    </section>
  );
}
