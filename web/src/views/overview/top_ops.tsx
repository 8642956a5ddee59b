/* SPDX-License-Identifier: Apache-2.0 */
/* The ten that take most, per step where there are steps. */
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { Overview, RunDetails, StepRow, TopList, TopRow } from '../../data/types';
import { shortScope, shortSource } from '../../model/cut';
import { kernelLabels } from '../../model/kernel_label';
import { count, inScale, shareCell, timeExact, timeScale, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Table, type Column } from '../../ui/table';
import { Name, nameRoom } from '../../ui/text';

/* Per step and device, so that a column of shares and one of times tell the same. */
function columnsOf(rows: readonly TopRow[], by: string, steps: number, devices: number): Column<TopRow>[] {
  const perStep = (row: TopRow) => toNumber(row.self_ps) / (steps * devices);
  const scale = timeScale(rows.map(perStep));
  const largest = Math.max(1e-9, ...rows.map((row) => row.share ?? 0));
  const labels =
    by === 'kernel'
      ? kernelLabels(
          rows.map((row) => row.name),
          nameRoom(false),
        )
      : null;
  const columns: (Column<TopRow> | null)[] = [
    {
      key: 'name',
      title: by,
      width: 'minmax(160px, 2fr)',
      indent: 16,
      exact: (row) => row.name,
      cell: (row) => (
        <span class={row.kind ? `kind-${row.kind}` : undefined}>
          {row.kind && <span class="swatch" data-tip={row.kind} />}
          <Link to={{ view: 'ops', key: row.key }}>
            <Name text={labels?.get(row.name) ?? row.name} />
          </Link>
        </span>
      ),
    },
    rows.some((row) => row.scope)
      ? {
          key: 'scope',
          title: 'scope',
          width: 'minmax(100px, 2fr)',
          cutFront: true,
          from: 720,
          exact: (row) => row.scope,
          cell: (row) => (row.scope ? <Name text={shortScope(row.scope)} /> : '–'),
        }
      : null,
    rows.some((row) => row.source)
      ? {
          key: 'source',
          title: 'source',
          width: 'minmax(148px, 1fr)',
          cutFront: true,
          from: 1440,
          exact: (row) => row.source,
          cell: (row) => (row.source ? <Name text={shortSource(row.source)} mono /> : '–'),
        }
      : null,
    { key: 'count', title: 'count', width: '64px', numeric: true, cell: (row) => count(row.count) },
    {
      key: 'self_ps',
      title: steps > 0 && devices > 1 ? 'per step, device' : steps > 1 ? 'per step' : 'self',
      unit: scale.unit,
      width: steps > 1 ? '136px' : '96px',
      numeric: true,
      cell: (row) => inScale(perStep(row), scale),
      exact: (row) =>
        `${timeExact(row.self_ps)} in ${count(row.count)} executions${devices > 1 ? ` on ${devices} devices` : ''}`,
    },
    {
      key: 'share',
      title: 'share',
      width: '136px',
      numeric: true,
      cell: (row) => shareCell(row.share),
      bar: (row) => (row.share ?? 0) / largest,
    },
  ];
  return columns.filter((column) => column !== null);
}

/* The counted steps, as the API names them; null where they bear no numbers. */
function countedSteps(steps: readonly StepRow[]): { range: string; number: number } | null {
  const counted = steps.filter((step) => !step.warmup);
  const numbers = counted.map((step) => Number(step.step));
  if (numbers.length === 0 || numbers.some((number) => !Number.isSafeInteger(number) || number < 0)) return null;
  return { range: `${Math.min(...numbers)}-${Math.max(...numbers)}`, number: new Set(numbers).size };
}

export function TopOps({ run, overview, steps }: { run: RunDetails; overview: Overview; steps: readonly StepRow[] }) {
  const counted = countedSteps(steps);
  const inSteps = useJson<TopList>(counted ? 'api/top' : null, {
    run: run.id,
    ...restriction.value,
    step: counted?.range,
    limit: 10,
  });
  const perStep = counted !== null && inSteps.data !== null && inSteps.data.rows.length > 0;
  const rows = perStep ? inSteps.data!.rows : overview.top;
  if (rows.length === 0 || (counted !== null && inSteps.data === null && inSteps.error === null)) return <section />;
  return (
    <section>
      <h2 class="section">
        <Link to={{ view: 'ops' }}>Where the time goes</Link> <span class="quiet">self</span>
      </h2>
      <Table
        label="What takes the time"
        columns={columnsOf(
          rows,
          perStep ? inSteps.data!.by : (overview.top_by ?? 'op'),
          perStep ? counted.number : 1,
          perStep ? Math.max(1, overview.devices.length) : 1,
        )}
        rows={rows}
        rowKey={(row) => row.key}
        onOpen={(row) => go({ view: 'ops', key: row.key }, 'push')}
      />
    </section>
  );
}
