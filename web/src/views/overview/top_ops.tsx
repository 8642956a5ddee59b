/* SPDX-License-Identifier: Apache-2.0 */
/* What fills the step: the ops that take most, and what the host does while none runs. */
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { Ps } from '../../data/json';
import type { IdleCause, Overview, RunDetails, TopList, TopRow } from '../../data/types';
import type { Changes } from '../../model/address';
import { shortScope } from '../../model/cut';
import { kernelLabels } from '../../model/kernel_label';
import { count, inScale, plural, shareCell, timeExact, timeScale, toNumber, UNKNOWN } from '../../model/numbers';
import type { OpPlace } from '../../ui/op_link';
import { whereRows, type WhereRow, type Whole } from '../../model/where';
import { Link } from '../../ui/link';
import { toOp } from '../../ui/op_link';
import { SourceLink } from '../../ui/source';
import { Table, type Column } from '../../ui/table';
import { Name, nameRoom } from '../../ui/text';

function target(row: WhereRow, basis: Basis): Changes {
  if (row.op === null) return { view: 'steps', by: 'idle' };
  const op: OpPlace =
    basis.by === 'op'
      ? { name: row.op.name, module: row.op.module, by: 'op' }
      : { name: row.op.name, module: null, by: 'name' };
  return { ...toOp(op, basis.numbers), key: row.key };
}

const scaleOf = (rows: readonly WhereRow[]) => timeScale(rows.map((row) => row.timePs));

/* Without a column of scopes a row says by its name when its time passes. */
function nameColumn(rows: readonly WhereRow[], basis: Basis, hasScope: boolean): Column<WhereRow> {
  const { by } = basis;
  const nameOf = (row: WhereRow) => (row.when === null || hasScope ? row.name : `${row.name}, ${row.when}`);
  const names = rows.filter((row) => row.op !== null).map((row) => row.name);
  const labels = by === 'kernel' ? kernelLabels(names, nameRoom(false)) : null;
  return {
    key: 'name',
    title: by,
    width: 'minmax(160px, 2fr)',
    indent: 16,
    exact: nameOf,
    cell: (row) => (
      <span class={row.kind ? `kind-${row.kind}` : undefined}>
        {row.kind && <span class="swatch" data-tip={row.kind} />}
        <Link to={target(row, basis)}>
          <Name text={labels?.get(row.name) ?? nameOf(row)} />
        </Link>
      </span>
    ),
  };
}

const scopeColumn: Column<WhereRow> = {
  key: 'scope',
  title: 'scope',
  width: 'minmax(100px, 2fr)',
  cutFront: true,
  from: 1000,
  exact: (row) => row.op?.scope ?? row.when,
  cell: (row) =>
    row.op?.scope ? <Name text={shortScope(row.op.scope)} /> : <span class="quiet">{row.when ?? UNKNOWN}</span>,
};

const sourceColumn: Column<WhereRow> = {
  key: 'source',
  title: 'source',
  width: 'minmax(148px, 1fr)',
  cutFront: true,
  from: 1440,
  exact: (row) => row.op?.source ?? null,
  cell: (row) => (row.op?.source ? <SourceLink source={row.op.source} /> : UNKNOWN),
};

/* What a row sums, in words. */
function sumOf(row: WhereRow, whole: Whole): string {
  const of = whole.number > 1 ? ` a step, the mean of ${count(whole.number)}` : '';
  if (row.op === null) return `${timeExact(row.timePs)}${of}`;
  const devices = whole.devicesPerHost > 1 ? ` on ${whole.devicesPerHost} devices` : '';
  return `${timeExact(row.op.self_ps)} in ${count(row.op.count)} executions${devices}`;
}

function columnsOf(rows: readonly WhereRow[], basis: Basis): Column<WhereRow>[] {
  const { whole, share } = basis;
  const perStep = whole.number > 1;
  const scale = scaleOf(rows);
  const several = whole.devicesPerHost > 1;
  const hasScope = rows.some((row) => row.op?.scope);
  const columns: (Column<WhereRow> | false)[] = [
    nameColumn(rows, basis, hasScope),
    hasScope && scopeColumn,
    rows.some((row) => row.op?.source) && sourceColumn,
    {
      key: 'count',
      title: 'count',
      width: '64px',
      from: 860,
      numeric: true,
      cell: (row) => (row.count === null ? UNKNOWN : count(row.count)),
    },
    {
      key: 'self_ps',
      title: perStep ? (several ? 'per step, device' : 'self per step') : several ? 'self, per device' : 'self',
      unit: scale.unit,
      width: perStep || several ? '136px' : '96px',
      numeric: true,
      cell: (row) => inScale(row.timePs, scale),
      exact: (row) => sumOf(row, whole),
    },
    {
      key: 'share',
      title: share,
      width: '136px',
      numeric: true,
      cell: (row) => shareCell(row.share),
      bar: (row) => Math.min(1, row.share),
    },
  ];
  return columns.filter((column) => column !== false);
}

/* Steps of all hosts count; devices do theirs side by side. */
function wholeOf(overview: Overview): Whole {
  const hosts = new Set(overview.devices.map((device) => device.host)).size;
  return {
    wholePs: toNumber(overview.breakdown_total_ps ?? 0),
    number: Math.max(1, overview.step?.counted ?? 0),
    devicesPerHost: hosts > 0 ? overview.devices.length / hosts : 1,
  };
}

interface Basis {
  rows: readonly TopRow[];
  totalPs: Ps;
  by: string;
  whole: Whole;
  causes: readonly IdleCause[];
  numbers: string | null; // of the steps
  of: string; // what the times are of
  share: string; // what the shares are of
}

/* A step of several hosts is one on each of them. */
function ofSteps({ step }: Overview): string {
  const [counted, hosts] = [step?.counted ?? 0, step?.host_count ?? 1];
  return hosts > 1 && counted % hosts === 0
    ? `of ${plural(counted / hosts, 'step')} on each of ${hosts} hosts`
    : `of ${plural(counted, 'step')}`;
}

const basisOfSteps = (overview: Overview, top: TopList): Basis => ({
  rows: top.rows,
  totalPs: top.total_self_ps,
  by: top.by,
  whole: wholeOf(overview),
  causes: overview.idle_causes ?? [],
  numbers: overview.step?.numbers ?? null,
  of: ofSteps(overview),
  share: 'of the step',
});

const ofCapture = (overview: Overview): Basis => ({
  rows: overview.top,
  totalPs: overview.top_total_self_ps ?? 0,
  by: overview.top_by ?? 'op',
  whole: wholeOf(overview),
  causes: overview.idle_causes ?? [],
  numbers: null,
  of: 'of the capture',
  share: 'of the time',
});

/* A page without a server holds the ops of the capture, but no time of steps to set them against. */
const ofOps = (overview: Overview): Basis => ({
  ...ofCapture(overview),
  whole: { wholePs: toNumber(overview.top_total_self_ps ?? 0), number: 1, devicesPerHost: 1 },
  causes: [],
  share: 'of all',
});

export function TopOps({ run, overview }: { run: RunDetails; overview: Overview }) {
  const numbers = overview.step?.numbers ?? null;
  const inSteps = useJson<TopList>(numbers !== null ? 'api/top' : null, {
    run: run.id,
    ...restriction.value,
    step: numbers ?? undefined,
    limit: 10,
  });
  if (numbers !== null && inSteps.data === null && inSteps.error === null) return <section />;
  const basis =
    inSteps.data !== null && inSteps.data.rows.length > 0
      ? basisOfSteps(overview, inSteps.data)
      : numbers !== null
        ? ofOps(overview)
        : ofCapture(overview);
  if (basis.rows.length === 0 || basis.whole.wholePs === 0) return <section />;
  const { rows, rest } = whereRows(basis.rows, basis.totalPs, basis.causes, basis.whole);
  return (
    <section>
      <h2 class="section">
        <Link to={{ view: 'ops' }}>Where the time goes</Link> <span class="quiet">{basis.of}</span>
      </h2>
      <Table
        label="Where the time goes"
        columns={columnsOf(rows, basis)}
        rows={rows}
        rowKey={(row) => row.key}
        focused={query.value.key ?? null}
        onOpen={(row) => go(target(row, basis), 'push')}
        rest={
          rest === null
            ? null
            : {
                name: `all other ${basis.by}s`,
                self_ps: inScale(rest.timePs, scaleOf(rows)),
                share: shareCell(rest.share),
              }
        }
      />
    </section>
  );
}
