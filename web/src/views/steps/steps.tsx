/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: how long, how far from the median, of which kinds; by device; where devices were idle. */
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { stepRestriction } from '../../data/restriction';
import {
  KINDS,
  type GapRow,
  type IdleRow,
  type Note,
  type RunDetails,
  type StepDeviceRow,
  type StepList,
  type StepRow,
} from '../../data/types';
import { toNumber } from '../../model/numbers';
import { sentenceCase } from '../../model/sentence';
import { idleSentence, stepsSentence } from '../../model/steps_words';
import { By } from '../../ui/by';
import type { KindPart } from '../../ui/kind_legend';
import { Empty, Failed, HowToMarkSteps, Waiting } from '../../ui/states';
import { StepPicture } from '../../ui/step_picture';
import type { Column } from '../../ui/table';
import { TableBar } from '../../ui/table_bar';
import { SentenceLine } from '../../ui/text';
import { useTable, type TableState } from '../../ui/use_table';
import { gapColumns, GapTable, idleColumns, IdleTable } from './idle';
import { deviceColumns, stepColumns, StepDeviceTable, StepTable } from './table';

const ROWS_MAX = 10_000;
const BY: Record<string, string> = { steps: 'step', devices: 'device', idle: 'idle time', gaps: 'idle gap' };

const NOUNS: Record<string, string> = { steps: 'step', devices: 'step', idle: 'cause', gaps: 'gap' };

function medianOf(rows: readonly StepRow[]): number | null {
  const counted = rows
    .filter((row) => !row.warmup && !row.cut)
    .map((row) => toNumber(row.dur_ps))
    .sort((a, b) => a - b);
  const last = counted.length - 1;
  return last < 0 ? null : (counted[last >> 1]! + counted[(last + 1) >> 1]!) / 2;
}

/* What the counted steps are made of, as the rows below add up. */
function partsOf(counted: readonly StepRow[]): KindPart[] {
  const sums = KINDS.map((kind) => ({
    kind,
    self_ps: counted.reduce(
      (sum, row) => sum + toNumber(row.breakdown.find((part) => part.kind === kind)?.self_ps ?? 0),
      0,
    ),
  }));
  const all = Math.max(
    1,
    sums.reduce((sum, part) => sum + part.self_ps, 0),
  );
  return sums.map((part) => ({ ...part, share: part.self_ps / all }));
}

function Basis({ notes }: { notes: readonly Note[] }) {
  return (
    <>
      {notes
        .filter((note) => note.kind === 'steps-rule' || note.kind === 'idle-basis')
        .map((note) => (
          <p key={note.message} class="basis">
            {sentenceCase(note.kind === 'steps-rule' ? `Steps: ${note.message}` : note.message)}
          </p>
        ))}
    </>
  );
}

interface Part<R> {
  run: RunDetails;
  view: string;
  params: Record<string, string>;
  list: StepList<R>;
}

/* All rows are here, so they are ordered and filtered here. */
function Rows<R>({
  run,
  view,
  params,
  list,
  columns,
  sort,
  example,
  show,
}: Part<R> & {
  columns: readonly Column<R>[];
  sort: string;
  example: string;
  show: (table: TableState<R>) => preact.ComponentChildren;
}) {
  const table = useTable<R>({ columns, rows: list.rows, sort, here: true });
  const csv = address('api/steps', {
    ...params,
    ...(view === 'steps' ? {} : { view }),
    limit: ROWS_MAX,
    format: 'csv',
  });
  return (
    <>
      <TableBar
        table={table}
        noun={NOUNS[view]!}
        total={list.row_count}
        example={example}
        csv={csv}
        file={`${run.name}-${view}`}
      >
        <By
          value={view}
          words={BY}
          onChoose={(word) => go({ by: word, sort: null, group: null, columns: null }, 'push')}
        />
      </TableBar>
      {show(table)}
    </>
  );
}

function IdlePart({ run, params, view }: { run: RunDetails; params: Record<string, string>; view: 'idle' | 'gaps' }) {
  const list = useJson<StepList<IdleRow | GapRow>>('api/steps', { ...params, view, limit: ROWS_MAX });
  const causes = useJson<StepList<IdleRow>>('api/steps', { ...params, view: 'idle', limit: ROWS_MAX });
  if (list.error) return <Failed error={list.error} />;
  if (!list.data || !causes.data)
    return list.waiting ? <Waiting what="Looking for idle devices." progress={list.progress} /> : null;
  if (causes.data.rows.length === 0 && list.data.rows.length === 0)
    return <Empty>No device of this run recorded an op, so none was seen idle.</Empty>;
  const idle = list.data as StepList<IdleRow>;
  const gaps = list.data as StepList<GapRow>;
  const idlePs = causes.data.rows.reduce((sum, row) => sum + toNumber(row.idle_ps), 0);
  return (
    <>
      <SentenceLine sentence={idleSentence(causes.data.rows)} />
      <Basis notes={list.data.notes} />
      {view === 'idle' ? (
        <Rows
          run={run}
          view={view}
          params={params}
          list={idle}
          columns={idleColumns(idle.rows)}
          sort="-idle_ps"
          example="cause=python idle>1ms"
          show={(table) => <IdleTable table={table} rowCount={idle.row_count} />}
        />
      ) : (
        <Rows
          run={run}
          view={view}
          params={params}
          list={gaps}
          columns={gapColumns(gaps.rows, idlePs)}
          sort=""
          example="step=3 idle>1ms"
          show={(table) => <GapTable table={table} rowCount={gaps.row_count} />}
        />
      )}
    </>
  );
}

function DevicePart({ run, params }: { run: RunDetails; params: Record<string, string> }) {
  const list = useJson<StepList<StepDeviceRow>>('api/steps', { ...params, view: 'devices', limit: ROWS_MAX });
  if (list.error) return <Failed error={list.error} />;
  if (!list.data) return list.waiting ? <Waiting what="Dividing steps by device." progress={list.progress} /> : null;
  const { data } = list;
  return (
    <Rows
      run={run}
      view="devices"
      params={params}
      list={data}
      columns={deviceColumns(data.rows)}
      sort=""
      example="device=3 busy<50ms"
      show={(table) => <StepDeviceTable table={table} rowCount={data.row_count} />}
    />
  );
}

export function StepsView({ run }: { run: RunDetails }) {
  const view = query.value.by !== undefined && query.value.by in BY ? query.value.by : 'steps';
  const params = { run: run.id, ...stepRestriction() };
  const steps = useJson<StepList>('api/steps', { ...params, sort: 'start_ps', limit: ROWS_MAX });
  if (view === 'idle' || view === 'gaps') return <IdlePart key={view} run={run} params={params} view={view} />;
  if (steps.error) return <Failed error={steps.error} />;
  if (!steps.data) return steps.waiting ? <Waiting what="Looking for steps." progress={steps.progress} /> : null;
  const { rows } = steps.data;
  if (rows.length === 0)
    return (
      <>
        <HowToMarkSteps framework={run.framework}>
          No steps were found in this run: no annotation marks them, and no module repeats. To mark them:
        </HowToMarkSteps>
        <div class="toolbar">
          <By
            value={view}
            words={BY}
            onChoose={(word) => go({ by: word, sort: null, group: null, columns: null }, 'push')}
          />
        </div>
      </>
    );
  const median = medianOf(rows);
  const counted = rows.filter((row) => !row.warmup && !row.cut);
  const inOrder = [...rows].sort((a, b) => toNumber(a.start_ps) - toNumber(b.start_ps));
  return (
    <>
      <SentenceLine sentence={stepsSentence(inOrder, median)} />
      <Basis notes={steps.data.notes} />
      <StepPicture steps={inOrder} medianPs={median} height={180} parts={partsOf(counted)} counted={counted.length} />
      {view === 'steps' ? (
        <Rows
          run={run}
          view={view}
          params={params}
          list={steps.data}
          columns={stepColumns(rows, median)}
          sort="start_ps"
          example="time>60ms input>10ms"
          show={(table) => <StepTable table={table} rowCount={steps.data!.row_count} />}
        />
      ) : (
        <DevicePart run={run} params={params} />
      )}
    </>
  );
}
