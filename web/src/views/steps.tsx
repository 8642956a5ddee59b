/* Every step: how long, how far from the median, of which kinds. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { stepRestriction } from '../data/restriction';
import { KINDS, type RunDetails, type StepList, type StepRow } from '../data/types';
import { count, fixed, inScale, shareCell, THIN, timeExact, timeScale, toNumber } from '../model/numbers';
import { stepsSentence } from '../model/sentence';
import { Empty, Failed, Waiting } from '../ui/states';
import { StepBars, stepWindow } from '../ui/step_bars';
import { Table, type Column } from '../ui/table';
import { Name, SentenceLine } from '../ui/text';

const STEPS_MAX = 10_000;

function medianOf(rows: readonly StepRow[]): number | null {
  const counted = rows.filter((row) => !row.warmup).map((row) => toNumber(row.dur_ps)).sort((a, b) => a - b);
  return counted.length === 0 ? null : counted[Math.ceil(counted.length / 2) - 1]!;
}

function columnsOf(rows: readonly StepRow[], median: number | null): Column<StepRow>[] {
  const begin = timeScale(rows.map((row) => row.start_ps));
  const duration = timeScale(rows.map((row) => row.dur_ps));
  const kinds = KINDS.filter((kind) => rows.some((row) => row.breakdown.some((part) => part.kind === kind && toNumber(part.self_ps) > 0)));
  const part = (row: StepRow, kind: string) => row.breakdown.find((one) => one.kind === kind)?.self_ps ?? null;
  const hosts = new Set(rows.map((row) => row.host)).size > 1;
  const delta = (row: StepRow): number | null => (median === null ? null : toNumber(row.dur_ps) - median);
  const deltas = timeScale(rows.map(delta));
  const signed = (value: number | null): string => (value === null || value <= 0 ? inScale(value, deltas) : `+${inScale(value, deltas)}`);
  const columns: (Column<StepRow> | false)[] = [
    { key: 'step', title: 'step', width: '72px', numeric: true, cell: (row) => String(row.step) },
    hosts && { key: 'host', title: 'host', width: 'minmax(80px, 1fr)', cell: (row) => <Name text={row.host} /> },
    { key: 'start_ps', title: 'begin', unit: begin.unit, width: '104px', numeric: true, cell: (row) => inScale(row.start_ps, begin), exact: (row) => timeExact(row.start_ps) },
    { key: 'dur_ps', title: 'time', unit: duration.unit, width: '96px', numeric: true, cell: (row) => inScale(row.dur_ps, duration), exact: (row) => timeExact(row.dur_ps) },
    {
      key: 'delta', title: 'Δ median', unit: deltas.unit, width: '112px', numeric: true, sortable: false, cell: (row) => signed(delta(row)),
      exact: (row) => (median ? `${toNumber(row.dur_ps) < median ? '' : '+'}${fixed((toNumber(row.dur_ps) / median - 1) * 100, 1)}${THIN}% of the median` : null),
    },
    ...kinds.map(
      (kind): Column<StepRow> => ({
        key: kind, title: kind, unit: duration.unit, width: 'minmax(88px, 120px)', numeric: true, sortable: false,
        cell: (row) => inScale(part(row, kind), duration),
        exact: (row) => (part(row, kind) === null ? null : `${timeExact(part(row, kind)!)}, ${shareCell(toNumber(part(row, kind)!) / toNumber(row.dur_ps))}`),
      }),
    ),
    { key: 'remark', title: '', width: 'minmax(80px, 1fr)', sortable: false, cell: (row) => (row.warmup ? 'warm-up' : row.outlier ? 'outlier' : ''), exact: (row) => (row.warmup ? 'a warm-up: left out of the figures' : null) },
  ];
  return columns.filter((column) => column !== false);
}

export function StepsView({ run }: { run: RunDetails }) {
  const sort = query.value.sort ?? 'start_ps';
  const known = /^-?(step|host|start_ps|dur_ps)$/.test(sort) ? sort : 'start_ps';
  const params = { run: run.id, ...stepRestriction(), sort: known };
  const steps = useJson<StepList>('api/steps', { ...params, limit: STEPS_MAX });
  if (steps.error) return <Failed error={steps.error} />;
  if (!steps.data) return steps.waiting ? <Waiting what="Looking for steps." progress={steps.progress} /> : null;
  const { rows } = steps.data;
  if (rows.length === 0)
    return (
      <Empty copy={'with jax.profiler.StepTraceAnnotation("train", step_num=step):'}>
        No steps were found in this run: no StepTraceAnnotation, and no module repeats. To mark them:
      </Empty>
    );
  const median = medianOf(rows);
  const inOrder = [...rows].sort((a, b) => toNumber(a.start_ps) - toNumber(b.start_ps));
  return (
    <>
      <SentenceLine sentence={stepsSentence(inOrder, median)} />
      {steps.data.notes
        .filter((note) => note.kind === 'steps-rule')
        .map((note) => (
          <p key={note.message} class="basis">
            Steps: {note.message}.
          </p>
        ))}
      <StepBars steps={inOrder} medianPs={median} height={220} />
      <div class="toolbar">
        <span>{count(steps.data.row_count)} steps</span>
        <a href={address('api/steps', { ...params, limit: 10_000, format: 'csv' })} download={`${run.name}-steps.csv`}>
          CSV
        </a>
      </div>
      <Table
        label="Steps" columns={columnsOf(rows, median)} rows={rows} rowKey={(row) => `${row.host} ${row.step} ${row.start_ps}`} rowCount={steps.data.row_count} sort={known}
        onSort={(next) => go({ sort: next }, 'replace')} onOpen={(row) => go({ view: 'timeline', window: stepWindow(row) })} scroll
      />
    </>
  );
}
