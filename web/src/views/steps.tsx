/* Steps: how long, how far from the median, of which kinds; by device; where devices were idle. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { stepRestriction } from '../data/restriction';
import type { GapRow, IdleRow, Note, RunDetails, StepDeviceRow, StepList, StepRow } from '../data/types';
import { plural, toNumber } from '../model/numbers';
import { idleSentence, stepsSentence } from '../model/steps_words';
import { Empty, Failed, Waiting } from '../ui/states';
import { StepBars } from '../ui/step_bars';
import { SentenceLine } from '../ui/text';
import { GapTable, IdleTable } from './steps_idle';
import { StepDeviceTable, StepTable } from './steps_table';

const ROWS_MAX = 10_000;
const BY: Record<string, string> = { steps: 'step', devices: 'device', idle: 'idle time', gaps: 'idle gap' };

function medianOf(rows: readonly StepRow[]): number | null {
  const counted = rows.filter((row) => !row.warmup).map((row) => toNumber(row.dur_ps)).sort((a, b) => a - b);
  return counted.length === 0 ? null : counted[Math.ceil(counted.length / 2) - 1]!;
}

function Basis({ notes }: { notes: readonly Note[] }) {
  return (
    <>
      {notes
        .filter((note) => note.kind === 'steps-rule' || note.kind === 'idle-basis')
        .map((note) => (
          <p key={note.message} class="basis">
            {note.kind === 'steps-rule' ? `Steps: ${note.message}` : `${note.message.slice(0, 1).toUpperCase()}${note.message.slice(1)}`}.
          </p>
        ))}
    </>
  );
}

/* What the table below is of, and its rows as a file. */
function Toolbar({ run, view, rows, params }: { run: RunDetails; view: string; rows: number; params: Record<string, string | number> }) {
  return (
    <div class="toolbar">
      <label>
        by
        <select value={view} onChange={(event) => go({ by: event.currentTarget.value === 'steps' ? null : event.currentTarget.value, sort: null }, 'push')}>
          {Object.entries(BY).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <span>{plural(rows, 'row', 'rows')}</span>
      <a href={address('api/steps', { ...params, limit: ROWS_MAX, format: 'csv' })} download={`${run.name}-${view}.csv`}>
        CSV
      </a>
    </div>
  );
}

function IdlePart({ run, params, view }: { run: RunDetails; params: Record<string, string>; view: 'idle' | 'gaps' }) {
  const list = useJson<StepList<IdleRow | GapRow>>('api/steps', { ...params, view, limit: ROWS_MAX });
  const causes = useJson<StepList<IdleRow>>('api/steps', { ...params, view: 'idle', limit: ROWS_MAX });
  if (list.error) return <Failed error={list.error} />;
  if (!list.data || !causes.data) return list.waiting ? <Waiting what="Looking for idle devices." progress={list.progress} /> : null;
  if (causes.data.rows.length === 0 && list.data.rows.length === 0) return <Empty>No device of this run recorded an op, so none was seen idle.</Empty>;
  return (
    <>
      <SentenceLine sentence={idleSentence(causes.data.rows)} />
      <Basis notes={list.data.notes} />
      <Toolbar run={run} view={view} rows={list.data.row_count} params={{ ...params, view }} />
      {view === 'idle' ? <IdleTable rows={list.data.rows as IdleRow[]} /> : <GapTable rows={list.data.rows as GapRow[]} rowCount={list.data.row_count} />}
    </>
  );
}

function DevicePart({ params }: { params: Record<string, string> }) {
  const list = useJson<StepList<StepDeviceRow>>('api/steps', { ...params, view: 'devices', limit: ROWS_MAX });
  if (list.error) return <Failed error={list.error} />;
  if (!list.data) return list.waiting ? <Waiting what="Dividing steps by device." progress={list.progress} /> : null;
  return <StepDeviceTable rows={list.data.rows} rowCount={list.data.row_count} />;
}

export function StepsView({ run }: { run: RunDetails }) {
  const view = query.value.by !== undefined && query.value.by in BY ? query.value.by : 'steps';
  const sort = query.value.sort ?? 'start_ps';
  const known = /^-?(step|host|start_ps|dur_ps|delta_ps|slowest_by_ps|wait_ps|hidden_communication_ps)$/.test(sort) ? sort : 'start_ps';
  const params = { run: run.id, ...stepRestriction() };
  const steps = useJson<StepList>('api/steps', { ...params, sort: view === 'steps' ? known : 'start_ps', limit: ROWS_MAX });
  if (view === 'idle' || view === 'gaps') return <IdlePart key={view} run={run} params={params} view={view} />;
  if (steps.error) return <Failed error={steps.error} />;
  if (!steps.data) return steps.waiting ? <Waiting what="Looking for steps." progress={steps.progress} /> : null;
  const { rows } = steps.data;
  if (rows.length === 0)
    return (
      <>
        <Empty copy={'with jax.profiler.StepTraceAnnotation("train", step_num=step):'}>
          No steps were found in this run: no StepTraceAnnotation, and no module repeats. To mark them:
        </Empty>
        <Toolbar run={run} view={view} rows={0} params={params} />
      </>
    );
  const median = medianOf(rows);
  const inOrder = [...rows].sort((a, b) => toNumber(a.start_ps) - toNumber(b.start_ps));
  return (
    <>
      <SentenceLine sentence={stepsSentence(inOrder, median)} />
      <Basis notes={steps.data.notes} />
      <StepBars steps={inOrder} medianPs={median} height={220} />
      <Toolbar run={run} view={view} rows={view === 'steps' ? steps.data.row_count : rows.length} params={view === 'steps' ? params : { ...params, view }} />
      {view === 'steps' ? <StepTable rows={rows} median={median} rowCount={steps.data.row_count} sort={known} /> : <DevicePart params={params} />}
    </>
  );
}
