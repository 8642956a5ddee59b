/* All runs, newest first, filling live: what is read shows how far, new ones wait for a click. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { runEvents, runsTick } from '../data/events';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import type { Run, RunList } from '../data/types';
import type { Cell } from '../model/filter';
import { ago, count, inScale, plural, sizeScale, timeExact, timeScale, toNumber, UNKNOWN, type Scale } from '../model/numbers';
import { runsSentence } from '../model/sentence';
import { runChange } from '../model/address';
import { FilterField, useFilter } from '../ui/filter_field';
import { CompareTicked, Tick, toggleTick } from './compare/ticks';
import { Facets } from './facets';
import { Link } from '../ui/link';
import { Failed, progressOf, ProgressBar, Waiting } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { Name, SentenceLine } from '../ui/text';
import { RunTags } from './notes';

const RUNS_MAX = 2000;
const FILTER_COLUMNS = ['name', 'host', 'device', 'format', 'state', 'framework', 'steps', 'step_time', 'size', 'notes'];

function lookup(run: Run, column: string): Cell {
  const cells: Record<string, Cell> = {
    host: run.hosts.join(' '), device: run.device_kind, format: run.formats.join(' '), state: run.state, framework: run.framework, steps: run.step_count,
    step_time: run.step_median_ps === null ? null : toNumber(run.step_median_ps), size: run.file_bytes, notes: run.badges.join(' '), name: run.name,
  };
  return cells[column] ?? null;
}

function StateCell({ run }: { run: Run }) {
  const told = progressOf(run.progress);
  if (run.state === 'ready') return <>{run.badges.join(', ')}</>;
  if (run.state === 'indexing')
    return (
      <span class="run-progress">
        indexing{told && ` ${told.words}`}
        {told && <ProgressBar share={told.share} />}
      </span>
    );
  const words: Record<string, string> = { writing: 'still being written', queued: 'waiting', gone: 'its files are gone', partial: ['some files failed', ...run.badges].join(', '), failed: run.error ?? 'cannot be read' };
  return <span class={run.state === 'failed' ? 'error' : run.state === 'partial' ? 'warn' : 'quiet'}>{words[run.state] ?? run.state}</span>;
}

function devices(run: Run): string {
  if (run.device_count === null || run.device_count === 0) return UNKNOWN;
  return run.device_kind ? `${run.device_count} × ${run.device_kind}` : plural(run.device_count, 'device');
}

/* Milliseconds for most: one run with minutes a step must not make the others 0.01 s. */
function stepScale(runs: readonly Run[]): Scale {
  const known = runs.flatMap((run) => (run.step_median_ps === null ? [] : [toNumber(run.step_median_ps)])).sort((a, b) => a - b);
  const typical = known[known.length >> 1] ?? 0;
  return timeScale(typical < 1e12 ? known.filter((value) => value < 10e12) : known);
}

function columnsOf(runs: readonly Run[], now: Date): Column<Run>[] {
  const step = stepScale(runs);
  const bytes = sizeScale(runs.map((run) => run.file_bytes));
  const longest = Math.max(1, ...runs.map((run) => toNumber(run.step_median_ps ?? 0)));
  const reason = (run: Run, field: string, otherwise: string) => run.reasons?.[field] ?? (run.state === 'ready' || run.state === 'partial' ? otherwise : `not indexed yet: ${run.state}`);
  return [
    {
      key: 'name', title: 'name', width: 'minmax(220px, 4fr)', indent: 24, exact: (run) => run.dir,
      cell: (run) => (
        <>
          <Tick run={run} />
          <Link to={{ ...runChange(run.name), view: null, q: null, sort: null }}>
            <Name text={run.name} />
          </Link>
          <RunTags content={run.content_id} name={run.name} />
        </>
      ),
    },
    { key: 'started_at', title: 'when', width: '112px', exact: (run) => run.started_at, cell: (run) => (run.started_at === null ? UNKNOWN : ago(new Date(run.started_at), now)) },
    { key: 'step_count', title: 'steps', width: '72px', numeric: true, cell: (run) => (run.step_count === null ? UNKNOWN : count(run.step_count)), exact: (run) => (run.step_count === null ? reason(run, 'step_count', 'no steps were found') : null) },
    {
      key: 'step_median_ps', title: 'step time', unit: step.unit, width: '160px', numeric: true, cell: (run) => inScale(run.step_median_ps, step),
      exact: (run) => (run.step_median_ps === null ? reason(run, 'step_median_ps', 'no steps were found') : `median ${timeExact(run.step_median_ps)}`),
      bar: (run) => (run.step_median_ps === null ? 0 : toNumber(run.step_median_ps) / longest),
    },
    { key: 'device_count', title: 'devices', width: 'minmax(80px, 2fr)', exact: (run) => devices(run), cell: (run) => <Name text={devices(run)} /> },
    { key: 'file_bytes', title: 'size', unit: bytes.unit, width: '96px', numeric: true, cell: (run) => inScale(run.file_bytes, bytes), exact: (run) => `${run.file_bytes} bytes in ${plural(run.file_count, 'file')}` },
    { key: 'state', title: 'notes', width: 'minmax(160px, 3fr)', exact: (run) => run.error, cell: (run) => <StateCell run={run} /> },
  ];
}

/* Rows that are shown stay; what came since waits until it is asked for. */
function useHeld(runs: readonly Run[]): { shown: readonly Run[]; waiting: number; release: () => void } {
  const seen = useRef<Set<string> | null>(null);
  const [, redraw] = useState(0);
  if (seen.current === null && runs.length > 0) seen.current = new Set(runs.map((run) => run.id));
  const known = seen.current;
  const shown = known === null ? runs : runs.filter((run) => known.has(run.id));
  return {
    shown,
    waiting: runs.length - shown.length,
    release: () => {
      seen.current = new Set(runs.map((run) => run.id));
      redraw((tick) => tick + 1);
    },
  };
}

function NoRuns({ list }: { list: RunList }) {
  const { scan } = list;
  return (
    <div class="state">
      {scan.state === 'idle'
        ? `No profiles ${scan.directory ? `below ${scan.directory}` : 'here'} yet; ${plural(scan.directories, 'directory', 'directories')} and ${plural(scan.files, 'file')} were looked at. New ones appear by themselves.`
        : `Looking for profiles: ${plural(scan.directories, 'directory', 'directories')}, ${plural(scan.files, 'file')} so far.`}{' '}
      To capture one: <code class="mono">jax.profiler.trace("runs/profiles/step_1000")</code>
    </div>
  );
}

export function RunsView() {
  const sort = query.value.sort ?? '';
  const list = useJson<RunList>('api/runs', { limit: RUNS_MAX, sort: sort || undefined });
  const [kept, keep] = useState<RunList | null>(null);
  useEffect(() => void (list.data && keep(list.data)), [list.data]);
  void runsTick.value;
  const data = list.data ?? kept;
  const events = runEvents.value;
  const all = (data?.runs ?? []).map((run) => ({ ...run, ...events.get(run.id), name: run.name }) as Run);
  const held = useHeld(all);
  const filter = useFilter(FILTER_COLUMNS);
  if (list.error && !data) return <Failed error={list.error} />;
  if (!data) return list.waiting ? <Waiting what="Looking for runs." progress={list.progress} /> : null;
  if (data.row_count === 0) return <NoRuns list={data} />;
  const shown = filter.filter.empty ? held.shown : held.shown.filter((run) => filter.filter.test(run.name, (column) => lookup(run, column)));
  return (
    <>
      <SentenceLine sentence={runsSentence(all, data.row_count)} />
      <div class="toolbar">
        <FilterField state={filter} label="Filter runs" example="step_1 state:ready size>1MiB" />
        <span aria-live="polite">{shown.length === data.row_count ? count(data.row_count) : `${count(shown.length)} of ${count(data.row_count)}`}</span>
        {data.scan.state !== 'idle' && <span>{`looking: ${plural(data.scan.files, 'file')} so far`}</span>}
        {all.length > 1 && <CompareTicked runs={all} />}
        {held.waiting > 0 && (
          <button class="framed" onClick={held.release}>
            {plural(held.waiting, 'new run')}
          </button>
        )}
      </div>
      <div class="runs">
        <Facets runs={held.shown} filter={filter} />
        {shown.length === 0 ? (
          <p class="state">
            No run matches <code class="mono">{filter.text}</code>; without the filter there are {count(data.row_count)}.
            <button class="framed" onClick={() => filter.set('')}>
              Remove it
            </button>
          </p>
        ) : (
          <Table
            label="Runs" columns={columnsOf(all, new Date())} rows={shown} rowKey={(run) => run.id} rowCount={data.row_count} sort={sort || '-started_at'}
            onSort={(next) => go({ sort: next }, 'replace')} onOpen={(run) => go({ ...runChange(run.name), view: null, q: null, sort: null })} onTick={toggleTick} scroll
          />
        )}
      </div>
      {data.notes.map((note) => (
        <p key={note.message} class="basis">
          {note.message}
        </p>
      ))}
    </>
  );
}
