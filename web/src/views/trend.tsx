/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics over the runs: `view=trend`, no run needed. A chart for each metric that is chosen, then
 * the runs of the last one as a table.
 *
 *   91 ms |      |░░░o░░o░░o     ░ noise of a level; o a run, a link to it
 *   22 ms |░o░░o░|               | where a level begins, a link to the comparison of its sides
 */
import { useEffect } from 'preact/hooks';
import { address } from '../data/api';
import { follow, go, hrefOf, query } from '../data/place';
import { useJson } from '../data/resource';
import { runChange } from '../model/address';
import { compareChange } from '../model/compare';
import { shown } from '../model/cut';
import { seriesAmong, SERIES_MIN, type Series } from '../model/series';
import type { RunList } from '../data/types';
import { plural, share, THIN, timeExact, UNKNOWN } from '../model/numbers';
import { figureColumn, told, trendSentence, type Figure, type TrendJump } from '../model/trend';
import { Link } from '../ui/link';
import { Failed, HowToRecord, Waiting } from '../ui/states';
import { Table, type Column } from '../ui/table';
import { NothingMatches, TableBar } from '../ui/table_bar';
import { Name, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';
import { PageHeader } from './shell/header';
import { LostBar } from './shell/lost_bar';

interface Point {
  id: string;
  name: string;
  state: string;
  step: number | null;
  at: string | null;
  commit: string | null;
  value: Figure;
  level: Figure;
  low: Figure;
  high: Figure;
  jump: number | null;
  reasons: Readonly<Record<string, string>>;
}

interface Trend {
  metric: string;
  unit: string;
  over: string;
  names?: { name: string; unit: string; runs: number | null }[];
  jumps: TrendJump[];
  rows: Point[];
  row_count: number;
  notes: { kind: string; message: string }[];
}

const USUAL = 'step_time';
const CHARTS_MAX = 6;
const HEIGHT = 150; // of one of several; one alone takes a part of the window
const HEIGHT_ALONE = { part: 0.3, max: 400 };
const LEFT = 76;
const RIGHT = 24;
const BOTTOM = 18;
const TOP = 10;
const LARGE = 120; // runs, from which points are small

const metricsOf = (text: string | undefined): string[] =>
  [...new Set((text ?? USUAL).split(';').filter(Boolean))].slice(0, CHARTS_MAX);
const wordsOf = (metric: string): string => (metric.startsWith('op:') ? metric.slice(3) : metric.replace(/_/g, ' '));

function toRun(name: string) {
  return { ...runChange(name), view: null, metric: null, q: null, sort: null, filter: null, columns: null };
}

const heightOf = (alone: boolean): number =>
  alone ? Math.max(HEIGHT, Math.min(HEIGHT_ALONE.max, Math.round(innerHeight * HEIGHT_ALONE.part))) : HEIGHT;

function Chart({ metric, trend, height }: { metric: string; trend: Trend; height: number }) {
  const points = trend.rows.map((row, at) => ({ row, at })).filter((one) => one.row.value !== null);
  const values = points
    .flatMap(({ row }) => [row.value, row.low, row.high])
    .filter((value) => value !== null)
    .map(Number);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const last = Math.max(1, trend.rows.length - 1);
  const width = Math.max(600, innerWidth - 32); // as wide as it is seen, so that its words keep their size
  const x = (at: number): number => LEFT + (at / last) * (width - LEFT - RIGHT);
  const y = (value: number): number =>
    high === low ? (height - BOTTOM) / 2 : TOP + (1 - (value - low) / (high - low)) * (height - BOTTOM - 2 * TOP);
  const place = (row: Point): string =>
    trend.over === 'step' && row.step !== null
      ? String(row.step)
      : trend.over === 'commit' && row.commit !== null
        ? row.commit.slice(0, 9)
        : (row.at?.slice(0, 10) ?? '');
  const jumps = new Map(trend.jumps.map((jump) => [jump.run.id, jump]));
  const bands: { from: number; to: number; row: Point }[] = [];
  for (const { row, at } of points) {
    const band = bands.at(-1);
    if (band && !jumps.has(row.id)) band.to = at;
    else bands.push({ from: at, to: at, row });
  }
  return (
    <svg
      class="trend-picture"
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label={`${wordsOf(metric)} over ${plural(points.length, 'run')}`}
    >
      {bands
        .filter(({ row }) => row.high !== null)
        .map(({ from, to, row }) => (
          <rect
            key={from}
            class="trend-noise"
            x={x(from) - 4}
            width={x(to) - x(from) + 8}
            y={y(Number(row.high))}
            height={Math.max(1, y(row.low === null ? low : Number(row.low)) - y(Number(row.high)))}
          />
        ))}
      <text x={LEFT - 8} y={y(high) + 4} text-anchor="end">
        {told(high, trend.unit)}
      </text>
      {high > low && (
        <text x={LEFT - 8} y={y(low) + 4} text-anchor="end">
          {told(low, trend.unit)}
        </text>
      )}
      <polyline
        points={points.map(({ row, at }) => `${x(at).toFixed(1)},${y(Number(row.value)).toFixed(1)}`).join(' ')}
      />
      {points.map(({ row, at }) => {
        const jump = jumps.get(row.id);
        const words = jump && `since ${shown(row.name)}: ${told(jump.from, trend.unit)} → ${told(jump.to, trend.unit)}`;
        const to = jump && compareChange(jump.before.name, jump.run.name);
        return (
          to && (
            <a
              key={row.id}
              class="trend-jump"
              href={hrefOf(to)}
              aria-label={`${words}, compare`}
              data-tip={words}
              onClick={(event) => follow(event, to)}
            >
              <line x1={x(at) - 5} x2={x(at) - 5} y1={TOP - 6} y2={height - BOTTOM} />
            </a>
          )
        );
      })}
      {points.map(({ row, at }) => (
        <a
          key={row.id}
          href={hrefOf(toRun(row.name))}
          aria-label={`${shown(row.name)}, ${told(row.value, trend.unit)}`}
          data-tip={`${shown(row.name)}: ${told(row.value, trend.unit)}`}
          onClick={(event) => follow(event, toRun(row.name))}
        >
          <circle
            class={jumps.has(row.id) ? 'jump' : undefined}
            cx={x(at)}
            cy={y(Number(row.value))}
            r={points.length > LARGE ? 2 : 3.5}
          />
        </a>
      ))}
      {trend.rows.length > 0 && (
        <text x={LEFT} y={height - 3}>
          {place(trend.rows[0]!)}
        </text>
      )}
      {trend.rows.length > 1 && (
        <text x={width - RIGHT} y={height - 3} text-anchor="end">
          {place(trend.rows.at(-1)!)}
        </text>
      )}
    </svg>
  );
}

function Metric({
  metric,
  asked,
  alone,
  all,
}: {
  metric: string;
  asked: Record<string, string>;
  alone: boolean;
  all: readonly string[];
}) {
  const trend = useJson<Trend>('api/trend', { ...asked, metric });
  const known = trend.data?.rows.filter((row) => row.value !== null).length ?? 0;
  const reason = trend.data?.rows.find((row) => row.value === null)?.reasons['value'];
  return (
    <figure class="trend-metric">
      <figcaption>
        <Name text={wordsOf(metric)} />
        {trend.data && (
          <span class="faint">
            {THIN}
            {plural(known, 'run')} over {trend.data.over}
            {trend.data.jumps.length > 0 && `, ${plural(trend.data.jumps.length, 'jump')}`}
          </span>
        )}
        {!alone && (
          <button
            aria-label={`leave out ${wordsOf(metric)}`}
            onClick={() => go({ metric: all.filter((one) => one !== metric).join(';') }, 'push')}
          >
            ×
          </button>
        )}
      </figcaption>
      {trend.error && <Failed error={trend.error} />}
      {!trend.data && trend.waiting && <Waiting what="Looking at the runs." progress={trend.progress} />}
      {trend.data && known > 0 && <Chart metric={metric} trend={trend.data} height={heightOf(alone)} />}
      {trend.data && known === 0 && <p class="state">{`No run has a value: ${reason ?? 'it is not known'}.`}</p>}
    </figure>
  );
}

function columnsOf(trend: Trend | null): Column<Point>[] {
  const unit = trend?.unit ?? 'ps';
  const { cell, ...column } = figureColumn(
    (trend?.rows ?? []).flatMap((row) => [row.value, row.level, row.low, row.high]),
    unit,
  );
  const value = (
    key: 'value' | 'level' | 'low' | 'high',
    title: string,
    more: Partial<Column<Point>> = {},
  ): Column<Point> => ({
    key,
    title,
    ...column,
    width: '112px',
    numeric: true,
    cell: (row) => cell(row[key]),
    exact: (row) =>
      row[key] === null ? (row.reasons[key] ?? null) : unit === 'ps' ? timeExact(row[key]!) : String(row[key]),
    ...more,
  });
  const columns: (Column<Point> | false)[] = [
    {
      key: 'name',
      title: 'run',
      width: 'minmax(180px, 2fr)',
      cell: (row) => (
        <Link to={toRun(row.name)}>
          <Name text={row.name} />
        </Link>
      ),
      exact: (row) => row.name,
    },
    {
      key: 'step',
      title: 'step',
      width: '96px',
      numeric: true,
      cell: (row) => (row.step === null ? UNKNOWN : String(row.step)),
      exact: (row) => row.reasons['step'] ?? null,
    },
    {
      key: 'at',
      title: 'captured',
      width: '180px',
      cell: (row) => row.at?.replace('T', ' ').replace('Z', '') ?? UNKNOWN,
      exact: (row) => row.reasons['at'] ?? row.at,
    },
    (trend?.rows.some((row) => row.commit !== null) ?? false) && {
      key: 'commit',
      title: 'commit',
      width: '120px',
      cell: (row: Point) => (row.commit === null ? UNKNOWN : <Name text={row.commit} />),
      exact: (row: Point) => row.commit,
    },
    value('value', trend ? wordsOf(trend.metric) : 'value'),
    value('level', 'level'),
    value('low', 'noise from', { from: 900 }),
    value('high', 'noise to', { from: 900 }),
    (trend?.jumps.length ?? 0) > 0 && {
      key: 'jump',
      title: 'jump',
      width: '96px',
      numeric: true,
      cell: (row) => (row.jump === null ? UNKNOWN : `${row.jump > 0 ? '+' : '−'}${share(Math.abs(row.jump))}`),
      exact: (row) => row.reasons['jump'] ?? null,
    },
  ];
  return columns.filter((column) => column !== false);
}

/* A point is a run: without any there is neither a line nor a level. */
function NoRuns({ path }: { path: string | undefined }) {
  return (
    <>
      <SentenceLine
        sentence={[
          path
            ? `No runs lie below ${shown(path)}, so that nothing has a trend.`
            : 'No runs are here yet, so that nothing has a trend.',
        ]}
      />
      <p class="basis">Each run is a point of it; three or more tell what is noise and what is a jump.</p>
      <HowToRecord />
    </>
  );
}

const RUNS_MAX = 10_000;
const ANY = 'any'; // instead of a series: all runs, whatever their programs

/* A trend speaks of one program. Unless one is asked for, it is the series with most runs; a directory or
 * a list without any series is what it is. */
function useSeries(): { like: string | null; known: boolean; all: readonly Series[] } {
  const runs = useJson<RunList>('api/runs', { limit: RUNS_MAX });
  const below = query.value.path;
  const all = seriesAmong(runs.data?.runs ?? []).filter((one) => one.runs.length >= SERIES_MIN);
  const asked = query.value.like ?? (below === undefined ? all[0]?.stem : undefined) ?? ANY;
  return { like: asked === ANY ? null : asked, known: runs.data !== null || runs.error !== null, all };
}

function SeriesChoice({ like, all }: { like: string | null; all: readonly Series[] }) {
  const names = [...new Set([...all.map((one) => one.stem), ...(like === null ? [] : [like])])];
  return (
    <label data-tip="Runs whose names differ in one number only">
      of
      <select value={like ?? ANY} onChange={(event) => go({ like: event.currentTarget.value }, 'push')}>
        {names.map((stem) => {
          const count = all.find((one) => one.stem === stem)?.runs.length;
          return (
            <option key={stem} value={stem}>
              {shown(stem)}
              {count !== undefined && ` (${plural(count, 'run')})`}
            </option>
          );
        })}
        <option value={ANY}>all runs, of any program</option>
      </select>
    </label>
  );
}

export function TrendPage() {
  const metrics = metricsOf(query.value.metric);
  const shownLast = metrics.at(-1) ?? USUAL;
  const { like, known, all } = useSeries();
  const asked: Record<string, string> = {
    ...(query.value.over ? { over: query.value.over } : {}),
    ...(query.value.path ? { path: query.value.path } : {}),
    ...(like === null ? {} : { like }),
  };
  const names = useJson<Trend>('api/trend', { metric: USUAL, names: 'all', limit: 1 });
  const trend = useJson<Trend>(known ? 'api/trend' : null, { ...asked, metric: shownLast });
  const data = trend.data?.metric === shownLast ? trend.data : null;
  const sort = query.value.sort ?? '';
  const table = useTable<Point>({ columns: columnsOf(data), rows: data?.rows ?? [], sort, here: true });
  useEffect(() => {
    document.title = `Trend of ${metrics.map(wordsOf).join(', ')} – jviewd`;
  }, [query.value.metric]);
  return (
    <div class="shell">
      <PageHeader title="trend" />
      <div />
      <LostBar />
      <main class="page">
        {data && data.rows.some((row) => row.value !== null) && (
          <SentenceLine sentence={trendSentence(wordsOf(shownLast), data)} />
        )}
        {data?.row_count === 0 && like === null && <NoRuns path={query.value.path} />}
        {data?.row_count === 0 && like !== null && (
          <p class="state">
            {`No run is called ${shown(like)}. `}
            <Link to={{ like: null }}>The series with most runs</Link>
          </p>
        )}
        {known &&
          data?.row_count !== 0 &&
          metrics.map((metric) => (
            <Metric key={metric} metric={metric} asked={asked} alone={metrics.length === 1} all={metrics} />
          ))}
        {data?.row_count !== 0 && (
          <TableBar
            table={table}
            noun="run"
            total={data?.row_count ?? 0}
            example="value>20ms"
            file={`trend-${shownLast}`}
            csv={address('api/trend', { ...asked, metric: shownLast, limit: 10_000, format: 'csv' })}
          >
            {(all.length > 0 || like !== null) && <SeriesChoice like={like} all={all} />}
            <label>
              add
              <select
                value=""
                aria-label="add a metric"
                onChange={(event) => go({ metric: [...metrics, event.currentTarget.value].join(';') }, 'push')}
              >
                <option value="">metric…</option>
                {(names.data?.names ?? [])
                  .filter((one) => !metrics.includes(one.name))
                  .map((one) => (
                    <option key={one.name} value={one.name}>
                      {one.runs === null ? wordsOf(one.name) : `${one.name} (${plural(one.runs, 'run')})`}
                    </option>
                  ))}
              </select>
            </label>
            <label>
              over
              <select
                value={query.value.over ?? data?.over ?? 'time'}
                onChange={(event) => go({ over: event.currentTarget.value }, 'push')}
              >
                {['step', 'time', 'commit'].map((word) => (
                  <option key={word}>{word}</option>
                ))}
              </select>
            </label>
          </TableBar>
        )}
        {trend.error && <Failed error={trend.error} />}
        {data && data.rows.length > 0 && table.rows.length === 0 && (
          <NothingMatches table={table} total={data.row_count} />
        )}
        {table.rows.length > 0 && (
          <Table
            label="Runs of the trend"
            columns={table.columns}
            chosen={query.value.columns}
            rows={table.rows}
            rowKey={(row) => row.id}
            rowCount={data!.row_count}
            sort={sort}
            onSort={table.onSort}
            focused={query.value.key ?? null}
            onFocusRow={(row) => go({ key: row.id }, 'replace')}
            onOpen={(row) => go(toRun(row.name), 'push')}
            openOn="enter"
          />
        )}
        {data?.notes.map((note) => (
          <p key={note.kind} class="faint">
            {note.message}.
          </p>
        ))}
      </main>
    </div>
  );
}
