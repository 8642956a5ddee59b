/* SPDX-License-Identifier: Apache-2.0 */
/* All runs, newest first, filling live: what is read shows how far, new ones wait for a click. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { serverNow } from '../../data/api';
import { runEvents, runsTick } from '../../data/events';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import type { Run, RunList } from '../../data/types';
import { shown } from '../../model/cut';
import type { Cell } from '../../model/table';
import {
  ago,
  count,
  inScale,
  plural,
  sizeScale,
  time,
  timeExact,
  timeScale,
  toNumber,
  UNKNOWN,
  type Scale,
} from '../../model/numbers';
import { runsSentence } from '../../model/sentence';
import { runChange } from '../../model/address';
import { numberOf, seriesAmong, stemOf } from '../../model/series';
import { CompareTicked, Tick, toggleTick } from '../compare/ticks';
import { CaptureButton } from './capture';
import { ListNotes, NoRuns } from './no_runs';
import { Facets } from './facets';
import { act } from '../../ui/keys';
import { Link } from '../../ui/link';
import { Failed, progressOf, ProgressBar, Waiting } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { NothingMatches, TableBar } from '../../ui/table_bar';
import { Spark } from '../../ui/table_row';
import { Name, SentenceLine } from '../../ui/text';
import { useTable } from '../../ui/use_table';
import { RunTags } from '../notes';
import { isSeries, RunsTrend, TrendLink } from './trend_line';

const RUNS_FIRST = 1000;
const RUNS_MAX = 10_000; // asked for when the end comes into sight, or a filter asks about all
/* When it was captured; without a wall clock, when its newest file was written. */
const whenOf = (run: Run & { modified_at?: string | null }): string | null => run.started_at ?? run.modified_at ?? null;

/* By capture; what is being read is as new as its files, and what tells no time stands last. */
const SETTLED = ['ready', 'partial', 'failed', 'gone'];
const captured = (run: Run): string | null => (SETTLED.includes(run.state) ? run.started_at : whenOf(run));

/* What the run's own jview.json calls it, where that says more than its place. */
const titleOf = (run: Run & { title?: string | null }): string | null =>
  run.title && run.title !== run.name ? run.title : null;

/* What runs are filtered by beside their columns. */
const ALSO: Record<string, (run: Run) => Cell> = {
  step: (run) => numberOf(run.name),
  title: titleOf,
  host: (run) => run.hosts.join(' '),
  device: (run) => run.device_kind,
  format: (run) => run.formats.join(' '),
  framework: (run) => run.framework,
  steps: (run) => run.step_count,
  step_time: (run) => (run.step_median_ps === null ? null : toNumber(run.step_median_ps)),
  size: (run) => run.file_bytes,
  notes: (run) => run.badges.join(' '),
};

/* A kind of note as a clause; one that has no words of its own is its name's. */
const BADGES: Record<string, string> = {
  unfinished: 'some events have no end in the file',
  unbalanced: 'begins and ends of some events do not match',
  'collector-warning': 'the recorder gave warnings',
  'unknown-sizes': 'sizes of some values are unknown',
  'no-events': 'no event was recorded',
  truncated: 'a file is cut off',
};
const badgeWords = (badge: string): string => BADGES[badge] ?? badge.replaceAll('-', ' ');

/* Without the file's name where the run is called like it. */
function failureOf(run: Run): string {
  const error = run.error ?? 'it cannot be read';
  const file = /^([^\s:]+): /.exec(error);
  const isNamed = file !== null && run.name.split('/').at(-1) === file[1]!.split('.')[0];
  return isNamed ? error.slice(file[0].length) : error;
}

const LONG = 80; // letters that a narrow window shows in one line

function StateCell({ run }: { run: Run }) {
  const told = progressOf(run.progress);
  if (run.state === 'ready') return <>{run.badges.map(badgeWords).join('; ')}</>;
  if (run.state === 'indexing')
    return (
      <span class="run-progress">
        indexing{told && ` ${told.words}`}
        {told && <ProgressBar share={told.share} />}
      </span>
    );
  const words: Record<string, string> = {
    writing: 'still being written',
    queued: 'waiting',
    gone: 'its files are gone',
    partial: ['some files failed', ...run.badges.map(badgeWords)].join('; '),
    failed: `failed: ${failureOf(run)}`,
  };
  return (
    <span
      class={
        run.state === 'failed'
          ? `error${failureOf(run).length > LONG ? ' two-lines' : ''}`
          : run.state === 'partial'
            ? 'warn'
            : 'quiet'
      }
    >
      {words[run.state] ?? run.state}
    </span>
  );
}

function devices(run: Run): string {
  if (run.device_count === null || run.device_count === 0) return UNKNOWN;
  return run.device_kind ? `${run.device_count} × ${run.device_kind}` : plural(run.device_count, 'device');
}

/* Milliseconds for most: one run with minutes a step must not make the others 0.01 s. */
function stepScale(runs: readonly Run[]): Scale {
  const known = runs
    .flatMap((run) => (run.step_median_ps === null ? [] : [toNumber(run.step_median_ps)]))
    .sort((a, b) => a - b);
  const typical = known[known.length >> 1] ?? 0;
  return timeScale(typical < 1e12 ? known.filter((value) => value < 10e12) : known);
}

/* Of a group: its step times over the numbers in its names. */
function GroupTrend({ runs }: { runs: readonly Run[] }) {
  const values = seriesAmong(runs)[0]?.runs.map((one) => one.step_ps) ?? [];
  if (values.length < 2) return null;
  return (
    <Spark
      values={values}
      label={`${plural(values.length, 'step time')}, from ${time(values[0]!)} to ${time(values.at(-1)!)}`}
    />
  );
}

function columnsOf(runs: readonly Run[], now: Date): Column<Run>[] {
  const step = stepScale(runs);
  const bytes = sizeScale(runs.map((run) => run.file_bytes));
  const longest = Math.max(1, ...runs.map((run) => toNumber(run.step_median_ps ?? 0)));
  const reason = (run: Run, field: string, otherwise: string) =>
    run.reasons?.[field] ??
    (run.state === 'ready' || run.state === 'partial' ? otherwise : `not indexed yet: ${run.state}`);
  return [
    {
      key: 'name',
      title: 'name',
      width: 'minmax(220px, 7fr)',
      indent: 24,
      groups: true,
      value: (run) => run.name,
      exact: (run) => run.dir,
      cell: (run) => (
        <>
          <Tick run={run} />
          <Link to={{ ...runChange(run.name), view: null, q: null, sort: null }}>
            <Name text={run.name} />
          </Link>
          {titleOf(run) !== null && (
            <span class="quiet run-title" data-tip={shown(titleOf(run))}>
              <bdi>{shown(titleOf(run))}</bdi>
            </span>
          )}
          <RunTags content={run.content_id} name={run.name} />
        </>
      ),
    },
    {
      key: 'started_at',
      title: 'when',
      width: '104px',
      value: captured,
      cell: (run) =>
        whenOf(run) === null ? UNKNOWN : `${run.started_at === null ? '≈ ' : ''}${ago(new Date(whenOf(run)!), now)}`,
      exact: (run) =>
        run.started_at ??
        `the files hold no wall clock${whenOf(run) === null ? '' : `; the newest was written ${whenOf(run)}`}`,
    },
    {
      key: 'step_count',
      title: 'steps',
      width: '56px',
      numeric: true,
      cell: (run) => (run.step_count === null ? UNKNOWN : count(run.step_count)),
      exact: (run) => (run.step_count === null ? reason(run, 'step_count', 'no steps were found') : null),
    },
    {
      key: 'step_median_ps',
      title: 'median step',
      unit: step.unit,
      width: '152px',
      numeric: true,
      cell: (run) => inScale(run.step_median_ps, step),
      exact: (run) =>
        run.step_median_ps === null
          ? reason(run, 'step_median_ps', 'no steps were found')
          : `median ${timeExact(run.step_median_ps)}`,
      bar: (run) => (run.step_median_ps === null ? 0 : toNumber(run.step_median_ps) / longest),
      subtotal: (group) => <GroupTrend runs={group} />,
    },
    {
      key: 'device_count',
      title: 'devices',
      groups: true,
      value: (run) => (run.device_count ? devices(run) : null),
      width: 'minmax(112px, 4fr)',
      exact: (run) => devices(run),
      cell: (run) => <Name text={devices(run)} />,
    },
    {
      key: 'file_bytes',
      title: 'size',
      unit: bytes.unit,
      width: '80px',
      numeric: true,
      sums: (total) => inScale(total, bytes),
      cell: (run) => inScale(run.file_bytes, bytes),
      exact: (run) => `${run.file_bytes} bytes in ${plural(run.file_count, 'file')}`,
    },
    {
      key: 'state',
      title: 'state, notes',
      groups: true,
      width: 'minmax(200px, 5fr)',
      exact: (run) => run.error,
      cell: (run) => <StateCell run={run} />,
    },
  ];
}

/* Rows that are shown stay; what came since waits until it is asked for. */
function useHeld(runs: readonly Run[], limit: number): { shown: readonly Run[]; waiting: number; release: () => void } {
  const seen = useRef<Set<string> | null>(null);
  const asked = useRef(limit);
  const [, redraw] = useState(0);
  const grew = asked.current !== limit && runs.length > asked.current;
  if ((seen.current === null || grew) && runs.length > 0) seen.current = new Set(runs.map((run) => run.id));
  if (grew) asked.current = limit;
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

export function RunsView() {
  const [limit, setLimit] = useState(RUNS_FIRST);
  const list = useJson<RunList>('api/runs', { limit });
  const [kept, keep] = useState<RunList | null>(null);
  useEffect(() => void (list.data && keep(list.data)), [list.data]);
  void runsTick.value;
  const data = list.data ?? kept;
  const events = runEvents.value;
  const all = (data?.runs ?? []).map((run) => ({ ...run, ...events.get(run.id), name: run.name }) as Run);
  const held = useHeld(all, limit);
  const isPart = data !== null && data.row_count > all.length;
  const more = (): void => (isPart ? setLimit(RUNS_MAX) : undefined);
  const table = useTable<Run>({
    columns: columnsOf(all, serverNow()),
    rows: held.shown,
    sort: '-started_at',
    here: true,
    also: ALSO,
    groupOf: (run, key) =>
      key === 'name' ? (stemOf(run.name) ?? run.name) : key === 'state' ? run.state : devices(run),
  });
  useEffect(() => {
    if (table.filter.text !== '' || table.group !== null || query.value.sort !== undefined) more();
  }, [table.filter.text, table.group, query.value.sort, isPart]);
  if (list.error && !data) return <Failed error={list.error} />;
  if (!data) return list.waiting ? <Waiting what="Looking for runs." progress={list.progress} /> : null;
  if (data.row_count === 0) return <NoRuns list={data} />;
  const shown = table.rows;
  return (
    <>
      <SentenceLine sentence={runsSentence(all, data.row_count)} />
      {all.length > 2 && <RunsTrend runs={shown} />}
      <TableBar table={table} noun="run" total={data.row_count} example="step_1 state:ready size>1MiB" file="runs">
        {data.scan.state !== 'idle' && <span>{`looking: ${plural(data.scan.files, 'file')} so far`}</span>}
        {all.length > 1 && <CompareTicked runs={all} />}
        <button class="framed" onClick={() => act('open-file')}>
          Open a file…
        </button>
        <CaptureButton />
        {all.length > 1 && !isSeries(shown) && all.some((run) => run.step_median_ps !== null) && <TrendLink />}
        {held.waiting > 0 && (
          <button class="framed" onClick={held.release}>
            {plural(held.waiting, 'new run')}
          </button>
        )}
      </TableBar>
      <div class="runs">
        <Facets runs={held.shown} filter={table.filter} />
        {shown.length === 0 ? (
          <NothingMatches table={table} total={data.row_count} />
        ) : (
          <Table
            label="Runs"
            columns={table.columns}
            chosen={query.value.columns}
            rows={shown}
            rowKey={(run) => run.id}
            rowCount={data.row_count}
            sort={table.sort}
            onSort={table.onSort}
            groupOf={table.groupOf}
            spanOf={(run) =>
              run.state === 'failed'
                ? { from: 'step_count', cell: <StateCell run={run} />, exact: run.error ?? failureOf(run) }
                : null
            }
            onOpen={(run) =>
              go({ ...runChange(run.name), view: null, q: null, sort: null, group: null, columns: null })
            }
            onTick={toggleTick}
            more={more}
            scroll
          />
        )}
      </div>
      <ListNotes list={data} />
    </>
  );
}
